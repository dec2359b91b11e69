"""Rules of a table: conditions that every row fulfills, and operations on rows that are refused.

They come from the system that created the table. A table stores them as one text, which forks of
its catalog inherit. Expressions are Spark SQL over column names, so a column that an expression
uses can neither be renamed nor dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from forklake.model.changes import ChangeKind
from forklake.model.names import folded

_WRITES = frozenset({ChangeKind.INSERTED, ChangeKind.INLINED_INSERT})
_ENDS = frozenset({ChangeKind.DELETED, ChangeKind.INLINED_DELETE})


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that must be true for every row; NULL counts as false.

    `name` names the kind of the condition and the condition itself, for messages.
    """

    name: str
    expression: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Generated:
    """A column whose values are computed from other columns."""

    name: str
    expression: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one table.

    Args:
        no_writes: why no row can be inserted or updated; None if rows can be.
        no_ends: why no row can be deleted or updated; None if rows can be.
    """

    checks: tuple[Check, ...] = ()
    generated: tuple[Generated, ...] = ()
    no_writes: str | None = None
    no_ends: str | None = None

    @property
    def concern_rows(self) -> bool:
        """Whether rows must be checked when they are written."""
        return bool(self.checks or self.generated)

    def of_column(self, name: str) -> Generated | None:
        """Return the rule that computes a column; None if the column is not generated."""
        found = (one for one in self.generated if folded(one.name) == folded(name))
        return next(found, None)

    def naming(self, column: str) -> Iterator[Check | Generated]:
        """Yield the rules that refer to a column by its current name."""
        wanted = folded(column)
        yield from (one for one in self.checks if wanted in map(folded, one.columns))
        for one in self.generated:
            if wanted in map(folded, (one.name, *one.columns)):
                yield one

    def why_not(self, kinds: Iterable[ChangeKind]) -> str | None:
        """Return why a commit cannot make such changes to the table; None if it can."""
        made = set(kinds)
        if self.no_ends is not None and made & _ENDS:
            return self.no_ends
        return self.no_writes if made & _WRITES else None


NO_RULES = Rules()


def to_text(rules: Rules) -> str:
    """Encode rules as the text that a table stores."""
    return json.dumps(asdict(rules), sort_keys=True)


def from_text(text: str) -> Rules:
    """Decode rules from the text that a table stores."""
    found: dict[str, Any] = json.loads(text)
    checks = tuple(Check(**_listed(one)) for one in found.pop("checks"))
    generated = tuple(Generated(**_listed(one)) for one in found.pop("generated"))
    return Rules(checks, generated, **found)


def _listed(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {**rule, "columns": tuple(rule["columns"])}
