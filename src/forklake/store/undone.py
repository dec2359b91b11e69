"""Transactions that a database undid as a whole, and that simply run again.

Two that wait for each other are not rare on MySQL, which locks what it looks at on its way to the
rows that it wants. The one that is undone has changed nothing: it may start over.
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
