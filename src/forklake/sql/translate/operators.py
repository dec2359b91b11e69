"""Operators and special syntax, translated to calls of functions that the tables define."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from forklake.sql.translate.refusals import unsupported
from forklake.sql.translate.templates import filled
from forklake.sql.translate.trees import bare, call, rewrite

_LIKES: dict[type[exp.Expr], str] = {exp.Like: "like", exp.ILike: "ilike"}
_FIRST, _LAST = exp.Literal.number(1), exp.Literal.number(-1)

_SIGNS: dict[type[exp.Expr], str] = {
    exp.Div: "/",
    exp.IntDiv: "//",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
    exp.Pow: "pow",
    exp.Glob: "glob",
    exp.SimilarTo: "regexp_full_match",
    exp.ArrayOverlaps: "&&",
    exp.ArrayContainsAll: "@>",
    exp.RegexpLike: "regexp_matches",
    exp.StartsWith: "starts_with",
}


def translate_operators(tree: exp.Expr) -> exp.Expr:
    """Turn operators into calls if they differ in Spark or depend on types."""
    return rewrite(tree, _translate_node)


def _translate_node(node: exp.Expr) -> exp.Expr:
    if node.args.get("negate") and not isinstance(node.parent, exp.Escape):  # NOT LIKE
        positive = node.copy()
        positive.set("negate", None)
        return exp.Not(this=exp.Paren(this=_translate_node(positive)))
    kind = type(node)
    if kind in _SIGNS:
        return call(_SIGNS[kind], bare(node.this), bare(node.expression))
    return _GRAMMAR[kind](node) if kind in _GRAMMAR else node


def _sum(node: exp.Expr) -> exp.Expr:
    """Turn + and - into calls: dates and intervals differ in Spark. Not with a number literal."""
    sides = (node.this, node.expression)
    if any(_is_number(side) for side in sides):
        return node
    return call("-" if isinstance(node, exp.Sub) else "+", *(bare(side) for side in sides))


def _is_number(node: exp.Expr) -> bool:
    node = bare(node)
    return isinstance(node, exp.Literal) and not node.is_string


def _negative(node: exp.Expr) -> exp.Expr:
    return node if _is_number(node.this) else call("unary -", bare(node.this))


def _index(node: exp.Expr) -> exp.Expr:
    [index] = node.expressions
    if not isinstance(index, exp.Slice):
        return call("[]", bare(node.this), index)
    if index.args.get("step") is not None:
        raise unsupported("A slice with a step")
    begin, end = index.this or _FIRST.copy(), index.expression or _LAST.copy()
    return call("[:]", bare(node.this), begin, end)


def _list(node: exp.Expr) -> exp.Expr:
    [*elements] = node.expressions
    if len(elements) == 1 and isinstance(elements[0], exp.Comprehension):
        return _comprehension(elements[0])
    return call("list_value", *elements)


def _comprehension(node: exp.Expr) -> exp.Expr:
    """Translate a list comprehension, as in `[x * 2 for x in l if x > 1]`."""
    name = node.expression
    if node.args.get("position") is not None:
        raise unsupported("A list comprehension with a position")
    source, condition = node.args["iterator"], node.args.get("condition")
    if condition is not None:
        source = call("list_filter", source, _lambda(name, condition))
    return call("list_transform", source, _lambda(name, node.this))


def _lambda(name: exp.Expr, body: exp.Expr) -> exp.Lambda:
    parameter = exp.to_identifier(name.name)
    return exp.Lambda(this=body.copy(), expressions=[parameter])


def _map(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Map):
        lists = [one for one in (node.args.get("keys"), node.args.get("values")) if one is not None]
        return call("map_of_lists", *lists)
    pairs = [side for pair in node.this.expressions for side in (_key(pair.this), pair.expression)]
    return call("map_of_pairs", *pairs)


def _key(node: exp.Expr) -> exp.Expr:
    """Return the key of a map entry as a string: sqlglot parses bare keys as field names."""
    return exp.Literal.string(node.name) if isinstance(node, exp.Identifier) else node


def _extract(node: exp.Expr) -> exp.Expr:
    return call("date_part", exp.Literal.string(node.this.name), node.expression)


def _trim(node: exp.Expr) -> exp.Expr:
    names = {"LEADING": "ltrim", "TRAILING": "rtrim"}
    return call(names.get(node.args.get("position") or "", "trim"), node.this, node.expression)


def _substring(node: exp.Expr) -> exp.Expr:
    return call("substring", node.this, node.args.get("start"), node.args.get("length"))


def _position(node: exp.Expr) -> exp.Expr:
    return call("instr", node.this, node.args["substr"])


def _zone(node: exp.Expr) -> exp.Expr:
    return call("at time zone", node.args["zone"], node.this)


def _method(node: exp.Expr) -> exp.Expr:
    """Translate a method call: `'x'.upper()` is `upper('x')`."""
    function = node.expression
    if not isinstance(function, exp.Anonymous):
        return node
    return call(function.name, _as_column(node.this), *function.expressions)


def _as_column(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Identifier):
        return exp.Column(this=node)
    if isinstance(node, exp.Dot) and isinstance(node.this, exp.Identifier | exp.Dot):
        return exp.Dot(this=_as_column(node.this), expression=node.expression)
    return node


def _translate_in(node: exp.Expr) -> exp.Expr:
    """Translate `x IN l` and `x IN (l)` of a list l to a search in the list."""
    field = node.args.get("field")
    if field is not None:
        return call("contains", field, node.this)
    if isinstance(bare(node.this), exp.Tuple) and node.expressions:
        rows = [_row(one) for one in (node.this, *node.expressions)]
        return exp.In(this=rows[0], expressions=rows[1:])
    if len(node.expressions) == 1 and not isinstance(node.expressions[0], exp.Literal | exp.Null):
        return call("in list", node.this, node.expressions[0])
    return node


def _row(node: exp.Expr) -> exp.Expr:
    """Return `(a, b)` as a struct with generated field names."""
    inner = bare(node)
    return call("row", *inner.expressions) if isinstance(inner, exp.Tuple) else node


# Patterns that Spark compares without a regular expression, and pushes down to files.
# Possessive: a long pattern would take quadratic time.
_SIMPLE_LIKE = re.compile(r"[^%_\\]*+%?[^%_\\]*+|%[^%_\\]++%")


def _like(node: exp.Expr) -> exp.Expr:
    """Translate LIKE, except for simple patterns.

    Spark turns most patterns into a regular expression, which can take exponential time. The
    function of Forklake takes linear time.
    """
    if isinstance(node.parent, exp.Escape):
        return node
    pattern, name = node.expression, _LIKES[type(node)]
    is_literal = isinstance(pattern, exp.Literal) and pattern.is_string
    if is_literal and name == "like" and _SIMPLE_LIKE.fullmatch(pattern.name):
        return node
    return call(name, bare(node.this), pattern)


def _translate_escape(node: exp.Expr) -> exp.Expr:
    like = node.this
    name = _LIKES.get(type(like))
    if name is None:
        return node
    made = call(name, bare(like.this), like.expression, node.expression)
    return exp.Not(this=made) if like.args.get("negate") else made


def _translate_comparison(node: exp.Expr) -> exp.Expr:
    """Translate = ANY and <> ALL: of a query to IN and NOT IN, of a list to a lambda."""
    right = node.expression
    if isinstance(node.this, exp.Tuple) and isinstance(right, exp.Tuple):
        return _compare_rows(node, node.this.expressions, right.expressions)
    if isinstance(right, exp.Anonymous) and right.name.lower() == "all":
        right = exp.All(this=right.expressions[0])
    if not isinstance(right, exp.Any | exp.All):
        return node
    inner = right.this.unnest() if isinstance(right.this, exp.Paren) else right.this
    if isinstance(inner, exp.Query):
        return _translate_query_comparison(node, right, inner)
    element = exp.column("_element")
    function = "list_exists" if isinstance(right, exp.Any) else "list_forall"
    body = type(node)(this=node.this.copy(), expression=element)
    return call(function, inner, _lambda(exp.to_identifier("_element"), body))


def _compare_rows(node: exp.Expr, left: list[exp.Expr], right: list[exp.Expr]) -> exp.Expr:
    """Compare rows. Spark orders only fields of the same types, which an array gives them."""
    if not isinstance(node, exp.EQ | exp.NEQ) and len(left) == len(right):
        pairs = list(zip(left, right, strict=True))
        left = [filled("get(array(_0, _1), 0)", [one, other]) for one, other in pairs]
        right = [filled("get(array(_1, _0), 0)", [one, other]) for one, other in pairs]
    return type(node)(this=call("row", *left), expression=call("row", *right))


# Nodes in which a list in parentheses is a struct; elsewhere it lists columns or rows.
_VALUES = (
    *(exp.Select, exp.Alias, exp.Anonymous, exp.Cast, exp.Array, exp.Struct, exp.PropertyEQ),
    *(exp.Case, exp.If, exp.Dot, exp.DPipe, exp.Is, exp.Order, exp.Ordered, exp.Lambda),
    exp.ToMap,
)


def _tuple(node: exp.Expr) -> exp.Expr:
    """Replace a row value by a struct: Spark would name its fields after the columns."""
    return _row(node) if _is_struct(node) else node


def _is_struct(node: exp.Expr) -> bool:
    place = node
    while isinstance(place.parent, exp.Paren):
        place = place.parent
    holder = place.parent
    if isinstance(holder, exp.Tuple):
        return isinstance(holder.parent, exp.Values) or _is_struct(holder)
    is_argument = isinstance(holder, exp.Distinct) and place.arg_key == "expressions"
    return len(node.expressions) > 1 and (is_argument or isinstance(holder, _VALUES))


def _translate_query_comparison(node: exp.Expr, right: exp.Expr, query: exp.Expr) -> exp.Expr:
    inside = exp.In(this=node.this.copy(), query=exp.Subquery(this=query.unnest().copy()))
    if isinstance(node, exp.EQ) and isinstance(right, exp.Any):
        return inside
    if isinstance(node, exp.NEQ) and isinstance(right, exp.All):
        return exp.Not(this=inside)
    raise unsupported(f"{node.sql(dialect='duckdb')}, a comparison with ANY or ALL of a query,")


_GRAMMAR: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Neg: _negative,
    exp.BitwiseNot: lambda node: call("~", bare(node.this)),
    exp.Add: _sum,
    exp.Sub: _sum,
    exp.Bracket: _index,
    exp.Array: _list,
    exp.ToMap: _map,
    exp.Map: _map,
    exp.Extract: _extract,
    exp.Trim: _trim,
    exp.Substring: _substring,
    exp.StrPosition: _position,
    exp.AtTimeZone: _zone,
    exp.Dot: _method,
    exp.Tuple: _tuple,
    exp.In: _translate_in,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _translate_escape,
    exp.Abs: lambda node: call("abs", node.this),
    exp.CurrentDate: lambda node: call("current_date"),
    exp.CurrentTimestamp: lambda node: call("now"),
    exp.Localtimestamp: lambda node: call("localtimestamp"),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE), _translate_comparison),
}
