"""Ids for the commits of a series, some of them allocated ahead."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from forklake.model.ids import SnapshotId
from forklake.model.plan import CommitPlan
from forklake.store.operations import Allocate, Allocation

T = TypeVar("T")
_MOST_AHEAD = 64  # snapshots allocated ahead
_FILES = 8  # files allocated ahead for each of them


@dataclass(slots=True)
class Reserve:
    """Allocated ids that are not used yet, in order.

    A single commit allocates what it needs. A longer series allocates as many again as it has used,
    so as to do it seldom. Ids that are left at its end are never used.
    """

    _snapshots: list[SnapshotId] = field(default_factory=list)
    _entities: list[int] = field(default_factory=list)
    _files: list[int] = field(default_factory=list)
    _latest: Allocation | None = None
    _used: int = 0  # number of snapshots

    def missing(self, plan: CommitPlan, *, begins: bool) -> Allocate | None:
        """Return the allocation that a plan needs; `begins`: it starts a new snapshot."""
        entities = plan.new_entities - len(self._entities)
        files = plan.new_files - len(self._files)
        snapshots = int(begins) - len(self._snapshots)
        if max(entities, files, snapshots) <= 0:
            return None
        ahead = min(self._used, _MOST_AHEAD)
        wanted = (entities, files + _FILES * ahead, snapshots + ahead)
        return Allocate(*(max(0, one) for one in wanted))

    def put(self, given: Allocation) -> None:
        """Add allocated ids."""
        self._latest = given
        self._snapshots += given.snapshot_ids
        self._entities += given.entity_ids
        self._files += given.file_ids

    def take(self, plan: CommitPlan, snapshot: SnapshotId | None = None) -> Allocation:
        """Return the ids of a plan, with a new snapshot id unless one is given."""
        assert self._latest is not None
        if snapshot is None:
            (snapshot,) = _take_first(self._snapshots, 1)
            self._used += 1
        return Allocation(
            (snapshot,),
            _take_first(self._entities, plan.new_entities),
            _take_first(self._files, plan.new_files),
            self._latest.next_entity_id,
            self._latest.next_file_id,
            self._latest.now,
        )


def _take_first(ids: list[T], count: int) -> list[T]:
    taken = ids[:count]
    del ids[:count]
    return taken
