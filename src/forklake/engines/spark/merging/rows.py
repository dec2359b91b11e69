"""Rows that both sides of a merge changed, joined by row id.

The changed rows of each side are read from the files that differ. Only counts and the first
conflicts reach the driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, StructField

from forklake.engines.changes import PendingChange
from forklake.engines.row_matches import ROW, Matching
from forklake.engines.row_sets import NewIds, RowSet, SharedColumns, SideChanges
from forklake.engines.spark.changing.delete import delete_listed
from forklake.engines.spark.merging.row_comparison import compare, count_rows_of
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.reading.inlined import inlined_frame
from forklake.engines.spark.reading.projection import default_column
from forklake.engines.spark.reading.scan import scan_chosen
from forklake.engines.spark.writing.rules import ruled
from forklake.engines.spark.writing.write import append_versions
from forklake.engines.targets import Target
from forklake.model.fields import Field
from forklake.model.files import ROW_ID
from forklake.model.merge_rules import ChangeStatus, Verdict, row_pairs
from forklake.model.merges import Merge

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

_SNAPSHOT, _ROWID = "snapshot_id", "rowid"
_KEY = [StructField(_SNAPSHOT, LongType()), StructField(_ROWID, LongType())]
# Internal columns: names that no column of a table has.
_ID, _DID, _THEIRS, _IMAGE = "_merge_id", "_merge_did", "_merge_theirs", "_merge_image"
_THEIR_IMAGE = "_merge_their_image"


@dataclass(frozen=True, slots=True)
class SparkForks:
    """Joins of the rows of two forks."""

    engine: Engine

    def join_sides(
        self, source: SideChanges, target: SideChanges | None, next_in_target: int
    ) -> DataFrame:
        """Return the rows that the source changed, with their ids and changes in the target.

        Args:
            target: None if the target has only new rows.
            next_in_target: the row id that the next new row gets in the target.
        """
        mine = _touched(self.engine, source)
        mine = mine.withColumn(_ID, _translate_id(source.ids, next_in_target, F.col(_ID)))
        theirs = F.lit(ChangeStatus.UNCHANGED.value)
        if target is None:
            nothing = F.lit(None).cast("string")
            return mine.withColumn(_THEIRS, theirs).withColumn(_THEIR_IMAGE, nothing)
        others = _touched(self.engine, target).where(F.col(_DID) != ChangeStatus.ADDED.value)
        marked = others.select(
            _ID, F.col(_DID).alias(_THEIRS), _image(target.now.fields).alias(_THEIR_IMAGE)
        )
        joined = mine.join(marked, _ID, "left")
        return joined.withColumn(_THEIRS, F.coalesce(F.col(_THEIRS), theirs))

    def count_pairs(self, rows: DataFrame) -> dict[tuple[ChangeStatus, ChangeStatus], int]:
        """Count joined rows by the changes of both sides."""
        found = rows.groupBy(_DID, _THEIRS).count().collect()
        return {(ChangeStatus(row[0]), ChangeStatus(row[1])): int(row[2]) for row in found}

    def first_conflicts(
        self, rows: DataFrame, fields: Sequence[Field], limit: int
    ) -> list[tuple[int, str, str, str | None, str | None]]:
        """Return the first joined rows that both sides changed.

        Each has its id, what source and target did, and both rows as JSON.
        """
        both = rows.where(_ends_in([Verdict.CONFLICT]))
        image = _image(fields).alias(_IMAGE)
        shown = both.select(_ID, _DID, _THEIRS, image, _THEIR_IMAGE).orderBy(_ID).limit(limit)
        return [(row[0], row[1], row[2], row[3], row[4]) for row in shown.collect()]

    def end_old_versions(
        self, rows: DataFrame, verdicts: Sequence[Verdict], found: Matching
    ) -> None:
        """Delete the rows of the target that the source updated or deleted."""
        taken = rows.where(_ends_in(verdicts))
        ids = taken.where(F.col(_DID) != ChangeStatus.ADDED.value).select(F.col(_ID).alias(ROW))
        delete_listed(self.engine, found, ids)

    def add_new_versions(
        self,
        rows: DataFrame,
        verdicts: Sequence[Verdict],
        fields: Sequence[Field],
        target: Target,
        change: PendingChange,
        count: int,
    ) -> None:
        """Add the new rows and new versions of the source to the target.

        Args:
            fields: columns of the source.
            count: number of these rows.
        """
        taken = rows.where(_ends_in(verdicts))
        versions = taken.where(F.col(_DID) != ChangeStatus.REMOVED.value)
        shaped = versions.select(*_columns(fields, target), F.col(_ID).alias(ROW_ID))
        stored = ruled(shaped, target, by_name=True, keep=(ROW_ID,))
        append_versions(self.engine, change, target, stored, count, has_new=False)

    def copy_rows(self, rows: RowSet, target: Target, change: PendingChange, count: int) -> None:
        """Write the rows of files to new files of another table, with the same row ids."""
        found = scan_chosen(self.engine, rows.view, rows.table, rows.files, virtual=(_ROWID,))
        frame = reduce(DataFrame.union, found).withColumnRenamed(_ROWID, ROW_ID)
        stored = ruled(frame, target, by_name=True, keep=(ROW_ID,))
        append_versions(self.engine, change, target, stored, count, has_new=False)

    def count(self, rows: RowSet) -> int:
        """Return the number of rows of a set."""
        return count_rows_of(self.engine, rows)

    def compare(
        self, mine: RowSet, theirs: RowSet, shared: SharedColumns, limit: int
    ) -> tuple[dict[str, int], list[tuple[str, int | None, str | None, str | None]]]:
        """Count the rows added, removed and changed from `mine` to `theirs`, and list some."""
        return compare(self.engine, mine, theirs, shared, limit)


# The changes of one side


def _touched(engine: Engine, side: SideChanges) -> DataFrame:
    """Return the rows that a side changed: current values, row id, and kind of change.

    Deleted rows have null values.
    """
    fields = side.now.fields
    columns = [F.col(quoted(one.name)) for one in fields]
    now = _now(engine, side.now)
    arrived = list(side.arrived)
    is_own = (F.col(_SNAPSHOT) > side.since) & ~F.col(_SNAPSHOT).isin(arrived)
    did = F.when(_is_new(side.ids, F.col(_ROWID)), ChangeStatus.ADDED.value).otherwise(
        ChangeStatus.CHANGED.value
    )
    written = now.where(is_own).select(*columns, F.col(_ROWID).alias(_ID), did.alias(_DID))
    gone = _before(engine, side).join(now.select(_ROWID), _ROWID, "left_anti")
    if side.arrived:  # a row may have existed in two versions before
        gone = gone.distinct()
    nulls = [F.lit(None).cast(now.schema[one.name].dataType).alias(one.name) for one in fields]
    removed = gone.select(
        *nulls, F.col(_ROWID).alias(_ID), F.lit(ChangeStatus.REMOVED.value).alias(_DID)
    )
    return written.union(removed)


def _now(engine: Engine, now: RowSet) -> DataFrame:
    found = scan_chosen(engine, now.view, now.table, now.files, virtual=(_SNAPSHOT, _ROWID))
    found.append(inlined_frame(engine.spark, now.fields, now.rows, _KEY, 0))
    return reduce(DataFrame.union, found)


def _before(engine: Engine, side: SideChanges) -> DataFrame:
    """Return the ids of earlier rows: of files that lost rows, and of lost inlined rows."""
    numbers = pa.table([pa.array(side.lost_rows, pa.int64())], names=[_ROWID])
    found = [engine.spark.createDataFrame(numbers)]
    for one in side.before:
        found += scan_chosen(engine, one.view, one.table, one.files, virtual=(_ROWID,))
    return reduce(DataFrame.union, [one.select(_ROWID) for one in found])


# Ids


def _is_new(ids: NewIds, row_id: Column) -> Column:
    """Return whether a side created a row since its last merge into the other side."""
    came = reduce(
        lambda found, one: found | _within(row_id, one.becomes, one), ids.brought, F.lit(False)
    )
    return (row_id >= ids.first) & ~came


def _translate_id(ids: NewIds, next_in_target: int, row_id: Column) -> Column:
    """Translate a row id of the source to the id that the row has, or will get, in the target."""
    found = F.when(_is_new(ids, row_id), row_id - F.lit(ids.first) + F.lit(next_in_target))
    for one in ids.brought:
        found = found.when(_within(row_id, one.becomes, one), row_id - one.becomes + one.first)
    for one in ids.taken:
        found = found.when(_within(row_id, one.first, one), row_id - one.first + one.becomes)
    return found.otherwise(row_id)


def _within(row_id: Column, first: int, merge: Merge) -> Column:
    return (row_id >= first) & (row_id < first + merge.count)


# Columns


def _ends_in(verdicts: Sequence[Verdict]) -> Column:
    """Return the condition that the changes of both sides have one of these verdicts."""
    tests = [
        (F.col(_DID) == mine.value) & (F.col(_THEIRS) == theirs.value)
        for verdict in verdicts
        for mine, theirs in row_pairs(verdict)
    ]
    return reduce(Column.__or__, tests)


def _image(fields: Sequence[Field]) -> Column:
    """Return a row as JSON, or null if it was deleted."""
    row = F.to_json(F.struct(*(F.col(quoted(one.name)) for one in fields)))
    return F.when(F.col(_DID) != ChangeStatus.REMOVED.value, row)


def _columns(fields: Sequence[Field], target: Target) -> Iterator[Column]:
    """Yield the columns of the target: values of the source, or the initial default."""
    own = {one.column_id: one for one in fields}
    for one in target.fields:
        mine = own.get(one.column_id)
        value = default_column(one) if mine is None else F.col(quoted(mine.name))
        yield value.alias(one.name)
