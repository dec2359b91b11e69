"""UPDATE on Spark: old row versions end, and new versions with the same row ids are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from forklake.engines.assignments import Assignment, values_of
from forklake.engines.row_matches import Matching
from forklake.engines.spark.changing.matched_rows import matched_rows
from forklake.engines.spark.changing.new_versions import new_versions
from forklake.engines.spark.changing.removal import end_rows
from forklake.engines.spark.expressions import Condition, aliased, filtered, joined
from forklake.engines.spark.remote import persisted
from forklake.engines.spark.writing import align
from forklake.engines.spark.writing.write import append_versions

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


def update_rows(
    engine: Engine,
    found: Matching,
    assigned: Mapping[str, Assignment],
    where: Condition | None,
    *,
    source: DataFrame | None = None,
    source_alias: str | None = None,
    on: Condition | None = None,
) -> int:
    """Set columns of the rows for which a condition is true, and return their number.

    With a source, the rows are joined with it on `on`; no row may match two of its rows.
    """
    table = found.target.table.table_name
    rows = matched_rows(engine, found, where, on, *values_of(assigned))
    if source is not None:
        rows = joined(rows, aliased(source, source_alias), on, "inner", table)
    rows = filtered(rows, where, table)
    with align.translating(), persisted(rows) as kept:
        versions = new_versions(kept, found.target, assigned, found.alias)
        ended = end_rows(engine, found, kept, refuse_doubles=source is not None)
        if ended.count:
            append_versions(
                engine, found.change, found.target, versions, ended.count, has_new=ended.has_new
            )
    return ended.count
