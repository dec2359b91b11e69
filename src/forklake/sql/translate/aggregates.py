"""Aggregates and window functions, with their DISTINCT, ORDER BY, FILTER and OVER."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from forklake.sql.translate.calls import applied
from forklake.sql.translate.functions.aggregates import AGGREGATES, ALIASES, WINDOWS, Aggregate
from forklake.sql.translate.nested_order import order_key
from forklake.sql.translate.refusals import unsupported
from forklake.sql.translate.templates import ByType, Template, arity, filled
from forklake.sql.translate.trees import rewrite

_WITHIN = {"quantile_cont": 1, "quantile_disc": 1, "mode": 0}  # number of fractions as arguments
_RANKING = {"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"}
_TABLES = {**AGGREGATES, **WINDOWS}


@dataclass
class _Call:
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
    return rewrite(tree, _translate_node)


def _table_name(node: exp.Anonymous) -> str:
    name = node.name.lower()
    return ALIASES.get(name, name)


def _top(node: exp.Expr) -> exp.Expr:
    while isinstance(node.parent, _AROUND) and node.parent.this is node:
        node = node.parent
    return node


_AROUND = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup, exp.Window)


def _translate_node(node: exp.Expr) -> exp.Expr:
    if isinstance(node, _AROUND) and isinstance(node.parent, _AROUND) and node.parent.this is node:
        return node  # translated with the outermost modifier
    inner = node
    while isinstance(inner, _AROUND):
        inner = inner.this
    if not isinstance(inner, exp.Anonymous) or inner.meta.get("spark"):
        return node
    if _table_name(inner) not in _TABLES or (inner is node and _top(node) is not node):
        return node
    return _made(_read(node))


def _read(node: exp.Expr) -> _Call:
    found = _Call("", [])
    while not isinstance(node, exp.Anonymous):
        _read_around(found, node)
        node = node.this
    found.name = _table_name(node)
    found.arguments = [one.copy() for one in node.expressions]
    _read_arguments(found)
    _read_within(found)
    return found


def _read_within(found: _Call) -> None:
    """Turn `f(fraction ORDER BY values)`, the parsed form of WITHIN GROUP, into arguments."""
    if found.order is None or len(found.arguments) != _WITHIN.get(found.name):
        return
    if len(found.order) != 1:
        raise unsupported("WITHIN GROUP with several expressions in ORDER BY")
    [order], found.order = found.order, None
    is_down = bool(order.args.get("desc"))
    fractions = [_flip_fraction(found.name, one) if is_down else one for one in found.arguments]
    found.arguments = [order.this.copy(), *fractions]


def _flip_fraction(name: str, fraction: exp.Expr) -> exp.Expr:
    """Return the fraction that selects the same value in the opposite order."""
    if name != "quantile_cont" or not isinstance(fraction, exp.Literal):
        raise unsupported("WITHIN GROUP in descending order, unless it has one constant fraction,")
    return filled("1 - _0", [fraction])


def _read_around(found: _Call, node: exp.Expr) -> None:
    match node:
        case exp.Window():
            found.window = node
        case exp.Filter():
            found.condition = node.expression.this
        case exp.IgnoreNulls():
            found.nulls = "IGNORE"
        case exp.RespectNulls():
            found.nulls = "RESPECT"
        case _:
            raise unsupported("WITHIN GROUP")


def _read_arguments(found: _Call) -> None:
    """Separate arguments from the DISTINCT, ORDER BY and NULLS inside of the parentheses."""
    given, found.arguments = found.arguments, []
    for one in given:
        argument = _strip_modifiers(found, one)
        if isinstance(argument, exp.Distinct):
            found.distinct = True
            found.arguments.extend(argument.expressions)
        elif argument is not None and not isinstance(argument, exp.Star):
            found.arguments.append(argument)


def _strip_modifiers(found: _Call, node: exp.Expr | None) -> exp.Expr | None:
    """Return an argument without its ORDER BY and IGNORE NULLS; None if nothing is left."""
    if isinstance(node, exp.Order):
        found.order = node.expressions
    elif isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        found.nulls = "IGNORE" if isinstance(node, exp.IgnoreNulls) else "RESPECT"
    else:
        return node
    return _strip_modifiers(found, node.this)


def _made(found: _Call) -> exp.Expr:
    entry = _entry(found)
    _check(found)
    if found.name in _COMPOSED:
        return _COMPOSED[found.name](found)
    if found.order and found.name in ("first", "last", "any_value"):
        return _end_of_list(found)
    is_sorted = bool(found.order) and entry.is_sorted
    arguments = _apply_filter(found)
    made = _inner(found, entry, arguments, is_sorted)
    outer = entry.outer
    if is_sorted:
        outer = f"transform(array_sort({outer}, _order), e -> e.v)"
    if outer != "_made":
        made = _outer(outer, made, arguments, found)
    if found.name == "string_agg":
        separator = found.arguments[1] if len(found.arguments) > 1 else exp.Literal.string(",")
        made = filled(
            "if(size(array_compact(_0)) > 0, array_join(_0, _1), null)", [made, separator]
        )
    return made


def _average(found: _Call) -> exp.Expr:
    """Build an average: the exact sum of integers or decimals, divided by their number."""
    value, count = replace(found, name="exact sum"), replace(found, name="count")
    return filled("cast(_0 as double) / nullif(_1, 0)", [_made(value), _made(count)])


def _correlation(found: _Call) -> exp.Expr:
    """Build a correlation that is NaN for constant values, where Spark returns NULL."""
    value, count = replace(found, name=f"checked {found.name}"), replace(found, name="regr_count")
    return filled("if(_1 > 0, coalesce(_0, double('NaN')), null)", [_made(value), _made(count)])


def _grouping(found: _Call) -> exp.Expr:
    """Build the number whose bits show which arguments a grouping set leaves out."""
    bits = [filled("cast(grouping(_0) as bigint)", [one]) for one in found.arguments]
    return reduce(lambda number, bit: filled("_0 * 2 + _1", [number, bit]), bits)


_COMPOSED: dict[str, Callable[[_Call], exp.Expr]] = {
    "avg": _average,
    "corr": _correlation,
    "grouping": _grouping,
    "regr_slope": _correlation,
}


def _entry(found: _Call) -> Aggregate:
    entries = _TABLES[found.name]
    for one in entries if isinstance(entries, tuple) else (entries,):
        required = max(_inner_arity(one.inner), _outer_arity(one.outer))
        if required <= len(found.arguments) <= required + one.optional:
            return one
    raise unsupported(f"The function {found.name} with {len(found.arguments)} arguments")


def _inner_arity(inner: Template) -> int:
    if isinstance(inner, ByType):
        return len(inner.choices[0][0].split(","))
    return arity(inner) or 0


def _outer_arity(outer: str) -> int:
    return arity(outer) or 0


def _check(found: _Call) -> None:
    if found.window is None:
        if found.name in WINDOWS:
            raise unsupported(f"The function {found.name} without OVER")
        if found.nulls and found.name not in ("first", "last", "any_value"):
            raise unsupported(f"{found.nulls} NULLS with the function {found.name}")
        return
    if found.distinct:
        raise unsupported(f"DISTINCT in the function {found.name} with OVER")
    if found.order:
        raise unsupported(f"ORDER BY in the function {found.name} with OVER")
    spec = found.window.args.get("spec")
    if spec is not None and spec.args.get("exclude"):
        raise unsupported("EXCLUDE in a window")
    if spec is not None and str(spec.args.get("kind")).upper() == "GROUPS":
        raise unsupported("GROUPS in a window")


def _apply_filter(found: _Call) -> list[exp.Expr]:
    """Return the arguments. With OVER, FILTER is replaced by NULL for the rows that it excludes."""
    if found.condition is None or found.window is None:
        return found.arguments
    if found.name in WINDOWS or found.name in ("list", "first", "last"):
        raise unsupported(f"FILTER in the function {found.name} with OVER")
    arguments = found.arguments or [exp.Literal.number(1)]
    condition, found.condition = found.condition, None
    found.arguments = [filled("if(_0, _1, null)", [condition, arguments[0]]), *arguments[1:]]
    return found.arguments


def _inner(found: _Call, entry: Aggregate, arguments: list[exp.Expr], is_sorted: bool) -> exp.Expr:
    template = entry.inner
    if found.name == "count" and arguments:
        template = "count(_0)"
    if isinstance(template, ByType):
        made = applied(f"aggregate {found.name}", template, arguments)
    elif is_sorted:
        made = _add_sort_keys(template, arguments, found.order or [])
    else:
        made = filled(template, arguments)
    if found.distinct:
        made.set("expressions", [exp.Distinct(expressions=made.expressions)])
    if found.condition is not None:
        made = exp.Filter(this=made, expression=exp.Where(this=found.condition.copy()))
    nulls = found.nulls or entry.nulls
    if nulls and found.name != "any_value":
        made = (exp.IgnoreNulls if nulls == "IGNORE" else exp.RespectNulls)(this=made)
    return made if found.window is None else _over(made, found)


def _over(made: exp.Expr, found: _Call) -> exp.Expr:
    assert found.window is not None
    window = found.window.copy()
    window.set("this", made)
    is_named = window.args.get("alias") is not None
    if found.name in _RANKING and not window.args.get("order") and not is_named:
        first = exp.Ordered(this=exp.Literal.number(1))
        window.set("order", exp.Order(expressions=[first]))
    return window


def _outer(outer: str, made: exp.Expr, arguments: list[exp.Expr], found: _Call) -> exp.Expr:
    places = outer.replace("_made", "_8")
    extra = [*arguments, *[exp.Null()] * (8 - len(arguments)), made]
    if "_order" in places:
        places = places.replace("_order", _comparison(found.order or []))
    return filled(places, extra)


def _add_sort_keys(template: str, arguments: list[exp.Expr], order: list[exp.Expr]) -> exp.Expr:
    """Aggregate structs of a value and the keys that it is sorted by."""
    value = filled(template, arguments)
    keys = "".join(f", 'k{number}', _{number + 1}" for number in range(len(order)))
    sorted_by = [order_key(one.this) for one in order]
    pair = filled(f"named_struct('v', _0{keys})", [value.expressions[0], *sorted_by])
    value.set("expressions", [pair])
    return value


def _comparison(order: list[exp.Expr]) -> str:
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


def _end_of_list(found: _Call) -> exp.Expr:
    """Build the first or last value in the order of ORDER BY."""
    nulls = "IGNORE" if found.name == "any_value" else found.nulls
    values = _Call("list", found.arguments, order=found.order, condition=found.condition)
    made = _made(values)
    if nulls == "IGNORE":
        made = filled("array_compact(_0)", [made])
    return filled("element_at(_0, -1)" if found.name == "last" else "get(_0, 0)", [made])
