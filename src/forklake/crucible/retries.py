"""Retries: a change is tried again when what kept it from happening has passed by itself.

The metastore tries again by itself to create catalogs and forks, and to commit over a connection
that was lost. What is left are definitions: others may have changed the same catalog first, or the
connection was lost before there was anything to commit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from forklake.crucible.metrics import Metrics
from forklake.errors import ForklakeError

T = TypeVar("T")
ATTEMPTS = 8
_WAIT = wait_random_exponential(multiplier=0.02, max=0.5)


def is_transient(error: BaseException) -> bool:
    """Whether another try may go better."""
    return isinstance(error, ForklakeError) and error.retryable


def persistently(change: Callable[[], T], metrics: Metrics) -> T:
    """Do a change, up to so many times; the last error tells how often it was tried."""

    def count(state: RetryCallState) -> None:
        metrics.retries.inc()

    tries = Retrying(
        retry=retry_if_exception(is_transient),
        stop=stop_after_attempt(ATTEMPTS),
        wait=_WAIT,
        before_sleep=count,
        reraise=True,
    )
    try:
        return tries(change)
    except ForklakeError as error:
        if error.retryable:
            error.details["attempts"] = ATTEMPTS
        raise
