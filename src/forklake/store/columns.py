"""Query results as Arrow columns, for results of a hundred thousand rows and more."""

from __future__ import annotations

import io
import sys
from array import array
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import csv


def columns_of_rows(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """Return rows as a table."""
    values = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(list(one), field.type) for one, field in zip(values, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def columns_of_csv(text: bytes, schema: pa.Schema) -> pa.Table:
    """Parse CSV from PostgreSQL: an empty field is null if unquoted, an empty text if quoted."""
    if not text:
        return schema.empty_table()
    return csv.read_csv(
        io.BytesIO(text),
        csv.ReadOptions(column_names=schema.names),
        csv.ParseOptions(newlines_in_values=True),
        csv.ConvertOptions(
            column_types=schema,
            null_values=[""],
            true_values=["t"],
            false_values=["f"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def numbers_of_bytes(body: bytes) -> pa.Int64Array:
    """Decode consecutive big-endian 64-bit integers."""
    numbers = array("q", body)
    if sys.byteorder == "little":
        numbers.byteswap()
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])


def as_bytes(table: pa.Table) -> bytes:
    """Serialize a table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table.combine_chunks())
    body: bytes = sink.getvalue().to_pybytes()
    return body


def from_bytes(body: bytes) -> pa.Table:
    """Return the table that `as_bytes` serialized."""
    with pa.ipc.open_stream(body) as reader:
        return reader.read_all()
