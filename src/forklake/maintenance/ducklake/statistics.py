"""Statistics of imported tables: live rows and bytes at each snapshot, and bounds of columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from forklake.maintenance.ducklake.definitions import DefinitionReader, TableHistory
from forklake.maintenance.ducklake.id_map import Interval
from forklake.model.entities import TableStatistics
from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId, SnapshotId
from forklake.model.statistics import widened


@dataclass(slots=True)
class _Tally:
    """Changes of the row count and size of a table at each snapshot, and bounds of its files."""

    rows: dict[int, int] = field(default_factory=dict)
    size: dict[int, int] = field(default_factory=dict)
    bounds: dict[ColumnId, list[ColumnBounds]] = field(default_factory=dict)


@dataclass(slots=True)
class Statistics:
    """Accumulator of table and column statistics while files and rows are read."""

    definitions: DefinitionReader
    _tallies: dict[int, _Tally] = field(default_factory=dict)

    def _tally_of(self, table: TableHistory) -> _Tally:
        return self._tallies.setdefault(table.old_id, _Tally())

    def add_rows(self, table: TableHistory, interval: Interval, rows: int, size: int = 0) -> None:
        """Add rows and bytes that are visible from one snapshot to another."""
        tally = self._tally_of(table)
        for at, sign in ((interval[0], 1), (interval[1], -1)):
            if at is not None:
                tally.rows[at] = tally.rows.get(at, 0) + sign * rows
                tally.size[at] = tally.size.get(at, 0) + sign * size

    def add_bounds(self, table: TableHistory, bounds: Iterable[ColumnBounds]) -> None:
        """Add the column bounds of a file."""
        for one in bounds:
            self._tally_of(table).bounds.setdefault(one.column_id, []).append(one)

    def gather(self) -> None:
        """Add the statistics of all tables to the gathered rows."""
        next_ids = {
            row["table_id"]: row["next_row_id"]
            for row in self.definitions.source.rows("ducklake_table_stats")
        }
        for old, table in self.definitions.tables.items():
            self._gather_table(table, next_ids.get(old, 0))
            fields = table.newest_fields()
            for column_id, bounds in self._tally_of(table).bounds.items():
                column = table.table_id, column_id, fields[column_id].type
                self._add(table.interval, widened(None, column, bounds))

    def _gather_table(self, table: TableHistory, next_row_id: int) -> None:
        tally = self._tally_of(table)
        begin, end = table.interval
        times = sorted({begin, *tally.rows} - {end})
        rows = size = 0
        for at, until in zip(times, [*times[1:], end], strict=True):
            rows, size = rows + tally.rows.get(at, 0), size + tally.size.get(at, 0)
            self._add(
                (at, until),
                TableStatistics(
                    table_id=table.table_id,
                    record_count=rows,
                    next_row_id=next_row_id,
                    file_size_bytes=size,
                ),
            )

    def _add(self, interval: Interval, row: Any) -> None:
        begin, end = interval
        self.definitions.imported.add(replace(row, begin_snapshot=SnapshotId(begin)), end)
