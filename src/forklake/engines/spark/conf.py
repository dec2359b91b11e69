"""Settings of Spark: those of a Spark that we start, and those of each session on the lake."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

# Settings that a session needs to read and write files of the lake correctly, in any Spark.
SESSION = {
    "spark.sql.timeType.enabled": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.writeLegacyFormat": "false",
    "spark.sql.parquet.fieldId.read.enabled": "false",  # returns wrong rows
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.variant.writeShredding.enabled": "false",
    "spark.sql.parquet.ignoreVariantAnnotation": "true",  # variants are read as their two parts
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.python.filterPushdown.enabled": "true",
}

SMALL_BOX_CORES = 4
TASKS_ON_A_CORE = 4


def local(cores: int | None) -> dict[str, str]:
    """Return the settings of a Spark that we start on this machine alone."""
    cores = cores or available_cores()
    return {
        **SESSION,
        "spark.app.name": "forklake",
        "spark.master": f"local[{cores}]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": Path(tempfile.gettempdir(), "forklake-warehouse").as_uri(),
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(cores),
        # Files are often small here: opening one costs less than Spark assumes.
        "spark.sql.files.openCostInBytes": "256k",
        "spark.hadoop.parquet.hadoop.vectored.io.enabled": "false",
        # A task that runs out of memory fails alone and does not end the JVM of all other tasks.
        "spark.executor.killOnFatalError.depth": "0",
        # The UI is off: finished jobs are not displayed.
        "spark.ui.retainedJobs": "100",
        "spark.ui.retainedStages": "200",
        "spark.ui.retainedTasks": "1000",
        "spark.sql.ui.retainedExecutions": "50",
        # Listing folders needs no cluster.
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000000000",
    }


def shared(cores: int | None) -> dict[str, str]:
    """Return the further settings of our Spark for many users: long tasks do not block others.

    A query has as many tasks as there are cores, but more tasks than that can run at once; the
    scheduler starts tasks of the query with the fewest running ones first.
    """
    cores = cores or available_cores()
    return {
        "spark.master": f"local[{cores * TASKS_ON_A_CORE}]",
        "spark.default.parallelism": str(cores),
        "spark.scheduler.mode": "FAIR",
    }


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def heap() -> str:
    """Return the heap size: a quarter of the memory, between one and eight gigabytes."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{min(8192, max(1024, pages // 4 // 2**20))}m"


def java_flags(cores: int | None) -> list[str]:
    """Return flags of the JVM; with few cores, the serial garbage collector is the fastest."""
    return ["-XX:+UseSerialGC"] if (cores or available_cores()) <= SMALL_BOX_CORES else []
