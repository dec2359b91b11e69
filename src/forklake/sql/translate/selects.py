"""Clauses of SELECT that Spark does not have, or has with another meaning."""

from __future__ import annotations

from sqlglot import exp

from forklake.sql.translate.refusals import unsupported
from forklake.sql.translate.templates import fill_template
from forklake.sql.translate.trees import duckdb_call, find_within

_REFUSED_CLAUSES = {"sample": "SAMPLE", "connect": "CONNECT BY"}


def refuse_clauses(tree: exp.Expr) -> exp.Expr:
    """Raise Unsupported for clauses and operators that Spark does not have."""
    for node in tree.walk():
        for clause, words in _REFUSED_CLAUSES.items():
            if node.args.get(clause):
                raise unsupported(words)
        if isinstance(node, exp.Pivot):
            raise unsupported("UNPIVOT" if node.args.get("unpivot") else "PIVOT")
        if type(node) in _REFUSED:
            raise unsupported(_REFUSED[type(node)])
    for order in tree.find_all(exp.Order):
        is_in_query = isinstance(order.parent, exp.Select)
        if is_in_query and any(
            isinstance(one, exp.Exists) or one.args.get("query")
            for one in find_within(order, exp.Exists, exp.In)
        ):
            raise unsupported("IN or EXISTS of a query in ORDER BY")
    for limit in tree.find_all(exp.Limit):
        options = limit.args.get("limit_options")
        if options is not None and options.args.get("percent"):
            raise unsupported("LIMIT with a percentage")
    return tree


_REFUSED: dict[type[exp.Expr], str] = {
    exp.Collate: "COLLATE",
    exp.JSONExtract: "The operator -> on JSON",
    exp.JSONExtractScalar: "The operator ->> on JSON",
    exp.PositionalColumn: "A column by its number (#1)",
    exp.BitwiseXor: "The operator ^",
}


def remove_materialized(tree: exp.Expr) -> exp.Expr:
    """Remove MATERIALIZED from WITH: Spark decides which parts of a query it computes once."""
    for table in tree.find_all(exp.CTE):
        table.set("materialized", None)
    return tree


def translate_distinct_on(tree: exp.Expr) -> exp.Expr:
    """Translate DISTINCT ON to QUALIFY, which keeps the first row of each group in ORDER BY."""
    for select in tree.find_all(exp.Select):
        distinct = select.args.get("distinct")
        if distinct is None or distinct.args.get("on") is None:
            continue
        if select.args.get("qualify") is not None or select.args.get("group") is not None:
            raise unsupported("DISTINCT ON with GROUP BY or QUALIFY")
        keys = distinct.args["on"].expressions
        order = select.args.get("order") or exp.Order(
            expressions=[exp.Ordered(this=one.copy(), nulls_first=False) for one in keys]
        )
        first = exp.Window(
            this=duckdb_call("row_number"),
            partition_by=[one.copy() for one in keys],
            order=order.copy(),
            over="OVER",
        )
        is_first = exp.EQ(this=first, expression=exp.Literal.number(1))
        select.set("qualify", exp.Qualify(this=is_first))
        select.set("distinct", None)
    return tree


def translate_unnest(tree: exp.Expr) -> exp.Expr:
    """Translate unnest in the list of SELECT; several ones make rows side by side."""
    for select in list(tree.find_all(exp.Select)):
        calls = [
            one
            for column in select.expressions
            for one in find_within(column, exp.Anonymous)
            if one.name.lower() == "unnest"
        ]
        if not calls:
            continue
        if any(len(one.expressions) != 1 for one in calls):
            raise unsupported("unnest with options")
        _explode_lists(select, calls)
    return tree


def _explode_lists(select: exp.Select, calls: list[exp.Expr]) -> None:
    is_alone = len(calls) == 1 and calls[0].parent in (select, *select.expressions)
    if is_alone:
        calls[0].replace(fill_template("explode(_0)", calls[0].expressions))
        return
    if select.args.get("group") is not None:
        raise unsupported("unnest inside of an expression with GROUP BY")
    names = [f"u{number}" for number in range(len(calls))]
    lists = [one.expressions[0].copy() for one in calls]
    for one, name in zip(calls, names, strict=True):
        one.replace(exp.column(name, table="_unnested"))
    alias = exp.TableAlias(
        this=exp.to_identifier("_unnested"), columns=[exp.to_identifier(name) for name in names]
    )
    rows = fill_template("inline(arrays_zip(_all))", lists)
    if select.args.get("from_") is None:
        select.set("from_", exp.From(this=exp.Table(this=rows, alias=alias)))
    else:
        select.append("joins", exp.Join(this=exp.Lateral(this=rows, alias=alias)))
