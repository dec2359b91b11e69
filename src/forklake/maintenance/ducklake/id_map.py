"""Translation of DuckLake ids: snapshot ids to positions, other ids to local ids.

Final ids are assigned when everything is written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from forklake.maintenance.ducklake.source import Row
from forklake.model.ids import LocalIds

Interval = tuple[int, int | None]
LATER = 2**62  # greater than every position


@dataclass(slots=True)
class IdMap:
    """Old ids, and the local ids that replace them.

    Expired snapshots are not imported: a row that began in one begins in the next retained one.
    """

    snapshots: Sequence[int]
    entities: LocalIds = field(default_factory=LocalIds)
    files: LocalIds = field(default_factory=LocalIds)
    _entities: dict[int, int] = field(default_factory=dict)
    _files: dict[int, int] = field(default_factory=dict)

    def snapshot(self, old: int) -> int | None:
        """Return the position of the first retained snapshot at or after `old`, or None."""
        position = bisect_left(self.snapshots, old)
        return position if position < len(self.snapshots) else None

    def position(self, old: int | None) -> int:
        """Return the position like `snapshot`, but LATER instead of None."""
        found = None if old is None else self.snapshot(old)
        return LATER if found is None else found

    def interval(self, begin: int, end: int | None) -> Interval | None:
        """Return the positions between which a row is visible; None if no snapshot sees it."""
        first = self.snapshot(begin)
        last = None if end is None else self.snapshot(end)
        return None if first is None or first == last else (first, last)

    def interval_of(self, row: Row) -> Interval | None:
        """Return the interval of a versioned row."""
        return self.interval(row["begin_snapshot"], row["end_snapshot"])

    def entity(self, old: int) -> Any:
        """Return the local id of a schema, table, view, macro or partitioning."""
        if old not in self._entities:
            self._entities[old] = self.entities.take()
        return self._entities[old]

    def file(self, old: int) -> Any:
        """Return the local id of a data file or delete file."""
        if old not in self._files:
            self._files[old] = self.files.take()
        return self._files[old]

    def has_entity(self, old: int) -> bool:
        """Return whether an object is imported."""
        return old in self._entities
