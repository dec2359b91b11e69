"""The check of histories: it finds each anomaly in a history made for it, and none in good ones."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from stress.histories.anomalies import CHECKS, anomalies
from stress.histories.cycles import KINDS, write_skews
from stress.histories.history import Append, History, Operation, Outcome, Read, Transaction

CHAINED = frozenset({"x", "y"})
KEYS = ("x", "y", "u", "v")  # the last two accept concurrent appends


def history(*transactions: Transaction, **final: Sequence[int]) -> History:
    return History(transactions, final, CHAINED)


def at(began: float, *operations: Operation, seconds: float = 1.0) -> Transaction:
    """Return a transaction that ran at some time."""
    return Transaction(f"T{began:g}", operations, began=began, ended=began + seconds)


def ended(outcome: Outcome, *operations: Operation) -> Transaction:
    return Transaction("T", operations, outcome=outcome, began=0)


def reads(key: str, *values: int) -> Read:
    return Read(key, values)


BAD = {
    "internal": [
        history(at(0, Append("x", 1), reads("x")), x=[1]),
        history(
            at(0, reads("x"), Append("x", 1), reads("x", 2, 1)), at(1, Append("x", 2)), x=[1, 2]
        ),
        history(at(0, Append("x", 1)), at(0.5, reads("x"), reads("x", 1)), x=[1]),
    ],
    "duplicate": [
        history(at(0, Append("x", 1)), x=[1, 1]),
        history(at(0, Append("x", 1)), at(1, reads("x", 1, 1)), x=[1]),
    ],
    "G1a": [
        history(ended(Outcome.FAILED, Append("x", 1)), at(0, reads("x", 1)), x=[]),
        history(ended(Outcome.FAILED, Append("x", 1)), x=[1]),
        history(at(0, reads("x", 7)), x=[]),
        history(x=[7]),
    ],
    "G1b": [
        history(at(0, Append("x", 1), Append("x", 2)), at(0, reads("x", 1)), x=[1, 2]),
    ],
    "lost append": [
        history(at(0, Append("x", 1)), x=[]),
        history(at(0, Append("u", 1)), at(1, Append("u", 2)), u=[2]),
        # With an unknown outcome it may have committed, but not by half.
        history(ended(Outcome.UNKNOWN, Append("x", 1), Append("u", 2)), x=[1], u=[]),
    ],
    "lost update": [
        history(at(0, reads("x"), Append("x", 1)), at(0.5, reads("x"), Append("x", 2)), x=[1, 2]),
    ],
    "incompatible order": [
        history(
            at(0, Append("x", 1)), at(1, Append("x", 2)), at(0, reads("x", 2), seconds=9), x=[1, 2]
        ),
    ],
    "G0": [
        history(
            at(0, Append("x", 1), Append("y", 2)), at(0.5, Append("x", 3), Append("y", 4)),
            x=[1, 3], y=[4, 2],
        ),
    ],
    "G1c": [
        history(
            at(0, Append("u", 1), reads("v", 2)), at(0.5, Append("v", 2), reads("u", 1)),
            u=[1], v=[2],
        ),
    ],
    "G1c in real time": [
        # A reader that ended before the later one began sees it.
        history(at(0, reads("u", 1)), at(2, Append("u", 1)), u=[1]),
    ],
    "G-single": [
        # One sees only the first of two appends of the other.
        history(
            at(0, Append("u", 1), Append("v", 2)), at(0.5, reads("u", 1), reads("v")), u=[1], v=[2]
        ),
        # A read of a state that never existed: the later append without the earlier one.
        history(
            at(0, Append("u", 1), seconds=9),
            at(0.5, reads("u", 1), Append("v", 2), seconds=9),
            at(1, reads("v", 2), reads("u"), seconds=9),
            u=[1], v=[2],
        ),
        # Two appends seen in different orders: rw edges, but never two in a row.
        history(
            at(0, Append("u", 1), seconds=9),
            at(0.5, Append("v", 2), seconds=9),
            at(1, reads("u", 1), reads("v"), seconds=9),
            at(1.5, reads("v", 2), reads("u"), seconds=9),
            u=[1], v=[2],
        ),
    ],
    "G-single in real time": [
        history(at(0, Append("u", 1)), at(2, reads("u")), u=[1]),
        history(at(0, Append("x", 1)), at(2, reads("x"), Append("u", 2)), x=[1], u=[2]),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "bad"), [(name, one) for name, several in BAD.items() for one in several]
)
def test_an_anomaly_is_found(name: str, bad: History) -> None:
    assert name in {found.split(":")[0] for found in anomalies(bad)}


def test_every_check_has_a_history_that_fails_it() -> None:
    assert set(BAD) == {*CHECKS, *KINDS}


GOOD = {
    "nothing happened": history(),
    "one after the other": history(
        at(0, Append("x", 1)), at(2, reads("x", 1), Append("x", 2)), at(4, reads("x", 1, 2)),
        x=[1, 2],
    ),
    "write skew": history(
        at(0, reads("x"), Append("y", 1)), at(0.5, reads("y"), Append("x", 2)), x=[2], y=[1]
    ),
    "two appends that do not see each other": history(
        at(0, reads("u"), Append("u", 1)), at(0.5, reads("u"), Append("u", 2)), u=[1, 2]
    ),
    "an old snapshot during commits": history(
        at(0, reads("x"), reads("u"), seconds=9), at(1, Append("x", 1), Append("u", 2)),
        x=[1], u=[2],
    ),
    "unknown outcome, committed": history(
        ended(Outcome.UNKNOWN, Append("x", 1)), at(5, reads("x", 1)), x=[1]
    ),
    "unknown outcome, not committed": history(
        ended(Outcome.UNKNOWN, Append("x", 1)), at(5, reads("x")), x=[]
    ),
    "unknown outcome, committed late": history(
        ended(Outcome.UNKNOWN, Append("x", 1)), at(5, reads("x")), x=[1]
    ),
    "a read of its own append": history(
        at(0, Append("u", 1), reads("u", 1), Append("u", 2), reads("u", 1, 2)), u=[1, 2]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_good_histories_have_no_anomalies(name: str) -> None:
    assert anomalies(GOOD[name]) == []


def test_write_skew_is_counted_separately() -> None:
    assert write_skews(GOOD["write skew"]) == 2
    assert write_skews(GOOD["one after the other"]) == 0


class Simulation:
    """Transactions over lists in memory; their conflict checks can be switched off."""

    def __init__(self, seed: int, *, concurrent: int, checks: bool) -> None:
        self._random = Random(seed)
        self._concurrent = concurrent
        self._checks = checks
        self._lists: dict[str, list[int]] = {key: [] for key in KEYS}
        self._open: list[tuple[int, dict[str, tuple[int, ...]]]] = []
        self._next = 0
        self.done: list[Transaction] = []

    def run(self, count: int) -> History:
        """Begin and commit some transactions."""
        for moment in range(count):
            snapshot = {key: tuple(values) for key, values in self._lists.items()}
            self._open.append((moment, snapshot))
            if len(self._open) >= self._concurrent:
                self._commit(moment + 0.5, self._open.pop(self._random.randrange(len(self._open))))
        return History(self.done, self._lists, CHAINED)

    def _commit(self, moment: float, begun: tuple[int, dict[str, tuple[int, ...]]]) -> None:
        began, snapshot = begun
        read, written = self._random.sample(KEYS, 2), self._random.sample(KEYS, 2)
        operations: list[Operation] = [Read(key, snapshot[key]) for key in read]
        operations += [Append(key, self._next + place) for place, key in enumerate(written)]
        self._next += 2
        outrun = any(
            key in CHAINED and len(self._lists[key]) > len(snapshot[key]) for key in written
        )
        if self._checks and outrun:
            outcome = Outcome.FAILED
        else:
            outcome = Outcome.OK
            for one in operations:
                if isinstance(one, Append):
                    self._lists[one.key].append(one.value)
        self.done.append(Transaction(f"T{began}", operations, outcome, began, moment))


@pytest.mark.parametrize("seed", range(5))
def test_simulated_histories_have_only_the_expected_anomalies(seed: int) -> None:
    serial = Simulation(seed, concurrent=1, checks=True).run(300)
    assert anomalies(serial) == []
    assert write_skews(serial) == 0
    isolated = Simulation(seed, concurrent=6, checks=True).run(300)
    assert anomalies(isolated) == []
    assert write_skews(isolated) > 0
    careless = Simulation(seed, concurrent=6, checks=False).run(300)
    assert anomalies(careless) != []
