"""Names of columns that have none: those that DuckDB gives, as far as they can be told."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from forklake.sql.translate.reading import PlainDuckDB
from forklake.sql.translate.trees import aliased, named

_NAMED = (exp.Alias, exp.Star, exp.Column, exp.Dot)


def name_columns(tree: exp.Expr) -> exp.Expr:
    """Every column of every SELECT has a name; ORDER BY of the same expression goes by it."""
    for select in tree.find_all(exp.Select):
        columns = [_with_name(one) for one in select.expressions]
        select.set("expressions", columns)
        _order_by_name(select)
    return tree


def _with_name(node: exp.Expr) -> exp.Expr:
    is_method = isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous)
    if node.is_star or (isinstance(node, _NAMED) and not is_method):
        return node
    return aliased(node, shown(node))


def shown(node: exp.Expr) -> str:
    """How DuckDB calls an expression."""
    node = node.unnest().copy()
    for table in node.find_all(exp.Table):
        if table.alias:  # not the name of the moment that it is registered by
            table.set("this", exp.to_identifier(table.alias))
            table.set("alias", None)
    text = node.sql(
        dialect=PlainDuckDB, normalize_functions="lower", unsupported_level=ErrorLevel.IGNORE
    )
    text = text.replace("count(*)", "count_star()")
    return f"({text})" if isinstance(node, exp.Binary) and not isinstance(node, exp.Dot) else text


def _order_by_name(select: exp.Select) -> None:
    """Spark finds an expression in ORDER BY not always again among those of SELECT."""
    order = select.args.get("order")
    if order is None:
        return
    names = {one.this: one.alias for one in select.expressions if isinstance(one, exp.Alias)}
    for key in order.expressions:
        if not isinstance(key.this, exp.Column | exp.Literal) and key.this in names:
            key.set("this", named(names[key.this]))
