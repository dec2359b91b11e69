"""Rules: what every row of a table fulfils, and what is not done to its rows at all.

A table gets them from the system that made it. A table keeps them as one text, and every fork of
its catalog with it. Expressions are Spark's, over the columns by their names, so a column that one
of them names is neither renamed nor dropped.
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
    """A condition that is true for every row; where it is null, it is not true.

    `name` says what kind of condition it is, and which one.
    """

    name: str
    expression: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Generated:
    """A column whose values follow from those of other columns."""

    name: str
    expression: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one table.

    Args:
        no_writes: why no row can be written, if none can: neither a new one nor a changed one.
        no_ends: why no row may be deleted or changed, if none may.
    """

    checks: tuple[Check, ...] = ()
    generated: tuple[Generated, ...] = ()
    no_writes: str | None = None
    no_ends: str | None = None

    @property
    def concern_rows(self) -> bool:
        """Whether rows that are written must be looked at."""
        return bool(self.checks or self.generated)

    def of_column(self, name: str) -> Generated | None:
        """How a column is computed, if it is."""
        found = (one for one in self.generated if folded(one.name) == folded(name))
        return next(found, None)

    def naming(self, column: str) -> Iterator[Check | Generated]:
        """The rules that need a column under the name that it has."""
        wanted = folded(column)
        yield from (one for one in self.checks if wanted in map(folded, one.columns))
        for one in self.generated:
            if wanted in map(folded, (one.name, *one.columns)):
                yield one

    def why_not(self, kinds: Iterable[ChangeKind]) -> str | None:
        """What keeps a commit from making such changes to the table, if anything does."""
        made = set(kinds)
        if self.no_ends is not None and made & _ENDS:
            return self.no_ends
        return self.no_writes if made & _WRITES else None


NO_RULES = Rules()


def to_text(rules: Rules) -> str:
    """Rules as a table keeps them."""
    return json.dumps(asdict(rules), sort_keys=True)


def from_text(text: str) -> Rules:
    """The rules that a table keeps."""
    found: dict[str, Any] = json.loads(text)
    checks = tuple(Check(**_listed(one)) for one in found.pop("checks"))
    generated = tuple(Generated(**_listed(one)) for one in found.pop("generated"))
    return Rules(checks, generated, **found)


def _listed(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {**rule, "columns": tuple(rule["columns"])}
