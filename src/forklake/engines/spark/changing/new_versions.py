"""New rows and new versions of rows, as the files of a table store them."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from forklake.catalog.data import LOCAL_ROW_IDS
from forklake.engines.assignments import Assignment
from forklake.engines.row_matches import ROW
from forklake.engines.spark.expressions import analysing, expression
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.remote import analysed
from forklake.engines.spark.writing import align
from forklake.engines.spark.writing.rules import ruled
from forklake.engines.targets import Target
from forklake.model.fields import Field
from forklake.model.files import ROW_ID
from forklake.model.names import folded


def new_versions(
    rows: DataFrame, target: Target, assigned: Mapping[str, Assignment], alias: str
) -> DataFrame:
    """Return updated rows of a table as files store them, with their row ids.

    Values are expressions over the old rows.
    """
    table = target.table.table_name
    # Rows that the transaction itself added have only provisional ids, which must not be kept.
    own_id = F.when(F.col(ROW) < LOCAL_ROW_IDS, F.col(ROW)).alias(ROW_ID)
    with analysing(table):
        columns = []
        for one in target.fields:
            node = assigned.get(folded(one.name))
            if _is_given(node) or target.rules.of_column(one.name) is None:
                old = F.col(f"{quoted(alias)}.{quoted(one.name)}")
                columns.append(_assign_value(old, one, node).alias(one.name))
        chosen = analysed(rows.select(*columns, own_id))
    return ruled(chosen, target, by_name=True, keep=(ROW_ID,))


def new_rows(rows: DataFrame, target: Target, assigned: Mapping[str, Assignment]) -> DataFrame:
    """Return new rows as files store them; columns without a value get their defaults."""
    table = target.table.table_name
    given = [
        expression(node.value).alias(one.name)
        for one in target.fields
        if (node := assigned.get(folded(one.name))) is not None
        and node.value is not None
        and not node.is_default
    ]
    no_id = F.lit(None).cast("bigint").alias(ROW_ID)
    with analysing(table):
        chosen = analysed(rows.select(*given, no_id))
    return ruled(chosen, target, by_name=True, keep=(ROW_ID,))


def _assign_value(old: Column, column: Field, node: Assignment | None) -> Column:
    if node is None:
        return old
    if node.value is not None:
        return align.default(column) if node.is_default else expression(node.value)
    # As in SQL, a NULL struct is no longer NULL once one of its fields is set.
    return F.struct(
        *(
            _assign_value(old.getField(one.name), one, node.inside.get(folded(one.name))).alias(
                one.name
            )
            for one in column.fields
        )
    )


def _is_given(node: Assignment | None) -> bool:
    """Return whether a column gets an explicit value, that is not DEFAULT."""
    return node is not None and not node.is_default
