"""Rows that live in the metastore: their tables, and how values are stored in them.

One table holds the rows of a lake table for one shape of its columns, whichever catalog wrote them.
The shape is a number made of the columns' ids and types, so that forks which alter the same table
in different ways never meet in one table, and those that do not, do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from forklake.errors import InvalidInput
from forklake.model.entities import Column, InlinedRow, InlinedTable
from forklake.model.ids import CatalogId, ColumnId, SnapshotId, TableId
from forklake.model.kinds import INLINED_ROW
from forklake.store.database import Connection
from forklake.store.operations import Statement
from forklake.store.visibility import visible_rows

_KEYS = ("catalog_id", "table_id", "row_id", "begin_snapshot")


def table_name(table_id: TableId, shape: int) -> str:
    """The name of the table for one shape."""
    return f"ducklake_inlined_data_{int(table_id)}_{int(shape)}"


def shape_of(columns: Iterable[Column]) -> int:
    """The number of a set of top-level columns."""
    text = ",".join(sorted(f"{column.column_id}:{column.column_type}" for column in columns))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def create_statement(connection: Connection, name: str, columns: Iterable[Column]) -> Statement:
    """CREATE TABLE for the top-level columns of a lake table, the only one not in a schema file.

    Columns are named by id, which a rename does not change.
    """
    declared = "".join(
        f", c{int(column.column_id)} {connection.dialect.column_type(column.column_type)}"
        for column in columns
    )
    return Statement(
        f"CREATE TABLE IF NOT EXISTS {name} (catalog_id BIGINT NOT NULL, table_id BIGINT NOT NULL,"
        " row_id BIGINT NOT NULL, begin_snapshot BIGINT NOT NULL, end_snapshot BIGINT"
        f"{declared}, PRIMARY KEY (catalog_id, row_id, begin_snapshot))"
    )


def stored_columns(columns: Iterable[Column]) -> tuple[str, ...]:
    """The columns under which rows are inserted."""
    return (*_KEYS, *(f"c{int(column.column_id)}" for column in columns))


def row_columns(connection: Connection, name: str) -> tuple[str, ...]:
    """The columns of such a table, without the end of its rows."""
    return tuple(column for column in connection.columns_of(name) if column != "end_snapshot")


def read_rows(
    connection: Connection,
    catalog_id: CatalogId,
    snapshot_id: SnapshotId,
    tables: Iterable[InlinedTable],
    types: Mapping[ColumnId, str],
) -> list[InlinedRow]:
    """The visible rows of a lake table, by row id."""
    found: list[InlinedRow] = []
    for table in tables:
        columns = row_columns(connection, table.table_name)
        text = visible_rows(
            INLINED_ROW, connection.dialect, columns=columns, scoped=True, table=table.table_name
        )
        parameters = {"catalog": catalog_id, "snapshot": snapshot_id, "scope": table.table_id}
        ids = [ColumnId(int(name[1:])) for name in columns[len(_KEYS) :]]
        for owner, table_id, row_id, begin, *values in connection.fetch(text, **parameters):
            known = {
                column_id: from_stored(types[column_id], value)
                for column_id, value in zip(ids, values, strict=True)
                if column_id in types
            }
            found.append(
                InlinedRow(
                    catalog_id=owner,
                    begin_snapshot=begin,
                    table_id=table_id,
                    row_id=row_id,
                    stored_in=table.table_name,
                    values=known,
                )
            )
    return sorted(found, key=lambda row: row.row_id)


_AS_IS = {"boolean", "blob", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"}
_PARSERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "uint": int,
    "float": float,
    "decimal": Decimal,
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "time": time.fromisoformat,
    "struct": json.loads,
    "list": json.loads,
    "map": json.loads,
}


def to_stored(column_type: str, value: Any) -> Any:
    """The value as it is stored: numbers, truth and bytes as such, everything else as text."""
    if value is None or column_type in _AS_IS:
        return value
    if column_type in {"struct", "list", "map"}:
        try:
            return json.dumps(value)
        except TypeError as reason:
            raise InvalidInput(
                f"A nested value cannot be kept in the metastore: {reason}.",
                remedy="Write it to a data file.",
            ) from None
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    return repr(value) if isinstance(value, float) else str(value)


def from_stored(column_type: str, stored: Any) -> Any:
    """The value that was stored."""
    if stored is None or column_type in _AS_IS:
        return stored
    parsers = (parse for prefix, parse in _PARSERS.items() if column_type.startswith(prefix))
    return next(parsers, str)(stored)
