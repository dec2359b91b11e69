"""Snapshots: the versions of a catalog."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from forklake.model.changes import Change
from forklake.model.ids import CatalogId, SnapshotId


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One version of a catalog: its time, its changes, its author and message."""

    snapshot_id: SnapshotId
    snapshot_time: datetime
    schema_version: int
    catalog_id: CatalogId
    changes: tuple[Change, ...]
    author: str | None = None
    commit_message: str | None = None
    commit_extra_info: str | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """Newest snapshot of a catalog, its time, and the version of the definitions."""

    snapshot_id: SnapshotId
    schema_version: int
    snapshot_time: datetime


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """Author and message of a commit, and the key that makes a retry apply only once."""

    author: str | None = None
    message: str | None = None
    extra_info: str | None = None
    idempotency_key: str | None = None
