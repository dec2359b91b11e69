"""Casts: all except those of plain constants become calls that Spark resolves by value types."""

from __future__ import annotations

import re

from sqlglot import exp

from forklake.engines.spark.cast_templates import CASTS
from forklake.sql.translate.refusals import unsupported
from forklake.sql.translate.templates import fill_template
from forklake.sql.translate.trees import duckdb_call, rewrite_nodes, strip_parentheses
from forklake.sql.translate.types import TEXT_TYPES, spark_type

_T = exp.DataType.Type
_NAMES = {
    **dict.fromkeys((_T.VARBINARY, _T.BINARY), "blob"),
    **dict.fromkeys((_T.TIMESTAMPNTZ, _T.DATETIME), "timestamp"),
    _T.TIMESTAMPLTZ: "timestamptz",
}
# Constants that Spark casts as DuckDB does. They stay casts, so that filters use file statistics.
_CLOCK = r" \d{2}:\d{2}:\d{2}(\.\d{1,6})?"
_PLAIN = {
    _T.DATE: re.compile(r"\d{4}-\d{2}-\d{2}"),
    **dict.fromkeys(
        (_T.TIMESTAMP, _T.TIMESTAMPNTZ, _T.DATETIME),
        re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}({_CLOCK})?"),
    ),
    **dict.fromkeys(
        (_T.TIMESTAMPTZ, _T.TIMESTAMPLTZ),
        re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}({_CLOCK}([+-]\d{{2}}:\d{{2}})?)?"),
    ),
    _T.TIME: re.compile(_CLOCK.strip()),
}
_NUMBERS = {_T.DOUBLE, _T.DECIMAL, _T.TINYINT, _T.SMALLINT, _T.INT, _T.BIGINT, _T.INT128}
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_VARIABLE = "_part"


def translate_casts(tree: exp.Expr) -> exp.Expr:
    """Translate casts to strings, numbers, dates, times and nested types."""
    return rewrite_nodes(tree, _translate_node)


def _translate_node(node: exp.Expr) -> exp.Expr:
    return _translate_cast(node, 0) if isinstance(node, exp.Cast) else node


def _translate_cast(node: exp.Cast, depth: int) -> exp.Expr:
    value, kind = strip_parentheses(node.this), node.to
    spark_type(kind)  # raises an error if Spark does not have the type
    if isinstance(value, exp.Null):
        return node
    if value.is_string and kind.this in (_T.LIST, _T.ARRAY, _T.STRUCT, _T.MAP):
        raise unsupported(f"A cast of a string to {kind.sql(dialect='duckdb')}")
    match kind.this:
        case _T.LIST | _T.ARRAY:
            return _cast_list(node, value, kind, depth)
        case _T.STRUCT:
            return _cast_struct(node, value, kind, depth)
        case _T.MAP:
            return _cast_map(node, value, kind, depth)
    return _cast_scalar(node, value, kind)


# Scalars


def _cast_scalar(node: exp.Cast, value: exp.Expr, kind: exp.DataType) -> exp.Expr:
    if kind.this in TEXT_TYPES:
        return value if value.is_string else duckdb_call("varchar", value)
    if _is_plain(value, kind):
        return node
    if kind.this == _T.UUID and value.is_string and _UUID.fullmatch(value.name):
        return value
    word = "try_cast" if isinstance(node, exp.TryCast) else "cast"
    name = f"{word} {_NAMES.get(kind.this, kind.this.value).lower()}"
    if name not in CASTS:
        return node
    if kind.this == _T.DECIMAL:
        return duckdb_call(name, value, exp.Cast(this=exp.Null(), to=kind.copy()))
    return duckdb_call(name, value)


def _is_plain(value: exp.Expr, kind: exp.DataType) -> bool:
    """Return whether a Spark cast of a constant has the same result as in DuckDB."""
    inner = value.this if isinstance(value, exp.Neg) else value
    if not isinstance(inner, exp.Literal):
        return False
    if inner.is_string:
        return kind.this in _PLAIN and _PLAIN[kind.this].fullmatch(inner.name) is not None
    is_whole = inner.is_int and len(inner.name) < 19
    return kind.this in _NUMBERS and (is_whole or kind.this == _T.DOUBLE)


