"""Transfer of result rows from Spark to a file of limited size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from forklake.crucible.sessions.rows import IN_MEMORY, Rows, Spool
from forklake.sql.results import Result

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame


def fetch_rows(result: Result, spool: Spool, most_bytes: int) -> Rows:
    """Execute the Spark jobs of a result and return its rows. Raise QuotaExceeded if too large."""
    if result.is_local:
        return Rows(result.data, result.data.schema)
    path = spool.new_file()
    try:
        return _write_result(cast("DataFrame", result.data), path, most_bytes)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _write_result(frame: DataFrame, path: Path, most_bytes: int) -> Rows:
    from forklake.engines.spark.queries import write_answer

    schema, partitions = write_answer(frame, path, most_bytes)
    is_small = path.stat().st_size <= IN_MEMORY
    source = pa.py_buffer(path.read_bytes()) if is_small else pa.memory_map(str(path))
    stream = pa.ipc.open_stream(source)
    batches = list(stream)
    order = sorted(range(len(batches)), key=partitions.__getitem__)
    table = pa.Table.from_batches([batches[number] for number in order], schema=stream.schema)
    if is_small:
        path.unlink()
    return Rows(table, schema, None if is_small else path)
