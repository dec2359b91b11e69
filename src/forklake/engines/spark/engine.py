"""Spark engine: sessions of Spark, and the routes between tables and files.

An engine is one session, either of a Spark that we start with the first engine and stop with the
last, or of one that the user passes. If its JVM can be accessed, the routes are native. Over Spark
Connect, plain routes do the same more slowly, in the session of the user itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import tzinfo
from subprocess import TimeoutExpired
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from forklake.engines.spark import conf
from forklake.engines.spark.merging.rows import SparkForks
from forklake.engines.spark.native import NativeRoutes
from forklake.engines.spark.own_spark import log_no_errors, own_spark
from forklake.engines.spark.plain import PlainRoutes
from forklake.engines.spark.queries import SparkQueries
from forklake.engines.spark.reading.scan import zone_of
from forklake.engines.spark.relations import SparkRelations
from forklake.engines.spark.remote import is_remote
from forklake.engines.spark.routes import (
    PARTITION_PREFIX,
    Deletes,
    IsDeleted,
    ListedFile,
    ListFiles,
    Routes,
)
from forklake.engines.spark.tables import SparkTables
from forklake.engines.spark.writer import SparkWriter

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

    # Facts, and the parts of the interface

    @property
    def is_remote(self) -> bool:
        """Whether the session is one of Spark Connect, whose JVM cannot be accessed."""
        return is_remote(self.spark)

    @property
    def time_zone(self) -> tzinfo | None:
        """Time zone in which texts are read as timestamps; None if Python does not have it."""
        return zone_of(self.spark)

    @property
    def parallelism(self) -> int:
        """Number of tasks that can run at the same time."""
        return _REMOTE_TASKS if self.is_remote else self.spark.sparkContext.defaultParallelism

    @property
    def relations(self) -> SparkRelations:
        """Operations on relations."""
        return SparkRelations(self)

    @property
    def tables(self) -> SparkTables:
        """Reader of tables."""
        return SparkTables(self)

    @property
    def writer(self) -> SparkWriter:
        """Writer of rows, as part of changes."""
        return SparkWriter(self)

    @property
    def forks(self) -> SparkForks:
        """Joins of the rows of two forks."""
        return SparkForks(self)

    @property
    def queries(self) -> SparkQueries:
        """Queries in Spark SQL."""
        return SparkQueries(self)

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
