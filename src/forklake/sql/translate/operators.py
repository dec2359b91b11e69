"""Operators and special syntax, translated to calls of functions that the tables define."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from forklake.sql.translate.refusals import unsupported
from forklake.sql.translate.templates import fill_template
from forklake.sql.translate.trees import duckdb_call, rewrite_nodes, strip_parentheses

_LIKES: dict[type[exp.Expr], str] = {exp.Like: "like", exp.ILike: "ilike"}
_FIRST, _LAST = exp.Literal.number(1), exp.Literal.number(-1)

_OPERATORS: dict[type[exp.Expr], str] = {
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
    return rewrite_nodes(tree, _translate_node)


def _translate_node(node: exp.Expr) -> exp.Expr:
    if node.args.get("negate") and not isinstance(node.parent, exp.Escape):  # NOT LIKE
        positive = node.copy()
        positive.set("negate", None)
        return exp.Not(this=exp.Paren(this=_translate_node(positive)))
    kind = type(node)
    if kind in _OPERATORS:
        return duckdb_call(
            _OPERATORS[kind], strip_parentheses(node.this), strip_parentheses(node.expression)
        )
    return _TRANSLATIONS[kind](node) if kind in _TRANSLATIONS else node


def _translate_sum(node: exp.Expr) -> exp.Expr:
    """Turn + and - into calls: dates and intervals differ in Spark. Not with a number literal."""
    sides = (node.this, node.expression)
    if any(_is_number(side) for side in sides):
        return node
    return duckdb_call(
        "-" if isinstance(node, exp.Sub) else "+", *(strip_parentheses(side) for side in sides)
    )


def _is_number(node: exp.Expr) -> bool:
    node = strip_parentheses(node)
    return isinstance(node, exp.Literal) and not node.is_string


def _translate_negation(node: exp.Expr) -> exp.Expr:
    return node if _is_number(node.this) else duckdb_call("unary -", strip_parentheses(node.this))


def _translate_index(node: exp.Expr) -> exp.Expr:
    [index] = node.expressions
    if not isinstance(index, exp.Slice):
        return duckdb_call("[]", strip_parentheses(node.this), index)
    if index.args.get("step") is not None:
        raise unsupported("A slice with a step")
    begin, end = index.this or _FIRST.copy(), index.expression or _LAST.copy()
    return duckdb_call("[:]", strip_parentheses(node.this), begin, end)


def _translate_list(node: exp.Expr) -> exp.Expr:
    [*elements] = node.expressions
    if len(elements) == 1 and isinstance(elements[0], exp.Comprehension):
        return _translate_comprehension(elements[0])
    return duckdb_call("list_value", *elements)


def _translate_comprehension(node: exp.Expr) -> exp.Expr:
    """Translate a list comprehension, as in `[x * 2 for x in l if x > 1]`."""
    name = node.expression
    if node.args.get("position") is not None:
        raise unsupported("A list comprehension with a position")
    source, condition = node.args["iterator"], node.args.get("condition")
    if condition is not None:
        source = duckdb_call("list_filter", source, _build_lambda(name, condition))
    return duckdb_call("list_transform", source, _build_lambda(name, node.this))


def _build_lambda(name: exp.Expr, body: exp.Expr) -> exp.Lambda:
    parameter = exp.to_identifier(name.name)
    return exp.Lambda(this=body.copy(), expressions=[parameter])


def _translate_map(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Map):
        lists = [one for one in (node.args.get("keys"), node.args.get("values")) if one is not None]
        return duckdb_call("map_of_lists", *lists)
    pairs = [
        side for pair in node.this.expressions for side in (_map_key(pair.this), pair.expression)
    ]
    return duckdb_call("map_of_pairs", *pairs)


def _map_key(node: exp.Expr) -> exp.Expr:
    """Return the key of a map entry as a string: sqlglot parses bare keys as field names."""
    return exp.Literal.string(node.name) if isinstance(node, exp.Identifier) else node


def _translate_extract(node: exp.Expr) -> exp.Expr:
    return duckdb_call("date_part", exp.Literal.string(node.this.name), node.expression)


def _translate_trim(node: exp.Expr) -> exp.Expr:
    names = {"LEADING": "ltrim", "TRAILING": "rtrim"}
    return duckdb_call(
        names.get(node.args.get("position") or "", "trim"), node.this, node.expression
    )


def _translate_substring(node: exp.Expr) -> exp.Expr:
    return duckdb_call("substring", node.this, node.args.get("start"), node.args.get("length"))


def _translate_position(node: exp.Expr) -> exp.Expr:
    return duckdb_call("instr", node.this, node.args["substr"])


def _translate_time_zone(node: exp.Expr) -> exp.Expr:
    return duckdb_call("at time zone", node.args["zone"], node.this)


def _translate_method(node: exp.Expr) -> exp.Expr:
    """Translate a method call: `'x'.upper()` is `upper('x')`."""
    function = node.expression
    if not isinstance(function, exp.Anonymous):
        return node
    return duckdb_call(function.name, _as_column(node.this), *function.expressions)


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
        return duckdb_call("contains", field, node.this)
    if isinstance(strip_parentheses(node.this), exp.Tuple) and node.expressions:
        rows = [_build_row(one) for one in (node.this, *node.expressions)]
        return exp.In(this=rows[0], expressions=rows[1:])
    if len(node.expressions) == 1 and not isinstance(node.expressions[0], exp.Literal | exp.Null):
        return duckdb_call("in list", node.this, node.expressions[0])
    return node


def _build_row(node: exp.Expr) -> exp.Expr:
    """Return `(a, b)` as a struct with generated field names."""
    inner = strip_parentheses(node)
    return duckdb_call("row", *inner.expressions) if isinstance(inner, exp.Tuple) else node


# Patterns that Spark compares without a regular expression, and pushes down to files.
# Possessive: a long pattern would take quadratic time.
_SIMPLE_LIKE = re.compile(r"[^%_\\]*+%?[^%_\\]*+|%[^%_\\]++%")


def _translate_like(node: exp.Expr) -> exp.Expr:
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
    return duckdb_call(name, strip_parentheses(node.this), pattern)


def _translate_escape(node: exp.Expr) -> exp.Expr:
    like = node.this
    name = _LIKES.get(type(like))
    if name is None:
        return node
    result = duckdb_call(name, strip_parentheses(like.this), like.expression, node.expression)
    return exp.Not(this=result) if like.args.get("negate") else result


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
    return duckdb_call(function, inner, _build_lambda(exp.to_identifier("_element"), body))


def _compare_rows(node: exp.Expr, left: list[exp.Expr], right: list[exp.Expr]) -> exp.Expr:
    """Compare rows. Spark orders only fields of the same types, which an array gives them."""
    if not isinstance(node, exp.EQ | exp.NEQ) and len(left) == len(right):
        pairs = list(zip(left, right, strict=True))
        left = [fill_template("get(array(_0, _1), 0)", [one, other]) for one, other in pairs]
        right = [fill_template("get(array(_1, _0), 0)", [one, other]) for one, other in pairs]
    return type(node)(this=duckdb_call("row", *left), expression=duckdb_call("row", *right))


# Nodes in which a list in parentheses is a struct; elsewhere it lists columns or rows.
_VALUE_CONTEXTS = (
    *(exp.Select, exp.Alias, exp.Anonymous, exp.Cast, exp.Array, exp.Struct, exp.PropertyEQ),
    *(exp.Case, exp.If, exp.Dot, exp.DPipe, exp.Is, exp.Order, exp.Ordered, exp.Lambda),
    exp.ToMap,
)


def _translate_tuple(node: exp.Expr) -> exp.Expr:
    """Replace a row value by a struct: Spark would name its fields after the columns."""
    return _build_row(node) if _is_struct(node) else node


def _is_struct(node: exp.Expr) -> bool:
    outermost = node
    while isinstance(outermost.parent, exp.Paren):
        outermost = outermost.parent
    holder = outermost.parent
    if isinstance(holder, exp.Tuple):
        return isinstance(holder.parent, exp.Values) or _is_struct(holder)
    is_argument = isinstance(holder, exp.Distinct) and outermost.arg_key == "expressions"
    return len(node.expressions) > 1 and (is_argument or isinstance(holder, _VALUE_CONTEXTS))


def _translate_query_comparison(node: exp.Expr, right: exp.Expr, query: exp.Expr) -> exp.Expr:
    membership = exp.In(this=node.this.copy(), query=exp.Subquery(this=query.unnest().copy()))
    if isinstance(node, exp.EQ) and isinstance(right, exp.Any):
        return membership
    if isinstance(node, exp.NEQ) and isinstance(right, exp.All):
        return exp.Not(this=membership)
    raise unsupported(f"{node.sql(dialect='duckdb')}, a comparison with ANY or ALL of a query,")


_TRANSLATIONS: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Neg: _translate_negation,
    exp.BitwiseNot: lambda node: duckdb_call("~", strip_parentheses(node.this)),
    exp.Add: _translate_sum,
    exp.Sub: _translate_sum,
    exp.Bracket: _translate_index,
    exp.Array: _translate_list,
    exp.ToMap: _translate_map,
    exp.Map: _translate_map,
    exp.Extract: _translate_extract,
    exp.Trim: _translate_trim,
    exp.Substring: _translate_substring,
    exp.StrPosition: _translate_position,
    exp.AtTimeZone: _translate_time_zone,
    exp.Dot: _translate_method,
    exp.Tuple: _translate_tuple,
    exp.In: _translate_in,
    exp.Like: _translate_like,
    exp.ILike: _translate_like,
    exp.Escape: _translate_escape,
    exp.Abs: lambda node: duckdb_call("abs", node.this),
    exp.CurrentDate: lambda node: duckdb_call("current_date"),
    exp.CurrentTimestamp: lambda node: duckdb_call("now"),
    exp.Localtimestamp: lambda node: duckdb_call("localtimestamp"),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE), _translate_comparison),
}
