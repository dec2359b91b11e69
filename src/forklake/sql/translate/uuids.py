"""Comparison of UUIDs with string constants: DuckDB parses the strings, Spark has UUIDs as strings.

Spark resolves which columns are UUIDs. Only strings in another form than the stored one are
changed.
"""

from __future__ import annotations

import re

from sqlglot import exp

from forklake.sql.translate.trees import duckdb_call, rewrite_nodes, strip_parentheses

_COMPARISONS = (
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ,
)  # fmt: skip
_STORED = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DIGITS = re.compile(r"[0-9a-fA-F]{32}")


def compare_uuids(tree: exp.Expr) -> exp.Expr:
    """Convert strings that look like UUIDs to the stored form if they are compared with UUIDs."""
    return rewrite_nodes(tree, _translate_node)


def _translate_node(node: exp.Expr) -> exp.Expr:
    if isinstance(node, _COMPARISONS):
        left, right = node.this, node.expression
        node.set("this", _convert_text(left, right))
        node.set("expression", _convert_text(right, left))
    elif isinstance(node, exp.Between):
        for place in ("low", "high"):
            node.set(place, _convert_text(node.args[place], node.this))
    elif isinstance(node, exp.In) and node.expressions:
        node.set("expressions", [_convert_text(one, node.this) for one in node.expressions])
    elif isinstance(node, exp.Case) and node.this is not None:
        for one in node.args["ifs"]:
            one.set("this", _convert_text(one.this, node.this))
    return node


def _convert_text(text: exp.Expr, other: exp.Expr) -> exp.Expr:
    inner = strip_parentheses(text)
    if not inner.is_string or not _is_other_form(inner.name) or strip_parentheses(other).is_string:
        return text
    return duckdb_call("compared uuid", inner.copy(), strip_parentheses(other).copy())


def _is_other_form(text: str) -> bool:
    bare = text[1:-1] if text.startswith("{") and text.endswith("}") else text
    is_uuid = _DIGITS.fullmatch(bare.replace("-", "")) is not None
    return is_uuid and _STORED.fullmatch(text) is None
