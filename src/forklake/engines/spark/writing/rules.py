"""Table rules, enforced by the job that writes the rows, without a second pass over them.

Generated columns are computed where they are not given. A row that violates a rule stops the job;
the error shows the rule and the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from forklake.engines.spark.failures import plain_words
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.remote import analysed
from forklake.engines.spark.types import physical_schema, spark_type
from forklake.engines.spark.writing import align
from forklake.engines.targets import Target
from forklake.errors import InvalidInput
from forklake.model.fields import Field
from forklake.model.names import folded
from forklake.model.rules import Check

_SHOWN = 200  # characters shown of a row that violates a rule


def ruled(
    df: DataFrame,
    target: Target,
    *,
    by_name: bool = False,
    keep: Sequence[str] = (),
    checks: Sequence[Check] = (),
) -> DataFrame:
    """Return the rows as the files of the table store them, checked by its rules and `checks`.

    Args:
        by_name: columns are matched by name; missing ones are computed or get defaults.
        keep: further columns, not of the table, which are returned unchanged.
    """
    table, rules = target.table.table_name, target.rules
    given = {folded(name) for name in df.columns}
    computed = [
        field
        for field in (target.fields if by_name else ())
        if rules.of_column(field.name) and folded(field.name) not in given
    ]
    fields = [field for field in target.fields if field not in computed]
    rows = align.aligned(df, fields, table, by_name=by_name, keep=keep)
    if not rules.concern_rows and not checks:
        return rows
    ruling = _RuleChecker(target, tuple(keep), {field.name for field in computed})
    with _analysing(table):
        whole = ruling.completed(ruling.named(rows))
        return analysed(ruling.stored(whole, [*rules.checks, *checks]))


@dataclass(frozen=True, slots=True)
class _RuleChecker:
    """Rules of a table, applied to rows under the column names of users.

    `computed` are generated columns that the rows do not have.
    """

    target: Target
    keep: tuple[str, ...]
    computed: set[str]

    @property
    def _kept(self) -> list[Column]:
        return [F.col(quoted(name)) for name in self.keep]

    def named(self, rows: DataFrame) -> DataFrame:
        """Return rows with physical column names under the names of the table."""
        columns = (
            F.col(quoted(one.physical_name)).cast(spark_type(one)).alias(one.name)
            for one in self.target.fields
            if one.name not in self.computed
        )
        return rows.select(*columns, *self._kept)

    def completed(self, rows: DataFrame) -> DataFrame:
        """Return all columns in their order, with the generated ones computed."""
        table = self.target.table.table_name
        columns = [
            align.required(self._value(one), one, f"{table}.{one.name}").alias(one.name)
            if one.name in self.computed
            else F.col(quoted(one.name))
            for one in self.target.fields
        ]
        return rows.select(*columns, *self._kept)

    def _value(self, field: Field) -> Column:
        rule = self.target.rules.of_column(field.name)
        assert rule is not None
        return F.expr(rule.expression).cast(spark_type(field))

    def stored(self, rows: DataFrame, checks: Sequence[Check]) -> DataFrame:
        """Return the rows as files store them, with the checks built into the first column.

        The first column has a value only if no rule is violated, else it raises. Checks in
        a filter would be pushed down to rows that are never written.
        """
        tests = [*self._tests(checks), *self._comparisons()]
        first, *others = self.target.fields
        physical = physical_schema(self.target.fields)
        columns = {one.name: F.col(quoted(one.name)) for one in others}
        value = F.col(quoted(first.name))
        columns[first.name] = reduce(_unless, reversed(tests), value)
        stored = (
            columns[one.name].cast(kind.dataType).alias(one.physical_name)
            for one, kind in zip(self.target.fields, physical.fields, strict=True)
        )
        return rows.select(*stored, *self._kept)

    def _tests(self, checks: Sequence[Check]) -> Iterator[tuple[Column, Column]]:
        """Yield conditions that each row must satisfy, with the error raised otherwise."""
        for one in checks:
            holds = F.coalesce(F.expr(one.expression).cast("boolean"), F.lit(False))
            yield holds, self._raise_violation(one.name, one.expression)

    def _comparisons(self) -> Iterator[tuple[Column, Column]]:
        for one in self.target.fields:
            rule = self.target.rules.of_column(one.name)
            if rule is not None and one.name not in self.computed:
                same = F.col(quoted(one.name)).eqNullSafe(self._value(one))
                what = f"expression of the generated column '{one.name}'"
                yield same, self._raise_violation(what, rule.expression)

    def _raise_violation(self, what: str, expression: str) -> Column:
        row = F.struct(*(F.col(quoted(one.name)) for one in self.target.fields))
        shown = F.substring(F.to_json(row, {"ignoreNullFields": "false"}), 1, _SHOWN)
        table = self.target.table.table_name
        begin = f"A row for table '{table}' does not satisfy the {what}: {expression}. The row is "
        return align.raised(F.concat(F.lit(begin), shown, F.lit(".")))


def _unless(value: Column, test: tuple[Column, Column]) -> Column:
    holds, complaint = test
    return F.when(~holds, complaint).otherwise(value)


@contextmanager
def _analysing(table: str) -> Iterator[None]:
    try:
        yield
    except (AnalysisException, ParseException) as reason:
        _, plain = plain_words(str(reason))
        raise InvalidInput(
            f"The rules of table '{table}' cannot be applied: {plain}",
            remedy="Nothing was written. Correct the constraints and generated columns of the"
            " table.",
        ) from None
