"""CSV files: Spark splits them into strings, which are cast to the types that DuckDB detects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame, DataFrameReader
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from forklake.engines.local.csv_sample import detect_columns, detect_properties
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.reading.paths import escape_pattern
from forklake.errors import InvalidInput, Unsupported

Options: TypeAlias = Mapping[str, Any]

_EMPTY_MARK = "(empty)"
_NO_CHARACTER = "\x00"


def load_csv(reader: DataFrameReader, files: Sequence[str], options: Options) -> DataFrame:
    """Return the rows of CSV files. The first file defines the columns."""
    properties = _detect_properties(files[0], options)
    if properties["SkipRows"]:
        raise Unsupported(
            f"The file {files[0]!r} begins with lines that are not rows.",
            remedy="Remove these lines: Spark cannot skip them.",
        )
    schema = from_arrow_schema(
        detect_columns("read_csv", files[0], options), prefer_timestamp_ntz=True
    )
    quote = _decode_character(properties["Quote"])
    strings = (
        reader.schema(_as_strings(schema))
        .option("sep", properties["Delimiter"])
        .option("quote", quote or _NO_CHARACTER)
        .option("escape", _decode_character(properties["Escape"]) or quote or _NO_CHARACTER)
        .option("comment", _decode_character(properties["Comment"]) or _NO_CHARACTER)
        .option("header", properties["HasHeader"])
        .option("multiLine", True)  # a quoted value can contain line breaks
        .option("mode", "FAILFAST")
        .csv([*map(escape_pattern, files)])
    )
    nulls = options.get("nullstr", "")
    return _cast_columns(
        strings,
        schema,
        nulls if isinstance(nulls, list) else [nulls],
        _translate_time_formats(properties, options),
    )


def _detect_properties(path: str, options: Options) -> dict[str, Any]:
    """Return the delimiter, quote and other properties that DuckDB detects in a file.

    DuckDB refuses given columns whose types differ from those that it detects. If columns and
    header are given, detection works without the columns.
    """
    try:
        return detect_properties(path, options)
    except InvalidInput:
        if not {"columns", "header"} <= options.keys():
            raise
        return detect_properties(
            path, {name: value for name, value in options.items() if name != "columns"}
        )


def _decode_character(text: str) -> str:
    return "" if text == _EMPTY_MARK else text


def _as_strings(schema: StructType) -> StructType:
    return StructType([StructField(one.name, StringType()) for one in schema.fields])


def _translate_time_formats(properties: Mapping[str, Any], options: Options) -> dict[str, str]:
    """Return the formats of dates and timestamps as Spark patterns, unless they are ISO 8601."""
    from sqlglot.dialects.spark import Spark
    from sqlglot.time import format_time

    formats = {
        "date": options.get("dateformat") or properties["DateFormat"],
        "timestamp_ntz": options.get("timestampformat") or properties["TimestampFormat"],
    }
    return {
        kind: format_time(text, Spark.INVERSE_TIME_MAPPING, Spark.INVERSE_TIME_TRIE) or text
        for kind, text in formats.items()
        if text
    }


def _cast_columns(
    rows: DataFrame, schema: StructType, nulls: Sequence[str], formats: Mapping[str, str]
) -> DataFrame:
    """Cast columns of strings to their types.

    Spark reads empty values as NULL; DuckDB does so only if no other string stands for NULL.
    """

    def cast_column(name: str, type_name: str) -> Column:
        text = F.coalesce(F.col(quoted(name)), F.lit(""))
        value = F.when(~text.isin(*nulls), text)
        if type_name == "date" and type_name in formats:
            return F.to_date(value, formats[type_name])
        if type_name in formats:
            return F.to_timestamp_ntz(value, F.lit(formats[type_name]))
        return value.cast(type_name)

    hive_keys = [F.col(quoted(name)) for name in rows.columns[len(schema) :]]
    columns = [
        cast_column(one.name, one.dataType.simpleString()).alias(one.name) for one in schema.fields
    ]
    return rows.select(*columns, *hive_keys)
