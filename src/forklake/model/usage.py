"""Who uses how much storage: the sums behind `storage`, as plain functions.

A file is kept by the catalog that wrote it while that has a snapshot in the file's interval, and
by every live fork that reads the catalog at a snapshot in it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from forklake.model.ids import CatalogId


class FileInterval(NamedTuple):
    """The bytes of files that are true for the same snapshots; `is_copied` if a fork that was
    materialised has rows of them too, or if they are somebody else's."""

    begin: int
    end: int
    is_copied: bool
    size: int


class Pin(NamedTuple):
    """A live fork, and the snapshot at which it reads."""

    at: int
    reader: CatalogId


class Point(NamedTuple):
    """A snapshot at which live forks read, how many do, and one of them."""

    at: int
    forks: int
    reader: CatalogId


@dataclass(slots=True)
class Usage:
    """Bytes of files that a catalog wrote and alone keeps; that it keeps with others; and that
    would go if it were dropped, which it alone keeps, whoever wrote them."""

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
    """Add what the files that one catalog wrote are to it and to its forks; all in order.

    `points` are those of all its forks, which may be very many; `pins` are the forks for which it
    is told what they share.
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
    """The bytes of all intervals that a snapshot lies in, for any snapshot."""

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
