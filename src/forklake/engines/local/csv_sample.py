"""Columns, types and CSV properties that DuckDB detects at the beginning of a text file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from forklake.errors import InvalidInput
from forklake.files.systems import file_system, is_local, translating

# Bytes that are read of a file on another machine.
_SAMPLE_BYTES = 16 * 2**20


def detect_columns(function: str, path: str, options: Mapping[str, Any]) -> pa.Schema:
    """Return the columns of a file, as the DuckDB function `function` reads it."""
    used = {**options, "hive_partitioning": False}
    with _local_sample(path) as sample:
        query = f"SELECT * FROM {function}($path{_format_options(used)}) LIMIT 0"
        result = _query_duckdb(query, sample, used)
    return result.schema


def detect_properties(path: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a CSV file: Delimiter, Quote, Escape, Comment, SkipRows and more."""
    with _local_sample(path) as sample:
        result = _query_duckdb(f"FROM sniff_csv($path{_format_options(options)})", sample, options)
    return dict(result.to_pylist()[0])


def read_first_character(path: str) -> str:
    """Return the first character of a file that is not a space."""
    system, inside = file_system(path)
    with translating(path), system.open_input_stream(inside, compression="detect") as stream:
        head: bytes = stream.read(4096)
    return head.decode("utf-8-sig", "replace").strip()[:1]


def _format_options(options: Mapping[str, Any]) -> str:
    return "".join(f", {name} = ${name}" for name in options)


def _query_duckdb(query: str, path: str, options: Mapping[str, Any]) -> pa.Table:
    try:
        with duckdb.connect(
            config={"threads": 1, "autoinstall_known_extensions": False}
        ) as connection:
            return connection.execute(query, {"path": path, **options}).to_arrow_table()
    except duckdb.Error as reason:
        message = str(reason).strip().splitlines()[0].replace(path, "the file")
        raise InvalidInput(
            f"The file cannot be read: {message}", remedy="Check the options of the function."
        ) from None


@contextmanager
def _local_sample(path: str) -> Iterator[str]:
    """Yield the path of a local file with the beginning of another file."""
    system, inside = file_system(path)
    if is_local(path):
        yield inside
        return
    with translating(path), system.open_input_stream(inside, compression="detect") as stream:
        head: bytes = stream.read(_SAMPLE_BYTES)
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder, "sample")
        sample.write_bytes(head[: head.rfind(b"\n") + 1] if len(head) == _SAMPLE_BYTES else head)
        yield str(sample)
