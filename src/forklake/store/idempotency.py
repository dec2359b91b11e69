"""Idempotency keys given by callers, which are kept longer than the snapshots that they belong to.

Only commits with a caller's key have a row. The key that every other commit carries serves only its
own retries, which end long before its snapshot can expire.
"""

from __future__ import annotations

from datetime import datetime

from forklake.model.ids import CatalogId
from forklake.model.snapshots import Head
from forklake.model.stream_keys import stream_of_key
from forklake.store.operations import Insert, Statement
from forklake.store.schema.catalog_tables import IDEMPOTENCY_KEY

_TABLE = "ducklake_idempotency_key"
_COLUMNS = IDEMPOTENCY_KEY.column_names
_BY_KEY = (
    "SELECT h.snapshot_id, h.changes_made, h.idempotency_key, s.schema_version"
    " FROM ducklake_snapshot_changes h JOIN ducklake_snapshot s"
    " ON s.snapshot_id = h.snapshot_id"
    " WHERE h.catalog_id = :catalog AND h.idempotency_key = :key"
    " UNION ALL SELECT k.snapshot_id, NULL, k.idempotency_key, k.schema_version"
    f" FROM {_TABLE} k WHERE k.catalog_id = :catalog AND k.idempotency_key = :key"
)
_NEWEST_BATCH = (
    " UNION ALL SELECT snapshot_id, NULL, idempotency_key, schema_version FROM ("
    f"SELECT snapshot_id, idempotency_key, schema_version FROM {_TABLE}"
    " WHERE catalog_id = :catalog AND stream = :stream ORDER BY snapshot_id DESC LIMIT 1) newest"
)


def key_insert(catalog_id: CatalogId, key: str, head: Head) -> Insert:
    """Return the operation that records the key of the commit that became `head`."""
    row = (
        catalog_id,
        head.snapshot_id,
        head.schema_version,
        key,
        stream_of_key(key),
        head.snapshot_time,
    )
    return Insert(_TABLE, _COLUMNS, [row])


def used_key_statement(catalog_id: CatalogId, key: str) -> Statement:
    """Return the query for commits of a catalog under a key, in the columns of commits.

    Snapshots are searched too: those of older versions have no row in the table of keys. For a
    batch of a stream, the newest batch of the stream is returned too; see `is_covered`.
    """
    text, parameters = _BY_KEY, {"catalog": catalog_id, "key": key}
    if (stream := stream_of_key(key)) is not None:
        text, parameters = f"{text}{_NEWEST_BATCH}", parameters | {"stream": stream}
    return Statement(text, parameters, is_plain_read=True)


def stale_keys_deletion(catalog_id: CatalogId, before: datetime) -> Statement:
    """Return the operation that deletes keys used before a moment whose snapshots have expired.

    The last batch of each stream stays: a query may be started again from its checkpoint at any
    time, and then sends that batch again.
    """
    # The derived table is for MySQL, which refuses to read the table that it deletes from.
    return Statement(
        f"DELETE FROM {_TABLE} WHERE catalog_id = :catalog AND used_at < :before"
        " AND NOT EXISTS (SELECT 1 FROM ducklake_snapshot_changes h"
        f" WHERE h.catalog_id = {_TABLE}.catalog_id AND h.snapshot_id = {_TABLE}.snapshot_id)"
        " AND snapshot_id NOT IN (SELECT newest FROM (SELECT max(k.snapshot_id) AS newest"
        f" FROM {_TABLE} k WHERE k.catalog_id = :catalog AND k.stream IS NOT NULL"
        " GROUP BY k.stream) kept)",
        {"catalog": catalog_id, "before": before},
    )
