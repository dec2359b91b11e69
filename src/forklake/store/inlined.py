"""Inlined rows: the metastore tables that hold them, and how values are stored in them.

One table holds the rows of a lake table for one shape of its columns, whichever catalog wrote them.
The shape is a hash of the columns' ids and types. So forks that alter the same table in different
ways write to different tables, and forks that do not, share one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from forklake.model.entities import Column, InlinedRow, InlinedTable
from forklake.model.fields import Field
from forklake.model.ids import CatalogId, ColumnId, SnapshotId, TableId
from forklake.model.inlined_values import from_stored, initial_value, to_stored
from forklake.model.kinds import INLINED_ROW
from forklake.store.database import Connection
from forklake.store.operations import Statement
from forklake.store.visibility import CHANGED, table_history, visible_rows

__all__ = [
    "create_statement",
    "read_changed_rows",
    "read_rows",
    "row_columns",
    "shape_of",
    "stored_columns",
    "table_name",
    "to_stored",
]
_KEYS = ("catalog_id", "table_id", "row_id", "begin_snapshot")


def table_name(table_id: TableId, shape: int) -> str:
    """Return the name of the metastore table for one shape."""
    return f"ducklake_inlined_data_{int(table_id)}_{int(shape)}"


def shape_of(columns: Iterable[Column]) -> int:
    """Return the hash of a set of top-level columns."""
    text = ",".join(sorted(f"{column.column_id}:{column.column_type}" for column in columns))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def create_statement(connection: Connection, name: str, columns: Iterable[Column]) -> Statement:
    """Return the CREATE TABLE for a lake table, the only one that is not in a schema file.

    Columns are named by id, which a rename does not change.
    """
    kinds = connection.dialect.column_type
    return declared_statement(
        name, [(f"c{int(column.column_id)}", kinds(column.column_type)) for column in columns]
    )


def declared_statement(name: str, columns: Iterable[tuple[str, str]]) -> Statement:
    """Return the CREATE TABLE for columns with given types of the metastore."""
    declared = "".join(f", {column} {kind}" for column, kind in columns)
    return Statement(
        f"CREATE TABLE IF NOT EXISTS {name} (catalog_id BIGINT NOT NULL, table_id BIGINT NOT NULL,"
        " row_id BIGINT NOT NULL, begin_snapshot BIGINT NOT NULL, end_snapshot BIGINT"
        f"{declared}, PRIMARY KEY (catalog_id, row_id, begin_snapshot))"
    )


def stored_columns(columns: Iterable[Column]) -> tuple[str, ...]:
    """Return the columns of an INSERT of rows."""
    return (*_KEYS, *(f"c{int(column.column_id)}" for column in columns))


def row_columns(connection: Connection, name: str) -> tuple[str, ...]:
    """Return the columns of a table of inlined rows, without end_snapshot."""
    return tuple(column for column in connection.columns_of(name) if column != "end_snapshot")


def read_rows(
    connection: Connection,
    catalog_id: CatalogId,
    snapshot_id: SnapshotId,
    tables: Iterable[InlinedTable],
    fields: Sequence[Field],
) -> list[InlinedRow]:
    """Return the visible rows of a lake table, by row id, with a value for each of its columns."""
    found: list[InlinedRow] = []
    for table in tables:
        columns = row_columns(connection, table.table_name)
        text = visible_rows(
            INLINED_ROW, connection.dialect, columns=columns, scoped=True, table=table.table_name
        )
        parameters = {"catalog": catalog_id, "snapshot": snapshot_id, "scope": table.table_id}
        make = _row_maker(table, columns, fields)
        found += [make(row) for row in connection.fetch(text, **parameters)]
    return sorted(found, key=lambda row: row.row_id)


def read_changed_rows(
    connection: Connection,
    parameters: Mapping[str, Any],
    tables: Iterable[InlinedTable],
    fields: Sequence[Field],
) -> list[tuple[InlinedRow, SnapshotId | None]]:
    """Return the rows that began or ended from :start to :snapshot, with their end snapshots."""
    found: list[tuple[InlinedRow, SnapshotId | None]] = []
    for table in tables:
        columns = row_columns(connection, table.table_name)
        text = table_history(
            INLINED_ROW, connection.dialect, columns, where=CHANGED, table=table.table_name
        )
        make = _row_maker(table, columns, fields)
        for *row, ended in connection.fetch(text, **parameters):
            found.append((make(row), ended))
    return sorted(found, key=lambda one: (one[0].begin_snapshot, one[0].row_id))


def _row_maker(
    table: InlinedTable, columns: Sequence[str], fields: Sequence[Field]
) -> Callable[[Sequence[Any]], InlinedRow]:
    """Return a function that converts rows of a metastore table to rows of the lake table."""
    ids = [ColumnId(int(name[1:])) for name in columns[len(_KEYS) :]]
    missing = {field.column_id: initial_value(field) for field in fields}
    known = {field.column_id: field for field in fields}

    def made(row: Sequence[Any]) -> InlinedRow:
        owner, table_id, row_id, begin, *values = row
        stored = {
            column_id: from_stored(known[column_id], value)
            for column_id, value in zip(ids, values, strict=True)
            if column_id in known
        }
        return InlinedRow(
            catalog_id=owner,
            begin_snapshot=begin,
            table_id=table_id,
            row_id=row_id,
            stored_in=table.table_name,
            values=missing | stored,
        )

    return made
