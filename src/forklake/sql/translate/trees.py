"""Helpers to look at trees and to change them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from forklake.sql import limits


def rewrite(tree: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """The tree with every node replaced by what a function makes of it, inner ones first."""
    holder = exp.Tuple(expressions=[tree])
    nodes = list(tree.dfs())
    limits.check_nodes(len(nodes))
    for node in reversed(nodes):
        made = change(node)
        if made is not node:
            node.replace(made)
    root: exp.Expr = holder.expressions[0]
    return root.pop()


def call(name: str, *arguments: exp.Expr | None) -> exp.Anonymous:
    """A call of a function of DuckDB's, by name or sign."""
    return exp.Anonymous(this=name, expressions=[one for one in arguments if one is not None])


def bare(node: exp.Expr) -> exp.Expr:
    """Return an expression without parentheses around it; those of a query belong to it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def within(node: exp.Expr, *kinds: type[exp.Expr]) -> Iterator[exp.Expr]:
    """Nodes of some kinds inside of a node, but not those inside of queries in it."""
    for found in node.walk(prune=lambda one: one is not node and isinstance(one, exp.Query)):
        if isinstance(found, kinds):
            yield found


def named(name: str, table: str = "") -> exp.Column:
    """A column by its name, as it is."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table or None)


def aliased(node: exp.Expr, name: str) -> exp.Alias:
    """An expression under a name, as it is."""
    return exp.Alias(this=node, alias=exp.to_identifier(name, quoted=True))
