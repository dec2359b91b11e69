"""Rows of tables on Spark, and their changes between snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from forklake.catalog.catalog_view import CatalogView
from forklake.engines.change_range import ChangeRange
from forklake.engines.spark.reading import scan as scans
from forklake.engines.spark.reading.changes import ChangeFeed
from forklake.model.entities import InlinedRow, Table
from forklake.model.scans import ScanFile

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


@dataclass(frozen=True, slots=True)
class SparkTables:
    """Reader of tables."""

    engine: Engine

    def scan(
        self,
        view: CatalogView,
        table: Table,
        *,
        where: str | None = None,
        virtual: Sequence[str] = (),
    ) -> DataFrame:
        """Return the rows of a table: its columns, then the requested virtual columns."""
        return scans.scan(self.engine, view, table, where=where, virtual=virtual)

    def schema(self, view: CatalogView, table: Table, *, virtual: Sequence[str] = ()) -> StructType:
        """Return the columns that `scan` returns, as a relation without rows."""
        return scans.shown_schema(view, table, virtual=virtual)

    def scan_to_move(
        self,
        view: CatalogView,
        table: Table,
        files: Sequence[ScanFile] = (),
        rows: Sequence[InlinedRow] = (),
    ) -> DataFrame:
        """Return rows of files and inlined rows as new files store them, with their ids."""
        return scans.scan_to_move(self.engine, view, table, files, rows)

    def count(self, view: CatalogView, table: Table) -> int:
        """Return the number of rows of a table."""
        return scans.scan(self.engine, view, table).count()

    def has_nulls(self, view: CatalogView, table: Table, path: Sequence[str]) -> bool:
        """Return whether some row has NULL in a column, or in a field of a struct."""
        return scans.has_nulls(self.engine, view, table, path)

    def inserted_rows(self, changes: ChangeRange) -> DataFrame:
        """Return the inserted rows of a table, including new versions of updated ones."""
        return ChangeFeed(self.engine, changes).insertions()

    def deleted_rows(self, changes: ChangeRange) -> DataFrame:
        """Return the deleted rows of a table, including old versions of updated ones."""
        return ChangeFeed(self.engine, changes).deletions()

    def changed_rows(self, changes: ChangeRange) -> DataFrame:
        """Return inserted and deleted rows of a table, each with its change type."""
        return ChangeFeed(self.engine, changes).changes()
