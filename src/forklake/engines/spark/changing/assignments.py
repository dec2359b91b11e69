"""Assignments: values that UPDATE and MERGE INTO set in the columns of a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from forklake.catalog.data import LOCAL_ROW_IDS
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.reading.scan import ROW
from forklake.engines.spark.remote import analysed
from forklake.engines.spark.writing import align
from forklake.engines.spark.writing.rules import ruled
from forklake.engines.targets import Target
from forklake.errors import InvalidInput
from forklake.model.fields import Field
from forklake.model.files import ROW_ID
from forklake.model.names import folded
from forklake.session.changing.inlined_evaluation import UNDECIDED, literal_value
from forklake.session.changing.row_matches import analysing, expression
from forklake.session.names import perhaps, split_name

Value = str | Column
Assignments = Mapping[str, Value]


@dataclass(slots=True)
class _Node:
    """Value assigned to a column, or assignments to fields inside it."""

    value: Value | None = None
    inside: dict[str, _Node] = field(default_factory=dict)


def new_versions(
    rows: DataFrame, target: Target, assignments: Assignments, alias: str
) -> DataFrame:
    """Return updated rows of a table as files store them, with their row ids.

    Values are expressions over the old rows. Keys are columns, or fields of structs: `s.x`.
    """
    table = target.table.table_name
    tree = _build_tree(assignments, target.fields, table)
    # Rows that the transaction itself added have only provisional ids, which must not be kept.
    own_id = F.when(F.col(ROW) < LOCAL_ROW_IDS, F.col(ROW)).alias(ROW_ID)
    with analysing(table):
        columns = []
        for one in target.fields:
            node = tree.get(folded(one.name))
            if _is_given(node) or target.rules.of_column(one.name) is None:
                old = F.col(f"{quoted(alias)}.{quoted(one.name)}")
                columns.append(_assign_value(old, one, node).alias(one.name))
        chosen = analysed(rows.select(*columns, own_id))
    return ruled(chosen, target, by_name=True, keep=(ROW_ID,))


def new_rows(rows: DataFrame, target: Target, values: Assignments) -> DataFrame:
    """Return new rows as files store them; columns without a value get their defaults."""
    table = target.table.table_name
    given: dict[str, Column] = {}
    for name, value in values.items():
        (column,) = _path(name, target.fields, table, deepest=1)
        if folded(column.name) in given:
            raise _duplicate_error(name, table)
        if not _is_default(value):
            given[folded(column.name)] = expression(value).alias(column.name)
    no_id = F.lit(None).cast("bigint").alias(ROW_ID)
    with analysing(table):
        chosen = analysed(rows.select(*given.values(), no_id))
    return ruled(chosen, target, by_name=True, keep=(ROW_ID,))


def literal_values(target: Target, assignments: Assignments) -> dict[str, Any] | None:
    """Return the values of columns set to plain literals; None if evaluating them needs Spark."""
    table = target.table.table_name
    given: dict[str, Any] = {}
    for name, node in _build_tree(assignments, target.fields, table).items():
        (column,) = (one for one in target.fields if folded(one.name) == name)
        value = literal_value(node.value, column) if isinstance(node.value, str) else UNDECIDED
        if value is UNDECIDED:
            return None
        given[column.name] = value
    return given


def _build_tree(assignments: Assignments, fields: Sequence[Field], table: str) -> dict[str, _Node]:
    if not assignments:
        raise InvalidInput(
            f"The UPDATE of table '{table}' sets no column.",
            remedy="Assign a value to at least one column.",
        )
    root = _Node()
    for name, value in assignments.items():
        node = root
        for one in _path(name, fields, table):
            if node.value is not None:
                raise _duplicate_error(name, table)
            node = node.inside.setdefault(folded(one.name), _Node())
        if node.value is not None or node.inside:
            raise _duplicate_error(name, table)
        node.value = value
    return root.inside


def _path(
    name: str, fields: Sequence[Field], table: str, *, deepest: int | None = None
) -> Iterator[Field]:
    """Yield the column, and the fields inside it, along the path of a name."""
    parts = split_name(name)
    within: Sequence[Field] = fields
    for part in parts[:deepest]:
        found = next((one for one in within if folded(one.name) == folded(part)), None)
        if found is None or len(parts) > (deepest or len(parts)):
            raise InvalidInput(
                f"Table '{table}' has no column '{'.'.join(parts)}'.",
                remedy=perhaps(part, [one.name for one in within], what="columns"),
            )
        yield found
        within = found.fields if found.type == "struct" else ()


def _duplicate_error(name: str, table: str) -> InvalidInput:
    return InvalidInput(
        f"The column '{'.'.join(split_name(name))}' of table '{table}' is set twice.",
        remedy="Set each column once.",
    )


def _assign_value(old: Column, column: Field, node: _Node | None) -> Column:
    if node is None:
        return old
    if node.value is not None:
        return align.default(column) if _is_default(node.value) else expression(node.value)
    # As in SQL, a NULL struct is no longer NULL once one of its fields is set.
    return F.struct(
        *(
            _assign_value(old.getField(one.name), one, node.inside.get(folded(one.name))).alias(
                one.name
            )
            for one in column.fields
        )
    )


def _is_given(node: _Node | None) -> bool:
    """Return whether a column gets an explicit value, that is not DEFAULT."""
    return node is not None and not (node.value is not None and _is_default(node.value))


def _is_default(value: Value) -> bool:
    return isinstance(value, str) and value.strip().upper() == "DEFAULT"
