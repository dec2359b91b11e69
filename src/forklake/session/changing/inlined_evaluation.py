"""Simple conditions and values, evaluated over inlined rows without Spark.

Expressions that Spark could evaluate differently (other types, functions, unusual literals) are
left undecided and evaluated by Spark.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from forklake.model.entities import InlinedRow
from forklake.model.fields import Field
from forklake.model.names import folded

# Column types whose values compare in Python as in Spark, each with the Python type.
_KINDS: dict[str, type] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"), int),
    "varchar": str,
    "boolean": bool,
}
_COMPARISONS: dict[type[exp.Expr], Callable[[Any, Any], bool]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
}
_MOST = 2**63  # integers of Spark are smaller
UNDECIDED = object()

Test = Callable[[InlinedRow], bool | None]
Operand = tuple[type | None, Callable[[InlinedRow], Any]]  # the type of NULL is None


class _Undecided(Exception):
    """The expression must be evaluated by Spark."""


def decided(
    condition: str | None, alias: str, fields: Sequence[Field], rows: Sequence[InlinedRow]
) -> list[InlinedRow] | None:
    """Return the rows for which a condition is true; None if evaluating it needs Spark."""
    if condition is None:
        return list(rows)
    try:
        test = _Compiler(alias, {folded(field.name): field for field in fields}).test(
            _parse(condition)
        )
    except _Undecided:
        return None
    return [row for row in rows if test(row)]


def literal_value(text: str, field: Field) -> Any:
    """Return the value of a literal that has the type of a column, or UNDECIDED."""
    try:
        kind, value = _literal(_parse(text))
    except _Undecided:
        return UNDECIDED
    return value if kind in (None, _KINDS.get(field.type)) else UNDECIDED


def _parse(text: str) -> exp.Expr:
    if "\\" in text:  # escapes
        raise _Undecided
    try:
        return sqlglot.parse_one(text, read="spark", into=exp.Condition)
    except (SqlglotError, RecursionError):
        raise _Undecided from None


def _literal(node: exp.Expr) -> tuple[type | None, Any]:
    match node:
        case exp.Null():
            return None, None
        case exp.Boolean():
            return bool, bool(node.this)
        case exp.Literal(is_string=True):
            return str, str(node.this)
        case exp.Literal() if str(node.this).isdigit() and int(node.this) < _MOST:
            return int, int(node.this)
        case exp.Neg(this=exp.Literal(is_string=False)):
            kind, value = _literal(node.this)
            return kind, -value
    raise _Undecided


@dataclass(frozen=True, slots=True)
class _Compiler:
    """Compiler of parsed conditions to functions of a row, which return True, False or None."""

    alias: str
    fields: dict[str, Field]

    def test(self, node: exp.Expr) -> Test:
        match node:
            case exp.Paren():
                return self.test(node.this)
            case exp.Boolean():
                value = bool(node.this)
                return lambda _: value
            case exp.Not():
                inner = self.test(node.this)
                return lambda row: None if (found := inner(row)) is None else not found
            case exp.And() | exp.Or():
                return _connect_tests([self.test(part) for part in node.flatten()], type(node))
            case exp.Is(expression=exp.Null()):
                _, read = self._column(node.this)
                return lambda row: read(row) is None
            case exp.In() if node.expressions:
                options = [
                    self._compile_comparison(exp.EQ, node.this, one) for one in node.expressions
                ]
                return _connect_tests(options, exp.Or)
            case exp.Between():
                low = self._compile_comparison(exp.GTE, node.this, node.args["low"])
                high = self._compile_comparison(exp.LTE, node.this, node.args["high"])
                return _connect_tests([low, high], exp.And)
            case exp.Column():
                kind, read = self._column(node)
                if kind is bool:
                    return read
            case _ if type(node) in _COMPARISONS:
                return self._compile_comparison(type(node), node.this, node.expression)
        raise _Undecided

    def _compile_comparison(self, kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> Test:
        (one, read_one), (other, read_other) = self._operand(left), self._operand(right)
        if one is None or other is None:
            return lambda _: None
        if one is not other:
            raise _Undecided
        compare = _COMPARISONS[kind]

        def test(row: InlinedRow) -> bool | None:
            first, second = read_one(row), read_other(row)
            return None if first is None or second is None else compare(first, second)

        return test

    def _operand(self, node: exp.Expr) -> Operand:
        if isinstance(node, exp.Paren):
            return self._operand(node.this)
        if isinstance(node, exp.Column):
            return self._column(node)
        kind, value = _literal(node)
        return kind, lambda _: value

    def _column(self, node: exp.Expr) -> Operand:
        if not isinstance(node, exp.Column):
            raise _Undecided
        *table, name = [folded(part.name) for part in node.parts]
        field = self.fields.get(name)
        if field is None or field.type not in _KINDS or table not in ([], [folded(self.alias)]):
            raise _Undecided
        if table and table[0] in self.fields:  # could also be a field of a struct
            raise _Undecided
        column_id = field.column_id
        return _KINDS[field.type], lambda row: row.values[column_id]


def _connect_tests(tests: Sequence[Test], how: type[exp.Expr]) -> Test:
    """Return the conjunction or disjunction of tests, in the three-valued logic of SQL."""
    decisive = how is exp.Or

    def test(row: InlinedRow) -> bool | None:
        found = [one(row) for one in tests]
        if decisive in found:
            return decisive
        return None if None in found else not decisive

    return test
