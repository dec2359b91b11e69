"""Checks and findings: each row that a query or function returns is one finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Any

from forklake.errors import ForklakeError

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore

# Maximum findings of one check that are listed individually.
_MOST = 20
Limits = Mapping[str, int | float]
Found = Iterable[Sequence[Any]]


class Weight(Enum):
    """Severity of a finding."""

    SERIOUS = "serious"  # data or the service is at risk
    ADVICE = "advice"  # works, but can be improved


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that a check found, and its remedy."""

    check: str
    weight: Weight
    words: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Check:
    """A query of a metastore that returns a row for each problem.

    Args:
        find: SQL with the limits as parameters, or a function of metastore and limits.
        words: description of the problem; `{0}` … stand for the columns of a row.
        remedy: solution of the problem, with the same placeholders.
    """

    name: str
    weight: Weight
    find: str | Callable[[Metastore, Limits], Found]
    words: str
    remedy: str
    limits: Limits = field(default_factory=dict)

    def run(self, metastore: Metastore) -> Iterator[Finding]:
        """Yield the findings of the check. A check that fails is a finding of its severity."""
        try:
            rows = list(self._rows(metastore))
        except ForklakeError as reason:
            words = f"This check failed: {reason.message}"
            yield Finding(self.name, self.weight, words, reason.remedy)
            return
        for row in islice(rows, _MOST):
            yield self._finding(self.words.format(*row), row)
        if len(rows) > _MOST:
            yield self._finding(f"{len(rows) - _MOST:,} more of these problems.", rows[_MOST])

    def _rows(self, metastore: Metastore) -> Found:
        if not isinstance(self.find, str):
            return self.find(metastore, self.limits)
        with metastore.database.reading() as connection:
            return connection.fetch(self.find, **self.limits)

    def _finding(self, words: str, row: Sequence[Any]) -> Finding:
        return Finding(self.name, self.weight, words, self.remedy.format(*row))
