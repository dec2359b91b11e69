"""Change feed: rows that were inserted into, updated in and deleted from a table, by snapshot.

Inserted rows are read from the files that were added; deleted rows from the files that contained
them, by the positions that a snapshot deleted. All files of one feed are one relation, however many
files and snapshots there are, and none of its rows are collected.

Rows that were only moved, from the metastore to files or between files, did not change. In the new
file, such a row keeps the snapshot that inserted it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import attrgetter
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BooleanType, LongType, StructField

from forklake.engines.change_range import ChangeRange
from forklake.engines.row_matches import POSITION
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.reading.inlined import inlined_frame
from forklake.engines.spark.reading.scan import Constant, deleted_test, each, scan_chosen
from forklake.model.entities import InlinedRow
from forklake.model.ids import SnapshotId
from forklake.model.scans import DeletedRows, ScanFile

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

SNAPSHOT, ROW, CHANGE = "snapshot_id", "rowid", "change_type"
INSERT, DELETE = "insert", "delete"
PREIMAGE, POSTIMAGE = "update_preimage", "update_postimage"

_KEY = [StructField(SNAPSHOT, LongType()), StructField(ROW, LongType())]
# Names that columns of tables do not have.
_SINCE, _PART, _ENDED = "_ducklake_since", "_ducklake_part", "_ducklake_ended"
_IS_WHOLE, _IS_NEW, _COUNT = "_ducklake_is_whole", "_ducklake_is_new", "_ducklake_count"

# Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part(ScanFile):
    """Data file without its deletes, to be read for rows that one snapshot deleted."""

    number: int
    ended: SnapshotId
    is_whole: bool

    @classmethod
    def of(cls, number: int, deleted: DeletedRows) -> _Part:
        file = deleted.before
        return cls(
            file.file,
            file.path,
            number=number,
            ended=deleted.snapshot_id,
            is_whole=deleted.after is None,
        )


At = Callable[[SnapshotId], bool]


class ChangeFeed:
    """Changes of the rows of a table, as DataFrames.

    Internal frames have the columns of the table, then the snapshot and the row id.
    """

    def __init__(self, engine: Engine, changes: ChangeRange) -> None:
        self._engine = engine
        self._seen = changes.seen
        self._table = changes.table
        self._changes = changes.changes
        self._start = changes.start
        self._fields = changes.seen.state.fields(changes.table)

    def insertions(self) -> DataFrame:
        """Return snapshot, row id and columns of the inserted rows."""
        return self._unite(self._read_inserted(self._is_change)).select(
            SNAPSHOT, ROW, *self._columns
        )

    def deletions(self) -> DataFrame:
        """Return snapshot, row id and columns of the deleted rows."""
        return self._unite(self._read_deleted(self._is_change)).select(
            SNAPSHOT, ROW, *self._columns
        )

    def changes(self) -> DataFrame:
        """Return insertions and deletions with the change type."""
        single = [
            one.withColumn(CHANGE, F.lit(INSERT)) for one in self._read_inserted(self._is_single)
        ]
        single += [
            one.withColumn(CHANGE, F.lit(DELETE)) for one in self._read_deleted(self._is_single)
        ]
        both = [
            one.withColumn(_IS_NEW, F.lit(True)) for one in self._read_inserted(self._is_double)
        ]
        both += [
            one.withColumn(_IS_NEW, F.lit(False)) for one in self._read_deleted(self._is_double)
        ]
        if both:
            single.append(_classify(reduce(DataFrame.union, both)))
        if not single:
            single = [self._unite([]).withColumn(CHANGE, F.lit(INSERT))]
        return reduce(DataFrame.union, single).select(SNAPSHOT, ROW, CHANGE, *self._columns)

    @property
    def _columns(self) -> list[Column]:
        return [F.col(quoted(field.name)) for field in self._fields]

    def _unite(self, frames: Sequence[DataFrame]) -> DataFrame:
        return reduce(DataFrame.union, frames or [self._inlined_frame([])])

    # Snapshots

    def _is_change(self, at: SnapshotId) -> bool:
        return at not in self._changes.rewrites

    def _is_double(self, at: SnapshotId) -> bool:
        """Return whether a snapshot may have updated rows: it both inserted and deleted some."""
        return self._is_change(at) and (self._doubles is None or at in self._doubles)

    def _is_single(self, at: SnapshotId) -> bool:
        return self._is_change(at) and not self._is_double(at)

    @cached_property
    def _doubles(self) -> set[SnapshotId] | None:
        """Snapshots that inserted rows and deleted some; None if only the files show that."""
        changes = self._changes
        if any(one.file.partial_file_info is not None for one in changes.added):
            return None
        inserting = {one.file.begin_snapshot for one in changes.added}
        inserting |= {row.begin_snapshot for row in changes.inserted_rows}
        deleting = {one.snapshot_id for one in changes.deleted}
        deleting |= {ended for ended, _ in changes.deleted_rows}
        return inserting & deleting

    # Inserted rows

    def _read_inserted(self, at: At) -> list[DataFrame]:
        files = [one for one in self._changes.added if at(one.file.begin_snapshot)]
        rows = [row for row in self._changes.inserted_rows if at(row.begin_snapshot)]
        found = [
            one.where(f"{SNAPSHOT} >= {_SINCE}").drop(_SINCE) for one in self._read_added(files)
        ]
        return found + ([self._inlined_frame(rows)] if rows else [])

    def _read_added(self, files: Sequence[ScanFile]) -> list[DataFrame]:
        """Return the rows of files; moved rows have an older snapshot than the file."""
        since = each(lambda one: max(one.file.begin_snapshot, self._start))
        return scan_chosen(
            self._engine,
            self._seen,
            self._table,
            files,
            virtual=(SNAPSHOT, ROW),
            constants=[Constant(_SINCE, LongType(), since)],
        )

    def _inlined_frame(self, rows: Sequence[InlinedRow]) -> DataFrame:
        return inlined_frame(self._engine.spark, self._fields, rows, _KEY, 0)

    # Deleted rows

    def _read_deleted(self, at: At) -> list[DataFrame]:
        changes = [one for one in self._changes.deleted if at(one.snapshot_id)]
        rows = [
            replace(row, begin_snapshot=ended)
            for ended, row in self._changes.deleted_rows
            if at(ended)
        ]
        found = self._read_deleted_in_files(changes)
        if rows:
            found.append(self._inlined_frame(rows))
        mixed = [
            one for one in self._changes.added if one.file.begin_snapshot in self._changes.mixed
        ]
        if not found or not mixed or not any(map(at, self._changes.mixed)):
            return found
        moved = self._unite(self._read_added(mixed)).where(f"{SNAPSHOT} < {_SINCE}")
        places = moved.select(F.col(_SINCE).alias(SNAPSHOT), ROW)
        real = self._unite(found).join(places, [SNAPSHOT, ROW], "left_anti")
        return [real.select(*self._columns, SNAPSHOT, ROW)]

    def _read_deleted_in_files(self, changes: Sequence[DeletedRows]) -> list[DataFrame]:
        parts = [_Part.of(number, one) for number, one in enumerate(changes)]
        found = scan_chosen(
            self._engine,
            self._seen,
            self._table,
            parts,
            positions=True,
            virtual=(ROW,),
            constants=[
                Constant(_PART, LongType(), each(attrgetter("number"))),
                Constant(_ENDED, LongType(), each(attrgetter("ended"))),
                Constant(_IS_WHOLE, BooleanType(), each(attrgetter("is_whole"))),
            ],
        )
        if not found:
            return []
        is_gone = self._is_gone(changes)
        snapshot = F.col(_ENDED).alias(SNAPSHOT)
        return [one.where(is_gone).select(*self._columns, snapshot, ROW) for one in found]

    def _is_gone(self, changes: Sequence[DeletedRows]) -> Column:
        """Return whether a row of a part is one that its snapshot deleted."""
        before: list[tuple[int, ScanFile]] = []
        after: list[tuple[int, ScanFile]] = []
        for number, one in enumerate(changes):
            if one.after is not None and one.after.delete_path == one.before.delete_path:
                fresh = set(one.after.deleted_positions) - set(one.before.deleted_positions)
                known = ScanFile(
                    one.after.file, one.after.path, deleted_positions=tuple(sorted(fresh))
                )
                after.append((number, known))
                continue
            if one.before.has_deletes:
                before.append((number, one.before))
            if one.after is not None:
                after.append((number, one.after))
        place = F.col(_PART), F.col(POSITION)
        is_gone = F.col(_IS_WHOLE)
        if after:
            is_gone = is_gone | deleted_test(self._engine, after)(*place)
        if before:
            is_gone = is_gone & ~deleted_test(self._engine, before)(*place)
        return is_gone


def _classify(rows: DataFrame) -> DataFrame:
    """Return rows with their change type: an update if a row was both inserted and deleted."""
    versions = F.count("*").over(Window.partitionBy(SNAPSHOT, ROW))
    is_new, is_updated = F.col(_IS_NEW), F.col(_COUNT) > 1
    kind = (
        F.when(is_new & is_updated, POSTIMAGE)
        .when(is_new, INSERT)
        .when(is_updated, PREIMAGE)
        .otherwise(DELETE)
    )
    counted = rows.withColumn(_COUNT, versions).withColumn(CHANGE, kind)
    return counted.drop(_IS_NEW, _COUNT)
