"""Spark that this process starts itself, and the engines on it."""

from __future__ import annotations

import atexit
import threading
import weakref
from subprocess import Popen
from typing import TYPE_CHECKING, Any

from pyspark import SparkContext
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from forklake.engines.spark import conf, java

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


class OwnSpark:
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
        log_no_errors()
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
            if self._session is None or engine.base is not self._session:
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


def log_no_errors() -> None:
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


own_spark = OwnSpark()
