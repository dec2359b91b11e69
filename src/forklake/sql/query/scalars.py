"""Functions of the lake in a query: evaluated once while the query is bound, before Spark runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from forklake.errors import InvalidInput
from forklake.sql import constants
from forklake.sql.dialect.nodes import split_call
from forklake.sql.functions import files, information, registry
from forklake.sql.parameters import literal_of
from forklake.sql.query.macros import find_scalar_calls

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.sql.session import Session


def call_table_function(
    session: Session,
    parts: Sequence[str],
    positional: Sequence[exp.Expr],
    named: Mapping[str, exp.Expr],
    *,
    has_rows: bool = True,
) -> DataFrame | pa.Table | None:
    """Return the rows of a table function of Forklake; None if it is not one."""
    function = registry.find_function(session, parts)
    is_file = len(parts) == 1 and parts[0].lower() in files.READ_FUNCTIONS
    if function is None and not is_file:
        return information.call_information_function(session, parts, has_rows=has_rows)
    values = [constants.evaluate_constant(one) for one in positional]
    options = {name: constants.evaluate_constant(one) for name, one in named.items()}
    if function is not None:
        return function.call(session, values, options)
    return files.read_files(session, parts[0], values, options)


def evaluate_calls(session: Session, node: exp.Expr) -> None:
    """Replace calls of lake functions that are used as values by their values."""
    for call in find_scalar_calls(node):
        parts, positional, named = split_call(call)
        if registry.find_function(session, parts) is None:
            continue
        select = call.parent
        if isinstance(select, exp.Select) and _is_only_expression(select):
            _move_to_from(select, call)
            continue
        rows = call_table_function(session, parts, positional, named)
        call.replace(_single_value(rows, parts))


def _is_only_expression(select: exp.Select) -> bool:
    return len(select.expressions) == 1 and select.args.get("from_") is None


def _move_to_from(select: exp.Select, call: exp.Expr) -> None:
    """Rewrite `SELECT f()` as `SELECT * FROM f()`."""
    parts, _, _ = split_call(call)
    function = call.expression if isinstance(call, exp.Dot) else call
    *qualifiers, _ = parts
    table = exp.Table(this=function.copy())
    for key, qualifier in zip(("db", "catalog"), reversed(qualifiers), strict=False):
        table.set(key, exp.to_identifier(qualifier, quoted=True))
    select.set("expressions", [exp.Star()])
    select.set("from_", exp.From(this=table))


def _single_value(rows: DataFrame | pa.Table | None, parts: Sequence[str]) -> exp.Expr:
    if not isinstance(rows, pa.Table) or rows.num_columns != 1 or rows.num_rows != 1:
        raise InvalidInput(
            f"The function {'.'.join(parts)} returns rows, not a single value.",
            remedy=f"Write SELECT … FROM {'.'.join(parts)}(…).",
        )
    return literal_of(rows.column(0)[0].as_py())
