"""A catalog as plain Python: dictionaries of names, copied at every commit.

The model has no notion of visibility, lineage, tombstones or ids: it is what a user expects to
see.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any


@dataclass
class ModelFile:
    """A data file and its deleted rows."""

    rows: int
    size: int
    row_id_start: int
    delete_file: tuple[str, int] | None = None
    positions: set[int] = field(default_factory=set)

    @property
    def live(self) -> int:
        """Number of rows that are not deleted."""
        return self.rows - (self.delete_file[1] if self.delete_file else 0) - len(self.positions)


@dataclass
class ModelColumn:
    """A column with all its properties."""

    type: str
    nulls_allowed: bool = True
    default: str | None = None
    initial_default: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    bounds: tuple[int, int] | None = None


@dataclass
class ModelTable:
    """A table."""

    columns: dict[str, ModelColumn]
    tags: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    partitioning: list[tuple[str, str]] = field(default_factory=list)
    files: dict[str, ModelFile] = field(default_factory=dict)
    rows: dict[int, dict[str, Any]] = field(default_factory=dict)
    next_row_id: int = 0

    def view(self) -> dict[str, Any]:
        """Return the table as a reader sees it."""
        return {
            "columns": [
                (
                    name,
                    column.type,
                    column.nulls_allowed,
                    column.default,
                    column.initial_default,
                    column.tags,
                )
                for name, column in self.columns.items()
            ],
            "tags": self.tags,
            "options": self.options,
            "partitioning": self.partitioning,
            "files": {
                path: (file.rows, file.row_id_start, file.delete_file, sorted(file.positions))
                for path, file in self.files.items()
            },
            "rows": {
                row_id: {name: row.get(name) for name in self.columns}
                for row_id, row in self.rows.items()
            },
            "statistics": (
                sum(file.live for file in self.files.values()) + len(self.rows),
                self.next_row_id,
                sum(file.size for file in self.files.values()),
            ),
            "bounds": {
                name: column.bounds
                for name, column in self.columns.items()
                if column.bounds is not None
            },
        }


@dataclass
class ModelSchema:
    """A schema."""

    tables: dict[str, ModelTable] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    macros: dict[str, list[tuple[str, list[str]]]] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)


@dataclass
class ModelState:
    """The contents of a catalog at one snapshot."""

    schemas: dict[str, ModelSchema] = field(default_factory=lambda: {"main": ModelSchema()})
    options: dict[str, str] = field(default_factory=dict)

    def view(self) -> dict[str, Any]:
        """Return the catalog as a reader sees it."""
        return {
            "options": self.options,
            "schemas": {
                name: {
                    "tables": {one: table.view() for one, table in schema.tables.items()},
                    "views": schema.views,
                    "macros": schema.macros,
                    "tags": schema.tags,
                    "options": schema.options,
                }
                for name, schema in self.schemas.items()
            },
        }


@dataclass
class ModelCatalog:
    """A catalog's name and its states, one for each readable snapshot."""

    name: str
    history: dict[int, ModelState] = field(default_factory=dict)

    @property
    def head(self) -> int:
        """The newest snapshot."""
        return max(self.history)

    @property
    def now(self) -> ModelState:
        """The newest state."""
        return self.history[self.head]

    def draft(self) -> ModelState:
        """Return a copy of the newest state, to be changed."""
        return deepcopy(self.now)

    def forked(self, name: str, at: int, snapshot: int) -> ModelCatalog:
        """Return a fork with the history up to a snapshot, whose state is its first own one."""
        history = {one: state for one, state in self.history.items() if one <= at}
        history[snapshot] = deepcopy(self.history[at])
        return ModelCatalog(name, history)
