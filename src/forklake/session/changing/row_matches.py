"""Rows of a table that a statement changes: found by a condition, or by a join."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import sqlglot
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from sqlglot import exp
from sqlglot.errors import SqlglotError

from forklake.engines.pushdown import predicate_of
from forklake.engines.spark.changing.removal import Removal
from forklake.engines.spark.failures import plain_words
from forklake.engines.spark.long_numbers import cast_long_numbers
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.reading.scan import VIRTUAL, scan, zone_of
from forklake.engines.spark.remote import analysed
from forklake.engines.targets import Target
from forklake.errors import InvalidInput
from forklake.model.entities import InlinedRow, Table
from forklake.model.fields import Field
from forklake.model.names import folded
from forklake.model.scans import ScanFile
from forklake.session.changing.inlined_evaluation import decided
from forklake.session.read_records import record_read, record_virtual

if TYPE_CHECKING:
    from forklake.session.session import Session
    from forklake.session.work import Change

Condition = str | Column


@dataclass(frozen=True)
class Matching:
    """Table whose rows are searched, so that they can be changed.

    Only those files are read in which the condition `narrowed` may be true for a row.
    """

    session: Session
    change: Change
    target: Target
    alias: str
    narrowed: str | None = None

    @property
    def fields(self) -> tuple[Field, ...]:
        """Columns of the table."""
        return self.target.fields

    @cached_property
    def files(self) -> list[ScanFile]:
        """Files that may have matching rows."""
        view, table = self.change.transaction, self.target.table
        if self.narrowed is None:
            return view.scan_files(table)
        wanted = predicate_of([self.narrowed], self.fields, zone=None)
        found = view.scan_files(table, wanted)
        if not found:
            return found
        # Spark, which has the time zone, is started only if there are files to read.
        in_zone = predicate_of(
            [self.narrowed], self.fields, zone=zone_of(self.session.engine.spark)
        )
        return found if in_zone == wanted else view.scan_files(table, in_zone)

    def decided(self, where: Condition | None) -> list[InlinedRow] | None:
        """Return the rows for which a condition is true, or None if finding them needs Spark."""
        if isinstance(where, Column) or self.files:
            return None
        rows = self.change.transaction.inlined_rows(self.target.table)
        return decided(where, self.alias, self.fields, rows)

    def rows(self, *expressions: Condition | None) -> DataFrame:
        """Return all rows of these files and the inlined ones, with their row positions.

        Virtual columns are included if the expressions may use them.
        """
        taken = {folded(field.name) for field in self.fields}
        text = " ".join(str(one) for one in expressions).lower()
        named = [name for name in VIRTUAL if name in text and name not in taken]
        record_virtual(self.change.transaction, self.target.table, named)
        found = scan(
            self.session.engine,
            self.change.transaction,
            self.target.table,
            virtual=[
                name
                for name in VIRTUAL
                if name not in taken and any(_may_need(name, one) for one in expressions)
            ],
            positions=True,
            files=self.files,
        )
        return found.alias(self.alias)

    def removal(self) -> Removal:
        """Return the removal of rows from these files."""
        return Removal(self.session.engine, self.change, self.target, self.files)


def matching(
    session: Session, change: Change, table: Table, alias: str, narrowed: str | None
) -> Matching:
    """Return the matching of a table as a change sees it, and record the read."""
    target = Target(change.attachment, change.transaction.state, table)
    conditions = [] if narrowed is None else [narrowed]
    record_read(change.transaction, table, conditions, ignores_removals=True)
    return Matching(session, change, target, alias, narrowed)


def _may_need(column: str, expression: Condition | None) -> bool:
    return isinstance(expression, Column) or column in (expression or "").lower()


def text_of(condition: Condition | None) -> str | None:
    """Return a condition that can prune files; None if it is not SQL text."""
    return condition if isinstance(condition, str) else None


def about(alias: str, condition: Condition | None) -> str | None:
    """Return the conjuncts of a condition on two tables that use only columns of one, or None."""
    parsed = _parse_condition(condition)
    if parsed is None:
        return None
    parts = list(parsed.flatten()) if isinstance(parsed, exp.And) else [parsed]
    own = [part.sql("spark") for part in parts if _uses_only(alias, part)]
    return " AND ".join(f"({part})" for part in own) or None


def qualified(condition: Condition, alias: str, columns: Sequence[str]) -> Condition:
    """Return the condition with the alias before these columns, which may exist in both tables."""
    parsed = _parse_condition(condition)
    if parsed is None or not isinstance(condition, str):
        return condition
    known = {folded(name) for name in columns}
    starts = []
    for column in parsed.find_all(exp.Column):
        first, *rest = column.parts
        is_qualified = rest and folded(first.name) == folded(alias)
        is_inner = column.find_ancestor(exp.Select) is not None
        if folded(first.name) in known and not is_qualified and not is_inner:
            starts.append(first.meta["start"])
    for start in sorted(starts, reverse=True):
        condition = f"{condition[:start]}{quoted(alias)}.{condition[start:]}"
    return condition


def _parse_condition(condition: Condition | None) -> exp.Expr | None:
    if not isinstance(condition, str):
        return None
    try:
        return sqlglot.parse_one(condition, read="spark", into=exp.Condition)
    except (SqlglotError, RecursionError):
        return None


def _uses_only(alias: str, part: exp.Expr) -> bool:
    columns = list(part.find_all(exp.Column))
    return bool(columns) and all(folded(one.table) == folded(alias) for one in columns)


def filtered(rows: DataFrame, condition: Condition | None, table: str) -> DataFrame:
    """Return the rows for which a condition is true."""
    if condition is None:
        return rows
    with analysing(table):
        return analysed(rows.where(expression(condition)))


def aliased(source: DataFrame, alias: str | None) -> DataFrame:
    """Return a source under an alias; without one, the aliases inside it stay."""
    return source if alias is None else source.alias(alias)


def joined(
    rows: DataFrame, source: DataFrame, on: Condition | None, how: str, table: str
) -> DataFrame:
    """Return the rows joined with those of a source on a condition."""
    with analysing(table):
        if on is None:
            return rows.crossJoin(source)
        return analysed(rows.join(source, expression(on), how))


def expression(value: Condition) -> Column:
    """Return the Spark column of an SQL text; a column is returned as it is."""
    return F.expr(cast_long_numbers(value)) if isinstance(value, str) else value


@contextmanager
def analysing(table: str) -> Iterator[None]:
    """Translate errors of Spark about an expression to InvalidInput."""
    try:
        yield
    except (AnalysisException, ParseException) as reason:
        _, plain = plain_words(str(reason))
        raise InvalidInput(
            f"An expression cannot be used on table '{table}': {plain}",
            remedy="Correct the expression. It can use the columns of the table.",
        ) from None
