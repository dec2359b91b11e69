"""Aggregates and window functions, with their DISTINCT, ORDER BY, FILTER and OVER."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from forklake.sql.translate.calls import translate_call
from forklake.sql.translate.functions.aggregates import AGGREGATES, ALIASES, WINDOWS, Aggregate
from forklake.sql.translate.nested_order import order_key
from forklake.sql.translate.refusals import unsupported
from forklake.sql.translate.templates import ByType, Template, arity, fill_template
from forklake.sql.translate.trees import rewrite_nodes

# Number of fractions that are arguments, by function of WITHIN GROUP.
_FRACTION_COUNTS = {"quantile_cont": 1, "quantile_disc": 1, "mode": 0}
_RANKING = {"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"}
_FUNCTIONS = {**AGGREGATES, **WINDOWS}


@dataclass
class _AggregateCall:
    """Call of an aggregate, with its modifiers inside and outside of the parentheses."""

    name: str
    arguments: list[exp.Expr]
    distinct: bool = False
    order: list[exp.Expr] | None = None
    nulls: str = ""
    condition: exp.Expr | None = None
    window: exp.Window | None = None


def translate_aggregates(tree: exp.Expr) -> exp.Expr:
    """Translate every aggregate and window function by the tables of `functions.aggregates`."""
    return rewrite_nodes(tree, _translate_node)


def _canonical_name(node: exp.Anonymous) -> str:
    name = node.name.lower()
    return ALIASES.get(name, name)


def _outermost_modifier(node: exp.Expr) -> exp.Expr:
    while isinstance(node.parent, _MODIFIERS) and node.parent.this is node:
        node = node.parent
    return node


_MODIFIERS = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup, exp.Window)


def _translate_node(node: exp.Expr) -> exp.Expr:
    if (
        isinstance(node, _MODIFIERS)
        and isinstance(node.parent, _MODIFIERS)
        and node.parent.this is node
    ):
        return node  # translated with the outermost modifier
    inner = node
    while isinstance(inner, _MODIFIERS):
        inner = inner.this
    if not isinstance(inner, exp.Anonymous) or inner.meta.get("spark"):
        return node
    if _canonical_name(inner) not in _FUNCTIONS or (
        inner is node and _outermost_modifier(node) is not node
    ):
        return node
    return _build_call(_read_call(node))


def _read_call(node: exp.Expr) -> _AggregateCall:
    call = _AggregateCall("", [])
    while not isinstance(node, exp.Anonymous):
        _read_modifier(call, node)
        node = node.this
    call.name = _canonical_name(node)
    call.arguments = [one.copy() for one in node.expressions]
    _read_arguments(call)
    _read_within_group(call)
    return call


def _read_within_group(call: _AggregateCall) -> None:
    """Turn `f(fraction ORDER BY values)`, the parsed form of WITHIN GROUP, into arguments."""
    if call.order is None or len(call.arguments) != _FRACTION_COUNTS.get(call.name):
        return
    if len(call.order) != 1:
        raise unsupported("WITHIN GROUP with several expressions in ORDER BY")
    [order], call.order = call.order, None
    is_descending = bool(order.args.get("desc"))
    fractions = [_flip_fraction(call.name, one) if is_descending else one for one in call.arguments]
    call.arguments = [order.this.copy(), *fractions]


def _flip_fraction(name: str, fraction: exp.Expr) -> exp.Expr:
    """Return the fraction that selects the same value in the opposite order."""
    if name != "quantile_cont" or not isinstance(fraction, exp.Literal):
        raise unsupported("WITHIN GROUP in descending order, unless it has one constant fraction,")
    return fill_template("1 - _0", [fraction])


def _read_modifier(call: _AggregateCall, node: exp.Expr) -> None:
    match node:
        case exp.Window():
            call.window = node
        case exp.Filter():
            call.condition = node.expression.this
        case exp.IgnoreNulls():
            call.nulls = "IGNORE"
        case exp.RespectNulls():
            call.nulls = "RESPECT"
        case _:
            raise unsupported("WITHIN GROUP")


def _read_arguments(call: _AggregateCall) -> None:
    """Separate arguments from the DISTINCT, ORDER BY and NULLS inside of the parentheses."""
    unread, call.arguments = call.arguments, []
    for one in unread:
        argument = _strip_modifiers(call, one)
        if isinstance(argument, exp.Distinct):
            call.distinct = True
            call.arguments.extend(argument.expressions)
        elif argument is not None and not isinstance(argument, exp.Star):
            call.arguments.append(argument)


def _strip_modifiers(call: _AggregateCall, node: exp.Expr | None) -> exp.Expr | None:
    """Return an argument without its ORDER BY and IGNORE NULLS; None if nothing is left."""
    if isinstance(node, exp.Order):
        call.order = node.expressions
    elif isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        call.nulls = "IGNORE" if isinstance(node, exp.IgnoreNulls) else "RESPECT"
    else:
        return node
    return _strip_modifiers(call, node.this)


def _build_call(call: _AggregateCall) -> exp.Expr:
    entry = _find_entry(call)
    _check_call(call)
    if call.name in _COMPOSED:
        return _COMPOSED[call.name](call)
    if call.order and call.name in ("first", "last", "any_value"):
        return _build_end_of_list(call)
    is_sorted = bool(call.order) and entry.is_sorted
    arguments = _apply_filter(call)
    result = _build_inner(call, entry, arguments, is_sorted)
    outer = entry.outer
    if is_sorted:
        outer = f"transform(array_sort({outer}, _order), e -> e.v)"
    if outer != "_inner":
        result = _build_outer(outer, result, arguments, call)
    if call.name == "string_agg":
        separator = call.arguments[1] if len(call.arguments) > 1 else exp.Literal.string(",")
        result = fill_template(
            "if(size(array_compact(_0)) > 0, array_join(_0, _1), null)", [result, separator]
        )
    return result


def _build_average(call: _AggregateCall) -> exp.Expr:
    """Build an average: the exact sum of integers or decimals, divided by their number."""
    value, count = replace(call, name="exact sum"), replace(call, name="count")
    return fill_template(
        "cast(_0 as double) / nullif(_1, 0)", [_build_call(value), _build_call(count)]
    )


def _build_correlation(call: _AggregateCall) -> exp.Expr:
    """Build a correlation that is NaN for constant values, where Spark returns NULL."""
    value, count = replace(call, name=f"checked {call.name}"), replace(call, name="regr_count")
    return fill_template(
        "if(_1 > 0, coalesce(_0, double('NaN')), null)", [_build_call(value), _build_call(count)]
    )


def _build_grouping(call: _AggregateCall) -> exp.Expr:
    """Build the number whose bits show which arguments a grouping set leaves out."""
    bits = [fill_template("cast(grouping(_0) as bigint)", [one]) for one in call.arguments]
    return reduce(lambda number, bit: fill_template("_0 * 2 + _1", [number, bit]), bits)


_COMPOSED: dict[str, Callable[[_AggregateCall], exp.Expr]] = {
    "avg": _build_average,
    "corr": _build_correlation,
    "grouping": _build_grouping,
    "regr_slope": _build_correlation,
}


def _find_entry(call: _AggregateCall) -> Aggregate:
    entries = _FUNCTIONS[call.name]
    for one in entries if isinstance(entries, tuple) else (entries,):
        required = max(_inner_arity(one.inner), _outer_arity(one.outer))
        if required <= len(call.arguments) <= required + one.optional:
            return one
    raise unsupported(f"The function {call.name} with {len(call.arguments)} arguments")


def _inner_arity(inner: Template) -> int:
    if isinstance(inner, ByType):
        return len(inner.choices[0][0].split(","))
    return arity(inner) or 0


def _outer_arity(outer: str) -> int:
    return arity(outer) or 0


def _check_call(call: _AggregateCall) -> None:
    if call.window is None:
        if call.name in WINDOWS:
            raise unsupported(f"The function {call.name} without OVER")
        if call.nulls and call.name not in ("first", "last", "any_value"):
            raise unsupported(f"{call.nulls} NULLS with the function {call.name}")
        return
    if call.distinct:
        raise unsupported(f"DISTINCT in the function {call.name} with OVER")
    if call.order:
        raise unsupported(f"ORDER BY in the function {call.name} with OVER")
    spec = call.window.args.get("spec")
    if spec is not None and spec.args.get("exclude"):
        raise unsupported("EXCLUDE in a window")
    if spec is not None and str(spec.args.get("kind")).upper() == "GROUPS":
        raise unsupported("GROUPS in a window")


def _apply_filter(call: _AggregateCall) -> list[exp.Expr]:
    """Return the arguments. With OVER, FILTER is replaced by NULL for the rows that it excludes."""
    if call.condition is None or call.window is None:
        return call.arguments
    if call.name in WINDOWS or call.name in ("list", "first", "last"):
        raise unsupported(f"FILTER in the function {call.name} with OVER")
    arguments = call.arguments or [exp.Literal.number(1)]
    condition, call.condition = call.condition, None
    call.arguments = [fill_template("if(_0, _1, null)", [condition, arguments[0]]), *arguments[1:]]
    return call.arguments


def _build_inner(
    call: _AggregateCall, entry: Aggregate, arguments: list[exp.Expr], is_sorted: bool
) -> exp.Expr:
    template = entry.inner
    if call.name == "count" and arguments:
        template = "count(_0)"
    if isinstance(template, ByType):
        result = translate_call(f"aggregate {call.name}", template, arguments)
    elif is_sorted:
        result = _add_sort_keys(template, arguments, call.order or [])
    else:
        result = fill_template(template, arguments)
    if call.distinct:
        result.set("expressions", [exp.Distinct(expressions=result.expressions)])
    if call.condition is not None:
        result = exp.Filter(this=result, expression=exp.Where(this=call.condition.copy()))
    nulls = call.nulls or entry.nulls
    if nulls and call.name != "any_value":
        result = (exp.IgnoreNulls if nulls == "IGNORE" else exp.RespectNulls)(this=result)
    return result if call.window is None else _add_window(result, call)


def _add_window(aggregated: exp.Expr, call: _AggregateCall) -> exp.Expr:
    assert call.window is not None
    window = call.window.copy()
    window.set("this", aggregated)
    is_named = window.args.get("alias") is not None
    if call.name in _RANKING and not window.args.get("order") and not is_named:
        first = exp.Ordered(this=exp.Literal.number(1))
        window.set("order", exp.Order(expressions=[first]))
    return window


def _build_outer(
    outer: str, aggregated: exp.Expr, arguments: list[exp.Expr], call: _AggregateCall
) -> exp.Expr:
    template = outer.replace("_inner", "_8")
    extra = [*arguments, *[exp.Null()] * (8 - len(arguments)), aggregated]
    if "_order" in template:
        template = template.replace("_order", _build_comparator(call.order or []))
    return fill_template(template, extra)


def _add_sort_keys(template: str, arguments: list[exp.Expr], order: list[exp.Expr]) -> exp.Expr:
    """Aggregate structs of a value and the keys that it is sorted by."""
    value = fill_template(template, arguments)
    keys = "".join(f", 'k{number}', _{number + 1}" for number in range(len(order)))
    sorted_by = [order_key(one.this) for one in order]
    pair = fill_template(f"named_struct('v', _0{keys})", [value.expressions[0], *sorted_by])
    value.set("expressions", [pair])
    return value


def _build_comparator(order: list[exp.Expr]) -> str:
    """Return a lambda in Spark SQL that compares two values by their sort keys."""
    result = "0"
    for number, key in reversed(list(enumerate(order))):
        less, more = ("1", "-1") if key.args.get("desc") else ("-1", "1")
        left, right = f"l.k{number}", f"r.k{number}"
        null = "-1" if key.args.get("nulls_first") else "1"
        other = "1" if key.args.get("nulls_first") else "-1"
        result = (
            f"case when {left} <=> {right} then {result} when {left} is null then {null}"
            f" when {right} is null then {other} when {left} < {right} then {less}"
            f" else {more} end"
        )
    return f"(l, r) -> {result}"


def _build_end_of_list(call: _AggregateCall) -> exp.Expr:
    """Build the first or last value in the order of ORDER BY."""
    nulls = "IGNORE" if call.name == "any_value" else call.nulls
    values = _AggregateCall("list", call.arguments, order=call.order, condition=call.condition)
    result = _build_call(values)
    if nulls == "IGNORE":
        result = fill_template("array_compact(_0)", [result])
    return fill_template("element_at(_0, -1)" if call.name == "last" else "get(_0, 0)", [result])
