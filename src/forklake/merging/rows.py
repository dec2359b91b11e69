"""Row-level merge with Spark: rows that must be compared one by one.

The changed rows of each side are read from the files that differ, and joined by row id. Only counts
and the first conflicts reach the driver.
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

from forklake.engines.spark.engine import Engine
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.reading.inlined import inlined_frame
from forklake.engines.spark.reading.projection import default_column
from forklake.engines.spark.reading.scan import ROW, scan_chosen
from forklake.engines.spark.writing.rules import ruled
from forklake.engines.spark.writing.write import append_versions
from forklake.engines.targets import Target
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
from forklake.session.changing.row_matches import matching

if TYPE_CHECKING:
    from forklake.session.session import Session
    from forklake.session.work import Change

_SNAPSHOT, _ROWID = "snapshot_id", "rowid"
_KEY = [StructField(_SNAPSHOT, LongType()), StructField(_ROWID, LongType())]
# Internal columns: names that no column of a table has.
_ID, _DID, _THEIRS, _IMAGE = "_merge_id", "_merge_did", "_merge_theirs", "_merge_image"
_THEIR_IMAGE = "_merge_their_image"


def touched(engine: Engine, side: TableSide, *, with_plain: bool) -> DataFrame:
    """Return the rows that a side changed: current values, row id, and kind of change.

    Deleted rows have null values. Rows of files that hold only new rows are included if
    `with_plain`.
    """
    fields = side.side.now.state.fields(side.table)
    columns = [F.col(quoted(one.name)) for one in fields]
    now = _now(engine, side, with_plain)
    is_own = (F.col(_SNAPSHOT) > side.since) & ~F.col(_SNAPSHOT).isin(side.arrived)
    did = F.when(is_new(side, F.col(_ROWID)), Did.ADDED.value).otherwise(Did.CHANGED.value)
    written = now.where(is_own).select(*columns, F.col(_ROWID).alias(_ID), did.alias(_DID))
    gone = _before(engine, side).join(now.select(_ROWID), _ROWID, "left_anti")
    if side.arrived:  # a row may have existed in two versions before
        gone = gone.distinct()
    nulls = [F.lit(None).cast(now.schema[one.name].dataType).alias(one.name) for one in fields]
    removed = gone.select(*nulls, F.col(_ROWID).alias(_ID), F.lit(Did.REMOVED.value).alias(_DID))
    return written.union(removed)


def _now(engine: Engine, side: TableSide, with_plain: bool) -> DataFrame:
    """Read the current rows of files that differ from before, and such inlined rows."""
    files = [*(side.fresh if with_plain else side.mixed), *side.reduced, *side.arrived_versions]
    chosen = list({one.file.data_file_id: one for one in files}.values())
    rows = [*(side.fresh_rows if with_plain else side.versions), *side.arrived_rows]
    view, table = side.side.now, side.table
    found = scan_chosen(engine, view, table, chosen, virtual=(_SNAPSHOT, _ROWID))
    found.append(inlined_frame(engine.spark, view.state.fields(table), rows, _KEY, 0))
    return reduce(DataFrame.union, found)


def _before(engine: Engine, side: TableSide) -> DataFrame:
    """Return the ids of earlier rows: of files that lost rows, and of lost inlined rows."""
    numbers = pa.table([pa.array(side.lost_rows, pa.int64())], names=[_ROWID])
    found = [engine.spark.createDataFrame(numbers)]
    for seen in side.before:
        files = side.lost(seen)
        found += scan_chosen(engine, seen.view, seen.table, files, virtual=(_ROWID,))
    return reduce(DataFrame.union, [one.select(_ROWID) for one in found])


# Ids


def is_new(side: TableSide, row_id: Column) -> Column:
    """Return the condition `TableSide.is_new` as a Spark column."""
    came = reduce(
        lambda found, one: found | _within(row_id, one.becomes, one), side.brought, F.lit(False)
    )
    return (row_id >= side.first_new) & ~came


def there(source: TableSide, target: TableSide, row_id: Column) -> Column:
    """Translate a row id of the source to the id that the row has, or will get, in the target."""
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
    """Numbers of rows by (change of the source, change of the target).

    `verdicts` are the ones that change the target.
    """

    pairs: Mapping[tuple[Did, Did], int] = field(default_factory=dict)
    verdicts: Sequence[Verdict] = ()

    def taken(self, did: Did) -> int:
        """Return the number of rows with this change in the source that the target takes over."""
        among = [pair for verdict in self.verdicts for pair in row_pairs(verdict)]
        return sum(self.pairs.get(pair, 0) for pair in among if pair[0] is did)

    @property
    def conflicts(self) -> int:
        """Number of rows that both sides changed."""
        return sum(self.pairs.get(pair, 0) for pair in row_pairs(Verdict.CONFLICT))


@dataclass(frozen=True)
class RowMerge:
    """Merge of the rows of one table that both sides may have changed.

    Args:
        adopts: whether files that hold only new rows become part of the target without rewriting.
        source_wins: whether the version of the source is used for rows that both sides changed.
    """

    session: Session
    source: TableSide
    target: TableSide
    adopts: bool
    source_wins: bool

    @cached_property
    def rows(self) -> DataFrame:
        """Rows that the source changed, with their ids and changes in the target."""
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
        """Count the rows by what each side did."""
        found = rows.groupBy(_DID, _THEIRS).count().collect()
        return Counts({(Did(row[0]), Did(row[1])): int(row[2]) for row in found}, self._verdicts)

    def conflicts(self, rows: DataFrame) -> tuple[RowConflict, ...]:
        """Return the first rows that both sides changed."""
        both = rows.where(_ends_in([Verdict.CONFLICT]))
        image = _image(self._fields).alias(_IMAGE)
        shown = both.select(_ID, _DID, _THEIRS, image, _THEIR_IMAGE).orderBy(_ID).limit(LISTED)
        return tuple(RowConflict(*row) for row in shown.collect())

    @property
    def _verdicts(self) -> list[Verdict]:
        """The verdicts that change rows of the target."""
        return [Verdict.TAKE, Verdict.CONFLICT] if self.source_wins else [Verdict.TAKE]

    def write(self, rows: DataFrame, change: Change, counts: Counts) -> None:
        """Delete the old versions of changed rows in the target, and add the new versions."""
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
    """Rewrite files of a table that only the source has, and keep the row ids."""
    found = scan_chosen(session.engine, source.side.now, source.table, files, virtual=(_ROWID,))
    target = Target(change.attachment, change.transaction.state, source.table)
    rows = reduce(DataFrame.union, found).withColumnRenamed(_ROWID, ROW_ID)
    stored = ruled(rows, target, by_name=True, keep=(ROW_ID,))
    count = sum(one.live_rows for one in files)
    append_versions(session.engine, change, target, stored, count, has_new=False)


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
    return F.when(F.col(_DID) != Did.REMOVED.value, row)


def _columns(fields: Sequence[Field], target: Target) -> Iterator[Column]:
    """Yield the columns of the target: values of the source, or the initial default."""
    own = {one.column_id: one for one in fields}
    for one in target.fields:
        mine = own.get(one.column_id)
        if mine is None:
            yield default_column(one).alias(one.name)
            continue
        if not _same_inside(mine, one):
            raise Unsupported(
                f"Cannot merge table '{target.table.table_name}': one side changed rows, and the"
                f" other side changed fields inside the column '{one.name}'.",
                remedy="Make the same change to the column in source and target, and merge again.",
            )
        yield F.col(quoted(mine.name)).alias(one.name)


def _same_inside(one: Field, other: Field) -> bool:
    return len(one.fields) == len(other.fields) and all(
        mine.column_id == theirs.column_id
        and mine.name == theirs.name
        and _same_inside(mine, theirs)
        for mine, theirs in zip(one.fields, other.fields, strict=True)
    )
