"""Ids for the commits of a series, some of them taken ahead."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from forklake.model.ids import SnapshotId
from forklake.model.plan import CommitPlan
from forklake.store.operations import Allocate, Allocation

T = TypeVar("T")
_MOST_AHEAD = 64  # snapshots
_FILES = 8  # taken ahead for each of them


@dataclass(slots=True)
class Reserve:
    """Ids that the database has given and nobody has used yet, in order.

    A single commit takes what it needs. A series that goes on takes as many again as it has used,
    so as to ask seldom; what is left at its end is never used.
    """

    _snapshots: list[SnapshotId] = field(default_factory=list)
    _entities: list[int] = field(default_factory=list)
    _files: list[int] = field(default_factory=list)
    _latest: Allocation | None = None
    _used: int = 0  # snapshots

    def missing(self, plan: CommitPlan, *, begins: bool) -> Allocate | None:
        """What to ask for before a plan can be written; `begins`: it is a new snapshot."""
        entities = plan.new_entities - len(self._entities)
        files = plan.new_files - len(self._files)
        snapshots = int(begins) - len(self._snapshots)
        if max(entities, files, snapshots) <= 0:
            return None
        ahead = min(self._used, _MOST_AHEAD)
        wanted = (entities, files + _FILES * ahead, snapshots + ahead)
        return Allocate(*(max(0, one) for one in wanted))

    def put(self, given: Allocation) -> None:
        """Keep what was given."""
        self._latest = given
        self._snapshots += given.snapshot_ids
        self._entities += given.entity_ids
        self._files += given.file_ids

    def take(self, plan: CommitPlan, snapshot: SnapshotId | None = None) -> Allocation:
        """The ids of a plan: of a new snapshot, unless it is part of one."""
        assert self._latest is not None
        if snapshot is None:
            (snapshot,) = _taken(self._snapshots, 1)
            self._used += 1
        return Allocation(
            (snapshot,),
            _taken(self._entities, plan.new_entities),
            _taken(self._files, plan.new_files),
            self._latest.next_entity_id,
            self._latest.next_file_id,
            self._latest.now,
        )


def _taken(ids: list[T], count: int) -> list[T]:
    taken = ids[:count]
    del ids[:count]
    return taken