# Nested values


def _cast_list(node: exp.Cast, value: exp.Expr, kind: exp.DataType, depth: int) -> exp.Expr:
    """Cast every element of a list."""
    if _is_call(value, "list_value"):
        if not value.expressions:
            return type(node)(this=value, to=kind.copy())
        parts = [_cast_part(node, one, kind.expressions[0], depth) for one in value.expressions]
        return duckdb_call("list_value", *parts)
    each = _cast_part(node, exp.column(_variable(depth)), kind.expressions[0], depth + 1)
    return duckdb_call("list_transform", value, _build_lambda(each, depth))


def _cast_struct(node: exp.Cast, value: exp.Expr, kind: exp.DataType, depth: int) -> exp.Expr:
    """Cast the fields of a struct by their names."""
    literal_fields = _struct_fields(value)
    names = [one.name.lower() for one in kind.expressions]
    if literal_fields and [*literal_fields] == names:
        fields = [
            exp.PropertyEQ(
                this=exp.to_identifier(one.name, quoted=True),
                expression=_cast_part(
                    node, literal_fields[one.name.lower()], one.args["kind"], depth
                ),
            )
            for one in kind.expressions
        ]
        return exp.Struct(expressions=fields)
    variable = exp.column(_variable(depth))
    parts = []
    for one in kind.expressions:
        name = exp.to_identifier(one.name, quoted=True)
        field = exp.Dot(this=variable.copy(), expression=name)
        cast = _cast_part(node, field, one.args["kind"], depth + 1)
        parts.append(exp.PropertyEQ(this=name.copy(), expression=cast))
    result = fill_template("if(_0 is null, null, _1)", [variable, exp.Struct(expressions=parts)])
    whole = fill_template("transform(array(_0), _1)", [value, _build_lambda(result, depth)])
    return fill_template("get(_0, 0)", [whole])


def _cast_map(node: exp.Cast, value: exp.Expr, kind: exp.DataType, depth: int) -> exp.Expr:
    """Cast the keys and values of a map."""
    if _is_call(value, "map_of_pairs") and value.expressions:
        pairs = [
            _cast_part(node, one, kind.expressions[at % 2], depth)
            for at, one in enumerate(value.expressions)
        ]
        return duckdb_call("map_of_pairs", *pairs)
    key_cast, value_cast = (
        _cast_part(node, exp.column(_variable(depth)), one, depth + 1) for one in kind.expressions
    )
    variable = exp.to_identifier(_variable(depth))
    other = exp.to_identifier("_other")
    key_lambda = exp.Lambda(this=key_cast, expressions=[variable.copy(), other.copy()])
    value_lambda = exp.Lambda(this=value_cast, expressions=[other, variable])
    return fill_template(
        "transform_values(transform_keys(_0, _1), _2)", [value, key_lambda, value_lambda]
    )


def _is_call(node: exp.Expr, name: str) -> bool:
    return isinstance(node, exp.Anonymous) and node.name == name


def _struct_fields(node: exp.Expr) -> dict[str, exp.Expr]:
    """Return the fields of a struct literal by name; empty for other expressions."""
    if not isinstance(node, exp.Struct):
        return {}
    parts = [one for one in node.expressions if isinstance(one, exp.PropertyEQ)]
    fields = {one.this.name.lower(): one.expression for one in parts}
    return fields if len(fields) == len(node.expressions) else {}


def _cast_part(node: exp.Cast, value: exp.Expr, kind: exp.DataType, depth: int) -> exp.Expr:
    return _translate_cast(type(node)(this=value.copy(), to=kind.copy()), depth)


def _variable(depth: int) -> str:
    return f"{_VARIABLE}{depth}"


def _build_lambda(body: exp.Expr, depth: int) -> exp.Lambda:
    return exp.Lambda(this=body, expressions=[exp.to_identifier(_variable(depth))])
