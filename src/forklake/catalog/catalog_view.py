"""A catalog as one reader sees it: at a snapshot, or inside a transaction."""

from __future__ import annotations

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.catalog.transaction import Transaction

CatalogView = SnapshotReads | Transaction
