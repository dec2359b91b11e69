"""Kinds of versioned rows: one table of where each kind is stored and what identifies a row.

A fork ends an inherited row by writing a tombstone that identifies it: its kind, the table (or
object) that it belongs to, its id and, for tags and options, its key. Two further kinds of
tombstones end many rows at once: all inherited files of a table, or everything that belongs to it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from forklake.model import entities as e

# Kinds of tombstones that end many rows.
ALL_FILES = 101
ALL_CONTENT = 102


@dataclass(frozen=True)
class Kind:
    """A versioned table: its rows, and the columns that identify them.

    Args:
        code: number of the kind in tombstones.
        name: name of the table in the metadata database.
        row: class of its rows.
        identity: columns that identify one row at any snapshot.
        scope: column with the table or object that a row belongs to.
        entity: column with the id within the scope.
        text: column with a further text part of the id.
        is_content: whether truncating the table ends these rows.
        is_definition: whether the rows belong to the definitions of a catalog, not to its data.
    """

    code: int
    name: str
    row: type[e.Row]
    identity: tuple[str, ...]
    scope: str | None = None
    entity: str | None = None
    text: str | None = None
    is_content: bool = False
    is_definition: bool = True

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that are read and written."""
        return tuple(field.name for field in fields(self.row))

    def identify(self, row: e.Row) -> tuple[Any, ...]:
        """Return the identity of a row."""
        return tuple(getattr(row, column) for column in self.identity)

    def tombstone_key(self, row: e.Row) -> tuple[int, int, str]:
        """Return the scope, entity and text that a tombstone for the row contains."""
        return (
            getattr(row, self.scope) if self.scope else 0,
            getattr(row, self.entity) if self.entity else 0,
            getattr(row, self.text) if self.text else "",
        )


SCHEMA = Kind(1, "ducklake_schema", e.Schema, ("schema_id",), entity="schema_id")
TABLE = Kind(2, "ducklake_table", e.Table, ("table_id",), entity="table_id")
COLUMN = Kind(
    3, "ducklake_column", e.Column, ("table_id", "column_id"), scope="table_id", entity="column_id"
)
VIEW = Kind(4, "ducklake_view", e.View, ("view_id",), entity="view_id")
MACRO = Kind(5, "ducklake_macro", e.Macro, ("macro_id",), entity="macro_id")
TAG = Kind(6, "ducklake_tag", e.Tag, ("object_id", "key"), scope="object_id", text="key")
COLUMN_TAG = Kind(
    7,
    "ducklake_column_tag",
    e.ColumnTag,
    ("table_id", "column_id", "key"),
    scope="table_id",
    entity="column_id",
    text="key",
)
PARTITION = Kind(
    8,
    "ducklake_partition_info",
    e.Partition,
    ("partition_id",),
    scope="table_id",
    entity="partition_id",
)
OPTION = Kind(9, "ducklake_metadata", e.Option, ("scope_id", "key"), scope="scope_id", text="key")
INLINED_TABLE = Kind(
    10,
    "ducklake_inlined_data_tables",
    e.InlinedTable,
    ("table_id", "schema_version"),
    scope="table_id",
    entity="schema_version",
    is_definition=False,
)
DATA_FILE = Kind(
    11,
    "ducklake_data_file",
    e.DataFile,
    ("table_id", "data_file_id"),
    scope="table_id",
    entity="data_file_id",
    is_content=True,
    is_definition=False,
)
DELETE_FILE = Kind(
    12,
    "ducklake_delete_file",
    e.DeleteFile,
    ("table_id", "delete_file_id"),
    scope="table_id",
    entity="delete_file_id",
    is_content=True,
    is_definition=False,
)
TABLE_STATISTICS = Kind(
    13,
    "ducklake_table_stats",
    e.TableStatistics,
    ("table_id",),
    scope="table_id",
    is_definition=False,
)
COLUMN_STATISTICS = Kind(
    14,
    "ducklake_table_column_stats",
    e.ColumnStatistics,
    ("table_id", "column_id"),
    scope="table_id",
    entity="column_id",
    is_content=True,
    is_definition=False,
)
INLINED_DELETE = Kind(
    15,
    "ducklake_inlined_delete",
    e.InlinedDelete,
    ("table_id", "data_file_id", "row_position"),
    scope="table_id",
    entity="data_file_id",  # the deletes of one file in one snapshot are ended together
    is_content=True,
    is_definition=False,
)
# Rows in the tables that INLINED_TABLE lists, each of which has other columns.
INLINED_ROW = Kind(
    16,
    "",
    e.InlinedRow,
    ("table_id", "row_id"),
    scope="table_id",
    entity="row_id",
    is_content=True,
    is_definition=False,
)
DELTA_TABLE = Kind(17, "dl_tables", e.DeltaTable, ("table_id",), scope="table_id")
DELTA_VERSION = Kind(
    18,
    "dl_table_versions",
    e.DeltaVersion,
    ("table_id", "version"),
    scope="table_id",
    is_definition=False,
)
DELTA_ACTION = Kind(
    19,
    "dl_actions",
    e.DeltaAction,
    ("table_id", "version", "kind", "key"),
    scope="table_id",
    entity="version",
    text="key",
    is_definition=False,
)

KINDS: tuple[Kind, ...] = (
    SCHEMA,
    TABLE,
    COLUMN,
    VIEW,
    MACRO,
    TAG,
    COLUMN_TAG,
    PARTITION,
    OPTION,
    INLINED_TABLE,
    DATA_FILE,
    DELETE_FILE,
    TABLE_STATISTICS,
    COLUMN_STATISTICS,
    INLINED_DELETE,
    DELTA_TABLE,
    DELTA_VERSION,
    DELTA_ACTION,
)
# Kinds that truncating a table ends, and kinds that dropping it ends.
CONTENT = tuple(kind for kind in KINDS if kind.is_content)
BENEATH_TABLE = tuple(kind for kind in KINDS if kind.scope)
DEFINITIONS = tuple(kind for kind in KINDS if kind.is_definition)
KIND_OF: dict[type[e.Row], Kind] = {kind.row: kind for kind in KINDS}
