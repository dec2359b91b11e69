"""History of a table's rows, bytes and files by snapshot."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from forklake.catalog.catalog import Catalog
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.crucible.pages.row_queries import query_rows
from forklake.model.entities import Table
from forklake.model.kinds import DATA_FILE, TABLE_STATISTICS

_MOST = 300  # maximum number of points in a chart
_STATISTICS = (
    "SELECT begin_snapshot, record_count, file_size_bytes FROM {history} s"
    f" ORDER BY begin_snapshot DESC LIMIT {_MOST}"
)
_FILES = (
    "SELECT begin_snapshot, seen_until, count(*) FROM {history} f"
    " GROUP BY begin_snapshot, seen_until"
)


@dataclass(frozen=True, slots=True)
class GrowthPoint:
    """Size of a table from a snapshot on."""

    snapshot_id: int
    rows: int
    bytes: int
    files: int


def read_growth(catalog: Catalog, seen: SnapshotReads, table: Table) -> list[GrowthPoint]:
    """Return the newest points of a table's history, oldest first."""
    statistics = query_rows(catalog, seen, table, TABLE_STATISTICS, _STATISTICS)
    live = _FileCounts(query_rows(catalog, seen, table, DATA_FILE, _FILES))
    return [
        GrowthPoint(number, rows, size, live(number)) for number, rows, size in sorted(statistics)
    ]


class _FileCounts:
    """Number of live files at any snapshot, from tuples (begin, end or None, count)."""

    def __init__(self, files: Sequence[tuple[int, int | None, int]]) -> None:
        begun = sorted((begin, count) for begin, _, count in files)
        ended = sorted((end, count) for _, end, count in files if end is not None)
        self._begins, self._ends = ([at for at, _ in some] for some in (begun, ended))
        self._begun, self._ended = (
            [0, *accumulate(count for _, count in some)] for some in (begun, ended)
        )

    def __call__(self, at: int) -> int:
        begun = self._begun[bisect_right(self._begins, at)]
        return begun - self._ended[bisect_right(self._ends, at)]
