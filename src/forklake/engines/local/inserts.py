"""Inserts with Arrow: few rows are inlined in the metastore, more are written to files."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from forklake.engines.arrow_types import arrow_type
from forklake.engines.changes import PendingChange
from forklake.engines.local.conform import Rows, conformed, retyped
from forklake.engines.targets import ParquetOptions, Target, described
from forklake.errors import InvalidInput
from forklake.files import keys
from forklake.files.footers import decryption, encryption, node_paths
from forklake.files.systems import make_folder, open_input, remove, write
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.files import ROW_ID
from forklake.store.phases import reached

_WIDE = frozenset({"uint64", "int128", "uint128"})
_FLOATS = frozenset({"float32", "float64"})
_FIELD_ID = "PARQUET:field_id"
_REPEATED = re.compile(r"\.(list\.element|key_value\.(key|value))(\.|$)")


# Inserting


def insert(change: PendingChange, target: Target, rows: Rows) -> int:
    """Insert rows into a table without rules for rows, and return their number."""
    fitting = conformed(rows, target.fields, target.table.table_name)
    if 0 < fitting.num_rows <= target.inlined_rows:
        return _inline_rows(change, target.table, target.fields, fitting)
    if fitting.num_rows:
        _write_files(change, target, fitting)
    return int(fitting.num_rows)


def insert_physical(change: PendingChange, table: Table, rows: pa.Table) -> int:
    """Inline rows that have physical column names, as in a data file, with their row ids."""
    fields = change.transaction.state.fields(table)
    arrays = [retyped(rows.column(field.physical_name), arrow_type(field)) for field in fields]
    named = pa.table(arrays, names=[field.name for field in fields])
    row_ids = rows.column(ROW_ID).to_pylist() if ROW_ID in rows.column_names else ()
    return _inline_rows(change, table, fields, named, row_ids)


def moved_inline(
    change: PendingChange, target: Target, paths: Sequence[str], job_key: keys.Key | None
) -> int:
    """Move rows from new files to the metastore, because they turned out to be few."""
    count = 0
    for path in paths:
        key = keys.derived_key(job_key, path) if job_key else None
        with open_input(path) as opened:
            rows = pq.ParquetFile(opened, decryption_properties=decryption(key)).read()
        count += insert_physical(change, target.table, rows)
    remove(paths)
    return count


def _inline_rows(
    change: PendingChange,
    table: Table,
    fields: Sequence[Field],
    rows: pa.Table,
    row_ids: Sequence[int | None] = (),
) -> int:
    """Inline rows in the metastore, as Python values."""
    try:
        found = rows.to_pylist()
    except (ValueError, OverflowError) as reason:
        raise InvalidInput(
            f"A row for table '{table.table_name}' cannot be inlined in the metastore: {reason}.",
            remedy="Set data_inlining_row_limit to 0 for this table.",
        ) from None
    wide = [field for field in fields if _is_wide(field)]
    for row in found:
        row.update({field.name: _to_integers(row[field.name], field) for field in wide})
    return change.transaction.insert_rows(table, found, row_ids)


def _is_wide(field: Field) -> bool:
    """Return whether a field contains integers that Arrow represents as decimals."""
    return field.type in _WIDE or any(_is_wide(part) for part in field.fields)


def _to_integers(value: Any, field: Field) -> Any:
    match field.type, value:
        case _, None:
            return None
        case "struct", dict():
            return {part.name: _to_integers(value[part.name], part) for part in field.fields}
        case "list", list():
            return [_to_integers(item, field.fields[0]) for item in value]
        case "map", list():
            key, held = field.fields
            return [(_to_integers(one, key), _to_integers(other, held)) for one, other in value]
    return int(value) if field.type in _WIDE else value


# Files


def _write_files(change: PendingChange, target: Target, rows: pa.Table) -> None:
    """Write rows to one file per partition, in this process."""
    held = pa.table(
        [retyped(rows.column(field.name), _file_type(field)) for field in target.fields],
        schema=file_schema(target.fields),
    )
    parts = [("", held)]
    if target.partitioning is not None:
        parts = list(target.partitioning.split(held))
    job_key = keys.new_key() if target.is_encrypted else None
    paths = []
    reached("write.started")
    for folder, part in parts:
        inside = target.folder + (folder if target.has_folders else "")
        make_folder(inside)
        paths.append(f"{inside}ducklake-{uuid.uuid4()}.parquet")
        change.wrote(paths[-1:])
        write(paths[-1], _parquet(part, target, paths[-1], job_key))
    reached("write.files")
    files = described(target, paths, job_key)
    reached("write.footers")
    change.transaction.add_data_files(target.table, files)


def _parquet(rows: pa.Table, target: Target, path: str, job_key: keys.Key | None) -> pa.Buffer:
    options, sink = target.parquet(), pa.BufferOutputStream()
    pq.write_table(
        rows,
        sink,
        row_group_size=options.row_group_rows,
        encryption_properties=encryption(keys.derived_key(job_key, path) if job_key else None),
        **parquet_settings(options, target.fields),
    )
    return sink.getvalue()


def parquet_settings(options: ParquetOptions, fields: Sequence[Field]) -> dict[str, Any]:
    """Return the settings of the Arrow Parquet writer."""
    leaves = [(path, one.type) for path, one in node_paths(fields) if not one.fields]
    floats = {path for path, kind in leaves if kind in _FLOATS}
    repeated = {path for path, _ in leaves if _REPEATED.search(path)}
    return {
        # Arrow silently ignores NaN in bounds: readers would skip rows with NaN.
        "write_statistics": [path for path, _ in leaves if path not in floats],
        # Spark decodes the values of nulls inside of lists and maps too, and fails if a row group
        # has no value: the dictionary is empty then.
        "use_dictionary": [path for path, _ in leaves if path not in repeated],
        "version": "2.6" if options.version == 2 else "1.0",
        "data_page_version": f"{options.version}.0",
        "compression": {"uncompressed": "none", "lz4_raw": "lz4"}.get(options.codec, options.codec),
        "compression_level": options.level,
        "store_schema": False,
        "store_decimal_as_integer": True,  # as Spark does
    }


def file_schema(fields: Sequence[Field]) -> pa.Schema:
    """Return the schema of a file: the columns under their physical names, with field ids."""
    return pa.schema([_file_field(field) for field in fields])


def _file_type(field: Field) -> pa.DataType:
    """Return the Arrow type of a column inside a file: with physical names and field ids."""
    match field.type, [_file_field(part) for part in field.fields]:
        case "struct", parts:
            return pa.struct(parts)
        case "list", [element]:
            return pa.list_(element.with_name("element"))
        case "map", [key, value]:
            return pa.map_(key.with_name("key").with_nullable(False), value.with_name("value"))
        case "time", _:
            return pa.time64("us")
        case _:
            return arrow_type(field)


def _file_field(field: Field) -> pa.Field:
    return pa.field(
        field.physical_name, _file_type(field), metadata={_FIELD_ID: str(int(field.column_id))}
    )
