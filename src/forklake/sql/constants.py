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
_OF_ROWS = (exp.Column, exp.Query, exp.Star, exp.Placeholder, exp.Parameter, exp.Lambda)

_MOST_SHOWN = 200  # characters of an expression in an error
_MOST_TEXT = 16 * 2**20  # characters; longer queries are evaluated in another process
_BATCH = 2048  # rows; for a million, each column would take 8 MB at once
_MOST_NESTED = 2**20  # bytes of a nested value, which takes many times as much in Python


def is_constant(node: exp.Expr) -> bool:
    """Return whether an expression contains no column names and no queries."""
    return node.find(*_OF_ROWS) is None


def value(node: exp.Expr) -> Any:
    """Return the value of a constant expression as a Python object."""
    text = node.sql("duckdb")
    if not is_constant(node):
        raise InvalidInput(
            f"The expression {text[:_MOST_SHOWN]} is not constant.",
            remedy="Write a constant value that refers to no columns.",
        )
    found = _compute(f"SELECT {text}", text, [(node, "")])
    if pa.types.is_nested(found.schema.types[0]) and found.nbytes > _MOST_NESTED:
        raise InvalidInput(
            f"The value {text[:_MOST_SHOWN]} has too many elements.",
            remedy="Put the elements into a table.",
        )
    try:
        return found.to_pylist()[0]["value"]
    except (OverflowError, ValueError) as reason:  # infinity, and years beyond 9999
        raise InvalidInput(
            f"The value {text[:_MOST_SHOWN]} cannot be represented in Python: {reason}.",
            remedy="Use a finite value in the years 1 to 9999.",
        ) from None


def rows(cells: Sequence[Sequence[exp.Expr]], fields: Sequence[Field], table: str) -> pa.Table:
    """Return rows of constant expressions, converted to the columns of a table."""
    listed = ", ".join(
        f"({', '.join(_cell(cell, field) for cell, field in zip(row, fields, strict=True))})"
        for row in cells
    )
    trees = [
        (_tree(cell, field), duckdb_type(field))
        for row in cells
        for cell, field in zip(row, fields, strict=True)
    ]
    found = _compute(f"FROM (VALUES {listed})", f"for table '{table}'", trees)
    columns = [
        retyped(column, arrow_type(field))
        for column, field in zip(found.columns, fields, strict=True)
    ]
    return pa.table(columns, names=[field.name for field in fields])


def _tree(cell: exp.Expr, field: Field) -> exp.Expr:
    """Return the expression to evaluate for a cell: itself, or the default of its column."""
    if not is_default(cell):
        return cell
    return sqlglot.parse_one(_default(field), read="duckdb")


def _cell(cell: exp.Expr, field: Field) -> str:
    text = _default(field) if is_default(cell) else cell.sql("duckdb")
    limits.check()
    return f"CAST({text} AS {duckdb_type(field)})"


def is_default(cell: exp.Expr) -> bool:
    """Return whether a cell is the keyword DEFAULT, which sqlglot parses as a name."""
    is_name = isinstance(cell, exp.Var | exp.Column) and not isinstance(cell.this, exp.Star)
    is_bare = is_name and not (isinstance(cell.this, exp.Identifier) and cell.this.quoted)
    return is_bare and cell.sql().upper() == "DEFAULT"


def _default(field: Field) -> str:
    if field.default_value is None:
        return "NULL"
    if field.default_value_type == "literal" and not field.fields:
        return exp.Literal.string(field.default_value).sql("duckdb")
    return field.default_value


def _compute(query: str, what: str, trees: Sequence[tuple[exp.Expr, str]]) -> pa.Table:
    """Return the rows of a query, in which the trees are cast to types."""
    others = [tree for tree, kind in trees if not is_plain(tree, kind)]
    for tree in others:
        require_computable(tree.sql("duckdb"))
    try:
        if len(query) <= _MOST_TEXT and not others:
            with calculator() as cursor:
                found = cursor.execute(query).to_arrow_table(_BATCH)
        else:
            found = evaluate(query)
    except (duckdb.Error, EvaluationError) as reason:
        message = str(reason).split("\n", 1)[0].split(": ", 1)[-1]
        raise InvalidInput(
            f"A value {what[:_MOST_SHOWN]} cannot be computed: {message}",
            remedy="Correct the value.",
        ) from None
    return found if query.startswith("FROM") else found.rename_columns(["value"])
