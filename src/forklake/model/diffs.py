"""Differences between two catalogs, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

LISTED = 20  # default number of rows shown for each table


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row that only one catalog has, or that differs; `before` and `after` are JSON.

    `row_id` is the id in the first catalog, or in the second one if the first does not have the
    row. It is None where rows are compared by content.
    """

    did: str
    row_id: int | None
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class TableDifference:
    """The changes of one table from the first catalog to the second.

    Args:
        did: `added`, `removed` or `changed`: what happened to the table itself.
        columns: descriptions of the differences of its columns.
        added, removed, changed: numbers of rows.
    """

    table: str
    did: str
    columns: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    changed: int = 0
    rows: tuple[RowDifference, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the table is the same in both catalogs."""
        counts = self.added or self.removed or self.changed
        return self.did == "changed" and not (self.columns or counts)


@dataclass(frozen=True, slots=True)
class Diff:
    """The changes from a first catalog to a second one.

    `is_by_row_id`: the catalogs share a lineage, so rows are matched by row id. Otherwise rows are
    compared by all columns, and no row counts as changed.
    """

    first: str
    second: str
    is_by_row_id: bool
    tables: tuple[TableDifference, ...] = ()
    definitions: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether both are the same."""
        return not (self.tables or self.definitions)

    def as_dict(self) -> dict[str, Any]:
        """Return the difference as plain values."""
        return asdict(self)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Return the difference of which `as_dict` returned these values."""
        tables = [
            TableDifference(
                **one
                | {
                    "columns": tuple(one["columns"]),
                    "rows": tuple(RowDifference(**row) for row in one["rows"]),
                }
            )
            for one in document["tables"]
        ]
        return cls(
            document["first"],
            document["second"],
            document["is_by_row_id"],
            tuple(tables),
            tuple(document["definitions"]),
        )
