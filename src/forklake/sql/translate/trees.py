"""Helpers that read and change syntax trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from forklake.sql import limits


def rewrite_nodes(tree: exp.Expr, translate: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """Replace every node of a tree by the result of a function, inner nodes first."""
    holder = exp.Tuple(expressions=[tree])
    nodes = list(tree.dfs())
    limits.check_nodes(len(nodes))
    for node in reversed(nodes):
        result = translate(node)
        if result is not node:
            node.replace(result)
    root: exp.Expr = holder.expressions[0]
    return root.pop()


def duckdb_call(name: str, *arguments: exp.Expr | None) -> exp.Anonymous:
    """Return a call of a DuckDB function, by name or operator."""
    return exp.Anonymous(this=name, expressions=[one for one in arguments if one is not None])


def strip_parentheses(node: exp.Expr) -> exp.Expr:
    """Return an expression without parentheses around it. Those of a subquery are kept."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def find_within(node: exp.Expr, *classes: type[exp.Expr]) -> Iterator[exp.Expr]:
    """Yield nodes of some classes below a node, but not those in queries below it."""
    for inner in node.walk(prune=lambda one: one is not node and isinstance(one, exp.Query)):
        if isinstance(inner, classes):
            yield inner


def quoted_column(name: str, table: str = "") -> exp.Column:
    """Return a column with this exact (quoted) name."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table or None)


def quoted_alias(node: exp.Expr, name: str) -> exp.Alias:
    """Return an expression with this exact (quoted) alias."""
    return exp.Alias(this=node, alias=exp.to_identifier(name, quoted=True))
