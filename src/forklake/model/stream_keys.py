"""Idempotency keys of the batches of streaming queries."""

from __future__ import annotations

import re

_BATCH_KEY = re.compile(r"stream:(?P<query>.+):\d+:(?P<table>\d+)", re.DOTALL)


def format_batch_key(query_id: str, batch_id: int, table_id: int) -> str:
    """Return the key under which a batch of a streaming query is added to a table."""
    return f"stream:{query_id}:{batch_id}:{table_id}"


def stream_of_key(key: str) -> str | None:
    """Return the name that all batches of one query into one table share; None for other keys.

    >>> stream_of_key(format_batch_key("q", 12, 3))
    'q:3'
    """
    match = _BATCH_KEY.fullmatch(key)
    return f"{match['query']}:{match['table']}" if match else None
