"""Spark engine: sessions of Spark, and the routes between tables and files.

An engine is one session, either of a Spark that we start with the first engine and stop with the
last, or of one that the user passes. If its JVM can be accessed, the routes are native. Over Spark
Connect, plain routes do the same more slowly, in the session of the user itself.
"""

from __future__ import annotations

import atexit
import threading
import warnings
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from subprocess import Popen, TimeoutExpired
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from forklake.engines.spark import conf, java
from forklake.engines.spark.native import NativeRoutes
from forklake.engines.spark.plain import PlainRoutes
from forklake.engines.spark.remote import is_remote
from forklake.engines.spark.routes import (
    PARTITION_PREFIX,
    Deletes,
    IsDeleted,
    ListedFile,
    ListFiles,
    Routes,
)

__all__ = ["PARTITION_PREFIX", "Engine", "ListedFile"]

_ENDING_SECONDS = 5.0


class Engine:
    """Isolated session of Spark, with the file operations that tables need.

    Over Spark Connect it is the session that was passed: DataFrames of two sessions cannot be
    combined there, and those of the user must be usable.
    """

    def __init__(self, base: SparkSession, *, native: bool = True) -> None:
        """Create an engine on a new session of a running Spark. Callers use `start` instead."""
        self._base = base
        if is_remote(base):
            self.spark = base
            _log_no_errors()
        else:
            self.spark = _new_session(base)
        for name, value in conf.SESSION.items():
            self.spark.conf.set(name, value)
        self.is_native, self._routes = _routes(self.spark, native)
        self._machine = _own.watch(self)

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
        return cls(spark if spark is not None else _own.session(cores, memory, is_shared))

    def new_session(self) -> Engine:
        """Return an engine on the same Spark with separate settings and temporary views.

        Over Spark Connect they are shared.
        """
        return type(self)(self._base, native=self.is_native)

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
        _own.forget(self)


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


class _OwnSpark:
    """Spark that we started in this process, if any, and the engines on it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: SparkSession | None = None
        self._machine: Popen[bytes] | None = None
        self._engines: weakref.WeakSet[Engine] = weakref.WeakSet()

    def session(self, cores: int | None, memory: str | None, is_shared: bool) -> SparkSession:
        """Return the running Spark of this process, or start one."""
        with self._lock:
            if self._machine is not None and self._machine.poll() is not None:
                self._discard_machine()
            running: Any = SparkContext._active_spark_context
            if running is not None:
                return SparkSession.builder.getOrCreate()
            self._session = self._start_spark(cores, memory, is_shared)
            return self._session

    def _start_spark(self, cores: int | None, memory: str | None, is_shared: bool) -> SparkSession:
        settings = {**conf.local(cores), **(conf.shared(cores) if is_shared else {})}
        builder = SparkSession.builder.config(map=dict(settings))
        if SparkContext._gateway is not None:  # the JVM outlives a Spark that was stopped
            session = builder.getOrCreate()
        else:
            machine = java.running_machine(memory or conf.heap(), conf.java_flags(cores))
            with machine as self._machine:
                session = builder.getOrCreate()
            atexit.register(self._disconnect)
        _log_no_errors()
        _trust_local_files(session)
        return session

    def _discard_machine(self) -> None:
        """Discard a JVM that has ended, and all state of PySpark about it."""
        context: Any = SparkContext._active_spark_context
        if context is not None:
            context._jsc = None  # the JVM has ended: nothing to stop
            context.stop()
        self._close_gateway()
        SparkContext._gateway = SparkContext._jvm = None
        SparkSession._instantiatedSession = SparkSession._activeSession = None
        self._engines.clear()
        self._session = self._machine = None

    def watch(self, engine: Engine) -> Popen[bytes] | None:
        """Keep Spark running for an engine; return its JVM if it is on our own Spark."""
        with self._lock:
            if self._session is None or engine._base is not self._session:
                return None
            self._engines.add(engine)
            return self._machine

    def forget(self, engine: Engine) -> None:
        """Unregister an engine, and stop our Spark with the last one."""
        with self._lock:
            was_here = engine in self._engines
            self._engines.discard(engine)
            if was_here and not self._engines:
                self._stop()

    def _disconnect(self) -> None:
        """Disconnect from the JVM before it ends, so that nothing calls it any more."""
        self._stop()
        self._close_gateway()

    def _close_gateway(self) -> None:
        gateway: Any = SparkContext._gateway
        if gateway is not None:
            gateway.shutdown()

    def _stop(self) -> None:
        if self._machine is not None and self._machine.poll() is not None:
            self._discard_machine()
        if self._session is not None:
            self._session.stop()
            self._session = None


def _log_no_errors() -> None:
    """Disable loggers of PySpark: errors would be on the terminal twice, even when translated."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True


def _trust_local_files(session: SparkSession) -> None:
    """Read local files without their .crc files: Parquet has checksums itself."""
    jvm: Any = session._jvm
    context: Any = session.sparkContext
    local = jvm.org.apache.hadoop.fs.FileSystem.get(
        jvm.java.net.URI("file:///"), context._jsc.hadoopConfiguration()
    )
    local.setVerifyChecksum(False)


_own = _OwnSpark()
