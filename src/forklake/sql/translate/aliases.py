"""Column aliases of SELECT that are used in other columns, in WHERE and in GROUP BY."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from forklake.sql import limits
from forklake.sql.translate.trees import find_within

ColumnsOfSelect = Callable[[exp.Select, str], list[str]]


def resolve_aliases(tree: exp.Expr, columns_of: ColumnsOfSelect) -> exp.Expr:
    """Replace aliases by their expressions, unless FROM has a column of that name."""
    added = 0
    for select in reversed(list(tree.find_all(exp.Select))):
        aliases = {
            one.alias.lower(): one for one in select.expressions if isinstance(one, exp.Alias)
        }
        used = [one for one in _find_uses(select) if one.name.lower() in aliases]
        if not used:
            continue
        has_from = select.args.get("from_") is not None
        source_columns = {name.lower() for name in columns_of(select, "")} if has_from else set()
        for column in used:
            added += _replace_alias(column, aliases, source_columns)
            limits.check_nodes(added)
    return tree


def _find_uses(select: exp.Select) -> list[exp.Column]:
    """Return unqualified columns in the clauses that may use an alias of SELECT."""
    clauses = [*select.expressions, select.args.get("where"), select.args.get("group")]
    columns = [
        one
        for clause in clauses
        if clause is not None
        for one in find_within(clause, exp.Column)
        if isinstance(one, exp.Column) and not one.table and not isinstance(one.this, exp.Star)
    ]
    return [one for one in columns if not _must_keep(one)]


def _must_keep(column: exp.Column) -> bool:
    """Return whether a column must not be replaced: in `a AS a`, and in GROUP BY a."""
    parent = column.parent
    return isinstance(parent, exp.Group) or (
        isinstance(parent, exp.Alias) and parent.alias.lower() == column.name.lower()
    )


def _replace_alias(
    column: exp.Column, aliases: dict[str, exp.Alias], source_columns: set[str]
) -> int:
    """Replace an alias by its expression; return the number of nodes of the expression."""
    alias = aliases[column.name.lower()]
    if column.name.lower() in source_columns or column.find_ancestor(exp.Alias) is alias:
        return 0
    column.replace(exp.Paren(this=alias.this.copy()))
    return sum(1 for _ in alias.this.walk())
