"""Conditions and joins over DataFrames, with errors about them as InvalidInput."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from forklake.engines.spark.failures import plain_words
from forklake.engines.spark.long_numbers import cast_long_numbers
from forklake.engines.spark.remote import analysed
from forklake.errors import InvalidInput

Condition = str | Column


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
