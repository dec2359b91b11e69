"""Anomalies that single transactions show: reads of what never was, and writes that are gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from stress.histories.cycles import cycles
from stress.histories.history import Append, History, Outcome, Read, Transaction

Check = Callable[[History], Iterator[str]]


def anomalies(history: History) -> list[str]:
    """All that snapshot isolation in real time does not explain; each begins with its name."""
    found = [f"{name}: {what}" for name, check in CHECKS.items() for what in check(history)]
    if found:
        return found  # cycles are looked for among lists whose order is certain
    return list(cycles(history))


def internal(history: History) -> Iterator[str]:
    """A transaction sees its own appends, and otherwise the same list each time."""
    for one in history.transactions:
        known: dict[str, tuple[int, ...]] = {}
        own: dict[str, tuple[int, ...]] = {}
        for operation in one.operations:
            key = operation.key
            if isinstance(operation, Append):
                own[key] = (*own.get(key, ()), operation.value)
                if key in known:
                    known[key] += (operation.value,)
                continue
            mine = own.get(key, ())
            expected = known.get(key)
            is_odd = mine != operation.values[len(operation.values) - len(mine) :]
            if is_odd or (expected is not None and expected != operation.values):
                yield f"{one.name} read {_short(operation)} of {key} and had appended {mine}"
            known[key] = operation.values


def duplicates(history: History) -> Iterator[str]:
    """No value is in a list twice."""
    for key, values in history.final.items():
        for value, count in Counter(values).items():
            if count > 1:
                yield f"{value} is {count} times in {key}"
    for one, read in _reads(history):
        if len(set(read.values)) < len(read.values):
            yield f"{one.name} read a value of {read.key} twice: {_short(read)}"


def aborted_reads(history: History) -> Iterator[str]:
    """Nobody sees what a failed transaction wrote, nor what nobody did."""
    for key, values in history.final.items():
        for value in values:
            writer = history.writers.get(value)
            if writer is None:
                yield f"{value} in {key} was appended by nobody"
            elif writer.outcome is Outcome.FAILED:
                yield f"{value} in {key} is of {writer.name}, which failed"
    known = {key: set(values) for key, values in history.final.items()}
    for one, read in _reads(history):
        for value in set(read.values) - known.get(read.key, set()):
            writer = history.writers.get(value)
            if writer is None or writer.outcome is Outcome.FAILED:
                yield f"{one.name} read {value} of {read.key}, which never was committed"


def intermediate_reads(history: History) -> Iterator[str]:
    """Of what a transaction appended to a list, others see all or nothing."""
    for one, read in _reads(history):
        if not read.values or (writer := history.writers.get(read.values[-1])) in (None, one):
            continue
        assert writer is not None
        if writer.appended[read.key][-1] != read.values[-1]:
            yield f"{one.name} read a part of what {writer.name} appended to {read.key}"


def order(history: History) -> Iterator[str]:
    """All reads of a list are beginnings of it as it ends."""
    for one in history.transactions:
        for key, values in one.seen.items():
            if tuple(history.final.get(key, ())[: len(values)]) != values:
                yield f"{one.name} read {_short(Read(key, values))} of {key}, which ends otherwise"


def lost_appends(history: History) -> Iterator[str]:
    """What took place is there at the end, all of it."""
    known = {key: set(values) for key, values in history.final.items()}
    for one in history.committed:
        for key, values in one.appended.items():
            for value in set(values) - known.get(key, set()):
                yield f"{value}, appended to {key} by {one.name}, is gone"


def lost_updates(history: History) -> Iterator[str]:
    """No two transactions both build on the same version of a chained list."""
    first: dict[tuple[str, int], Transaction] = {}
    for one in history.committed:
        for key in history.chained & one.appended.keys() & one.seen.keys():
            other = first.setdefault((key, len(one.seen[key])), one)
            if other is not one:
                yield f"{one.name} and {other.name} both appended to one version of {key}"


CHECKS: dict[str, Check] = {
    "internal": internal,
    "duplicate": duplicates,
    "G1a": aborted_reads,
    "G1b": intermediate_reads,
    "lost append": lost_appends,
    "lost update": lost_updates,
    "incompatible order": order,
}


def _reads(history: History) -> Iterator[tuple[Transaction, Read]]:
    for one in history.transactions:
        for operation in one.operations:
            if isinstance(operation, Read):
                yield one, operation


def _short(read: Read) -> str:
    return f"{len(read.values)} values ending in {list(read.values[-3:])}"
