"""DELETE on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from forklake.engines.row_matches import ROW, Matching
from forklake.engines.spark.changing.matched_rows import matched_rows
from forklake.engines.spark.changing.removal import end_rows
from forklake.engines.spark.expressions import Condition, aliased, filtered, joined

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


def delete_rows(
    engine: Engine,
    found: Matching,
    where: Condition | None,
    *,
    using: DataFrame | None = None,
    source_alias: str | None = None,
) -> int:
    """Delete rows for which a condition is true, on its own or together with a row of `using`."""
    table = found.target.table.table_name
    rows = matched_rows(engine, found, where)
    if using is None:
        rows = filtered(rows, where, table)
    else:
        rows = joined(rows, aliased(using, source_alias), where, "left_semi", table)
    return end_rows(engine, found, rows).count


def delete_listed(engine: Engine, found: Matching, ids: DataFrame) -> None:
    """Delete the rows whose ids are in the column ROW of a DataFrame."""
    rows = matched_rows(engine, found).join(ids, ROW, "left_semi")
    end_rows(engine, found, rows)
