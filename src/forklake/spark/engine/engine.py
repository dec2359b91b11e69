"""Spark as the data plane needs it: sessions, and the routes between tables and files.

An engine is one session of a Spark: of our own, started with the first engine and stopped with
the last, or of one that the user brought. With a Java machine at hand the routes are native;
without one, over Spark Connect, plain ones do the same more slowly, in the user's own session.
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

from forklake.spark.engine import conf, java
from forklake.spark.engine.native import NativeRoutes
from forklake.spark.engine.plain import PlainRoutes
from forklake.spark.engine.remote import is_remote
from forklake.spark.engine.routes import (
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
    """A session of Spark, isolated from others, and what it can do with files.

    Over Spark Connect it is the session that was given: there, DataFrames of two sessions cannot be
    used together, and the user's are to be.
    """

    def __init__(self, base: SparkSession, *, native: bool = True) -> None:
        """An engine on a new session of a running Spark; `start` is for everybody else."""
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
        """An engine on the user's Spark, or on our own, started unless it runs.

        Cores and memory (as Java has it: "2g") are of our own Spark when it is started; and
        whether many will work on it at once.
        """
        return cls(spark if spark is not None else _own.session(cores, memory, is_shared))

    def new_session(self) -> Engine:
        """An engine on the same Spark with settings and temporary views of its own.

        Over Spark Connect they are shared.
        """
        return type(self)(self._base, native=self.is_native)

    @property
    def has_died(self) -> bool:
        """Whether its Java machine, if that is ours, has ended: a new engine starts another."""
        return self._machine is not None and self._machine.poll() is not None

    def kill(self) -> bool:
        """Kill its Java machine, if that is ours; whether it was."""
        if self._machine is None:
            return False
        self._machine.kill()
        return True

    def has_died_of(self, reason: Exception) -> bool:
        """The same after an error: connections are lost a moment before the machine has ended."""
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
        """The rows of the files that `list_files` gives.

        Columns are those of `schema`, read from the files by name, then those of `constants`, with
        one value for each file, and Spark's own `_metadata` (row_index, file_path).

        `list_files` is called whenever Spark plans a query, on any thread. It gets Spark's filters
        as SQL texts (timestamps in UTC) and may leave out files without matching rows; filters on
        constants are applied here. An error of ours that it raises becomes the query's.
        Plain routes call it at once, without filters, and `_metadata` is an ordinary last column.

        `size` is a guess at the bytes of all files, by which Spark chooses how to join.
        """
        return self._routes.relation(schema, constants, list_files, size, options)

    def deleted(self, deletes: Deletes, *, keys: Mapping[str, bytes] = {}) -> IsDeleted:
        """The function (number of a file, position of a row) -> is the row deleted?

        `keys` are of encrypted delete files, by path. A delete file that belongs to another data
        file is an error when it is read.
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
        """Write rows as Parquet files named ducklake-<uuid>.parquet; their full paths.

        Columns of `partition_by` make folders and are left out of the files; in the names of
        folders PARTITION_PREFIX is cut off. `field_ids` are by path of the Parquet node. Options
        are those of Spark and Parquet. With a job key each file is encrypted with the key that
        `forklake.files.keys.derived_key` gives for it. A write that fails leaves no files behind;
        one of no rows may write a file without rows.
        """
        return self._routes.write(df, folder, field_ids, partition_by, options, job_key)

    def close(self) -> None:
        """End the session; our own Spark stops with its last one."""
        _own.forget(self)


def _new_session(base: SparkSession) -> SparkSession:
    """A copy of a session."""
    java_session: Any = base._jsparkSession
    return SparkSession(base.sparkContext, java_session.cloneSession())


def _routes(spark: SparkSession, native: bool) -> tuple[bool, Routes]:
    if native and not is_remote(spark):
        try:
            return True, NativeRoutes(spark)
        except (Py4JError, OSError) as reason:  # another Spark than ours is built for, no cache
            warnings.warn(_WITHOUT_CLASSES.format(_first_line(reason)), stacklevel=2)
    return False, PlainRoutes(spark)


_WITHOUT_CLASSES = (
    "Forklake's own classes could not be loaded into Spark: {} Reading and writing go on without"
    " them, more slowly and without encryption. Use the version of Spark that Forklake asks for,"
    " and let it write to its cache folder."
)


def _first_line(reason: Exception) -> str:
    told = reason.java_exception if isinstance(reason, Py4JJavaError) else reason
    return f"{str(told).splitlines()[0].rstrip('.')}."


class _OwnSpark:
    """The Spark that we started in this process, if any, and the engines on it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: SparkSession | None = None
        self._machine: Popen[bytes] | None = None
        self._engines: weakref.WeakSet[Engine] = weakref.WeakSet()

    def session(self, cores: int | None, memory: str | None, is_shared: bool) -> SparkSession:
        """The running Spark of this process, or a new one."""
        with self._lock:
            if self._machine is not None and self._machine.poll() is not None:
                self._bury()
            running: Any = SparkContext._active_spark_context
            if running is not None:
                return SparkSession.builder.getOrCreate()
            self._session = self._started(cores, memory, is_shared)
            return self._session

    def _started(self, cores: int | None, memory: str | None, is_shared: bool) -> SparkSession:
        settings = {**conf.local(cores), **(conf.shared(cores) if is_shared else {})}
        builder = SparkSession.builder.config(map=dict(settings))
        if SparkContext._gateway is not None:  # the Java machine outlives a Spark that was stopped
            session = builder.getOrCreate()
        else:
            machine = java.running_machine(memory or conf.heap(), conf.java_flags(cores))
            with machine as self._machine:
                session = builder.getOrCreate()
            atexit.register(self._leave)
        _log_no_errors()
        _trust_local_files(session)
        return session

    def _bury(self) -> None:
        """Forget a Java machine that has ended, and all that PySpark knows of it."""
        context: Any = SparkContext._active_spark_context
        if context is not None:
            context._jsc = None  # nobody is there to be told
            context.stop()
        self._part()
        SparkContext._gateway = SparkContext._jvm = None
        SparkSession._instantiatedSession = SparkSession._activeSession = None
        self._engines.clear()
        self._session = self._machine = None

    def watch(self, engine: Engine) -> Popen[bytes] | None:
        """Keep Spark running for an engine; its Java machine, if it is on our own Spark."""
        with self._lock:
            if self._session is None or engine._base is not self._session:
                return None
            self._engines.add(engine)
            return self._machine

    def forget(self, engine: Engine) -> None:
        with self._lock:
            was_here = engine in self._engines
            self._engines.discard(engine)
            if was_here and not self._engines:
                self._stop()

    def _leave(self) -> None:
        """Part from the Java machine before it ends, so that nothing calls it any more."""
        self._stop()
        self._part()

    def _part(self) -> None:
        gateway: Any = SparkContext._gateway
        if gateway is not None:
            gateway.shutdown()

    def _stop(self) -> None:
        if self._machine is not None and self._machine.poll() is not None:
            self._bury()
        if self._session is not None:
            self._session.stop()
            self._session = None


def _log_no_errors() -> None:
    """They would be on the terminal twice, and even where we make other errors of them."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True


def _trust_local_files(session: SparkSession) -> None:
    """Local files are read without looking for .crc beside them: Parquet has its own checksums."""
    jvm: Any = session._jvm
    context: Any = session.sparkContext
    local = jvm.org.apache.hadoop.fs.FileSystem.get(
        jvm.java.net.URI("file:///"), context._jsc.hadoopConfiguration()
    )
    local.setVerifyChecksum(False)


_own = _OwnSpark()
