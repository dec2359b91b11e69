"""Removal of rows that Spark found.

Row positions take a few bytes each and are brought to the driver unless there are very many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from forklake.engines.local.removal import Ended, Removal, refuse_duplicates
from forklake.engines.row_matches import FILE, POSITION, ROW, Matching
from forklake.engines.spark.changing.delete_files import ExecutorDeleteFiles
from forklake.engines.spark.remote import persisted
from forklake.engines.spark.writing import align
from forklake.model.ids import DataFileId

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

# More positions than this are not collected on the driver.
MOST_POSITIONS = 20_000_000


def end_rows(
    engine: Engine, found: Matching, rows: DataFrame, *, refuse_doubles: bool = False
) -> Ended:
    """End rows, given by their columns FILE, POSITION and ROW.

    With `refuse_doubles`, raise InvalidInput if a row occurs twice.
    """
    places, removal = rows.select(FILE, POSITION, ROW), Removal(found)
    with align.translating():
        if sum(one.file.record_count for one in found.files) <= MOST_POSITIONS:
            return removal.end(places.toArrow(), refuse_doubles=refuse_doubles)
        with persisted(places) as kept:
            if kept.count() <= MOST_POSITIONS:
                return removal.end(kept.toArrow(), refuse_doubles=refuse_doubles)
            return _end_many(engine, removal, kept, refuse_doubles)


def _end_many(engine: Engine, removal: Removal, places: DataFrame, refuse_doubles: bool) -> Ended:
    in_files = places.where(F.col(FILE).isNotNull())
    inlined = places.where(F.col(FILE).isNull()).select(ROW).collect()
    if refuse_doubles:
        doubles = places.groupBy(FILE, POSITION, ROW).count().where("count > 1")
        refuse_duplicates(not doubles.isEmpty())
    counts = {
        DataFileId(int(row[FILE])): int(row["count"])
        for row in in_files.groupBy(FILE).count().collect()
    }
    rest = removal.end_whole_files(counts)
    if rest:
        numbers = [int(one.file.data_file_id) for one in rest]
        writer = ExecutorDeleteFiles(engine, removal.delete_files)
        writer.add(rest, in_files.where(F.col(FILE).isin(numbers)))
    row_ids = [int(row[ROW]) for row in inlined]
    return removal.end_inlined(row_ids, list(counts), sum(counts.values()) + len(row_ids))
