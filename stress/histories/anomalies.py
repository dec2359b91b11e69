"""Anomalies of single transactions: reads of values never committed, and lost writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from stress.histories.cycles import cycles
from stress.histories.history import Append, History, Outcome, Read, Transaction

Check = Callable[[History], Iterator[str]]


def anomalies(history: History) -> list[str]:
    """Return violations of real-time snapshot isolation. Each begins with the name of its kind."""
    found = [f"{name}: {what}" for name, check in CHECKS.items() for what in check(history)]
    if found:
        return found  # the search for cycles needs lists whose order is consistent
    return list(cycles(history))


def internal(history: History) -> Iterator[str]:
    """Check that a transaction sees its own appends, and else the same list in each read."""
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
    """Check that no list contains a value twice."""
    for key, values in history.final.items():
        for value, count in Counter(values).items():
            if count > 1:
                yield f"{value} is {count} times in {key}"
    for one, read in _reads(history):
        if len(set(read.values)) < len(read.values):
            yield f"{one.name} read a value of {read.key} twice: {_short(read)}"


def aborted_reads(history: History) -> Iterator[str]:
    """Check that no read returns values of failed transactions, or values never appended."""
    for key, values in history.final.items():
        for value in values:
            writer = history.writers.get(value)
            if writer is None:
                yield f"{value} in {key} was not appended by any transaction"
            elif writer.outcome is Outcome.FAILED:
                yield f"{value} in {key} is of {writer.name}, which failed"
    known = {key: set(values) for key, values in history.final.items()}
    for one, read in _reads(history):
        for value in set(read.values) - known.get(read.key, set()):
            writer = history.writers.get(value)
            if writer is None or writer.outcome is Outcome.FAILED:
                yield f"{one.name} read {value} of {read.key}, which was never committed"


def intermediate_reads(history: History) -> Iterator[str]:
    """Check that reads see all or none of the values that a transaction appended to a list."""
    for one, read in _reads(history):
        if not read.values or (writer := history.writers.get(read.values[-1])) in (None, one):
            continue
        assert writer is not None
        if writer.appended[read.key][-1] != read.values[-1]:
            yield f"{one.name} read a part of what {writer.name} appended to {read.key}"


def order(history: History) -> Iterator[str]:
    """Check that every read of a list is a prefix of its final state."""
    for one in history.transactions:
        for key, values in one.seen.items():
            if tuple(history.final.get(key, ())[: len(values)]) != values:
                yield f"{one.name} read {_short(Read(key, values))} of {key}, not a prefix of it"


def lost_appends(history: History) -> Iterator[str]:
    """Check that the final lists contain all values of committed transactions."""
    known = {key: set(values) for key, values in history.final.items()}
    for one in history.committed:
        for key, values in one.appended.items():
            for value in set(values) - known.get(key, set()):
                yield f"{value}, appended to {key} by {one.name}, is missing"


def lost_updates(history: History) -> Iterator[str]:
    """Check that no two transactions build on the same version of a chained list."""
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
