"""Idempotency keys of the batches of streaming queries.

A key contains the name of the table, because a table that is replaced gets another id. The batches
of a query are numbered in the order in which they are committed.
"""

from __future__ import annotations

import re

from forklake.model.names import folded

_BATCH_KEY = re.compile(r"stream:(?P<query>[^:]+):(?P<batch>\d+):(?P<table>.+)", re.DOTALL)


def format_batch_key(query_id: str, batch_id: int, schema: str, table: str) -> str:
    """Return the key under which a batch of a streaming query is added to a table."""
    return f"stream:{query_id}:{batch_id}:{folded(schema)}.{folded(table)}"


def stream_of_key(key: str) -> str | None:
    """Return the common part of the keys of one query and table; None for other keys.

    >>> stream_of_key(format_batch_key("q", 12, "main", "T"))
    'q:main.t'
    """
    match = _BATCH_KEY.fullmatch(key)
    return f"{match['query']}:{match['table']}" if match else None


def is_covered(key: str, stored: str) -> bool:
    """Return whether a commit under the key `stored` shows that one under `key` was applied.

    A query that restarts from an older checkpoint repeats batches whose own keys may be deleted. A
    later batch of the same stream shows that they were committed.

    >>> is_covered(format_batch_key("q", 3, "main", "t"), format_batch_key("q", 12, "main", "t"))
    True
    """
    if key == stored:
        return True
    batch, other = _BATCH_KEY.fullmatch(key), _BATCH_KEY.fullmatch(stored)
    if (
        batch is None
        or other is None
        or batch.group("query", "table") != other.group("query", "table")
    ):
        return False
    return int(batch["batch"]) <= int(other["batch"])
