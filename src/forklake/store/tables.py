"""Full reads of the metastore's tables, for users who query them directly."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from forklake.store.database import Connection, Database
from forklake.store.times import as_time

# The schema of a shared database may contain tables of other programs, which are left out.
_OURS = re.compile(r"(ducklake|dl)_[a-z0-9_]+")
_TIME = pa.timestamp("us", "UTC")
# Arrow types by the first word of a column's type; all others are text.
_TYPES = {
    "smallint": pa.int64(),
    "int": pa.int64(),
    "integer": pa.int64(),
    "bigint": pa.int64(),
    "boolean": pa.bool_(),
    "tinyint": pa.bool_(),  # MySQL, which uses it for booleans only
    "bytea": pa.binary(),
    "blob": pa.binary(),
    "longblob": pa.binary(),
    "timestamp": _TIME,
    "timestamptz": _TIME,
    "datetime": _TIME,
}
# SQLite has no types for computed columns of views, and MySQL others. These columns are not text.
_COMPUTED = dict.fromkeys(
    """base_row_id created_time default_row_commit_version delete_file_id deletion_timestamp
    last_updated min_reader_version min_writer_version modification_time txn_version""".split(),
    pa.int64(),
) | {"data_change": pa.bool_()}


def table_names(database: Database) -> list[str]:
    """Return the tables and views of the metastore, those of inlined rows included."""
    with database.reading() as connection:
        return sorted(_schemas(connection))


def read_table(database: Database, name: str) -> pa.Table | None:
    """Return all rows of a table of the metastore, of all catalogs, or None if it is unknown."""
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
