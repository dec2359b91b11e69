"""Spark engine: sessions of Spark, and the routes between tables and files.

An engine is one session, either of a Spark that we start with the first engine and stop with the
last, or of one that the user passes. If its JVM can be accessed, the routes are native. Over Spark
Connect, plain routes do the same more slowly, in the session of the user itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import tzinfo
from subprocess import TimeoutExpired
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from forklake.engines.assignments import Assignment
from forklake.engines.change_range import ChangeRange
from forklake.engines.changes import PendingChange
from forklake.engines.file_groups import View
from forklake.engines.merge_clauses import Clause, MergeCounts
from forklake.engines.row_matches import Matching
from forklake.engines.row_sets import RowSet, SharedColumns, SideChanges
from forklake.engines.spark import conf, local_rows, queries, temporary_names
from forklake.engines.spark.changing.delete import delete_rows
from forklake.engines.spark.changing.merge_into import merge_rows
from forklake.engines.spark.changing.update import update_rows
from forklake.engines.spark.expressions import Condition
from forklake.engines.spark.merging import rows as fork_rows
from forklake.engines.spark.merging.row_comparison import compare, count_rows_of
from forklake.engines.spark.native import NativeRoutes
from forklake.engines.spark.nullable import loosen_structs
from forklake.engines.spark.own_spark import log_no_errors, own_spark
from forklake.engines.spark.plain import PlainRoutes
from forklake.engines.spark.query_failures import explained
from forklake.engines.spark.reading import scan as scans
from forklake.engines.spark.reading.changes import ChangeFeed
from forklake.engines.spark.reading.files import read_files
from forklake.engines.spark.remote import is_remote, persisted
from forklake.engines.spark.routes import (
    PARTITION_PREFIX,
    Deletes,
    IsDeleted,
    ListedFile,
    ListFiles,
    Routes,
)
from forklake.engines.spark.summary import summarize
from forklake.engines.spark.typed_functions import define_functions
from forklake.engines.spark.types import column_specs, logical_schema
from forklake.engines.spark.writing import write as writes
from forklake.engines.summaries import ColumnSummary
from forklake.engines.targets import Target
from forklake.model.entities import InlinedRow, Table
from forklake.model.fields import Field
from forklake.model.files import NewDataFile
from forklake.model.merge_rules import Did, Verdict
from forklake.model.rules import Check
from forklake.model.scans import ScanFile
from forklake.model.types import ColumnSpec

__all__ = ["PARTITION_PREFIX", "Engine", "ListedFile"]

_ENDING_SECONDS = 5.0
_REMOTE_TASKS = 4  # assumed over Spark Connect


class Engine:
    """Isolated session of Spark, with the file operations that tables need.

    Over Spark Connect it is the session that was passed: DataFrames of two sessions cannot be
    combined there, and those of the user must be usable.
    """

    def __init__(self, base: SparkSession, *, native: bool = True) -> None:
        """Create an engine on a new session of a running Spark. Callers use `start` instead."""
        self.base = base
        if is_remote(base):
            self.spark = base
            log_no_errors()
        else:
            self.spark = _new_session(base)
        for name, value in conf.SESSION.items():
            self.spark.conf.set(name, value)
        self.is_native, self._routes = _routes(self.spark, native)
        self._machine = own_spark.watch(self)

    @classmethod
    def start(
        cls,
        spark: SparkSession | None = None,
        *,
        cores: int | None = None,
        memory: str | None = None,
        is_shared: bool = False,
    ) -> Engine:
        """Return an engine on the Spark of the user, or on our own, which is started if needed.

        `cores`, `memory` (in Java notation: "2g") and `is_shared` (many clients work on it
        at once) apply to our own Spark when it is started.
        """
        return cls(spark if spark is not None else own_spark.session(cores, memory, is_shared))

    def new_session(self) -> Engine:
        """Return an engine on the same Spark with separate settings and temporary views.

        Over Spark Connect they are shared.
        """
        return type(self)(self.base, native=self.is_native)

    @property
    def has_died(self) -> bool:
        """Whether the JVM, if we started it, has ended: a new engine starts another."""
        return self._machine is not None and self._machine.poll() is not None

    @property
    def process_id(self) -> int | None:
        """Id of the process of the JVM, if we started it."""
        return None if self._machine is None else self._machine.pid

    def kill(self) -> bool:
        """Kill the JVM if we started it, and return whether that is so."""
        if self._machine is None:
            return False
        self._machine.kill()
        return True

    def has_died_of(self, reason: Exception) -> bool:
        """Return whether an error came from the end of our JVM.

        Connections are lost a moment before the process has ended, so this waits for it.
        """
        is_lost = isinstance(reason, Py4JError | OSError) and not isinstance(reason, Py4JJavaError)
        if is_lost and self._machine is not None:
            with suppress(TimeoutExpired):
                self._machine.wait(_ENDING_SECONDS)
        return self.has_died

    # Rows of tables

    @property
    def is_remote(self) -> bool:
        """Whether the session is one of Spark Connect, whose JVM cannot be accessed."""
        return is_remote(self.spark)

    @property
    def time_zone(self) -> tzinfo | None:
        """Time zone in which texts are read as timestamps; None if Python does not have it."""
        return scans.zone_of(self.spark)

    @property
    def parallelism(self) -> int:
        """Number of tasks that can run at the same time."""
        return _REMOTE_TASKS if self.is_remote else self.spark.sparkContext.defaultParallelism

    def query(self, text: str) -> DataFrame:
        """Return the rows of a query in Spark SQL."""
        with explained():
            return self.spark.sql(text)

    def explain(self, text: str) -> str:
        """Return the plan of a query in Spark SQL."""
        with explained():
            (row,) = self.spark.sql(f"EXPLAIN FORMATTED {text}").collect()
        return str(row[0])

    def run(self, rows: DataFrame) -> int:
        """Compute all rows without keeping them, and return their number."""
        return queries.run(rows)

    def summarize(self, rows: DataFrame) -> list[ColumnSummary]:
        """Return statistics of all columns."""
        return summarize(rows)

    def register(self, rows: DataFrame | pa.Table | StructType) -> str:
        """Give rows a name in queries, and return the name."""
        return temporary_names.register(self, rows)

    def forget(self, names: Iterable[str]) -> None:
        """Remove names, once the queries with them are analyzed."""
        temporary_names.forget(self, names)

    def define_functions(self, table: str) -> None:
        """Register functions whose meaning depends on types; see `sql.translate.dispatch`."""
        define_functions(self, table)

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
        return read_files(self, format, files, options, root=root, keys=keys, filename=filename)

    def read_database(self, options: Mapping[str, Any]) -> DataFrame:
        """Return the rows of a table or a query of another database, over JDBC."""
        return queries.read_database(self, options)

    def scan(
        self, view: View, table: Table, *, where: str | None = None, virtual: Sequence[str] = ()
    ) -> DataFrame:
        """Return the rows of a table: its columns, then the requested virtual columns."""
        return scans.scan(self, view, table, where=where, virtual=virtual)

    def scan_to_move(
        self,
        view: View,
        table: Table,
        files: Sequence[ScanFile] = (),
        rows: Sequence[InlinedRow] = (),
    ) -> DataFrame:
        """Return rows of files and inlined rows as new files store them, with their ids."""
        return scans.scan_to_move(self, view, table, files, rows)

    def count_rows(self, view: View, table: Table) -> int:
        """Return the number of rows of a table."""
        return scans.scan(self, view, table).count()

    def has_nulls(self, view: View, table: Table, path: Sequence[str]) -> bool:
        """Return whether some row has NULL in a column, or in a field of a struct."""
        return scans.has_nulls(self, view, table, path)

    def scanned_schema(
        self, view: View, table: Table, *, virtual: Sequence[str] = ()
    ) -> StructType:
        """Return the columns that `scan` returns, as a relation without rows."""
        return scans.shown_schema(view, table, virtual=virtual)

    def local_relation(self, rows: pa.Table) -> DataFrame:
        """Return Arrow rows as a relation, in the types of queries."""
        return local_rows.frame_of(self, rows)

    def relation_of(self, rows: pa.Table, fields: Sequence[Field]) -> DataFrame:
        """Return Arrow rows with these columns as a relation."""
        return self.spark.createDataFrame(rows, logical_schema(fields))

    def column_names(self, rows: DataFrame | pa.Table | StructType) -> list[str]:
        """Return the names of the columns of a relation."""
        return temporary_names.columns_of(rows)

    def renamed(self, rows: DataFrame, names: Sequence[str]) -> DataFrame:
        """Return rows with other names of their columns."""
        return rows.toDF(*names)

    def without_columns(self, rows: DataFrame, names: Sequence[str]) -> DataFrame:
        """Return rows without some of their columns."""
        return rows.drop(*names)

    def with_nullable_fields(self, rows: DataFrame) -> DataFrame:
        """Return rows that Arrow accepts: fields of nullable structs become nullable."""
        return loosen_structs(rows)

    def column_specs(self, rows: DataFrame) -> list[ColumnSpec]:
        """Return the columns of a table that can store a relation."""
        return column_specs(rows.schema)

    def kept(self, rows: DataFrame) -> AbstractContextManager[DataFrame]:
        """Yield the rows, computed once while in use, so that each use sees the same values."""
        return persisted(rows)

    # Change feed

    def inserted_rows(self, changes: ChangeRange) -> DataFrame:
        """Return the inserted rows of a table, including new versions of updated ones."""
        return ChangeFeed(self, changes).insertions()

    def deleted_rows(self, changes: ChangeRange) -> DataFrame:
        """Return the deleted rows of a table, including old versions of updated ones."""
        return ChangeFeed(self, changes).deletions()

    def changed_rows(self, changes: ChangeRange) -> DataFrame:
        """Return inserted and deleted rows of a table, each with its change type."""
        return ChangeFeed(self, changes).changes()

    # Changes of tables

    def append(
        self,
        change: PendingChange,
        table: Table,
        rows: DataFrame,
        *,
        by_name: bool = False,
        with_row_ids: bool = False,
        checks: Sequence[Check] = (),
    ) -> int:
        """Add the rows of a relation to a table, and return their number; see `write.append`."""
        return writes.append(
            self, change, table, rows, by_name=by_name, with_row_ids=with_row_ids, checks=checks
        )

    def write_files(
        self,
        change: PendingChange,
        target: Target,
        rows: DataFrame,
        *,
        row_ids: bool,
        rows_per_file: int | None = None,
    ) -> list[NewDataFile]:
        """Write rows, as files store them, to new files that are not added to the table yet."""
        files, _ = writes.new_files(
            self, change, target, rows, row_ids=row_ids, rows_per_file=rows_per_file
        )
        return list(files.values())

    def delete_rows(
        self,
        found: Matching,
        where: Condition | None,
        *,
        using: DataFrame | None = None,
        source_alias: str | None = None,
    ) -> int:
        """Delete the rows for which a condition is true, and return their number."""
        return delete_rows(self, found, where, using=using, source_alias=source_alias)

    def update_rows(
        self,
        found: Matching,
        assigned: Mapping[str, Assignment],
        where: Condition | None,
        *,
        source: DataFrame | None = None,
        source_alias: str | None = None,
        on: Condition | None = None,
    ) -> int:
        """Set columns of the rows for which a condition is true, and return their number."""
        return update_rows(
            self, found, assigned, where, source=source, source_alias=source_alias, on=on
        )

    def merge_rows(
        self,
        found: Matching,
        source: DataFrame,
        source_alias: str,
        on: Condition,
        clauses: Sequence[Clause],
    ) -> MergeCounts:
        """Change a table by the rows of a source, with the first clause that applies."""
        return merge_rows(self, found, source, source_alias, on, clauses)

    # Merges and comparisons of forks

    def join_sides(
        self, source: SideChanges, target: SideChanges | None, next_in_target: int
    ) -> DataFrame:
        """Return the rows that the source changed, with their ids and changes in the target."""
        return fork_rows.join_sides(self, source, target, next_in_target)

    def count_pairs(self, rows: DataFrame) -> dict[tuple[Did, Did], int]:
        """Count joined rows by the changes of both sides."""
        return fork_rows.count_pairs(rows)

    def first_conflicts(
        self, rows: DataFrame, fields: Sequence[Field], limit: int
    ) -> list[tuple[int, str, str, str | None, str | None]]:
        """Return the first joined rows that both sides changed."""
        return fork_rows.first_conflicts(rows, fields, limit)

    def end_old_versions(
        self, rows: DataFrame, verdicts: Sequence[Verdict], found: Matching
    ) -> None:
        """Delete the rows of the target that the source updated or deleted."""
        fork_rows.end_old_versions(self, rows, verdicts, found)

    def add_new_versions(
        self,
        rows: DataFrame,
        verdicts: Sequence[Verdict],
        fields: Sequence[Field],
        target: Target,
        change: PendingChange,
        count: int,
    ) -> None:
        """Add the new rows and new versions of the source to the target."""
        fork_rows.add_new_versions(self, rows, verdicts, fields, target, change, count)

    def copy_rows(self, rows: RowSet, target: Target, change: PendingChange, count: int) -> None:
        """Write the rows of files to new files of another table, with the same row ids."""
        fork_rows.copy_rows(self, rows, target, change, count)

    def count_rows_of(self, rows: RowSet) -> int:
        """Return the number of rows of a set."""
        return count_rows_of(self, rows)

    def compare(
        self, mine: RowSet, theirs: RowSet, shared: SharedColumns, limit: int
    ) -> tuple[dict[str, int], list[tuple[str, int | None, str | None, str | None]]]:
        """Count the rows added, removed and changed from `mine` to `theirs`, and list some."""
        return compare(self, mine, theirs, shared, limit)

    # Files

    def relation(
        self,
        schema: StructType,
        constants: StructType,
        list_files: ListFiles,
        *,
        size: int,
        options: Mapping[str, str] = {},
    ) -> DataFrame:
        """Return the rows of the files that `list_files` returns.

        Columns are those of `schema`, read from the files by name, then those of
        `constants`, with one value for each file, and the `_metadata` of Spark (row_index,
        file_path).

        `list_files` is called whenever Spark plans a query, on any thread. It gets the
        filters of Spark as SQL texts (timestamps in UTC) and may leave out files without
        matching rows; filters on constants are applied here. A ForklakeError that it raises
        becomes the error of the query. Plain routes call it at once, without filters, and
        `_metadata` is an ordinary last column.

        `size` is an estimate of the bytes of all files, from which Spark chooses join
        strategies.
        """
        return self._routes.relation(schema, constants, list_files, size, options)

    def deleted(self, deletes: Deletes, *, keys: Mapping[str, bytes] = {}) -> IsDeleted:
        """Return a function (number of a file, position of a row) -> whether the row is deleted.

        `keys` are those of encrypted delete files, by path. Reading a delete file that
        belongs to another data file is an error.
        """
        return self._routes.deleted(deletes, keys)

    def write(
        self,
        df: DataFrame,
        folder: str,
        *,
        field_ids: Mapping[str, int],
        partition_by: Sequence[str] = (),
        options: Mapping[str, str] = {},
        job_key: bytes | None = None,
    ) -> list[str]:
        """Write rows as Parquet files named ducklake-<uuid>.parquet, and return their full paths.

        Columns of `partition_by` create folders and are left out of the files;
        PARTITION_PREFIX is removed from folder names. `field_ids` are by path of the
        Parquet node. Options are those of Spark and Parquet. With a job key each file is
        encrypted with the key that `forklake.files.keys.derived_key` returns for it. A
        failed write leaves no files behind; a write of no rows may create a file without
        rows.
        """
        return self._routes.write(df, folder, field_ids, partition_by, options, job_key)

    def close(self) -> None:
        """Close the session; our own Spark stops with the last one."""
        own_spark.forget(self)


def _new_session(base: SparkSession) -> SparkSession:
    java_session: Any = base._jsparkSession
    return SparkSession(base.sparkContext, java_session.cloneSession())


def _routes(spark: SparkSession, native: bool) -> tuple[bool, Routes]:
    if native and not is_remote(spark):
        try:
            return True, NativeRoutes(spark)
        except (Py4JError, OSError) as reason:  # an incompatible Spark, or no cache folder
            warnings.warn(_WITHOUT_CLASSES.format(_first_line(reason)), stacklevel=2)
    return False, PlainRoutes(spark)


_WITHOUT_CLASSES = (
    "The Java classes of Forklake could not be loaded into Spark: {} Reads and writes continue"
    " without them, more slowly and without encryption. Use the version of Spark that Forklake"
    " requires, and make its cache folder writable."
)


def _first_line(reason: Exception) -> str:
    error = reason.java_exception if isinstance(reason, Py4JJavaError) else reason
    return f"{str(error).splitlines()[0].rstrip('.')}."
