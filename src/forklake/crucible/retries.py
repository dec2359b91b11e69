"""Retries of changes that failed for a transient reason.

The metastore itself retries creating catalogs and forks, and commits after a lost connection. This
module retries changes of definitions: those that conflict with a concurrent change of the same
catalog, and those whose connection was lost before the commit.
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
    """Return whether the operation may succeed if it is tried again."""
    return isinstance(error, ForklakeError) and error.retryable


def retry_transient(change: Callable[[], T], metrics: Metrics) -> T:
    """Call `change`, up to ATTEMPTS times. The last error has the number of attempts in details."""

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
