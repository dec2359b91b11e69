"""Conditions that limit which rows of a table a query reads.

A transaction conflicts with changes of the rows that it has read. Rows that do not fulfill a part
of the WHERE of the SELECT around the table cannot change the result, so they need not count as
read. Only parts are used that compare a column of this table with constants.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from forklake.model.names import folded
from forklake.sql.query.names import TableReference

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
# Joins that add no NULL rows for the tables before them: a row of such a table is kept or dropped.
_WITHOUT_NULL_ROWS = frozenset({"", "INNER", "CROSS", "LEFT", "SEMI", "ANTI"})
_INNER = frozenset({"", "INNER", "CROSS"})


def find_conditions(table: exp.Table) -> list[str]:
    """Return conditions in Spark SQL that hold for all rows which can affect the result."""
    select = table.find_ancestor(exp.Select)
    where = select.args.get("where") if select is not None else None
    if select is None or where is None or not _is_filtered(select, table):
        return []
    if _is_reshaped(select, table):
        return []
    alias = folded(TableReference.from_table(table).alias)
    is_alone = not select.args.get("joins") and not select.args.get("laterals")
    return [
        part.sql("spark")
        for part in _split_conjunction(where.this)
        if _compares_with_constants(part) and _uses_only_table(part, alias, is_alone)
    ]


def _is_reshaped(select: exp.Select, table: exp.Table) -> bool:
    """Return whether the rows or column names before WHERE differ from those of the table."""
    alias = table.args.get("alias")
    has_names = alias is not None and alias.args.get("columns")
    is_changed = any(table.args.get(name) for name in ("pivots", "sample"))
    return bool(has_names or is_changed or select.args.get("sample"))


def _split_conjunction(condition: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(condition, exp.Paren):
        yield from _split_conjunction(condition.this)
    elif isinstance(condition, exp.And):
        for part in condition.flatten():
            yield from _split_conjunction(part)
    else:
        yield condition


def _is_filtered(select: exp.Select, table: exp.Table) -> bool:
    """Return whether WHERE filters every row of the table that can reach the result."""
    origin, joins = select.args.get("from_"), select.args.get("joins") or []
    if any(isinstance(select.args.get(name), exp.Expr) for name in ("prewhere", "connect")):
        return False
    sources = [origin.this if origin is not None else None, *(join.this for join in joins)]
    for number, source in enumerate(sources):
        if source is table:
            own = [_join_kind(joins[number - 1])] if number else []
            later = [_join_kind(join) for join in joins[number:]]
            return set(own) <= _INNER and set(later) <= _WITHOUT_NULL_ROWS
    return False


def _join_kind(join: exp.Join) -> str:
    side = str(join.args.get("side") or "").upper()
    kind = str(join.args.get("kind") or "").upper()
    method = str(join.args.get("method") or "").upper()
    if method not in {"", "NATURAL"}:
        return method
    return side or ("" if kind == "OUTER" else kind)


def _uses_only_table(part: exp.Expr, alias: str, is_alone: bool) -> bool:
    return all(
        folded(column.table) == alias if column.table else is_alone
        for column in part.find_all(exp.Column)
    )


def _compares_with_constants(part: exp.Expr) -> bool:
    match part:
        case exp.Not():
            return isinstance(part.this, exp.Is | exp.Paren) and _compares_with_constants(part.this)
        case exp.Paren():
            return _compares_with_constants(part.this)
        case exp.Or():
            return all(_compares_with_constants(one) for one in part.flatten())
        case exp.Is():
            return isinstance(part.this, exp.Column) and isinstance(part.expression, exp.Null)
        case exp.Between():
            ends = part.args["low"], part.args["high"]
            return isinstance(part.this, exp.Column) and all(map(_is_constant, ends))
        case exp.In():
            values = part.expressions
            is_list = bool(values) and not part.args.get("query") and not part.args.get("unnest")
            return isinstance(part.this, exp.Column) and is_list and all(map(_is_constant, values))
    if not isinstance(part, _COMPARISONS):
        return False
    sides = part.this, part.expression
    return any(
        isinstance(one, exp.Column) and _is_constant(other) for one, other in (sides, sides[::-1])
    )


def _is_constant(value: exp.Expr) -> bool:
    if isinstance(value, exp.Neg):
        return _is_constant(value.this)
    if isinstance(value, exp.Cast):
        is_date = value.to.this in {exp.DataType.Type.DATE, exp.DataType.Type.TIMESTAMP}
        return is_date and isinstance(value.this, exp.Literal) and value.this.is_string
    return isinstance(value, exp.Literal | exp.Boolean)
