"""Table of idempotency keys, which outlive the snapshots that they belong to."""

from __future__ import annotations

from forklake.store.database import Connection
from forklake.store.migrations.steps import add_tables
from forklake.store.schema.catalog_tables import IDEMPOTENCY_KEY


def apply(connection: Connection) -> None:
    """Create the table. Keys of older commits are still found in ducklake_snapshot_changes."""
    add_tables(connection, [IDEMPOTENCY_KEY])
