"""Retention rules: which rows and snapshots may be deleted, as pure functions of numbers.

A row of a catalog is visible in the snapshots [begin, end). It must be kept while one of the
retention points of the catalog lies in this interval: a snapshot that the catalog still has, or one
at which a live fork reads it. A dropped catalog has no snapshots, only forks. Removed points never
come back, and new points are never older than the newest one: once a row may be deleted, concurrent
commits and forks cannot make it necessary again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from forklake.model.ids import FOREVER, CatalogId, SnapshotId
from forklake.model.snapshots import Snapshot


def may_go(begin: int, end: int | None, points: Sequence[int]) -> bool:
    """Return whether none of the sorted points lies in [begin, end).

    >>> may_go(3, 7, [2, 7, 9]), may_go(3, 8, [2, 7, 9]), may_go(10, None, [2, 7, 9])
    (True, False, True)
    """
    place = bisect_left(points, begin)
    following = points[place] if place < len(points) else FOREVER
    return (FOREVER if end is None else end) <= following


def expirable(
    snapshots: Iterable[Snapshot],
    catalog_id: CatalogId,
    *,
    versions: Collection[int] | None = None,
    older_than: datetime | None = None,
) -> list[Snapshot]:
    """Return the chosen snapshots of a catalog, oldest first; never its newest snapshot."""
    own = sorted(
        (one for one in snapshots if one.catalog_id == catalog_id), key=lambda one: one.snapshot_id
    )
    return [
        one
        for one in own[:-1]
        if (versions is not None and one.snapshot_id in versions)
        or (older_than is not None and one.snapshot_time < older_than)
    ]


@dataclass(frozen=True, slots=True)
class Run:
    """A run of expired snapshots: from the first one and its time to the next retained snapshot."""

    begin_snapshot: SnapshotId
    end_snapshot: SnapshotId
    begin_time: datetime


def runs_of(
    expired: Iterable[tuple[SnapshotId, datetime]], kept: Sequence[SnapshotId]
) -> list[Run]:
    """Return the runs of expired snapshots between the retained ones, which are sorted."""
    first: dict[SnapshotId, tuple[SnapshotId, datetime]] = {}
    for number, moment in sorted(expired):
        place = bisect_right(kept, number)
        first.setdefault(kept[place] if place < len(kept) else FOREVER, (number, moment))
    return [Run(number, end, moment) for end, (number, moment) in first.items()]
