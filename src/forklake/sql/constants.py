"""Evaluation of constant expressions by DuckDB, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

from forklake.engines.arrow_types import arrow_type
from forklake.engines.local.calculator import calculator
from forklake.engines.local.conform import retyped
from forklake.engines.local.constant_functions import is_plain, require_computable
from forklake.engines.local.evaluation import EvaluationError, evaluate
from forklake.errors import InvalidInput
from forklake.model.duckdb_types import duckdb_type
from forklake.model.fields import Field
from forklake.sql import limits

# Nodes that make an expression depend on rows, or let it run long: a lambda in DuckDB cannot be
# interrupted.
_ROW_DEPENDENT = (exp.Column, exp.Query, exp.Star, exp.Placeholder, exp.Parameter, exp.Lambda)

_MAX_SHOWN = 200  # characters of an expression in an error
_MAX_QUERY_LENGTH = 16 * 2**20  # characters; longer queries are evaluated in another process
_BATCH_ROWS = 2048  # rows; for a million, each column would take 8 MB at once
_MAX_NESTED_BYTES = 2**20  # bytes of a nested value, which takes many times as much in Python


def is_constant(node: exp.Expr) -> bool:
    """Return whether an expression contains no column names and no queries."""
    return node.find(*_ROW_DEPENDENT) is None


def evaluate_constant(node: exp.Expr) -> Any:
    """Return the value of a constant expression as a Python object."""
    text = node.sql("duckdb")
    if not is_constant(node):
        raise InvalidInput(
            f"The expression {text[:_MAX_SHOWN]} is not constant.",
            remedy="Write a constant value that refers to no columns.",
        )
    result = _evaluate_query(f"SELECT {text}", text, [(node, "")])
    if pa.types.is_nested(result.schema.types[0]) and result.nbytes > _MAX_NESTED_BYTES:
        raise InvalidInput(
            f"The value {text[:_MAX_SHOWN]} has too many elements.",
            remedy="Put the elements into a table.",
        )
    try:
        return result.to_pylist()[0]["value"]
    except (OverflowError, ValueError) as reason:  # infinity, and years beyond 9999
        raise InvalidInput(
            f"The value {text[:_MAX_SHOWN]} cannot be represented in Python: {reason}.",
            remedy="Use a finite value in the years 1 to 9999.",
        ) from None


def evaluate_rows(
    cells: Sequence[Sequence[exp.Expr]], fields: Sequence[Field], table: str
) -> pa.Table:
    """Return rows of constant expressions, converted to the columns of a table."""
    values = ", ".join(
        f"({', '.join(_cell_text(cell, field) for cell, field in zip(row, fields, strict=True))})"
        for row in cells
    )
    trees = [
        (_cell_tree(cell, field), duckdb_type(field))
        for row in cells
        for cell, field in zip(row, fields, strict=True)
    ]
    result = _evaluate_query(f"FROM (VALUES {values})", f"for table '{table}'", trees)
    columns = [
        retyped(column, arrow_type(field))
        for column, field in zip(result.columns, fields, strict=True)
    ]
    return pa.table(columns, names=[field.name for field in fields])


def _cell_tree(cell: exp.Expr, field: Field) -> exp.Expr:
    """Return the expression to evaluate for a cell: itself, or the default of its column."""
    if not is_default(cell):
        return cell
    return sqlglot.parse_one(_default_text(field), read="duckdb")


def _cell_text(cell: exp.Expr, field: Field) -> str:
    text = _default_text(field) if is_default(cell) else cell.sql("duckdb")
    limits.check_cancellation()
    return f"CAST({text} AS {duckdb_type(field)})"


def is_default(cell: exp.Expr) -> bool:
    """Return whether a cell is the keyword DEFAULT, which sqlglot parses as a name."""
    is_name = isinstance(cell, exp.Var | exp.Column) and not isinstance(cell.this, exp.Star)
    is_bare = is_name and not (isinstance(cell.this, exp.Identifier) and cell.this.quoted)
    return is_bare and cell.sql().upper() == "DEFAULT"


def _default_text(field: Field) -> str:
    if field.default_value is None:
        return "NULL"
    if field.default_value_type == "literal" and not field.fields:
        return exp.Literal.string(field.default_value).sql("duckdb")
    return field.default_value


def _evaluate_query(query: str, what: str, trees: Sequence[tuple[exp.Expr, str]]) -> pa.Table:
    """Return the rows of a query, in which the trees are cast to types."""
    uncommon = [tree for tree, kind in trees if not is_plain(tree, kind)]
    for tree in uncommon:
        require_computable(tree.sql("duckdb"))
    try:
        if len(query) <= _MAX_QUERY_LENGTH and not uncommon:
            with calculator() as cursor:
                result = cursor.execute(query).to_arrow_table(_BATCH_ROWS)
        else:
            result = evaluate(query)
    except (duckdb.Error, EvaluationError) as reason:
        message = str(reason).split("\n", 1)[0].split(": ", 1)[-1]
        raise InvalidInput(
            f"A value {what[:_MAX_SHOWN]} cannot be computed: {message}",
            remedy="Correct the value.",
        ) from None
    return result if query.startswith("FROM") else result.rename_columns(["value"])
