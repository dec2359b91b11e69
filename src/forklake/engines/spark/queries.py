"""Rows of queries: computed without keeping them, read from other databases, sent as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema

from forklake.engines.spark.query_failures import explained
from forklake.errors import NotFound

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


def run(rows: DataFrame) -> int:
    """Compute all rows without keeping them, and return their number."""
    seen = Observation()
    with explained():
        counted = rows.observe(seen, F.count(F.lit(1)).alias("rows"))
        counted.write.format("noop").mode("overwrite").save()
    return int(seen.get["rows"])


def read_database(engine: Engine, options: Mapping[str, Any]) -> DataFrame:
    """Return the rows of a table or a query over JDBC. Spark needs its driver on the class path."""
    try:
        return engine.spark.read.format("jdbc").options(**options).load()
    except Py4JJavaError as reason:
        # Drop the message of the driver: it may quote the address with its password.
        kind = reason.java_exception.getClass().getSimpleName()
        raise NotFound(
            f"The database of the input cannot be read: {kind}.",
            remedy="Check its address, user and table, and that its driver is on the class path of"
            " Spark.",
        ) from None


def write_answer(rows: DataFrame, path: Path, most_bytes: int) -> tuple[pa.Schema, list[int]]:
    """Compute rows and write them to a file as an Arrow stream; raise if it becomes too large.

    Return the schema of the rows, and the number of the partition of each batch in the file.
    """
    with explained():
        schema = to_arrow_schema(
            rows.schema, error_on_duplicated_field_names_in_struct=True, timezone="UTC"
        )
        java: Any = rows
        answers = java.sparkSession._jvm.forklake.Answers
        partitions = answers.write(java._jdf, str(path), most_bytes).split()
    return schema, list(map(int, partitions))
