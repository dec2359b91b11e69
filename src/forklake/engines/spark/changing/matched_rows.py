"""Rows of a table that may be changed, as a DataFrame with their row positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from forklake.engines.relations import Expression
from forklake.engines.row_matches import Matching
from forklake.engines.spark.reading.scan import scan
from forklake.engines.virtual_columns import VIRTUAL
from forklake.model.names import folded

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


def matched_rows(engine: Engine, found: Matching, *expressions: Expression | None) -> DataFrame:
    """Return all rows of the files and the inlined ones, with their row positions.

    Virtual columns are included if the expressions may use them.
    """
    taken = {folded(field.name) for field in found.fields}
    rows = scan(
        engine,
        found.change.transaction,
        found.target.table,
        virtual=[
            name
            for name in VIRTUAL
            if name not in taken and any(_may_need(name, one) for one in expressions)
        ],
        positions=True,
        files=found.files,
    )
    return rows.alias(found.alias)


def _may_need(column: str, expression: Expression | None) -> bool:
    return expression is not None and (
        not isinstance(expression, str) or column in expression.lower()
    )
