"""Numbers of a DuckLake and what they become: positions among snapshots, local ids of objects and
files. The numbers that these get are known when everything is written."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from forklake.maintenance.ducklake.source import Row
from forklake.model.ids import LocalIds

Interval = tuple[int, int | None]
LATER = 2**62  # comes after every position


@dataclass(slots=True)
class Numbers:
    """Old numbers, and the local ones that stand for them.

    Snapshots that expired are gone: what began in one begins in the next that is left.
    """

    snapshots: Sequence[int]
    entities: LocalIds = field(default_factory=LocalIds)
    files: LocalIds = field(default_factory=LocalIds)
    _entities: dict[int, int] = field(default_factory=dict)
    _files: dict[int, int] = field(default_factory=dict)

    def snapshot(self, old: int) -> int | None:
        """The position of the first snapshot from an old one on; None if there is none."""
        position = bisect_left(self.snapshots, old)
        return position if position < len(self.snapshots) else None

    def position(self, old: int | None) -> int:
        """The same, with LATER for what is yet to come or has no end."""
        found = None if old is None else self.snapshot(old)
        return LATER if found is None else found

    def interval(self, begin: int, end: int | None) -> Interval | None:
        """From when to when something can be seen; None if that is at no time."""
        first = self.snapshot(begin)
        last = None if end is None else self.snapshot(end)
        return None if first is None or first == last else (first, last)

    def interval_of(self, row: Row) -> Interval | None:
        """The same of a row."""
        return self.interval(row["begin_snapshot"], row["end_snapshot"])

    def entity(self, old: int) -> Any:
        """The number of a schema, table, view, macro or partitioning."""
        if old not in self._entities:
            self._entities[old] = self.entities.take()
        return self._entities[old]

    def file(self, old: int) -> Any:
        """The number of a data file or delete file."""
        if old not in self._files:
            self._files[old] = self.files.take()
        return self._files[old]

    def knows(self, old: int) -> bool:
        """Whether an object is among those that are imported."""
        return old in self._entities
