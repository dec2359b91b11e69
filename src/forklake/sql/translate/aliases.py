"""Column aliases of SELECT that are used in other columns, in WHERE and in GROUP BY."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from forklake.sql import limits
from forklake.sql.translate.trees import within

Columns = Callable[[exp.Select, str], list[str]]


def resolve_aliases(tree: exp.Expr, columns: Columns) -> exp.Expr:
    """Replace aliases by their expressions, unless FROM has a column of that name."""
    added = 0
    for select in reversed(list(tree.find_all(exp.Select))):
        given = {one.alias.lower(): one for one in select.expressions if isinstance(one, exp.Alias)}
        used = [one for one in _uses(select) if one.name.lower() in given]
        if not used:
            continue
        has_from = select.args.get("from_") is not None
        known = {name.lower() for name in columns(select, "")} if has_from else set()
        for column in used:
            added += _resolve(column, given, known)
            limits.check_nodes(added)
    return tree


def _uses(select: exp.Select) -> list[exp.Column]:
    """Return unqualified columns in the clauses that may use an alias of SELECT."""
    clauses = [*select.expressions, select.args.get("where"), select.args.get("group")]
    found = [
        one
        for clause in clauses
        if clause is not None
        for one in within(clause, exp.Column)
        if isinstance(one, exp.Column) and not one.table and not isinstance(one.this, exp.Star)
    ]
    return [one for one in found if not _is_itself(one)]


def _is_itself(column: exp.Column) -> bool:
    """Return whether a column must not be replaced: in `a AS a`, and in GROUP BY a."""
    above = column.parent
    return isinstance(above, exp.Group) or (
        isinstance(above, exp.Alias) and above.alias.lower() == column.name.lower()
    )


def _resolve(column: exp.Column, given: dict[str, exp.Alias], known: set[str]) -> int:
    """Replace an alias by its expression; return the number of nodes of the expression."""
    alias = given[column.name.lower()]
    if column.name.lower() in known or column.find_ancestor(exp.Alias) is alias:
        return 0
    column.replace(exp.Paren(this=alias.this.copy()))
    return sum(1 for _ in alias.this.walk())
