"""Translation of a query from DuckDB SQL to Spark SQL: a sequence of rules, then text."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from forklake.engines.spark.long_numbers import cast_long_numbers
from forklake.sql.dialect.precedence import enclose_conditions
from forklake.sql.translate import generator
from forklake.sql.translate.aggregates import translate_aggregates
from forklake.sql.translate.aliases import resolve_aliases
from forklake.sql.translate.calls import translate_calls
from forklake.sql.translate.casts import translate_casts
from forklake.sql.translate.column_names import name_columns
from forklake.sql.translate.intervals import translate_intervals
from forklake.sql.translate.joins import group_commas
from forklake.sql.translate.membership import translate_membership
from forklake.sql.translate.nested_order import order_nested
from forklake.sql.translate.operators import translate_operators
from forklake.sql.translate.plain_tree import to_plain_tree
from forklake.sql.translate.refusals import refuse_distant_columns, refuse_unknown
from forklake.sql.translate.relations import make_columns_unique
from forklake.sql.translate.selects import (
    refuse_clauses,
    remove_materialized,
    translate_distinct_on,
    translate_unnest,
)
from forklake.sql.translate.sources import translate_sources
from forklake.sql.translate.stars import expand_stars
from forklake.sql.translate.totals import add_totals
from forklake.sql.translate.unions import match_names
from forklake.sql.translate.uuids import compare_uuids

Rule = Callable[[exp.Expr], exp.Expr]
ColumnsOfSql = Callable[[str], list[str]]

# Rules in order. Each sees the result of those before: operators become calls, calls become Spark.
RULES: tuple[Rule, ...] = (
    refuse_distant_columns,
    remove_materialized,
    translate_distinct_on,
    name_columns,
    add_totals,
    translate_unnest,
    translate_sources,
    translate_operators,
    translate_membership,
    translate_intervals,
    translate_casts,
    compare_uuids,
    order_nested,
    translate_aggregates,
    translate_calls,
    enclose_conditions,
    refuse_unknown,
)
# Rules that need Spark to choose functions by the types of their arguments.
_TYPED_RULES = (compare_uuids, order_nested)


def to_spark(
    node: exp.Expr, *, columns_of: ColumnsOfSql, has_types: Callable[[], bool] = lambda: True
) -> str:
    """Return Spark SQL with the meaning that a query, or an expression, has in DuckDB.

    Args:
        columns_of: returns the names of the columns of a relation in Spark SQL.
        has_types: whether Spark can choose functions by the types of their arguments. Without it
            the order of nested values and the forms of UUIDs are those of Spark. It may start
            Spark, so it is called only after the rules that refuse statements by their text.
    """
    return cast_long_numbers(
        generator.generate_sql(_translate_tree(to_plain_tree(node), columns_of, has_types))
    )


def _translate_tree(
    tree: exp.Expr, columns_of: ColumnsOfSql, has_types: Callable[[], bool]
) -> exp.Expr:
    cache: dict[str, list[str]] = {}

    def columns_of_query(query: exp.Expr) -> list[str]:
        text = generator.generate_sql(
            _translate_tree(_add_definitions(query), columns_of, has_types)
        )
        if text not in cache:
            cache[text] = columns_of(f"({text})")
        return cache[text]

    def columns_of_sources(select: exp.Select, table: str) -> list[str]:
        star = exp.Column(this=exp.Star(), table=exp.to_identifier(table)) if table else exp.Star()
        probe = exp.Select(expressions=[star], from_=select.args["from_"].copy())
        probe.set("joins", [one.copy() for one in select.args.get("joins") or []])
        probe.parent = select  # so that it can use the names of WITH around it
        return columns_of_query(probe)

    for node in tree.find_all(exp.In):
        if node.expressions and isinstance(node.expressions[0], exp.Values):
            values = exp.Subquery(this=_as_query(node.expressions[0]))
            node.replace(exp.In(this=node.this, query=values))
    tree = refuse_clauses(_as_query(tree))
    group_commas(tree)
    make_columns_unique(tree, columns_of_query)
    tree = match_names(tree, columns_of_query)
    tree = expand_stars(tree, columns_of_query)
    tree = resolve_aliases(tree, columns_of_sources)
    for rule in RULES:
        if rule not in _TYPED_RULES or has_types():
            tree = rule(tree)
    return tree


def _as_query(tree: exp.Expr) -> exp.Expr:
    """Return VALUES that stands alone as a SELECT of it: its columns are col0, col1, …"""
    if not isinstance(tree, exp.Values):
        return tree
    clauses = {key: tree.args.get(key) for key in exp.QUERY_MODIFIERS if tree.args.get(key)}
    values = exp.Values(expressions=tree.expressions)
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=values), **clauses)


def _add_definitions(query: exp.Expr) -> exp.Expr:
    """Return a copy of a part of a query, with the WITH definitions that it can refer to."""
    result = query.copy().unnest()
    path: list[exp.Expr] = [query]
    while path[-1].parent is not None:
        path.append(path[-1].parent)
    tables: list[exp.Expr] = []
    for ancestor in path[1:]:
        tables = [*_list_definitions(ancestor.args.get("with_"), path), *tables]
    if tables:
        tables += _list_definitions(result.args.get("with_"), [])
        result.set("with_", exp.With(expressions=tables))
    return result


def _list_definitions(with_clause: exp.Expr | None, path: list[exp.Expr]) -> list[exp.Expr]:
    """Return the definitions of a WITH up to the one that `path` leads through.

    For the recursive part of that definition, its initial part stands for the whole.
    """
    tables: list[exp.Expr] = []
    for table in with_clause.expressions if with_clause is not None else []:
        if any(table is one for one in path):
            union = table.this
            if (
                with_clause is not None
                and with_clause.args.get("recursive")
                and _is_recursive_part(union, path)
            ):
                start = table.copy()
                start.set("this", union.this.copy())
                tables.append(start)
            break
        tables.append(table.copy())
    return tables


def _is_recursive_part(union: exp.Expr, path: list[exp.Expr]) -> bool:
    return isinstance(union, exp.Union) and any(union.expression is one for one in path)
