"""Queries on Spark: their plans, rows and names, and sources outside of the lake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from forklake.engines.spark import temporary_names
from forklake.engines.spark.error_translation import translate_spark_errors
from forklake.engines.spark.reading.files import read_files
from forklake.engines.spark.summary import summarize
from forklake.engines.spark.typed_functions import define_functions
from forklake.engines.summaries import ColumnSummary
from forklake.errors import NotFound

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


@dataclass(frozen=True, slots=True)
class SparkQueries:
    """Queries in Spark SQL."""

    engine: Engine

    def rows(self, text: str) -> DataFrame:
        """Return the rows of a query in Spark SQL."""
        with translate_spark_errors():
            return self.engine.spark.sql(text)

    def explain(self, text: str) -> str:
        """Return the plan of a query in Spark SQL."""
        with translate_spark_errors():
            (row,) = self.engine.spark.sql(f"EXPLAIN FORMATTED {text}").collect()
        return str(row[0])

    def run(self, rows: DataFrame) -> int:
        """Compute all rows without keeping them, and return their number."""
        seen = Observation()
        with translate_spark_errors():
            counted = rows.observe(seen, F.count(F.lit(1)).alias("rows"))
            counted.write.format("noop").mode("overwrite").save()
        return int(seen.get["rows"])

    def summarize(self, rows: DataFrame) -> list[ColumnSummary]:
        """Return statistics of all columns."""
        return summarize(rows)

    def register(self, rows: DataFrame | pa.Table | StructType) -> str:
        """Give rows a name in queries, and return the name."""
        return temporary_names.register_rows(self.engine, rows)

    def forget(self, names: Iterable[str]) -> None:
        """Remove names, once the queries with them are analyzed."""
        temporary_names.unregister_rows(self.engine, names)

    def define_functions(self, table: str) -> None:
        """Register functions whose meaning depends on types; see `sql.translate.dispatch`."""
        define_functions(self.engine, table)

    def read_files(
        self,
        format: str,
        files: Sequence[str],
        options: Mapping[str, Any],
        *,
        root: str | None,
        keys: Sequence[str],
        filename: bool | str,
    ) -> DataFrame:
        """Return the rows of Parquet, CSV or JSON files, which need not belong to a table."""
        return read_files(
            self.engine, format, files, options, root=root, keys=keys, filename=filename
        )

    def read_database(self, options: Mapping[str, Any]) -> DataFrame:
        """Return the rows of a table or a query of another database, over JDBC."""
        try:
            return self.engine.spark.read.format("jdbc").options(**options).load()
        except Py4JJavaError as reason:
            # Drop the message of the driver: it may quote the address with its password.
            kind = reason.java_exception.getClass().getSimpleName()
            raise NotFound(
                f"The database of the input cannot be read: {kind}.",
                remedy="Check its address, user and table, and that its driver is on the class path"
                " of Spark.",
            ) from None


def write_answer(rows: DataFrame, path: Path, most_bytes: int) -> tuple[pa.Schema, list[int]]:
    """Compute rows and write them to a file as an Arrow stream; raise if it becomes too large.

    Return the schema of the rows, and the number of the partition of each batch in the file.
    """
    with translate_spark_errors():
        schema = to_arrow_schema(
            rows.schema, error_on_duplicated_field_names_in_struct=True, timezone="UTC"
        )
        java: Any = rows
        answers = java.sparkSession._jvm.forklake.Answers
        partitions = answers.write(java._jdf, str(path), most_bytes).split()
    return schema, list(map(int, partitions))
