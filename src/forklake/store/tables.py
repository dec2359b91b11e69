"""The tables of the metastore themselves, read whole, for those who query them directly."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from forklake.store.database import Connection, Database
from forklake.store.times import as_time

# The schema of a shared database may hold tables of others, which are none of our business.
_OURS = re.compile(r"(ducklake|dl)_[a-z0-9_]+")
_TIME = pa.timestamp("us", "UTC")
# What a column holds, by the first word of its type; all others hold text.
_TYPES = {
    "smallint": pa.int64(),
    "int": pa.int64(),
    "integer": pa.int64(),
    "bigint": pa.int64(),
    "boolean": pa.bool_(),
    "tinyint": pa.bool_(),  # of MySQL, for truth values alone
    "bytea": pa.binary(),
    "blob": pa.binary(),
    "longblob": pa.binary(),
    "timestamp": _TIME,
    "timestamptz": _TIME,
    "datetime": _TIME,
}
# SQLite knows no types of what views compute, and MySQL others; these columns hold no text.
_COMPUTED = dict.fromkeys(
    """base_row_id created_time default_row_commit_version delete_file_id deletion_timestamp
    last_updated min_reader_version min_writer_version modification_time txn_version""".split(),
    pa.int64(),
) | {"data_change": pa.bool_()}


def table_names(database: Database) -> list[str]:
    """The tables and views of the metastore, those of inlined rows included."""
    with database.reading() as connection:
        return sorted(_schemas(connection))


def read_table(database: Database, name: str) -> pa.Table | None:
    """All rows of a table of the metastore, whichever catalogs they belong to."""
    with database.reading() as connection:
        schema = _schemas(connection).get(name)
        if schema is None:
            return None
        time = connection.dialect.time
        shown = [time(one.name) if one.type == _TIME else one.name for one in schema]
        rows = connection.fetch(f"SELECT {', '.join(shown)} FROM {name}")
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [_array(kind, values) for kind, values in zip(schema.types, columns, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _schemas(connection: Connection) -> dict[str, pa.Schema]:
    fields: dict[str, list[pa.Field]] = {}
    for table, column, kind in connection.fetch(connection.dialect.every_column):
        known = _TYPES.get(kind.lower().split(" ", 1)[0], pa.string())
        held = _COMPUTED.get(column, known)
        fields.setdefault(table, []).append(pa.field(column, held))
    return {
        table: pa.schema(columns) for table, columns in fields.items() if _OURS.fullmatch(table)
    }


def _array(kind: pa.DataType, values: Any) -> pa.Array:
    if kind == _TIME:
        values = [None if value is None else as_time(value) for value in values]
    elif kind == pa.bool_():
        values = [None if value is None else bool(value) for value in values]
    return pa.array(values, kind)
