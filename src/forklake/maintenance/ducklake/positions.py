"""Rows of a data file that some snapshots do not see: not inserted yet, or already deleted.

DuckLake merges files in place. A merged data file stores, for each row, the snapshot that inserted
it, and a merged delete file the snapshot that deleted it. The import writes deletes that hide such
rows from the other snapshots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from forklake.errors import Unsupported
from forklake.files.footers import unreadable
from forklake.files.systems import open_input, translating
from forklake.maintenance.ducklake.definitions import full_path
from forklake.maintenance.ducklake.id_map import LATER, IdMap, Interval
from forklake.maintenance.ducklake.source import Row
from forklake.model.files import SNAPSHOT_ID

_POSITION = "pos"


@dataclass(slots=True)
class HiddenRows:
    """Hidden row positions of one data file, each with the snapshots from which it is hidden."""

    interval: Interval  # of the file itself
    _parts: list[pa.Table] = field(default_factory=list)

    def add(self, positions: Any, begins: Any, ends: Any) -> None:
        """Hide rows from the snapshots of [begin, end) at which the file is visible.

        Begins and ends are arrays, or one number for all rows.
        """
        count = len(positions)
        first, last = self.interval[0], LATER if self.interval[1] is None else self.interval[1]
        begins = pc.max_element_wise(_column(begins, count), first)
        ends = pc.min_element_wise(_column(ends, count), last)
        rows = pa.table({"position": positions, "begin": begins, "end": ends})
        self._parts.append(rows.filter(pc.less(rows["begin"], rows["end"])))

    def _rows(self) -> pa.Table:
        return pa.concat_tables(self._parts) if self._parts else _NOTHING

    def __len__(self) -> int:
        return sum(part.num_rows for part in self._parts)

    def __iter__(self) -> Iterator[tuple[int, Interval]]:
        for row in self._rows().to_pylist():
            yield row["position"], (row["begin"], _end(row["end"]))

    def intervals(self) -> Iterator[tuple[Interval, pa.Array]]:
        """Yield intervals of snapshots, each with all positions that are hidden in it."""
        rows = self._rows()
        bounds = sorted({*_distinct(rows["begin"]), *_distinct(rows["end"])})
        for begin, end in pairwise(bounds):
            is_hidden = pc.and_(pc.less_equal(rows["begin"], begin), pc.greater(rows["end"], begin))
            found = rows.filter(is_hidden)["position"].combine_chunks()
            if len(found):
                yield (begin, _end(end)), found


_NOTHING = pa.table({name: pa.array([], pa.int64()) for name in ("position", "begin", "end")})


def _column(values: Any, count: int) -> Any:
    return pa.repeat(pa.scalar(values, pa.int64()), count) if isinstance(values, int) else values


def _distinct(values: pa.ChunkedArray) -> list[int]:
    found: list[int] = pc.unique(values).to_pylist()
    return found


def _end(position: int) -> int | None:
    return None if position == LATER else position


def hide_until_inserted(hidden: HiddenRows, path: str, row: Row, ids: IdMap) -> None:
    """Hide the rows of a data file from the snapshots before they were inserted."""
    began = row["begin_snapshot"]
    inserted_at = _read_column(path, SNAPSHOT_ID).fill_null(began)
    hidden.add(pa.arange(0, len(inserted_at)), hidden.interval[0], _to_positions(inserted_at, ids))


def hide_deleted(hidden: HiddenRows, folder: str, delete: Row, ids: IdMap) -> None:
    """Hide the rows of a delete file from the snapshots after they were deleted."""
    path = full_path(folder, delete)
    deleted_at = ids.position(delete["begin_snapshot"])
    if SNAPSHOT_ID in _column_names(path):
        deleted_at = _to_positions(_read_column(path, SNAPSHOT_ID), ids)
    hidden.add(_read_column(path, _POSITION), deleted_at, ids.position(delete["end_snapshot"]))


def hide_inlined(hidden: HiddenRows, deleted: Sequence[tuple[int, int]], ids: IdMap) -> None:
    """Hide rows of inlined deletes: pairs of position and deleting snapshot."""
    positions = pa.array([position for position, _ in deleted], pa.int64())
    deleted_at = pa.array([ids.position(snapshot) for _, snapshot in deleted], pa.int64())
    hidden.add(positions, deleted_at, LATER)


def _to_positions(snapshots: pa.Array, ids: IdMap) -> pa.Array:
    """Translate old snapshot ids to positions."""
    encoded = snapshots.dictionary_encode()
    positions = [ids.position(old) for old in encoded.dictionary.to_pylist()]
    return pa.array(positions, pa.int64()).take(encoded.indices)


def stores_snapshots(folder: str, delete: Row) -> bool:
    """Return whether a delete file stores the snapshot of each delete."""
    if delete["format"] != "parquet":
        raise Unsupported(
            f"The delete file {full_path(folder, delete)!r} has the format {delete['format']},"
            " which cannot be imported.",
            remedy="Rewrite the data files of the table in the DuckLake, and import again.",
        )
    return SNAPSHOT_ID in _column_names(full_path(folder, delete))


def _column_names(path: str) -> list[str]:
    return list(_open_with(path, lambda file: file.schema_arrow.names))


def _read_column(path: str, column: str) -> pa.Array:
    return _open_with(path, lambda file: file.read([column]).column(0).combine_chunks())


def _open_with(path: str, use: Any) -> Any:
    with open_input(path) as opened:
        with translating(path):
            size = opened.size()
        try:
            return use(pq.ParquetFile(opened))
        except (pa.ArrowException, OSError) as reason:
            raise unreadable(path, opened, size, None, reason) from reason
