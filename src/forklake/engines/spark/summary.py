"""Summaries of the columns of a DataFrame, by one query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DataType, MapType, NumericType, StructField, VariantType

from forklake.engines.spark.error_translation import translate_spark_errors
from forklake.engines.spark.query_types import query_type
from forklake.engines.summaries import ColumnSummary

_QUARTILES = (0.25, 0.5, 0.75)


def summarize(rows: DataFrame) -> list[ColumnSummary]:
    """Return the summaries of all columns."""
    fields = rows.schema.fields
    numbered = rows.toDF(
        *(f"c{number}" for number in range(len(fields)))
    )  # names may be duplicates
    with translate_spark_errors():
        (aggregates,) = numbered.agg(*_build_aggregates([one.dataType for one in fields])).collect()
    values = aggregates.asDict()
    return [_build_summary(field, number, values) for number, field in enumerate(fields)]


def _build_aggregates(kinds: list[DataType]) -> Iterator[Column]:
    yield F.count(F.lit(1)).alias("rows")
    for number, kind in enumerate(kinds):
        column = F.col(f"c{number}")
        yield F.count(column).alias(f"count{number}")
        if isinstance(kind, MapType | VariantType):  # these types have no order
            continue
        yield F.min(column).cast("string").alias(f"min{number}")
        yield F.max(column).cast("string").alias(f"max{number}")
        yield F.approx_count_distinct(column).alias(f"unique{number}")
        if isinstance(kind, NumericType):
            yield F.avg(column.cast("double")).alias(f"avg{number}")
            yield F.stddev(column.cast("double")).alias(f"std{number}")
            quartiles = F.percentile_approx(column, list(_QUARTILES))
            yield quartiles.cast("array<string>").alias(f"quartiles{number}")


def _build_summary(field: StructField, number: int, values: dict[str, Any]) -> ColumnSummary:
    quartiles = values.get(f"quartiles{number}")
    return ColumnSummary(
        name=field.name,
        type=query_type(field),
        rows=values["rows"],
        count=values[f"count{number}"],
        minimum=values.get(f"min{number}"),
        maximum=values.get(f"max{number}"),
        distinct=values.get(f"unique{number}"),
        average=values.get(f"avg{number}"),
        deviation=values.get(f"std{number}"),
        quartiles=tuple(quartiles) if quartiles else None,
    )
