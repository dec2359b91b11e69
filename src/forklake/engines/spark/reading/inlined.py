"""Inlined rows, which are stored in the metastore, as a DataFrame beside those of the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from forklake.engines.inlined_rows import inlined_columns
from forklake.engines.row_matches import FILE, POSITION, ROW
from forklake.engines.spark.types import shown_field
from forklake.model.entities import InlinedRow
from forklake.model.fields import Field
from forklake.model.files import ROW_ID, SNAPSHOT_ID
from forklake.model.ids import UNCOMMITTED

_LOCAL_FILE = "__ducklake_inlined_transaction_local_data"


def inlined_frame(
    spark: SparkSession,
    fields: Sequence[Field],
    rows: Sequence[InlinedRow],
    virtual: Sequence[StructField],
    first_index: int,
) -> DataFrame:
    """Return inlined rows with the columns of the table and some virtual columns.

    `first_index` is the `file_index` of the first inlined table; those of files come before it.
    """
    schema = StructType([shown_field(field) for field in fields])
    columns = inlined_columns(fields, rows)
    extra = _virtual_values(rows, first_index)
    for one in virtual:
        schema.add(one)
        columns.append(pa.array(extra[one.name](), _ARROW[one.dataType.typeName()]))
    return spark.createDataFrame(pa.table(columns, names=schema.names), schema)


_ARROW = {"long": pa.int64(), "string": pa.string()}


def _virtual_values(
    rows: Sequence[InlinedRow], first_index: int
) -> dict[str, Callable[[], list[Any]]]:
    places = {name: number for number, name in enumerate(dict.fromkeys(r.stored_in for r in rows))}

    def numbers() -> list[int]:
        counted: Counter[str] = Counter()
        found = []
        for row in rows:
            found.append(counted[row.stored_in])
            counted[row.stored_in] += 1
        return found

    def row_ids() -> list[int]:
        return [row.row_id for row in rows]

    def snapshots() -> list[int | None]:
        begins = (row.begin_snapshot for row in rows)
        return [None if begin == UNCOMMITTED else begin for begin in begins]

    return {
        "rowid": row_ids,
        "snapshot_id": snapshots,
        "filename": lambda: [row.stored_in or _LOCAL_FILE for row in rows],
        "file_row_number": numbers,
        "file_index": lambda: [first_index + places[row.stored_in] for row in rows],
        FILE: lambda: [None] * len(rows),
        POSITION: lambda: [None] * len(rows),
        ROW: row_ids,
        ROW_ID: row_ids,
        SNAPSHOT_ID: snapshots,
    }
