"""Constant expressions: computed by DuckDB, so with its meaning, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from forklake.errors import InvalidInput
from forklake.model.duckdb_types import duckdb_type
from forklake.model.fields import Field
from forklake.spark.calculator import calculator
from forklake.spark.types import arrow_type
from forklake.spark.writing.conform import retyped

# What makes an expression depend on rows, or take long: nobody can stop DuckDB in a lambda.
_OF_ROWS = (exp.Column, exp.Query, exp.Star, exp.Placeholder, exp.Parameter, exp.Lambda)

# Values are for a moment several times in the memory of this process, which many may share.
_MOST_BYTES = 64 * 2**20


def is_constant(node: exp.Expr) -> bool:
    """Whether an expression has no names of columns and no queries in it."""
    return node.find(*_OF_ROWS) is None


def value(node: exp.Expr) -> Any:
    """What a constant expression is, as a value of Python's."""
    text = node.sql("duckdb")
    if not is_constant(node):
        raise InvalidInput(
            f"The expression {text} is not constant.", remedy="Write a value, without columns."
        )
    return _computed(f"SELECT {text}", text).to_pylist()[0]["value"]


def rows(cells: Sequence[Sequence[exp.Expr]], fields: Sequence[Field], table: str) -> pa.Table:
    """Rows of constant expressions, as values of the columns of a table."""
    listed = ", ".join(
        f"({', '.join(_cell(cell, field) for cell, field in zip(row, fields, strict=True))})"
        for row in cells
    )
    found = _computed(f"FROM (VALUES {listed})", f"for table '{table}'")
    columns = [
        retyped(column, arrow_type(field))
        for column, field in zip(found.columns, fields, strict=True)
    ]
    return pa.table(columns, names=[field.name for field in fields])


def _cell(cell: exp.Expr, field: Field) -> str:
    text = _default(field) if is_default(cell) else cell.sql("duckdb")
    return f"CAST({text} AS {duckdb_type(field)})"


def is_default(cell: exp.Expr) -> bool:
    """Whether this is the word DEFAULT, which sqlglot takes for a name."""
    is_name = isinstance(cell, exp.Var | exp.Column) and not isinstance(cell.this, exp.Star)
    is_bare = is_name and not (isinstance(cell.this, exp.Identifier) and cell.this.quoted)
    return is_bare and cell.sql().upper() == "DEFAULT"


def _default(field: Field) -> str:
    if field.default_value is None:
        return "NULL"
    if field.default_value_type == "literal" and not field.fields:
        return exp.Literal.string(field.default_value).sql("duckdb")
    return field.default_value


def _computed(query: str, what: str) -> pa.Table:
    try:
        with calculator() as cursor:
            found = cursor.execute(query).to_arrow_table()
    except duckdb.Error as reason:
        said = str(reason).split("\n", 1)[0].split(": ", 1)[-1]
        raise InvalidInput(
            f"A value {what} cannot be computed: {said}", remedy="Correct the value."
        ) from None
    if found.nbytes > _MOST_BYTES:
        raise InvalidInput(
            f"Values {what} take {found.nbytes} bytes; at most {_MOST_BYTES} are computed here.",
            remedy="Write them as a query with FROM: Spark computes that.",
        )
    return found if query.startswith("FROM") else found.rename_columns(["value"])
