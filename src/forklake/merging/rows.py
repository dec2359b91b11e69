"""Rows that a merge takes over one by one, compared and written by Spark.

Each side's touched rows are found in the files that differ, and joined by row id. Nothing of them
comes to the driver but counts and the first of the conflicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, StructField

from forklake.errors import Unsupported
from forklake.merging.outcome import LISTED, RowConflict
from forklake.merging.rules import Did, Verdict, row_pairs
from forklake.merging.tables import TableSide
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.files import ROW_ID
from forklake.model.kinds import TABLE
from forklake.model.merges import Merge
from forklake.model.scans import ScanFile
from forklake.spark.changing.matching import matching
from forklake.spark.engine.engine import Engine
from forklake.spark.names import quoted
from forklake.spark.reading.inlined import inlined_frame
from forklake.spark.reading.projection import default_column
from forklake.spark.reading.scan import ROW, scan_chosen
from forklake.spark.writing.rules import ruled
from forklake.spark.writing.targets import Target
from forklake.spark.writing.write import append_versions

if TYPE_CHECKING:
    from forklake.spark.session import Session
    from forklake.spark.work import Change

_SNAPSHOT, _ROWID = "snapshot_id", "rowid"
_KEY = [StructField(_SNAPSHOT, LongType()), StructField(_ROWID, LongType())]
# No column of a table is called like these.
_ID, _DID, _THEIRS, _IMAGE = "_merge_id", "_merge_did", "_merge_theirs", "_merge_image"
_THEIR_IMAGE = "_merge_their_image"


def touched(engine: Engine, side: TableSide, *, with_plain: bool) -> DataFrame:
    """The rows that a side touched, as they are, with their ids and what was done to them; rows
    that are plainly new only if they are wanted."""
    fields = side.side.now.state.fields(side.table)
    columns = [F.col(quoted(one.name)) for one in fields]
    now = _now(engine, side, with_plain)
    is_own = (F.col(_SNAPSHOT) > side.since) & ~F.col(_SNAPSHOT).isin(side.arrived)
    did = F.when(is_new(side, F.col(_ROWID)), Did.ADDED.value).otherwise(Did.CHANGED.value)
    written = now.where(is_own).select(*columns, F.col(_ROWID).alias(_ID), did.alias(_DID))
    gone = _before(engine, side).join(now.select(_ROWID), _ROWID, "left_anti")
    if side.arrived:  # of which a row may have been there in two versions
        gone = gone.distinct()
    nulls = [F.lit(None).cast(now.schema[one.name].dataType).alias(one.name) for one in fields]
    removed = gone.select(*nulls, F.col(_ROWID).alias(_ID), F.lit(Did.REMOVED.value).alias(_DID))
    return written.union(removed)


def _now(engine: Engine, side: TableSide, with_plain: bool) -> DataFrame:
    """Rows of files and of the metastore that are not as before, or came in a new version."""
    files = [*(side.fresh if with_plain else side.mixed), *side.reduced, *side.arrived_versions]
    chosen = list({one.file.data_file_id: one for one in files}.values())
    rows = [*(side.fresh_rows if with_plain else side.versions), *side.arrived_rows]
    view, table = side.side.now, side.table
    found = scan_chosen(engine, view, table, chosen, virtual=(_SNAPSHOT, _ROWID))
    found.append(inlined_frame(engine.spark, view.state.fields(table), rows, _KEY, 0))
    return reduce(DataFrame.union, found)


def _before(engine: Engine, side: TableSide) -> DataFrame:
    """The ids of rows that were in files which lost some, or in the metastore."""
    numbers = pa.table([pa.array(side.lost_rows, pa.int64())], names=[_ROWID])
    found = [engine.spark.createDataFrame(numbers)]
    for seen in side.before:
        files = side.lost(seen)
        found += scan_chosen(engine, seen.view, seen.table, files, virtual=(_ROWID,))
    return reduce(DataFrame.union, [one.select(_ROWID) for one in found])


# Ids


def is_new(side: TableSide, row_id: Column) -> Column:
    """`TableSide.is_new` for Spark."""
    came = reduce(
        lambda found, one: found | _within(row_id, one.becomes, one), side.brought, F.lit(False)
    )
    return (row_id >= side.first_new) & ~came


def there(source: TableSide, target: TableSide, row_id: Column) -> Column:
    """The id that a row of the source has in the target, or will get."""
    found = F.when(
        is_new(source, row_id), row_id - F.lit(source.first_new) + F.lit(target.next_row_id)
    )
    for one in source.brought:
        found = found.when(_within(row_id, one.becomes, one), row_id - one.becomes + one.first)
    for one in source.taken:
        found = found.when(_within(row_id, one.first, one), row_id - one.first + one.becomes)
    return found.otherwise(row_id)


def _within(row_id: Column, first: int, merge: Merge) -> Column:
    return (row_id >= first) & (row_id < first + merge.count)


# Merging


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows each side did what to, and the verdicts by which the target is changed."""

    pairs: Mapping[tuple[Did, Did], int] = field(default_factory=dict)
    verdicts: Sequence[Verdict] = ()

    def taken(self, did: Did) -> int:
        """How many rows the source did something to that the target takes over."""
        among = [pair for verdict in self.verdicts for pair in row_pairs(verdict)]
        return sum(self.pairs.get(pair, 0) for pair in among if pair[0] is did)

    @property
    def conflicts(self) -> int:
        """How many rows were touched by both."""
        return sum(self.pairs.get(pair, 0) for pair in row_pairs(Verdict.CONFLICT))


