"""Totals of ROLLUP, CUBE and GROUPING SETS over no rows: one row each in DuckDB, none in Spark.

A second query returns these rows, but only if there is nothing to group.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sqlglot import exp

from forklake.sql.translate.functions.aggregates import AGGREGATES, ALIASES
from forklake.sql.translate.trees import duckdb_call, quoted_alias, quoted_column

_AGGREGATES = {*AGGREGATES, *ALIASES}
_GROUPING = ("grouping", "grouping_id")
_LIMIT_CLAUSES = ("limit", "offset")
_CONDITION_COLUMN = "_having"


def add_totals(tree: exp.Expr) -> exp.Expr:
    """Extend every query with a total over all rows, so that it also has one over no rows."""
    holder = exp.Tuple(expressions=[tree])
    for select in reversed(list(tree.find_all(exp.Select))):
        group = select.args.get("group")
        if group is None or group.args.get("all"):
            continue
        if all(_is_empty(one) for one in group.expressions):
            _group_all_rows(select)
        elif any(isinstance(one, _GROUPING_SETS) for one in group.expressions):
            inner = _filter_outside(select, _list_keys(group.expressions))
            if total := prod(_count_empty_sets(one) for one in group.expressions):
                _add_total(inner, total)
    root: exp.Expr = holder.expressions[0]
    return root.pop()


_GROUPING_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def _count_empty_sets(part: exp.Expr) -> int:
    if isinstance(part, exp.GroupingSets):
        return sum(_count_empty_sets(one) for one in part.expressions)
    return 1 if _is_empty(part) or isinstance(part, exp.Rollup | exp.Cube) else 0


def _is_empty(part: exp.Expr) -> bool:
    return isinstance(part, exp.Tuple) and not part.expressions


def _group_all_rows(select: exp.Select) -> None:
    """Remove GROUP BY () and make sure that the query returns one row, also over no rows."""
    select.set("group", None)
    if select.args.get("having") is None:
        select.set("having", exp.Having(this=exp.Boolean(this=True)))


def _filter_outside(select: exp.Select, keys: Sequence[exp.Expr]) -> exp.Select:
    """Move HAVING into an outer query if it uses keys: Spark finds them only among columns.

    Returns the SELECT with the GROUP BY.
    """
    having = select.args.get("having")
    outputs = [one.alias_or_name for one in select.expressions]
    is_plain = len(set(outputs)) == len(outputs) and select.find(exp.Window) is None
    is_ordered = select.args.get("order") is not None and not _is_ordered_by_output(select)
    if having is None or is_ordered or not is_plain or not _uses_keys(having.this, keys):
        return select
    clauses = {name: select.args.get(name) for name in ("order", *_LIMIT_CLAUSES)}
    for name in (*clauses, "having"):
        select.set(name, None)
    inner = select.copy()
    inner.set("with_", None)
    inner.append("expressions", quoted_alias(having.this.copy(), _CONDITION_COLUMN))
    rows = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("_grouped")))
    for name in ("joins", "where", "group", "distinct"):
        select.set(name, None)
    select.set("expressions", [quoted_column(name) for name in outputs])
    select.set("from_", exp.From(this=rows))
    select.set("where", exp.Where(this=quoted_column(_CONDITION_COLUMN)))
    for name, clause in clauses.items():
        select.set(name, clause)
    return inner


def _uses_keys(node: exp.Expr, keys: Sequence[exp.Expr]) -> bool:
    if _is_key(node, keys):
        return True
    if isinstance(node, exp.Anonymous) and node.name.lower() in _AGGREGATES:
        return False
    return any(_uses_keys(child, keys) for child in node.iter_expressions())


def _add_total(select: exp.Select, number: int) -> None:
    total = _build_total(select, _list_keys(select.args["group"].expressions))
    grouped: exp.Expr = select.copy()
    outer = exp.Union(distinct=False)
    if (with_clause := select.args.get("with_")) is not None:
        outer.set("with_", with_clause.copy())
        grouped.set("with_", None)
        total.set("with_", None)
    if _is_ordered_by_output(select):
        for clause in ("order", *_LIMIT_CLAUSES):
            if (found := select.args.get(clause)) is not None:
                outer.set(clause, found.copy())
                grouped.set(clause, None)
                total.set(clause, None)
    for _ in range(number - 1):
        grouped = exp.Union(
            this=exp.Subquery(this=grouped), expression=total.copy(), distinct=False
        )
    outer.set("this", exp.Subquery(this=grouped))
    outer.set("expression", exp.Subquery(this=total))
    is_part = isinstance(select.parent, exp.SetOperation)
    select.replace(exp.Subquery(this=outer) if is_part else outer)


def _list_keys(parts: Sequence[exp.Expr]) -> list[exp.Expr]:
    keys: list[exp.Expr] = []
    for part in parts:
        if isinstance(part, (*_GROUPING_SETS, exp.Tuple)):
            keys += _list_keys(part.expressions)
        else:
            keys.append(part.unnest())
    return keys


def _build_total(select: exp.Select, keys: Sequence[exp.Expr]) -> exp.Select:
    """Return the query for the total over no rows; it has a row only then."""
    result = select.copy()
    for clause in ("group", "order"):
        result.set(clause, None)
    for one in [*result.expressions, result.args.get("having"), result.args.get("qualify")]:
        if one is not None:
            _replace_keys(one, keys)
    is_empty: exp.Expr = exp.EQ(this=duckdb_call("count_star"), expression=exp.Literal.number(0))
    if _is_independent(select):
        rows = exp.Select(expressions=[exp.Literal.number(1)], from_=select.args["from_"].copy())
        for clause in ("joins", "where"):
            found = select.args.get(clause)
            if isinstance(found, list):
                rows.set(clause, [one.copy() for one in found])
            elif found is not None:
                rows.set(clause, found.copy())
        result.set("where", exp.Where(this=exp.Boolean(this=False)))
        is_empty = exp.Not(this=exp.Exists(this=rows))
    having = result.args.get("having")
    condition = is_empty if having is None else exp.and_(is_empty, having.this.copy())
    result.set("having", exp.Having(this=condition))
    return result


def _is_independent(select: exp.Select) -> bool:
    """Return whether a query cannot use columns of outer queries: it is in FROM or WITH, or root.

    False for queries without FROM.
    """
    place: exp.Expr = select
    while place.parent is not None:
        parent = place.parent
        if isinstance(place, exp.Lateral):
            return False
        is_source = isinstance(parent, exp.From | exp.Join | exp.CTE | exp.With)
        if not isinstance(parent, exp.Query | exp.Tuple) and not is_source:
            return False
        if isinstance(parent, exp.Select) and place.arg_key not in ("from_", "joins", "with_"):
            return False
        place = parent
    return select.args.get("from_") is not None


def _replace_keys(node: exp.Expr, keys: Sequence[exp.Expr]) -> None:
    """Replace keys outside of aggregates by NULL, and GROUPING by the number for all keys."""
    if isinstance(node, exp.Alias | exp.Having | exp.Qualify):
        _replace_keys(node.this, keys)
        return
    if _is_key(node, keys):
        node.replace(exp.Null())
        return
    if isinstance(node, exp.Anonymous) and node.name.lower() in _GROUPING:
        node.replace(exp.Literal.number(2 ** len(node.expressions) - 1))
        return
    is_window = isinstance(node.parent, exp.Window)
    if isinstance(node, exp.Anonymous) and node.name.lower() in _AGGREGATES and not is_window:
        return
    for child in list(node.iter_expressions()):
        _replace_keys(child, keys)


def _is_ordered_by_output(select: exp.Select) -> bool:
    order = select.args.get("order")
    if order is None:
        return any(select.args.get(clause) is not None for clause in _LIMIT_CLAUSES)
    names = {one.alias_or_name.lower() for one in select.expressions}
    return all(_is_output(one.this, names) for one in order.expressions)


def _is_output(key: exp.Expr, names: set[str]) -> bool:
    if isinstance(key, exp.Literal | exp.Var):  # a number, or ALL
        return not key.is_string
    return isinstance(key, exp.Column) and not key.table and key.name.lower() in names


def _is_key(node: exp.Expr, keys: Sequence[exp.Expr]) -> bool:
    return any(node == key or _is_same_column(node, key) for key in keys)


def _is_same_column(one: exp.Expr, other: exp.Expr) -> bool:
    """Return whether two columns may be the same one, since only one of them is qualified."""
    if not isinstance(one, exp.Column) or not isinstance(other, exp.Column):
        return False
    return one.name.lower() == other.name.lower() and not (one.table and other.table)
