"""History model: transactions that read lists and append to them, and the final lists.

A value is appended at most once in a history, so that it identifies its writer. A list is stored in
one of two ways. A *chained* key is one row that each append replaces: two concurrent transactions
that append to it conflict. Appends to any other key insert rows, which do not conflict. That two
transactions both read such a key before either appends to it (write skew) is allowed by snapshot
isolation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from math import inf


class Outcome(Enum):
    """Outcome of a transaction as its client observed it."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Read:
    """Read of a whole list."""

    key: str
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Append:
    """Append of a value to a list."""

    key: str
    value: int


Operation = Read | Append


@dataclass(frozen=True)
class Transaction:
    """Operations of one client in one transaction. Without an answer its end is infinite."""

    name: str
    operations: Sequence[Operation]
    outcome: Outcome = Outcome.OK
    began: float = 0.0
    ended: float = inf

    @cached_property
    def appended(self) -> dict[str, list[int]]:
        """Values that it appended, by key."""
        found: dict[str, list[int]] = {}
        for one in self.operations:
            if isinstance(one, Append):
                found.setdefault(one.key, []).append(one.value)
        return found

    @cached_property
    def seen(self) -> dict[str, tuple[int, ...]]:
        """First read of each key, without the values that it appended itself."""
        found: dict[str, tuple[int, ...]] = {}
        for one in self.operations:
            if isinstance(one, Read) and one.key not in found:
                own = set(self.appended.get(one.key, ()))
                found[one.key] = tuple(value for value in one.values if value not in own)
        return found


@dataclass(frozen=True)
class History:
    """Transactions, and the final state of every list after all of them."""

    transactions: Sequence[Transaction]
    final: Mapping[str, Sequence[int]]
    chained: Set[str] = field(default_factory=frozenset)

    @cached_property
    def writers(self) -> dict[int, Transaction]:
        """Transactions that appended, or tried to append, each value."""
        return {value: one for one in self.transactions for value in _values(one)}

    @cached_property
    def committed(self) -> list[Transaction]:
        """Transactions that were acknowledged, or whose values are in the final lists."""
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
