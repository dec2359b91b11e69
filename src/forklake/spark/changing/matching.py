"""The rows of a table that a statement is about: found by a condition, or by a join."""

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

from forklake.errors import InvalidInput
from forklake.model.entities import InlinedRow, Table
from forklake.model.fields import Field
from forklake.model.names import folded
from forklake.model.scans import ScanFile
from forklake.spark.changing.deciding import decided
from forklake.spark.changing.removal import Removal
from forklake.spark.engine.failures import plain_words
from forklake.spark.engine.remote import analysed
from forklake.spark.long_numbers import cast_long_numbers
from forklake.spark.names import quoted
from forklake.spark.reading.pushdown import predicate_of
from forklake.spark.reading.recording import record_read
from forklake.spark.reading.scan import VIRTUAL, scan, zone_of
from forklake.spark.writing.targets import Target

if TYPE_CHECKING:
    from forklake.spark.session import Session
    from forklake.spark.work import Change

Condition = str | Column


@dataclass(frozen=True)
class Matching:
    """A table of which rows are looked for, so that they can be changed.

    Only files are read in which the text `narrowed` may hold for a row.
    """

    session: Session
    change: Change
    target: Target
    alias: str
    narrowed: str | None = None

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of the table."""
        return self.target.fields

    @cached_property
    def files(self) -> list[ScanFile]:
        """The files that may have such rows."""
        view, table = self.change.transaction, self.target.table
        if self.narrowed is None:
            return view.scan_files(table)
        wanted = predicate_of([self.narrowed], self.fields, zone=None)
        found = view.scan_files(table, wanted)
        if not found:
            return found
        # Spark, which knows the time zone, is started only if there are files to read.
        in_zone = predicate_of(
            [self.narrowed], self.fields, zone=zone_of(self.session.engine.spark)
        )
        return found if in_zone == wanted else view.scan_files(table, in_zone)

    def decided(self, where: Condition | None) -> list[InlinedRow] | None:
        """The rows for which a condition is true, if it takes no Spark to find them."""
        if isinstance(where, Column) or self.files:
            return None
        rows = self.change.transaction.inlined_rows(self.target.table)
        return decided(where, self.alias, self.fields, rows)

    def rows(self, *expressions: Condition | None) -> DataFrame:
        """All rows of these files and of the metastore, with their places.

        Virtual columns are there that the expressions may need.
        """
        taken = {folded(field.name) for field in self.fields}
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
        """What ends rows in these files."""
        return Removal(self.session.engine, self.change, self.target, self.files)


def matching(
    session: Session, change: Change, table: Table, alias: str, narrowed: str | None
) -> Matching:
    """The same for a table as a change sees it."""
    target = Target(change.attachment, change.transaction.state, table)
    conditions = [] if narrowed is None else [narrowed]
    record_read(change.transaction, table, conditions, ignores_removals=True)
    return Matching(session, change, target, alias, narrowed)


def _may_need(column: str, expression: Condition | None) -> bool:
    return isinstance(expression, Column) or column in (expression or "").lower()


def text_of(condition: Condition | None) -> str | None:
    """A condition by which files can be told apart."""
    return condition if isinstance(condition, str) else None


def about(alias: str, condition: Condition | None) -> str | None:
    """The parts of a condition on two tables that are about one of them only."""
    parsed = _parsed(condition)
    if parsed is None:
        return None
    parts = list(parsed.flatten()) if isinstance(parsed, exp.And) else [parsed]
    own = [part.sql("spark") for part in parts if _is_about(alias, part)]
    return " AND ".join(f"({part})" for part in own) or None


def qualified(condition: Condition, alias: str, columns: Sequence[str]) -> Condition:
    """The condition with the alias before these columns, where both tables may have such."""
    parsed = _parsed(condition)
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


def _parsed(condition: Condition | None) -> exp.Expr | None:
    if not isinstance(condition, str):
        return None
    try:
        return sqlglot.parse_one(condition, read="spark", into=exp.Condition)
    except (SqlglotError, RecursionError):
        return None


def _is_about(alias: str, part: exp.Expr) -> bool:
    columns = list(part.find_all(exp.Column))
    return bool(columns) and all(folded(one.table) == folded(alias) for one in columns)


def filtered(rows: DataFrame, condition: Condition | None, table: str) -> DataFrame:
    """The rows for which a condition is true."""
    if condition is None:
        return rows
    with analysing(table):
        return analysed(rows.where(expression(condition)))


def aliased(source: DataFrame, alias: str | None) -> DataFrame:
    """A source under a name, or under those that its parts have already."""
    return source if alias is None else source.alias(alias)


def joined(
    rows: DataFrame, source: DataFrame, on: Condition | None, how: str, table: str
) -> DataFrame:
    """The rows with those of a source for which a condition is true."""
    with analysing(table):
        if on is None:
            return rows.crossJoin(source)
        return analysed(rows.join(source, expression(on), how))


def expression(value: Condition) -> Column:
    """Return what a text, or a column of Spark, stands for."""
    return F.expr(cast_long_numbers(value)) if isinstance(value, str) else value


@contextmanager
def analysing(table: str) -> Iterator[None]:
    """What Spark says about a wrong expression becomes an error of ours."""
    try:
        yield
    except (AnalysisException, ParseException) as reason:
        _, said = plain_words(str(reason))
        raise InvalidInput(
            f"An expression cannot be used on table '{table}': {said}",
            remedy="Write it with the columns of the table.",
        ) from None
