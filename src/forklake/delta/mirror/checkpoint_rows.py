"""Rows of a checkpoint: conversion of columns of many files to actions, one action for each row.

A checkpoint has one column for each kind of action, and all but one are null in each row. Files
come as flat columns, as the database returns them, and are converted without a loop over rows. The
few other actions come as values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forklake.errors import InvalidInput

_TEXTS = pa.map_(pa.string(), pa.string())
_NAMES = pa.list_(pa.string())


def _required_field(name: str, type: pa.DataType) -> pa.Field:
    return pa.field(name, type, nullable=False)


_VECTOR_COLUMNS = [
    pa.field("dv_storage_type", pa.string()),  # null: the file has no deletion vector
    pa.field("dv_path_or_inline", pa.string()),
    pa.field("dv_offset", pa.int32()),
    pa.field("dv_size_in_bytes", pa.int32()),
    pa.field("dv_cardinality", pa.int64()),
]
_ROW_ID_COLUMNS = [
    pa.field("base_row_id", pa.int64()),
    pa.field("default_row_commit_version", pa.int64()),
]
# Columns of live files. Nullable columns may be missing.
FILES = pa.schema(
    [
        _required_field("path", pa.string()),
        _required_field("partition_values", _TEXTS),
        _required_field("size", pa.int64()),
        _required_field("modification_time", pa.int64()),
        pa.field("stats", pa.string()),
        pa.field("tags", _TEXTS),
        *_VECTOR_COLUMNS,
        *_ROW_ID_COLUMNS,
        pa.field("clustering_provider", pa.string()),
    ]
)
# Columns of removed files.
TOMBSTONES = pa.schema(
    [
        _required_field("path", pa.string()),
        pa.field("deletion_timestamp", pa.int64()),
        pa.field("partition_values", _TEXTS),
        pa.field("size", pa.int64()),
        *_VECTOR_COLUMNS,
        *_ROW_ID_COLUMNS,
    ]
)

_VECTOR = {
    "storageType": "dv_storage_type",
    "pathOrInlineDv": "dv_path_or_inline",
    "offset": "dv_offset",
    "sizeInBytes": "dv_size_in_bytes",
    "cardinality": "dv_cardinality",
}
# Fields of actions -> columns.
_ADD = {
    "path": "path",
    "partitionValues": "partition_values",
    "size": "size",
    "modificationTime": "modification_time",
    "stats": "stats",
    "tags": "tags",
    "baseRowId": "base_row_id",
    "defaultRowCommitVersion": "default_row_commit_version",
    "clusteringProvider": "clustering_provider",
}
_REMOVE = {
    "path": "path",
    "deletionTimestamp": "deletion_timestamp",
    "partitionValues": "partition_values",
    "size": "size",
    "baseRowId": "base_row_id",
    "defaultRowCommitVersion": "default_row_commit_version",
}


def _fields(columns: dict[str, str], schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return [(name, schema.field(column).type) for name, column in columns.items()]


_FILE_FIELDS = [
    ("dataChange", pa.bool_()),
    ("deletionVector", pa.struct(_fields(_VECTOR, FILES))),
]
SCHEMA = pa.schema(
    {
        "txn": pa.struct(
            [("appId", pa.string()), ("version", pa.int64()), ("lastUpdated", pa.int64())]
        ),
        "add": pa.struct(_fields(_ADD, FILES) + _FILE_FIELDS),
        "remove": pa.struct(
            [*_fields(_REMOVE, TOMBSTONES), *_FILE_FIELDS, ("extendedFileMetadata", pa.bool_())]
        ),
        "metaData": pa.struct(
            [
                ("id", pa.string()),
                ("name", pa.string()),
                ("description", pa.string()),
                ("format", pa.struct([("provider", pa.string()), ("options", _TEXTS)])),
                ("schemaString", pa.string()),
                ("partitionColumns", _NAMES),
                ("createdTime", pa.int64()),
                ("configuration", _TEXTS),
            ]
        ),
        "protocol": pa.struct(
            [
                ("minReaderVersion", pa.int32()),
                ("minWriterVersion", pa.int32()),
                ("readerFeatures", _NAMES),
                ("writerFeatures", _NAMES),
            ]
        ),
        "domainMetadata": pa.struct(
            [("domain", pa.string()), ("configuration", pa.string()), ("removed", pa.bool_())]
        ),
    }
)


def rows_of_actions(actions: Iterable[dict[str, Any]]) -> pa.RecordBatch:
    """Return rows for actions in the JSON form of the log, `{kind: body}`."""
    return pa.RecordBatch.from_pylist(list(actions), schema=SCHEMA)


def rows_of_files(files: pa.RecordBatch) -> pa.RecordBatch:
    """Return add rows for live files with the columns of `FILES`."""
    return _rows("add", _file_fields(files, _ADD, FILES))


def rows_of_tombstones(files: pa.RecordBatch) -> pa.RecordBatch:
    """Return remove rows for files with the columns of `TOMBSTONES`."""
    fields = _file_fields(files, _REMOVE, TOMBSTONES)
    is_extended = pc.and_(pc.is_valid(fields["partitionValues"]), pc.is_valid(fields["size"]))
    return _rows("remove", {**fields, "extendedFileMetadata": is_extended})


def _rows(kind: str, fields: dict[str, pa.Array]) -> pa.RecordBatch:
    """Return rows in which the column `kind` holds actions and the others are null."""
    type = SCHEMA.field(kind).type
    actions = pa.StructArray.from_arrays([fields[field.name] for field in type], fields=list(type))
    return pa.RecordBatch.from_arrays(
        [actions if field.name == kind else pa.nulls(len(actions), field.type) for field in SCHEMA],
        schema=SCHEMA,
    )


def _file_fields(
    files: pa.RecordBatch, columns: dict[str, str], schema: pa.Schema
) -> dict[str, pa.Array]:
    """Return the fields of file actions. `dataChange` is always false in a checkpoint."""
    return {
        **{name: _column(files, schema.field(column)) for name, column in columns.items()},
        "dataChange": pa.repeat(pa.scalar(False), files.num_rows),
        "deletionVector": _vectors(files, schema),
    }


def _vectors(files: pa.RecordBatch, schema: pa.Schema) -> pa.StructArray:
    values = [_column(files, schema.field(column)) for column in _VECTOR.values()]
    return pa.StructArray.from_arrays(values, names=list(_VECTOR), mask=pc.is_null(values[0]))


def _column(files: pa.RecordBatch, field: pa.Field) -> pa.Array:
    if field.name not in files.schema.names:
        column = pa.nulls(files.num_rows, field.type)
    else:
        column = files.column(field.name).cast(field.type)
    if not field.nullable and column.null_count:
        raise InvalidInput(
            f"{column.null_count} files of a checkpoint have no value of '{field.name}'.",
            remedy="Pass a path, partition values, a size and a time for every live file.",
        )
    return column
