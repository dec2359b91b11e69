"""Storage used by each catalog: the sums behind `storage`, as pure functions.

A file is kept by the catalog that wrote it while a snapshot of that catalog lies in the interval of
the file, and by every live fork that reads the catalog at a snapshot in the interval.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from forklake.model.ids import CatalogId


class FileInterval(NamedTuple):
    """Total bytes of the files with one interval of snapshots [begin, end).

    `is_copied`: a materialized fork has rows for these files as well, or another system owns them.
    """

    begin: int
    end: int
    is_copied: bool
    size: int


class Pin(NamedTuple):
    """A live fork and the snapshot at which it reads its ancestor."""

    at: int
    reader: CatalogId


class Point(NamedTuple):
    """A snapshot at which live forks read, their number, and one of them."""

    at: int
    forks: int
    reader: CatalogId


@dataclass(slots=True)
class Usage:
    """Bytes of files of a catalog.

    Args:
        private: files that it wrote and alone keeps.
        shared: files that it keeps together with other catalogs.
        freed: files that it alone keeps, whichever catalog wrote them: dropping it frees them.
    """

    private: int = 0
    shared: int = 0
    freed: int = 0


def add_usage(
    found: dict[CatalogId, Usage],
    owner: CatalogId,
    intervals: Iterable[FileInterval],
    snapshots: Sequence[int],
    points: Sequence[Point],
    pins: Iterable[Pin],
) -> None:
    """Add the files written by one catalog to the usage of this catalog and its forks.

    All sequences are sorted.

    Args:
        points: points of all its forks, which may be very many.
        pins: only those forks whose shared bytes are wanted.
    """
    places = [point.at for point in points]
    forks = [0, *accumulate(point.forks for point in points)]
    shared: list[FileInterval] = []
    for one in intervals:
        first, last = bisect_left(places, one.begin), bisect_left(places, one.end)
        is_own = bisect_left(snapshots, one.begin) < bisect_left(snapshots, one.end)
        keepers = forks[last] - forks[first] + is_own
        if not keepers:
            continue
        if keepers > 1 or one.is_copied:
            shared.append(one)
            if is_own:
                found.setdefault(owner, Usage()).shared += one.size
            continue
        keeper = found.setdefault(owner if is_own else points[first].reader, Usage())
        keeper.freed += one.size
        keeper.private += one.size if is_own else 0
    at = _bytes_at(shared)
    for pin in pins:
        found.setdefault(pin.reader, Usage()).shared += at(pin.at)


class _bytes_at:  # noqa: N801
    """Total bytes of all intervals that contain a snapshot, callable for any snapshot."""

    def __init__(self, intervals: Sequence[FileInterval]) -> None:
        begun = sorted((one.begin, one.size) for one in intervals)
        ended = sorted((one.end, one.size) for one in intervals)
        self._begins, self._ends = ([at for at, _ in some] for some in (begun, ended))
        self._begun, self._ended = (
            [0, *accumulate(size for _, size in some)] for some in (begun, ended)
        )

    def __call__(self, at: int) -> int:
        begun = self._begun[bisect_right(self._begins, at)]
        return begun - self._ended[bisect_right(self._ends, at)]
