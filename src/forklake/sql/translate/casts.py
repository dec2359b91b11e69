"""Casts: those whose meaning depends on types, or is not Spark's, become calls."""

from __future__ import annotations

from sqlglot import exp

from forklake.sql.translate.functions.casts import WHOLE
from forklake.sql.translate.refusing import unsupported
from forklake.sql.translate.trees import call, rewrite
from forklake.sql.translate.types import TEXTS, spark_type

_T = exp.DataType.Type
_BYTES = (_T.VARBINARY, _T.BINARY)
_ELEMENT = "_element"


def translate_casts(tree: exp.Expr) -> exp.Expr:
    """Casts to texts, bytes, integers and nested types."""
    return rewrite(tree, _translated)


def _translated(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, exp.Cast):
        return node
    value, kind = node.this.unnest(), node.to
    spark_type(kind)  # or an error
    word = "try_cast" if isinstance(node, exp.TryCast) else "cast"
    if kind.this in (_T.LIST, _T.ARRAY):
        return _list(node, value, kind)
    if kind.this in (_T.STRUCT, _T.MAP):
        return _nested(value, kind, word)
    return _scalar(node, value, kind, word)


def _scalar(node: exp.Cast, value: exp.Expr, kind: exp.DataType, word: str) -> exp.Expr:
    if kind.this in TEXTS:
        return value if value.is_string else call("varchar", value)
    if kind.this in _BYTES:
        return call("cast blob", value)
    if kind.this in (_T.TIMESTAMP_S, _T.TIMESTAMP_MS):
        return call(f"cast {kind.this.value}", value)
    name = kind.this.value
    if name in WHOLE and (name.startswith("U") or not _is_whole(value)):
        return call(f"{word} {name}", value)
    return node


def _is_whole(node: exp.Expr) -> bool:
    """Whether this is an integer, or NULL, as it stands."""
    inner = node.this if isinstance(node, exp.Neg) else node
    return isinstance(inner, exp.Null) or (isinstance(inner, exp.Literal) and inner.is_int)


def _list(node: exp.Cast, value: exp.Expr, kind: exp.DataType) -> exp.Expr:
    """Every element is cast."""
    if value.is_string:
        raise unsupported(f"A cast of a text to {kind.sql(dialect='duckdb')}")
    element = type(node)(this=exp.column(_ELEMENT), to=kind.expressions[0].copy())
    each = _translated(element)
    return call(
        "list_transform", value, exp.Lambda(this=each, expressions=[exp.to_identifier(_ELEMENT)])
    )


def _nested(value: exp.Expr, kind: exp.DataType, word: str) -> exp.Expr:
    if word == "try_cast":
        raise unsupported(f"TRY_CAST to {kind.sql(dialect='duckdb')}")
    return call("cast nested", value, exp.Cast(this=exp.Null(), to=kind.copy()))
