"""Translation of `x IN (SELECT …)` where false and NULL differ.

Spark plans it as a join, whose result is false instead of NULL, except in a condition that is the
whole WHERE or a part of it.
"""

from __future__ import annotations

from sqlglot import exp

from forklake.model.names import folded
from forklake.sql.translate.refusals import unsupported
from forklake.sql.translate.trees import strip_parentheses

_CLAUSES = (exp.Where, exp.Having, exp.Qualify, exp.Join)


def translate_membership(tree: exp.Expr) -> exp.Expr:
    """Rewrite IN with a query so that it is NULL when it is neither true nor false."""
    holder = exp.Tuple(expressions=[tree])
    for node in reversed(list(tree.find_all(exp.In))):
        if node.args.get("query") is None:
            continue
        if not _is_filter(node) or _is_negated_from_outside(node):
            node.replace(_build_three_valued(node))
    root: exp.Expr = holder.expressions[0]
    return root.pop()


def _is_filter(node: exp.Expr) -> bool:
    """Return whether NULL and false have the same effect at the position of IN or NOT IN."""
    place = _outermost_parentheses(node)
    if isinstance(place.parent, exp.Not):
        place = _outermost_parentheses(place.parent)
    while isinstance(place.parent, exp.And | exp.Or):
        place = _outermost_parentheses(place.parent)
    above = place.parent
    if isinstance(above, exp.If):
        return place.arg_key == "this" and isinstance(above.parent, exp.Case)
    return isinstance(above, _CLAUSES) and place.arg_key in ("this", "on")


def _is_negated_from_outside(node: exp.In) -> bool:
    """Return whether NOT IN searches a value of an outer query.

    Spark treats NULL as no match there, instead of an unknown one.
    """
    enclosing, select = _outermost_parentheses(node), node.find_ancestor(exp.Select)
    if not isinstance(enclosing.parent, exp.Not) or select is None:
        return False
    origin = select.args.get("from_")
    sources = [origin.this] if origin is not None else []
    sources += [join.this for join in select.args.get("joins") or []]
    own = {folded(source.alias_or_name) for source in sources}
    is_inner = isinstance(select.find_ancestor(exp.Select, exp.From, exp.Join, exp.CTE), exp.Select)
    return any(
        folded(column.table) not in own if column.table else is_inner
        for column in node.this.find_all(exp.Column)
    )


def _outermost_parentheses(node: exp.Expr) -> exp.Expr:
    while isinstance(node.parent, exp.Paren):
        node = node.parent
    return node


def _build_three_valued(node: exp.In) -> exp.Expr:
    value, query = strip_parentheses(node.this), node.args["query"].unnest()
    if isinstance(value, exp.Tuple):
        raise unsupported(
            f"{node.sql(dialect='duckdb')}, which may be NULL,",
            remedy="Use it as a condition of WHERE, or write EXISTS.",
        )
    name = exp.to_identifier("_value")
    rows = exp.Subquery(
        this=query.copy(),
        alias=exp.TableAlias(this=exp.to_identifier("_list"), columns=[name]),
    )
    nulls = exp.Select(expressions=[exp.Literal.number(1)], from_=exp.From(this=rows))
    nulls.set("where", exp.Where(this=_build_is_null(exp.column("_value", table="_list"))))
    is_unknown: exp.Expr = exp.Exists(this=nulls)
    if not isinstance(value, exp.Literal):
        is_any = exp.Exists(this=query.copy())
        is_unknown = exp.Or(
            this=is_unknown, expression=_build_and(_build_is_null(value.copy()), is_any)
        )
    case = exp.Case(
        ifs=[
            exp.If(this=node.copy(), true=exp.Boolean(this=True)),
            exp.If(this=is_unknown, true=exp.Null()),
        ],
        default=exp.Boolean(this=False),
    )
    return exp.Paren(this=case)


def _build_is_null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=exp.Paren(this=value), expression=exp.Null())


def _build_and(one: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.And(this=one, expression=other))
