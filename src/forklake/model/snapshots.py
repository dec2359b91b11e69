"""Snapshots: the versions of a catalog."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from forklake.model.changes import Change
from forklake.model.ids import CatalogId, SnapshotId


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One version of a catalog: when it came to be, what changed and who says so."""

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
    """The newest snapshot of a catalog, the version of its definitions, and its time."""

    snapshot_id: SnapshotId
    schema_version: int
    snapshot_time: datetime


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """What a committer says about a commit, and the key that makes a retry apply only once."""

    author: str | None = None
    message: str | None = None
    extra_info: str | None = None
    idempotency_key: str | None = None
