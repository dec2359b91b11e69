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
from forklake.sql.query.macros import scalar_calls

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.sql.session import Session


def called(
    session: Session,
    parts: Sequence[str],
    positional: Sequence[exp.Expr],
    named: Mapping[str, exp.Expr],
    *,
    has_rows: bool = True,
) -> DataFrame | pa.Table | None:
    """Return the rows of a table function of Forklake; None if it is not one."""
    bound = registry.find(session, parts)
    is_file = len(parts) == 1 and parts[0].lower() in files.READERS
    if bound is None and not is_file:
        return information.call(session, parts, has_rows=has_rows)
    values = [constants.value(one) for one in positional]
    options = {name: constants.value(one) for name, one in named.items()}
    if bound is not None:
        return bound.call(session, values, options)
    return files.read_files(session, parts[0], values, options)


def compute(session: Session, node: exp.Expr) -> None:
    """Replace calls of lake functions that are used as values by their values."""
    for call in scalar_calls(node):
        parts, positional, named = split_call(call)
        if registry.find(session, parts) is None:
            continue
        select = call.parent
        if isinstance(select, exp.Select) and _is_all(select):
            _read_from(select, call)
            continue
        rows = called(session, parts, positional, named)
        call.replace(_value(rows, parts))


def _is_all(select: exp.Select) -> bool:
    return len(select.expressions) == 1 and select.args.get("from_") is None


def _read_from(select: exp.Select, call: exp.Expr) -> None:
    """Rewrite `SELECT f()` as `SELECT * FROM f()`."""
    parts, _, _ = split_call(call)
    function = call.expression if isinstance(call, exp.Dot) else call
    *places, _ = parts
    table = exp.Table(this=function.copy())
    for key, place in zip(("db", "catalog"), reversed(places), strict=False):
        table.set(key, exp.to_identifier(place, quoted=True))
    select.set("expressions", [exp.Star()])
    select.set("from_", exp.From(this=table))


def _value(rows: DataFrame | pa.Table | None, parts: Sequence[str]) -> exp.Expr:
    if not isinstance(rows, pa.Table) or rows.num_columns != 1 or rows.num_rows != 1:
        raise InvalidInput(
            f"The function {'.'.join(parts)} returns rows, not a single value.",
            remedy=f"Write SELECT … FROM {'.'.join(parts)}(…).",
        )
    return literal_of(rows.column(0)[0].as_py())
