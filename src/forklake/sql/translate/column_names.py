"""Names of columns without an alias, as DuckDB generates them where that can be reproduced."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from forklake.sql.translate.plain_tree import PlainDuckDB
from forklake.sql.translate.trees import quoted_alias, quoted_column

_NAMED = (exp.Alias, exp.Star, exp.Column, exp.Dot)


def name_columns(tree: exp.Expr) -> exp.Expr:
    """Give a name to every column of every SELECT, and let ORDER BY refer to it."""
    for select in tree.find_all(exp.Select):
        columns = [_add_name(one) for one in select.expressions]
        select.set("expressions", columns)
        _order_by_names(select)
    return tree


def _add_name(node: exp.Expr) -> exp.Expr:
    is_method = isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous)
    if node.is_star or (isinstance(node, _NAMED) and not is_method):
        return node
    return quoted_alias(node, duckdb_column_name(node))


def duckdb_column_name(node: exp.Expr) -> str:
    """Return the column name that DuckDB generates for an expression."""
    node = node.unnest().copy()
    for table in node.find_all(exp.Table):
        if table.alias:  # the name that was written, not the temporary one that is registered
            table.set("this", exp.to_identifier(table.alias))
            table.set("alias", None)
    text = node.sql(
        dialect=PlainDuckDB, normalize_functions="lower", unsupported_level=ErrorLevel.IGNORE
    )
    text = text.replace("count(*)", "count_star()")
    return f"({text})" if isinstance(node, exp.Binary) and not isinstance(node, exp.Dot) else text


def _order_by_names(select: exp.Select) -> None:
    """Replace expressions in ORDER BY by names: Spark does not always match them with SELECT."""
    order = select.args.get("order")
    if order is None:
        return
    names = {one.this: one.alias for one in select.expressions if isinstance(one, exp.Alias)}
    for key in order.expressions:
        if not isinstance(key.this, exp.Column | exp.Literal) and key.this in names:
            key.set("this", quoted_column(names[key.this]))
