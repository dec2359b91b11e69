"""CSV files: Spark splits them into strings, which are cast to the types that DuckDB detects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame, DataFrameReader
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from forklake.engines.local.csv_sample import described, sniffed
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.reading.paths import escape_pattern
from forklake.errors import InvalidInput, Unsupported

Options: TypeAlias = Mapping[str, Any]

_EMPTY = "(empty)"
_NO_SIGN = "\x00"


def load_csv(reader: DataFrameReader, files: Sequence[str], options: Options) -> DataFrame:
    """Return the rows of CSV files. The first file defines the columns."""
    signs = _signs(files[0], options)
    if signs["SkipRows"]:
        raise Unsupported(
            f"The file {files[0]!r} begins with lines that are not rows.",
            remedy="Remove these lines: Spark cannot skip them.",
        )
    schema = from_arrow_schema(described("read_csv", files[0], options), prefer_timestamp_ntz=True)
    quote = _sign(signs["Quote"])
    loaded = (
        reader.schema(_as_text(schema))
        .option("sep", signs["Delimiter"])
        .option("quote", quote or _NO_SIGN)
        .option("escape", _sign(signs["Escape"]) or quote or _NO_SIGN)
        .option("comment", _sign(signs["Comment"]) or _NO_SIGN)
        .option("header", signs["HasHeader"])
        .option("multiLine", True)  # a quoted value can contain line breaks
        .option("mode", "FAILFAST")
        .csv([*map(escape_pattern, files)])
    )
    nulls = options.get("nullstr", "")
    return _cast_columns(
        loaded, schema, nulls if isinstance(nulls, list) else [nulls], _formats(signs, options)
    )


def _signs(path: str, options: Options) -> dict[str, Any]:
    """Return the delimiter, quote and other properties that DuckDB detects in a file.

    DuckDB refuses given columns whose types differ from those that it detects. If columns and
    header are given, detection works without the columns.
    """
    try:
        return sniffed(path, options)
    except InvalidInput:
        if not {"columns", "header"} <= options.keys():
            raise
        return sniffed(path, {name: value for name, value in options.items() if name != "columns"})


def _sign(text: str) -> str:
    return "" if text == _EMPTY else text


def _as_text(schema: StructType) -> StructType:
    return StructType([StructField(one.name, StringType()) for one in schema.fields])


def _formats(signs: Mapping[str, Any], options: Options) -> dict[str, str]:
    """Return the formats of dates and timestamps as Spark patterns, unless they are ISO 8601."""
    from sqlglot.dialects.spark import Spark
    from sqlglot.time import format_time

    found = {
        "date": options.get("dateformat") or signs["DateFormat"],
        "timestamp_ntz": options.get("timestampformat") or signs["TimestampFormat"],
    }
    return {
        kind: format_time(text, Spark.INVERSE_TIME_MAPPING, Spark.INVERSE_TIME_TRIE) or text
        for kind, text in found.items()
        if text
    }


def _cast_columns(
    rows: DataFrame, schema: StructType, nulls: Sequence[str], formats: Mapping[str, str]
) -> DataFrame:
    """Cast columns of strings to their types.

    Spark reads empty values as NULL; DuckDB does so only if no other string stands for NULL.
    """

    def typed(name: str, kind: str) -> Column:
        text = F.coalesce(F.col(quoted(name)), F.lit(""))
        value = F.when(~text.isin(*nulls), text)
        if kind == "date" and kind in formats:
            return F.to_date(value, formats[kind])
        if kind in formats:
            return F.to_timestamp_ntz(value, F.lit(formats[kind]))
        return value.cast(kind)

    kept = [F.col(quoted(name)) for name in rows.columns[len(schema) :]]  # hive partition keys
    columns = [
        typed(one.name, one.dataType.simpleString()).alias(one.name) for one in schema.fields
    ]
    return rows.select(*columns, *kept)
