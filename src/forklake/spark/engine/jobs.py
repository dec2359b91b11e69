"""What Spark does in this process at the moment: whether it is up, and how its jobs are stopped."""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext


def is_up() -> bool:
    """Whether a Spark runs in this process."""
    return _running() is not None


def cancel_jobs() -> None:
    """Stop all jobs of the Spark of this process; whoever waits for one gets an error."""
    running = _running()
    if running is not None:
        running.cancelAllJobs()


def _running() -> Any:
    found: Any = SparkContext._active_spark_context
    return found if getattr(found, "_jsc", None) is not None else None  # None while it starts
