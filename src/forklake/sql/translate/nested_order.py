"""Order of nested values: NULL inside of structs, lists and maps is highest, as at the top level.

Operands of comparisons and sort keys are wrapped in `order_key`, which returns the value itself
unless it is nested. Values that cannot be nested are not wrapped, so that filters can still use
file statistics.
"""

from __future__ import annotations

from sqlglot import exp

from forklake.sql.translate.trees import (
    duckdb_call,
    quoted_column,
    rewrite_nodes,
    strip_parentheses,
)

_NESTED_TYPES = (exp.DataType.Type.LIST, exp.DataType.Type.ARRAY, exp.DataType.Type.STRUCT,
           exp.DataType.Type.MAP)  # fmt: skip
_SCALAR_NODES = (
    *(exp.Literal, exp.Boolean, exp.Null, exp.Interval, exp.Neg, exp.Not, exp.And, exp.Or),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Is, exp.EQ, exp.NEQ, exp.LT),
    *(exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Like, exp.ILike, exp.Exists),
    *(exp.Subquery, exp.Query),
)
_SCALAR_FUNCTIONS = frozenset(
    "varchar + - * / // % sum avg count count_star row_number rank".split()
)


def order_nested(tree: exp.Expr) -> exp.Expr:
    """Compare and sort by order keys where values may be nested."""
    return rewrite_nodes(tree, _translate_node)


def order_key(node: exp.Expr) -> exp.Expr:
    """Return the sort key of a value."""
    return node if _is_scalar(node) else duckdb_call("order_key", node)


def _translate_node(node: exp.Expr) -> exp.Expr:
    if node.meta.get("spark"):
        return node
    if isinstance(node, exp.LT | exp.LTE | exp.GT | exp.GTE):
        return _compare_keys(node)
    if isinstance(node, exp.Between):
        return _translate_between(node)
    if isinstance(node, exp.Order):
        return _order_by_keys(node)
    if isinstance(node, exp.Anonymous) and node.name.lower() in ("greatest", "least"):
        return _translate_extreme(node)
    return node


def _compare_keys(node: exp.Binary) -> exp.Expr:
    left, right = strip_parentheses(node.this), strip_parentheses(node.expression)
    if not (_is_scalar(left) or _is_scalar(right)):
        node.set("this", duckdb_call("compared_key", left, right.copy()))
        node.set("expression", duckdb_call("compared_key", right, left.copy()))
    return node


def _translate_between(node: exp.Between) -> exp.Expr:
    value, low, high = node.this, node.args["low"], node.args["high"]
    if any(map(_is_scalar, (value, low, high))):
        return node
    above = _compare_keys(exp.GTE(this=value.copy(), expression=low))
    below = _compare_keys(exp.LTE(this=value, expression=high))
    return exp.Paren(this=exp.And(this=above, expression=below))


def _translate_extreme(node: exp.Anonymous) -> exp.Expr:
    if any(map(_is_scalar, node.expressions)):
        return node
    name = "list_max" if node.name.lower() == "greatest" else "list_min"
    return duckdb_call(name, duckdb_call("list_value", *node.expressions))


def _order_by_keys(node: exp.Order) -> exp.Expr:
    if isinstance(node.parent, exp.Anonymous):  # inside of an aggregate
        return node
    _expand_all(node)
    for one in node.expressions:
        if not isinstance(one, exp.Ordered) or _is_order_by_all(one):
            continue
        if isinstance(one.this, exp.Literal) and one.this.is_int:
            one.set("this", _find_numbered_key(node.parent, one.this))
        else:
            one.set("this", order_key(strip_parentheses(one.this)))
    return node


def _find_numbered_key(query: exp.Expr | None, number: exp.Literal) -> exp.Expr:
    """Return the sort key of a column given by number, if its name is unique."""
    columns = _list_known_columns(query)
    at = int(number.name) - 1
    if not 0 <= at < len(columns) or _is_scalar(columns[at].unalias()):
        return number
    return order_key(quoted_column(columns[at].alias_or_name))


def _list_known_columns(query: exp.Expr | None) -> list[exp.Expr]:
    """Return the columns of a query if their names are known and unique, else nothing."""
    while isinstance(query, exp.SetOperation):
        query = query.this.unnest()
    columns = query.expressions if isinstance(query, exp.Select) else []
    names = {one.alias_or_name.lower() for one in columns}
    is_known = not any(one.is_star for one in columns) and "" not in names
    return columns if is_known and len(names) == len(columns) else []


def _is_order_by_all(one: exp.Expr) -> bool:
    is_word = isinstance(one.this, exp.Column | exp.Var)
    return is_word and one.this.sql(dialect="duckdb").upper() == "ALL"


def _expand_all(order: exp.Order) -> None:
    """Replace ORDER BY ALL by a list of the columns if one of them may be nested."""
    columns = _list_known_columns(order.parent)
    all_keys = [
        one for one in order.expressions if isinstance(one, exp.Ordered) and _is_order_by_all(one)
    ]
    if not all_keys or not columns or all(_is_scalar(one.unalias()) for one in columns):
        return
    result = []
    for column in columns:
        key = all_keys[0].copy()
        key.set("this", quoted_column(column.alias_or_name))
        result.append(key)
    order.set("expressions", result)


def _is_scalar(node: exp.Expr) -> bool:
    """Return whether a value is certainly not nested."""
    node = node.unnest()
    if isinstance(node, exp.Cast):
        return node.to.this not in _NESTED_TYPES
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        return name in _SCALAR_FUNCTIONS or name.startswith(("cast ", "try_cast "))
    return isinstance(node, _SCALAR_NODES)
