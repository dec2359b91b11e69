"""State of Spark in this process: whether it runs, and cancellation of its jobs."""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext


def is_up() -> bool:
    """Return whether Spark runs in this process."""
    return _running() is not None


def cancel_jobs() -> None:
    """Cancel all jobs of Spark in this process; threads that wait for one get an error."""
    running = _running()
    if running is not None:
        running.cancelAllJobs()


def _running() -> Any:
    found: Any = SparkContext._active_spark_context
    return found if getattr(found, "_jsc", None) is not None else None  # None while it starts
