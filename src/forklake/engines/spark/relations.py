"""DataFrames as relations: made from Arrow rows, renamed, kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from forklake.engines.spark import local_rows, temporary_names
from forklake.engines.spark.nullable import loosen_structs
from forklake.engines.spark.remote import persisted
from forklake.engines.spark.types import column_specs, logical_schema
from forklake.model.fields import Field
from forklake.model.types import ColumnSpec

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


@dataclass(frozen=True, slots=True)
class SparkRelations:
    """Operations on relations."""

    engine: Engine

    def from_arrow(self, rows: pa.Table) -> DataFrame:
        """Return Arrow rows as a relation, in the types of queries."""
        return local_rows.create_dataframe(self.engine, rows)

    def from_table_rows(self, rows: pa.Table, fields: Sequence[Field]) -> DataFrame:
        """Return Arrow rows with these columns as a relation."""
        return self.engine.spark.createDataFrame(rows, logical_schema(fields))

    def column_names(self, rows: DataFrame | pa.Table | StructType) -> list[str]:
        """Return the names of the columns of a relation."""
        return temporary_names.column_names(rows)

    def column_specs(self, rows: DataFrame) -> list[ColumnSpec]:
        """Return the columns of a table that can store a relation."""
        return column_specs(rows.schema)

    def rename_columns(self, rows: DataFrame, names: Sequence[str]) -> DataFrame:
        """Return rows with other names of their columns."""
        return rows.toDF(*names)

    def drop_columns(self, rows: DataFrame, names: Sequence[str]) -> DataFrame:
        """Return rows without some of their columns."""
        return rows.drop(*names)

    def make_fields_nullable(self, rows: DataFrame) -> DataFrame:
        """Return rows that Arrow accepts: fields of nullable structs become nullable."""
        return loosen_structs(rows)

    def keep(self, rows: DataFrame) -> AbstractContextManager[DataFrame]:
        """Yield the rows, computed once while in use, so that each use sees the same values."""
        return persisted(rows)
