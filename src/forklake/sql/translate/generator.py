"""Generator of Spark SQL text from a tree that is already in terms of Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, UnsupportedError
from sqlglot.generators.spark import SparkGenerator

from forklake.errors import Unsupported
from forklake.sql.translate.types import spark_type

_REWRITTEN_BY_SQLGLOT = (exp.Select, exp.Table, exp.Array, exp.Struct, exp.In, exp.JSONExtract)


class SparkText(Spark):
    """Spark SQL without the rewrites of sqlglot, which expect functions of other dialects."""

    class Generator(SparkGenerator):
        TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[..., str]]] = {
            **{
                k: v for k, v in SparkGenerator.TRANSFORMS.items() if k not in _REWRITTEN_BY_SQLGLOT
            },
            exp.DataType: lambda self, node: spark_type(node),
            exp.IntDiv: lambda self, node: self.binary(node, "DIV"),
            exp.TryCast: lambda self, node: (
                f"TRY_CAST({self.sql(node, 'this')} AS {self.sql(node, 'to')})"
            ),
        }

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            kind = self.sql(expression, "to")
            return f"{safe_prefix or ''}CAST({self.sql(expression, 'this')} AS {kind})"

        def values_sql(self, expression: exp.Values, values_as_table: bool = True) -> str:
            rows = [_wrap_struct(row) for row in expression.expressions]
            wrapped = expression.copy()
            wrapped.set("expressions", rows)
            return super().values_sql(wrapped, values_as_table)

        def anonymous_sql(self, expression: exp.Anonymous) -> str:
            return self.func(self.sql(expression, "this"), *expression.expressions, normalize=False)


def _wrap_struct(row: exp.Expr) -> exp.Expr:
    """Return a row of VALUES with a struct around its only value if that is a struct: Spark takes
    the outermost struct of a row for the row itself."""
    values = row.expressions if isinstance(row, exp.Tuple) else [row]
    if len(values) != 1 or not isinstance(values[0].unnest(), exp.Struct | exp.Tuple):
        return row.copy()
    return exp.Tuple(expressions=[exp.Struct(expressions=[values[0].copy()])])


def generate_sql(node: exp.Expr) -> str:
    """Return the Spark SQL text of a tree."""
    try:
        return node.sql(dialect=SparkText, unsupported_level=ErrorLevel.RAISE)
    except UnsupportedError as reason:
        raise Unsupported(str(reason), remedy="Write the query in another way.") from reason
