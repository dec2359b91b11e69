"""Row-by-row comparison of two tables: by row id, or by content."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, StructField

from forklake.engines.row_sets import RowSet, SharedColumns
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.reading.inlined import inlined_frame
from forklake.engines.spark.reading.scan import scan_chosen
from forklake.engines.spark.remote import persisted
from forklake.model.fields import Field
from forklake.model.merge_rules import ChangeStatus

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

_ROWID, _KEY, _IMAGE, _DID = "rowid", "_diff_key", "_diff_image", "_diff_did"
_BEFORE, _AFTER, _SHOWN, _COUNT = "_diff_before", "_diff_after", "_diff_shown", "_diff_count"


def count_rows_of(engine: Engine, rows: RowSet) -> int:
    """Return the number of rows of a set."""
    return _frame(engine, rows).count()


def compare(
    engine: Engine, mine: RowSet, theirs: RowSet, shared: SharedColumns, limit: int
) -> tuple[dict[str, int], list[tuple[str, int | None, str | None, str | None]]]:
    """Count the rows added, removed and changed from `mine` to `theirs`, and list up to `limit`.

    A listed row has its change, its row id, and the row before and after as JSON.
    """
    pairs = shared.pairs
    one = _frame(engine, mine).withColumn(_IMAGE, _image([pair[0] for pair in pairs], pairs))
    other = _frame(engine, theirs).withColumn(_IMAGE, _image([pair[1] for pair in pairs], pairs))
    if shared.first_new is None:
        found = _by_content(one, other)
    else:
        found = _by_row_id(one, other, shared.first_new, shared.ranges)
    with persisted(found) as kept:
        totals = kept.groupBy(_DID).agg(F.sum(_COUNT)).collect()
        counts = {row[0]: int(row[1]) for row in totals}
        shown = kept.orderBy(_SHOWN).limit(limit).collect() if limit else []
    return counts, [(row[_DID], row[_SHOWN], row[_BEFORE], row[_AFTER]) for row in shown]


def _frame(engine: Engine, rows: RowSet) -> DataFrame:
    """Return the rows of a set with their row ids."""
    found = scan_chosen(engine, rows.view, rows.table, rows.files, virtual=(_ROWID,))
    kept = [StructField(_ROWID, LongType())]
    found.append(inlined_frame(engine.spark, rows.fields, rows.rows, kept, 0))
    return reduce(DataFrame.union, found)


def _image(fields: Sequence[Field], shared: Sequence[tuple[Field, Field]]) -> Column:
    """Return the shared columns of a row as JSON, under the names of the second table."""
    columns = [
        F.col(quoted(one.name)).alias(pair[1].name)
        for one, pair in zip(fields, shared, strict=True)
    ]
    return F.to_json(F.struct(*columns), {"ignoreNullFields": "false"})


def _by_row_id(
    one: DataFrame, other: DataFrame, first_new: int, ranges: Sequence[tuple[int, int, int]]
) -> DataFrame:
    # Row ids that a fork merge moved are translated to the ids of the first catalog. New rows of
    # either side get a null key: nulls never join, so they count as added or removed.
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
        F.when(F.col("one").isNull(), ChangeStatus.ADDED.value)
        .when(F.col("other").isNull(), ChangeStatus.REMOVED.value)
        .when(F.col(_BEFORE) != F.col(_AFTER), ChangeStatus.CHANGED.value)
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
        F.when(is_added, ChangeStatus.ADDED.value)
        .otherwise(ChangeStatus.REMOVED.value)
        .alias(_DID),
        F.lit(None).cast("bigint").alias(_SHOWN),
        F.when(~is_added, F.col(_IMAGE)).alias(_BEFORE),
        F.when(is_added, F.col(_IMAGE)).alias(_AFTER),
        F.abs(F.col(_COUNT)).alias(_COUNT),
    )
