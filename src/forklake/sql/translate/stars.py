"""`* REPLACE`, `* RENAME` and COLUMNS(…) as lists of columns, whose names Spark tells."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from forklake.sql.translate.refusing import unsupported
from forklake.sql.translate.trees import aliased, named, within

Columns = Callable[[exp.Select, str], list[str]]


def expand_stars(tree: exp.Expr, columns: Columns) -> exp.Expr:
    """Only stars that Spark has remain: all columns, or all but some."""
    for select in reversed(list(tree.find_all(exp.Select))):
        expanded = [
            one for column in select.expressions for one in _expanded(select, column, columns)
        ]
        select.set("expressions", expanded)
        for clause in ("where", "having", "qualify"):
            if (found := select.args.get(clause)) is not None:
                _expand_condition(select, found, columns)
    return tree


def _star(node: exp.Expr) -> exp.Star | None:
    inner = node.this if isinstance(node, exp.Column) else node
    return inner if isinstance(inner, exp.Star) else None


def _expanded(select: exp.Select, node: exp.Expr, columns: Columns) -> list[exp.Expr]:
    star = _star(node)
    if star is not None:
        if not star.args.get("replace") and not star.args.get("rename"):
            return [node]
        table = node.table if isinstance(node, exp.Column) else ""
        return _replaced(star, table, columns(select, table))
    calls = _columns_calls(node)
    if not calls:
        return [node]
    names = _chosen(select, calls[0], columns)
    return [_for_column(node, name) for name in names]


def _replaced(star: exp.Star, table: str, names: list[str]) -> list[exp.Expr]:
    _require_different(names)
    left_out = {one.name.lower() for one in star.args.get("except_") or []}
    replaced = {one.alias.lower(): one for one in star.args.get("replace") or []}
    renamed = {one.this.name.lower(): one.alias for one in star.args.get("rename") or []}
    made: list[exp.Expr] = []
    for name in names:
        key = name.lower()
        if key in left_out:
            continue
        if key in replaced:
            made.append(aliased(replaced[key].this.copy(), name))
        elif key in renamed:
            made.append(aliased(named(name, table), renamed[key]))
        else:
            made.append(named(name, table))
    return made


def _require_different(names: list[str]) -> None:
    if len({name.lower() for name in names}) < len(names):
        raise unsupported("COLUMNS, REPLACE or RENAME of columns with the same name")


def _columns_calls(node: exp.Expr) -> list[exp.Expr]:
    return [
        one
        for one in within(node, exp.Anonymous)
        if isinstance(one, exp.Anonymous) and one.name.lower() == "columns"
    ]


def _chosen(select: exp.Select, call: exp.Expr, columns: Columns) -> list[str]:
    """The columns that COLUMNS(…) stands for."""
    [choice] = call.expressions
    names = columns(select, "")
    _require_different(names)
    if isinstance(choice, exp.Star):
        left_out = {one.name.lower() for one in choice.args.get("except_") or []}
        return [name for name in names if name.lower() not in left_out]
    if isinstance(choice, exp.Array):
        wanted = [one.name.lower() for one in choice.expressions]
        return [name for name in names if name.lower() in wanted]
    if not choice.is_string:
        raise unsupported(f"COLUMNS({choice.sql(dialect='duckdb')})")
    found = [name for name in names if re.search(choice.name, name)]
    if not found:
        raise unsupported(f"COLUMNS('{choice.name}'), which matches no column,")
    return found


def _for_column(node: exp.Expr, name: str) -> exp.Expr:
    """An expression with COLUMNS(…) for one of its columns."""
    made = node.copy()
    holder = exp.Tuple(expressions=[made])
    for call in _columns_calls(made):
        call.replace(named(name))
    column = holder.expressions[0].pop()
    return column if isinstance(column, exp.Alias | exp.Column) else aliased(column, name)


def _expand_condition(select: exp.Select, clause: exp.Expr, columns: Columns) -> None:
    """A condition about COLUMNS(…) must hold for each."""
    calls = _columns_calls(clause.this)
    if calls:
        each = [
            _for_column(clause.this, name).unalias() for name in _chosen(select, calls[0], columns)
        ]
        clause.set("this", exp.and_(*each))
