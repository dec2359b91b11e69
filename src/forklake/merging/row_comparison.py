"""Row-by-row comparison of two tables with Spark: by row id, or by content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, StructField

from forklake.engines.spark.engine import Engine
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.reading.inlined import inlined_frame
from forklake.engines.spark.reading.scan import scan_chosen
from forklake.engines.spark.remote import persisted
from forklake.merging.difference import RowDifference
from forklake.merging.kinship import Kinship
from forklake.merging.rules import Did
from forklake.model.fields import Field
from forklake.model.names import folded

if TYPE_CHECKING:
    from forklake.merging.differences import Content, Found
    from forklake.session.session import Session

_ROWID, _KEY, _IMAGE, _DID = "rowid", "_diff_key", "_diff_image", "_diff_did"
_BEFORE, _AFTER, _SHOWN, _COUNT = "_diff_before", "_diff_after", "_diff_shown", "_diff_count"


def frame_of(engine: Engine, content: Content) -> DataFrame:
    """Return the rows of `content` with their row ids."""
    view, table = content.view, content.table
    found = scan_chosen(engine, view, table, content.files, virtual=(_ROWID,))
    kept = [StructField(_ROWID, LongType())]
    found.append(inlined_frame(engine.spark, view.state.fields(table), content.rows, kept, 0))
    return reduce(DataFrame.union, found)


def compared(
    session: Session, mine: Content, theirs: Content, kinship: Kinship, limit: int
) -> Found:
    """Count the rows added, removed and changed from `mine` to `theirs`, and return up to `limit`.

    Only the columns that both tables have are compared.
    """
    engine = session.engine
    before, after = mine.view.state.fields(mine.table), theirs.view.state.fields(theirs.table)
    shared = list(_shared(before, after, kinship))
    one = frame_of(engine, mine).withColumn(_IMAGE, _image([pair[0] for pair in shared], shared))
    other = frame_of(engine, theirs).withColumn(_IMAGE, _image([p[1] for p in shared], shared))
    found = _by_row_id(one, other, kinship, mine) if kinship.is_close else _by_content(one, other)
    with persisted(found) as kept:
        totals = kept.groupBy(_DID).agg(F.sum(_COUNT)).collect()
        counts = {row[0]: int(row[1]) for row in totals}
        shown = kept.orderBy(_SHOWN).limit(limit).collect() if limit else []
    rows = tuple(RowDifference(row[_DID], row[_SHOWN], row[_BEFORE], row[_AFTER]) for row in shown)
    return (
        counts.get(Did.ADDED.value, 0),
        counts.get(Did.REMOVED.value, 0),
        counts.get(Did.CHANGED.value, 0),
    ), rows


def _shared(
    before: Sequence[Field], after: Sequence[Field], kinship: Kinship
) -> Iterator[tuple[Field, Field]]:
    """Return the pairs of columns that both tables have: by column id, or by name."""

    def key(one: Field) -> object:
        return one.column_id if kinship.is_close else folded(one.name)

    theirs = {key(one): one for one in after}
    return ((one, theirs[key(one)]) for one in before if key(one) in theirs)


def _image(fields: Sequence[Field], shared: Sequence[tuple[Field, Field]]) -> Column:
    """Return the shared columns of a row as JSON, under the names of the second table."""
    columns = [
        F.col(quoted(one.name)).alias(pair[1].name)
        for one, pair in zip(fields, shared, strict=True)
    ]
    return F.to_json(F.struct(*columns), {"ignoreNullFields": "false"})


def _by_row_id(one: DataFrame, other: DataFrame, kinship: Kinship, content: Content) -> DataFrame:
    # Row ids that a fork merge moved are translated to the ids of the first catalog. New rows of
    # either side get a null key: nulls never join, so they count as added or removed.
    number = content.table.table_id
    first_new, ranges = kinship.first_new(number), kinship.ranges(number)
    row_id = F.col(_ROWID)
    own = F.when(row_id < first_new, row_id)
    theirs = F.when(row_id < first_new, row_id)
    for mine, there, count in ranges:
        own = own.when((row_id >= mine) & (row_id < mine + count), row_id)
        theirs = theirs.when((row_id >= there) & (row_id < there + count), row_id - there + mine)
    before = one.select(own.alias(_KEY), row_id.alias("one"), F.col(_IMAGE).alias(_BEFORE))
    after = other.select(theirs.alias(_KEY), row_id.alias("other"), F.col(_IMAGE).alias(_AFTER))
    joined = before.join(after, _KEY, "full")
    did = (
        F.when(F.col("one").isNull(), Did.ADDED.value)
        .when(F.col("other").isNull(), Did.REMOVED.value)
        .when(F.col(_BEFORE) != F.col(_AFTER), Did.CHANGED.value)
    )
    shown = F.coalesce(F.col("one"), F.col("other"))
    found = joined.select(
        did.alias(_DID), shown.alias(_SHOWN), _BEFORE, _AFTER, F.lit(1).alias(_COUNT)
    )
    return found.where(F.col(_DID).isNotNull())


def _by_content(one: DataFrame, other: DataFrame) -> DataFrame:
    # Duplicate rows are counted, so a multiset difference needs no row ids.
    sides = one.select(_IMAGE, F.lit(-1).alias(_COUNT)).union(
        other.select(_IMAGE, F.lit(1).alias(_COUNT))
    )
    left = sides.groupBy(_IMAGE).agg(F.sum(_COUNT).alias(_COUNT)).where(F.col(_COUNT) != 0)
    is_added = F.col(_COUNT) > 0
    return left.select(
        F.when(is_added, Did.ADDED.value).otherwise(Did.REMOVED.value).alias(_DID),
        F.lit(None).cast("bigint").alias(_SHOWN),
        F.when(~is_added, F.col(_IMAGE)).alias(_BEFORE),
        F.when(is_added, F.col(_IMAGE)).alias(_AFTER),
        F.abs(F.col(_COUNT)).alias(_COUNT),
    )
