"""What a history is: transactions that read lists and append to them, and how the lists end.

Every value is appended at most once in a history, so that a value tells who wrote it. A list is
kept in one of two ways. A *chained* key is one row that each append replaces: two transactions
that append to it at the same time exclude each other. The rows of any other key are added one by
one, which excludes nobody: that two transactions both read such a key before either appends to it
is what snapshot isolation allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from math import inf


class Outcome(Enum):
    """What became of a transaction, as its client knows."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Read:
    """A look at a whole list."""

    key: str
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Append:
    """One more value at the end of a list."""

    key: str
    value: int


Operation = Read | Append


@dataclass(frozen=True)
class Transaction:
    """What one client did in one transaction, and when; without an answer it has no end."""

    name: str
    operations: Sequence[Operation]
    outcome: Outcome = Outcome.OK
    began: float = 0.0
    ended: float = inf

    @cached_property
    def appended(self) -> dict[str, list[int]]:
        """The values that it appended to each key."""
        found: dict[str, list[int]] = {}
        for one in self.operations:
            if isinstance(one, Append):
                found.setdefault(one.key, []).append(one.value)
        return found

    @cached_property
    def seen(self) -> dict[str, tuple[int, ...]]:
        """What it first read of each key, without values of its own."""
        found: dict[str, tuple[int, ...]] = {}
        for one in self.operations:
            if isinstance(one, Read) and one.key not in found:
                own = set(self.appended.get(one.key, ()))
                found[one.key] = tuple(value for value in one.values if value not in own)
        return found


@dataclass(frozen=True)
class History:
    """Transactions, and what a last look at every list found once all were done."""

    transactions: Sequence[Transaction]
    final: Mapping[str, Sequence[int]]
    chained: Set[str] = field(default_factory=frozenset)

    @cached_property
    def writers(self) -> dict[int, Transaction]:
        """Who appended each value, or tried to."""
        return {value: one for one in self.transactions for value in _values(one)}

    @cached_property
    def committed(self) -> list[Transaction]:
        """The transactions that took place: those that say so, and those that left a trace."""
        traces = {value for values in self.final.values() for value in values}
        return [
            one
            for one in self.transactions
            if one.outcome is Outcome.OK
            or (one.outcome is Outcome.UNKNOWN and not traces.isdisjoint(_values(one)))
        ]


def _values(transaction: Transaction) -> Iterator[int]:
    for values in transaction.appended.values():
        yield from values
