"""The way of a query from DuckDB's SQL to Spark's: rules, one after another, then text."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from forklake.sql.translate import generator
from forklake.sql.translate.aggregates import translate_aggregates
from forklake.sql.translate.aliases import resolve_aliases
from forklake.sql.translate.calls import translate_calls
from forklake.sql.translate.casts import translate_casts
from forklake.sql.translate.intervals import translate_intervals
from forklake.sql.translate.naming import name_columns
from forklake.sql.translate.operators import translate_operators
from forklake.sql.translate.reading import plain
from forklake.sql.translate.refusing import refuse_unknown
from forklake.sql.translate.selects import (
    forget_materialization,
    refuse_clauses,
    translate_distinct_on,
    translate_unnest,
)
from forklake.sql.translate.sources import translate_sources
from forklake.sql.translate.stars import expand_stars
from forklake.sql.translate.unions import match_names

Rule = Callable[[exp.Expr], exp.Expr]
ColumnsOf = Callable[[str], list[str]]

# Rules that must know which columns there are, then those that go by the text alone.
RULES: tuple[Rule, ...] = (
    forget_materialization,
    name_columns,
    translate_distinct_on,
    translate_unnest,
    translate_sources,
    translate_operators,
    translate_intervals,
    translate_casts,
    translate_aggregates,
    translate_calls,
    refuse_unknown,
)


def to_spark(node: exp.Expr, *, columns_of: ColumnsOf) -> str:
    """Spark SQL with the meaning that a query, or an expression, has in DuckDB.

    `columns_of` tells the names of the columns of a relation in Spark SQL.
    """
    return generator.text(_translated(plain(node), columns_of))


def _translated(tree: exp.Expr, columns_of: ColumnsOf) -> exp.Expr:
    def of_query(query: exp.Expr) -> list[str]:
        whole = _with_tables(query)
        return columns_of(f"({generator.text(_translated(whole, columns_of))})")

    def of_sources(select: exp.Select, table: str) -> list[str]:
        star = exp.Column(this=exp.Star(), table=exp.to_identifier(table)) if table else exp.Star()
        probe = exp.Select(expressions=[star], from_=select.args["from_"].copy())
        probe.set("joins", [one.copy() for one in select.args.get("joins") or []])
        probe.parent = select  # whose WITH it may use
        return of_query(probe)

    tree = refuse_clauses(tree)
    tree = match_names(tree, of_query)
    tree = expand_stars(tree, of_sources)
    tree = resolve_aliases(tree, of_sources)
    for rule in RULES:
        tree = rule(tree)
    return tree


def _with_tables(query: exp.Expr) -> exp.Expr:
    """A copy of a part of a query, with what WITH defines before it."""
    made = query.copy().unnest()
    path: list[exp.Expr] = [query]
    while path[-1].parent is not None:
        path.append(path[-1].parent)
    tables: list[exp.Expr] = []
    for above in path[1:]:
        tables = [*_defined(above.args.get("with_"), path), *tables]
    if tables:
        tables += _defined(made.args.get("with_"), [])
        made.set("with_", exp.With(expressions=tables))
    return made


def _defined(found: exp.Expr | None, path: list[exp.Expr]) -> list[exp.Expr]:
    """The tables of WITH, up to the one that is on the path; of that one where it starts from."""
    tables: list[exp.Expr] = []
    for table in found.expressions if found is not None else []:
        if any(table is one for one in path):
            union = table.this
            if found is not None and found.args.get("recursive") and _is_repeated(union, path):
                start = table.copy()
                start.set("this", union.this.copy())
                tables.append(start)
            break
        tables.append(table.copy())
    return tables


def _is_repeated(union: exp.Expr, path: list[exp.Expr]) -> bool:
    return isinstance(union, exp.Union) and any(union.expression is one for one in path)
