"""Retry of transactions that the database rolled back because of a deadlock.

Deadlocks are not rare on MySQL, which locks all rows that it scans on the way to those that match.
The transaction that was rolled back has changed nothing, so it can be retried.
"""

from __future__ import annotations

from tenacity import retry, retry_if_exception, stop_after_attempt, wait_random_exponential

from forklake.errors import Unavailable


def _is_undone(reason: BaseException) -> bool:
    return isinstance(reason, Unavailable) and bool(reason.details.get("is_undone"))


again_if_undone = retry(
    retry=retry_if_exception(_is_undone),
    stop=stop_after_attempt(20),
    wait=wait_random_exponential(multiplier=0.005, max=0.5),
    reraise=True,
)
