"""What a check is, and what it finds: one row of a query, or of a function, is one finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Any

from forklake.errors import ForklakeError

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore

# Findings of one check that are told one by one.
_MOST = 20
Limits = Mapping[str, int | float]
Found = Iterable[Sequence[Any]]


class Weight(Enum):
    """How much a finding matters."""

    SERIOUS = "serious"  # data, or the service, is in danger
    ADVICE = "advice"  # it works, and would work better


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that should not be as it is."""

    check: str
    weight: Weight
    words: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Check:
    """A question about a metastore to which good answers are no rows.

    Args:
        find: SQL that takes the limits as parameters, or a function of metastore and limits.
        words: what is wrong, with the columns of a row in the braces; `remedy` likewise.
    """

    name: str
    weight: Weight
    find: str | Callable[[Metastore, Limits], Found]
    words: str
    remedy: str
    limits: Limits = field(default_factory=dict)

    def run(self, metastore: Metastore) -> Iterator[Finding]:
        """What the check finds; that it could not be made is a finding as grave."""
        try:
            rows = list(self._rows(metastore))
        except ForklakeError as reason:
            words = f"It could not be checked: {reason.message}"
            yield Finding(self.name, self.weight, words, reason.remedy)
            return
        for row in islice(rows, _MOST):
            yield self._finding(self.words.format(*row), row)
        if len(rows) > _MOST:
            yield self._finding(f"The same of {len(rows) - _MOST:,} more.", rows[_MOST])

    def _rows(self, metastore: Metastore) -> Found:
        if not isinstance(self.find, str):
            return self.find(metastore, self.limits)
        with metastore.database.reading() as connection:
            return connection.fetch(self.find, **self.limits)

    def _finding(self, words: str, row: Sequence[Any]) -> Finding:
        return Finding(self.name, self.weight, words, self.remedy.format(*row))
