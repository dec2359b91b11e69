"""Writing rows of tables without Spark, as files with field ids like those of the lake."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from forklake import Catalog, NewDataFile


def add_rows(catalog: Catalog, table_name: str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of a table to a file, and commit it."""
    with catalog.transaction() as transaction:
        table = transaction.table(table_name)
        known = {one.name: one for one in transaction.state.fields(table)}
        arrays = [pa.array(values) for values in columns.values()]
        fields = [
            pa.field(known[name].physical_name, array.type, metadata=_numbered(known[name]))
            for name, array in zip(columns, arrays, strict=True)
        ]
        folder = catalog.table_folder(transaction.state, table)
        path = Path(catalog.data_path()) / folder / f"{uuid.uuid4()}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(arrays, schema=pa.schema(fields)), path)
        new = NewDataFile(f"{folder}{path.name}", len(arrays[0]), path.stat().st_size)
        transaction.add_data_files(table, [new])


def _numbered(field: Any) -> dict[bytes, bytes]:
    return {b"PARQUET:field_id": str(int(field.column_id)).encode()}
