"""Rows of the new catalog: collected with local ids, then written with final ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, field
from typing import Any

from forklake.maintenance.ducklake.id_map import Interval
from forklake.model.children import Child
from forklake.model.entities import Column, Row
from forklake.model.ids import ENTITY_ID_COLUMNS, FILE_ID_COLUMNS, CatalogId
from forklake.model.kinds import DEFINITIONS, KIND_OF
from forklake.store.operations import Insert, Values

_SNAPSHOT_COLUMNS = frozenset({"begin_snapshot", "end_snapshot"})


@dataclass(slots=True)
class InlinedValues:
    """Inlined rows of a table with the same columns.

    Each row holds its row id, begin, end, and its stored values in the order of the columns.
    """

    table_id: int
    seen: Interval  # of the table
    columns: tuple[Column, ...]
    rows: list[Values] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FinalIds:
    """Translation of local ids to final ids."""

    catalog_id: CatalogId
    snapshots: list[int]
    entities: list[int]
    files: list[int]

    def snapshot(self, position: int | None) -> int | None:
        """Return the id of a snapshot by its position."""
        return None if position is None else self.snapshots[position]

    def entity(self, number: int | None) -> Any:
        """Return the id of a schema, table, view, macro or partitioning."""
        return number if number is None or number >= 0 else self.entities[-number - 1]

    def file(self, number: int | None) -> Any:
        """Return the id of a file or name mapping."""
        return number if number is None or number >= 0 else self.files[-number - 1]

    def translator_of(self, column: str) -> Callable[[Any], Any] | None:
        """Return the function that translates values of a column, or None."""
        if column == "catalog_id":
            return lambda _: self.catalog_id
        if column in _SNAPSHOT_COLUMNS:
            return self.snapshot
        if column in ENTITY_ID_COLUMNS:
            return self.entity
        return self.file if column in FILE_ID_COLUMNS else None


@dataclass(slots=True)
class ImportedRows:
    """All rows of the new catalog, by table."""

    rows: dict[str, tuple[tuple[str, ...], list[Values]]] = field(default_factory=dict)
    inlined: list[InlinedValues] = field(default_factory=list)
    # Positions of the snapshots that changed definitions.
    defined: set[int] = field(default_factory=set)

    def add(self, row: Row, end: int | None) -> None:
        """Add a versioned row; its begin and end are positions in the list of snapshots."""
        kind = KIND_OF[type(row)]
        if kind in DEFINITIONS:
            self.defined |= {row.begin_snapshot} if end is None else {row.begin_snapshot, end}
        self._rows_of(kind.name, (*kind.columns, "end_snapshot")).append((*astuple(row), end))

    def add_child(self, child: Child) -> None:
        """Add an immutable row."""
        self._rows_of(child.NAME, child.columns()).append(astuple(child))

    def _rows_of(self, table: str, columns: tuple[str, ...]) -> list[Values]:
        return self.rows.setdefault(table, (columns, []))[1]

    def inserts(self, final: FinalIds) -> Iterator[Insert]:
        """Yield the inserts of all rows except inlined ones, with final ids."""
        for table, (columns, rows) in self.rows.items():
            translators = [
                (position, translate)
                for position, column in enumerate(columns)
                if (translate := final.translator_of(column)) is not None
            ]
            yield Insert(table, columns, [_with_final_ids(row, translators) for row in rows])


def _with_final_ids(row: Values, translators: list[tuple[int, Callable[[Any], Any]]]) -> Values:
    values = list(row)
    for position, translate in translators:
        values[position] = translate(values[position])
    return tuple(values)