@dataclass(frozen=True)
class RowMerge:
    """The rows of one table that both sides may have touched.

    Args:
        adopts: whether plain files become part of the target as they are.
        source_wins: whether its version is used of rows that both changed.
    """

    session: Session
    source: TableSide
    target: TableSide
    adopts: bool
    source_wins: bool

    @cached_property
    def rows(self) -> DataFrame:
        """What the source touched, by the ids of the target, and what the target did to it."""
        mine = touched(self.session.engine, self.source, with_plain=not self.adopts)
        mine = mine.withColumn(_ID, there(self.source, self.target, F.col(_ID)))
        theirs = F.lit(Did.NOTHING.value)
        if self.target.only_adds:
            nothing = F.lit(None).cast("string")
            return mine.withColumn(_THEIRS, theirs).withColumn(_THEIR_IMAGE, nothing)
        others = touched(self.session.engine, self.target, with_plain=False)
        others = others.where(F.col(_DID) != Did.ADDED.value)
        state, table = self.target.side.now.state, self.target.table
        told = others.select(
            _ID, F.col(_DID).alias(_THEIRS), _image(state.fields(table)).alias(_THEIR_IMAGE)
        )
        joined = mine.join(told, _ID, "left")
        return joined.withColumn(_THEIRS, F.coalesce(F.col(_THEIRS), theirs))

    @property
    def _fields(self) -> tuple[Field, ...]:
        return self.source.side.now.state.fields(self.source.table)

    def counts(self, rows: DataFrame) -> Counts:
        """How many rows each did what to."""
        found = rows.groupBy(_DID, _THEIRS).count().collect()
        return Counts({(Did(row[0]), Did(row[1])): int(row[2]) for row in found}, self._verdicts)

    def conflicts(self, rows: DataFrame) -> tuple[RowConflict, ...]:
        """The first of the rows that were touched by both."""
        both = rows.where(_ends_in([Verdict.CONFLICT]))
        image = _image(self._fields).alias(_IMAGE)
        shown = both.select(_ID, _DID, _THEIRS, image, _THEIR_IMAGE).orderBy(_ID).limit(LISTED)
        return tuple(RowConflict(*row) for row in shown.collect())

    @property
    def _verdicts(self) -> list[Verdict]:
        """The verdicts by which rows of the target are changed."""
        return [Verdict.TAKE, Verdict.CONFLICT] if self.source_wins else [Verdict.TAKE]

    def write(self, rows: DataFrame, change: Change, counts: Counts) -> None:
        """End the rows in the target, and add their new versions."""
        transaction = change.transaction
        table = transaction.state.get(TABLE, (self.target.table_id,))
        assert isinstance(table, Table)
        taken = rows.where(_ends_in(self._verdicts))
        if counts.taken(Did.CHANGED) + counts.taken(Did.REMOVED):
            found = matching(self.session, change, table, "target", None)
            ids = taken.where(F.col(_DID) != Did.ADDED.value).select(F.col(_ID).alias(ROW))
            found.removal().end(found.rows().join(ids, ROW, "left_semi"))
        count = counts.taken(Did.CHANGED) + counts.taken(Did.ADDED)
        if count:
            target = Target(change.attachment, transaction.state, table)
            versions = taken.where(F.col(_DID) != Did.REMOVED.value)
            columns = list(_columns(self._fields, target))
            shaped = versions.select(*columns, F.col(_ID).alias(ROW_ID))
            stored = ruled(shaped, target, by_name=True, keep=(ROW_ID,))
            append_versions(self.session.engine, change, target, stored, count, has_new=False)


def write_again(
    session: Session, source: TableSide, files: Sequence[ScanFile], change: Change
) -> None:
    """Add the rows of files of a table that only the source has, under their ids."""
    found = scan_chosen(session.engine, source.side.now, source.table, files, virtual=(_ROWID,))
    target = Target(change.attachment, change.transaction.state, source.table)
    rows = reduce(DataFrame.union, found).withColumnRenamed(_ROWID, ROW_ID)
    stored = ruled(rows, target, by_name=True, keep=(ROW_ID,))
    count = sum(one.live_rows for one in files)
    append_versions(session.engine, change, target, stored, count, has_new=False)


def _ends_in(verdicts: Sequence[Verdict]) -> Column:
    """Whether what both sides did to a row ends in one of some verdicts."""
    tests = [
        (F.col(_DID) == mine.value) & (F.col(_THEIRS) == theirs.value)
        for verdict in verdicts
        for mine, theirs in row_pairs(verdict)
    ]
    return reduce(Column.__or__, tests)


def _image(fields: Sequence[Field]) -> Column:
    """A row as JSON, null where it is gone."""
    row = F.to_json(F.struct(*(F.col(quoted(one.name)) for one in fields)))
    return F.when(F.col(_DID) != Did.REMOVED.value, row)


def _columns(fields: Sequence[Field], target: Target) -> Iterator[Column]:
    """The columns of the target: what the source has for them, or what files without them show."""
    own = {one.column_id: one for one in fields}
    for one in target.fields:
        mine = own.get(one.column_id)
        if mine is None:
            yield default_column(one).alias(one.name)
            continue
        if not _same_inside(mine, one):
            raise Unsupported(
                f"Rows of table '{target.table.table_name}' were changed on one side, and fields"
                f" inside its column '{one.name}' on the other.",
                remedy="Make the same change of the column on both sides first.",
            )
        yield F.col(quoted(mine.name)).alias(one.name)


def _same_inside(one: Field, other: Field) -> bool:
    return len(one.fields) == len(other.fields) and all(
        mine.column_id == theirs.column_id
        and mine.name == theirs.name
        and _same_inside(mine, theirs)
        for mine, theirs in zip(one.fields, other.fields, strict=True)
    )
