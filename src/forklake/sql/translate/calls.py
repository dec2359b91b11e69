"""Calls of functions, translated to Spark SQL by the tables of `functions`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from sqlglot import exp

from forklake.sql.translate import dispatch
from forklake.sql.translate.functions import ALIASES, FUNCTIONS
from forklake.sql.translate.functions.dates import PART_NAMES
from forklake.sql.translate.refusals import unsupported
from forklake.sql.translate.templates import ByType, Template, arity, fill_template
from forklake.sql.translate.trees import duckdb_call, rewrite_nodes

# Functions whose first argument names a part of a date and so chooses the translation.
_BY_PART = {"date_part": "part", "date_trunc": "trunc", "date_diff": "diff", "date_sub": "sub"}
# Variadic functions that are translated to nested calls with two arguments.
_FOLDED = {"concat", "list_concat"}
_LAMBDAS = {"list_transform", "list_filter"}


def translate_calls(tree: exp.Expr) -> exp.Expr:
    """Translate every function by the tables; refuse functions that are in none of them."""
    return rewrite_nodes(tree, _translate_node)


def _translate_node(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, exp.Anonymous) or node.meta.get("spark"):
        return node
    name = node.name.lower()
    name = ALIASES.get(name, name)
    arguments = [
        _add_cancel_check(one) if isinstance(one, exp.Lambda) else one for one in node.expressions
    ]
    if name in _BY_PART:
        name, arguments = _choose_by_part(name, arguments)
    if name in _FOLDED:
        return _fold_call(name, arguments)
    if name in _SPECIAL:
        return _SPECIAL[name](list(arguments))
    if name in _LAMBDAS:
        arguments = [arguments[0], *(_count_from_one(one) for one in arguments[1:])]
    if name not in FUNCTIONS:
        refuse_function(node.name)
    return translate_call(name, FUNCTIONS[name], arguments)


def refuse_function(name: str) -> NoReturn:
    """Raise Unsupported for a function that is not in the tables."""
    raise unsupported(f"The function {name}")


def translate_call(
    name: str, entry: Template | tuple[Template, ...], arguments: Sequence[exp.Expr]
) -> exp.Expr:
    """Return the translation of a call by the entry of its function."""
    for one in arguments:
        if isinstance(one, exp.PropertyEQ | exp.Kwarg | exp.Distinct | exp.Order | exp.IgnoreNulls):
            raise unsupported(f"{one.sql(dialect='duckdb')} in a call of the function {name}")
    for template in entry if isinstance(entry, tuple) else (entry,):
        if isinstance(template, ByType) and template.takes(len(arguments)):
            return spark_call(dispatch.spark_name(name), *arguments)
        if isinstance(template, str) and arity(template) in (None, len(arguments)):
            return fill_template(template, arguments)
    raise unsupported(f"The function {name} with {len(arguments)} arguments")


def spark_call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """Return a call of a Spark function, which is not translated again."""
    result = duckdb_call(name, *arguments)
    result.meta["spark"] = True
    return result


def part_name(node: exp.Expr) -> str:
    """Return the part of a date or timestamp that a keyword or string names."""
    if not isinstance(node, exp.Var | exp.Literal):
        raise unsupported(f"A part of a date that is not constant, {node.sql(dialect='duckdb')},")
    word = node.name.lower()
    return PART_NAMES.get(word, word)


def _choose_by_part(name: str, arguments: list[exp.Expr]) -> tuple[str, list[exp.Expr]]:
    part = part_name(arguments[0])
    translated_name = f"{_BY_PART[name]} {part}"
    if translated_name not in FUNCTIONS:
        raise unsupported(f"{name} of the part {part}")
    return translated_name, arguments[1:]


def _fold_call(name: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    first, *rest = arguments
    result = first
    for one in rest or [exp.Literal.string("")]:
        result = spark_call(dispatch.spark_name(name), result, one)
    return result


def _add_cancel_check(function: exp.Lambda) -> exp.Lambda:
    """Return a lambda that ends when its statement is canceled, also within one long list."""
    result = function.copy()
    first = exp.column(exp.to_identifier(result.expressions[0].name))
    result.set("this", spark_call(dispatch.spark_name("watched"), result.this, first))
    return result


def _count_from_one(function: exp.Expr) -> exp.Expr:
    """Return a lambda whose second parameter counts from 1: in Spark it counts from 0."""
    if not isinstance(function, exp.Lambda) or len(function.expressions) != 2:
        return function
    result = function.copy()
    counter = result.expressions[1].name
    for identifier in [*result.this.find_all(exp.Identifier)]:
        if identifier.name == counter:
            reference = (
                identifier.parent if isinstance(identifier.parent, exp.Column) else identifier
            )
            reference.replace(fill_template("cast(_0 + 1 as bigint)", [reference.copy()]))
    return result


def _list_sort(arguments: list[exp.Expr]) -> exp.Expr:
    """Build a sort of a list with NULLs last by default."""
    words = [one.name.upper() for one in arguments[1:]]
    if any(not isinstance(one, exp.Literal) for one in arguments[1:]) or len(words) > 2:
        raise unsupported("list_sort with an order that is not constant")
    is_descending = bool(words) and words[0] in ("DESC", "DESCENDING")
    nulls_first = len(words) == 2 and words[1] == "NULLS FIRST"
    template = "_duck_list_downwards(_0)" if is_descending else "_duck_list_upwards(_0)"
    if is_descending == nulls_first:  # Spark has NULLs first in ascending, last in descending order
        rest = f"array_compact({template})"
        nulls = "filter(_0, _e -> _e is null)"
        template = f"concat({nulls}, {rest})" if nulls_first else f"concat({rest}, {nulls})"
    return fill_template(template, arguments[:1])


def _list_reverse_sort(arguments: list[exp.Expr]) -> exp.Expr:
    return _list_sort([arguments[0], exp.Literal.string("DESC"), *arguments[1:]])


def _list_reduce(arguments: list[exp.Expr]) -> exp.Expr:
    """Build a reduction that starts with the first element if no initial value is given."""
    if len(arguments) == 3:
        if isinstance(arguments[2], exp.Null):
            raise unsupported("list_reduce with NULL as the initial value")
        return fill_template("aggregate(_0, _2, _1)", arguments)
    return fill_template("reduce(slice(_0, 2, size(_0)), _0[0], _1)", arguments)


def _list_aggregate(arguments: list[exp.Expr]) -> exp.Expr:
    name = f"list_{arguments[1].name.lower()}"
    if name == "list_string_agg":
        return _list_string_agg([arguments[0], *arguments[2:]])
    if not isinstance(arguments[1], exp.Literal) or name not in FUNCTIONS:
        raise unsupported(f"list_aggregate by {arguments[1].sql(dialect='duckdb')}")
    return translate_call(name, FUNCTIONS[name], [arguments[0], *arguments[2:]])


def _array_to_string(arguments: list[exp.Expr]) -> exp.Expr:
    return _join_texts("list_to_text", arguments)


def _list_string_agg(arguments: list[exp.Expr]) -> exp.Expr:
    return _join_texts("list_joined", arguments)


def _join_texts(name: str, arguments: list[exp.Expr]) -> exp.Expr:
    """Join the elements of a list, each cast to VARCHAR as DuckDB does."""
    texts = fill_template(
        f"transform(_0, _e -> {dispatch.spark_name('varchar')}(_e))", arguments[:1]
    )
    separator = arguments[1] if len(arguments) > 1 else exp.Literal.string(",")
    return spark_call(dispatch.spark_name(name), texts, separator)


def _list_zip(arguments: list[exp.Expr]) -> exp.Expr:
    """Build a zip of lists; NULL counts as an empty list."""
    return spark_call(
        "arrays_zip", *(fill_template("coalesce(_0, array())", [one]) for one in arguments)
    )


def _list_slice(arguments: list[exp.Expr]) -> exp.Expr:
    return translate_call("[:]", FUNCTIONS["[:]"], arguments)


def _concat_ws(arguments: list[exp.Expr]) -> exp.Expr:
    texts = [spark_call(dispatch.spark_name("varchar"), one) for one in arguments[1:]]
    return spark_call("concat_ws", arguments[0], *texts)


def _row(arguments: list[exp.Expr]) -> exp.Expr:
    named = [
        part
        for number, one in enumerate(arguments, 1)
        for part in (exp.Literal.string(f"col{number}"), one)
    ]
    return spark_call("named_struct", *named)


def _map_concat(arguments: list[exp.Expr]) -> exp.Expr:
    """Build a merge of maps: NULL is ignored, and the last entry of a key is kept."""
    result = arguments[0]
    for one in arguments[1:]:
        result = spark_call(dispatch.spark_name("map_concat"), result, one)
    return result


def _struct_pack(arguments: list[exp.Expr]) -> exp.Expr:
    return exp.Struct(expressions=list(arguments))


_SPECIAL = {
    "list_sort": _list_sort,
    "list_reverse_sort": _list_reverse_sort,
    "list_reduce": _list_reduce,
    "list_aggregate": _list_aggregate,
    "list_slice": _list_slice,
    "concat_ws": _concat_ws,
    "list_to_text": _array_to_string,
    "list_string_agg": _list_string_agg,
    "list_zip": _list_zip,
    "struct_pack": _struct_pack,
    "row": _row,
    "map_concat": _map_concat,
}

# All names that can be called, except aggregates and window functions.
CALLABLE_NAMES = frozenset({*FUNCTIONS, *ALIASES, *_BY_PART, *_SPECIAL})
