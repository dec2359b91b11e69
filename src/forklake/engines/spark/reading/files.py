"""Parquet, CSV and JSON files that a query reads directly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, DataFrameReader
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from forklake.engines.local.csv_sample import detect_columns, read_first_character
from forklake.engines.spark.error_translation import translate_spark_errors
from forklake.engines.spark.failures import messages_of
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.reading.csv_files import load_csv
from forklake.engines.spark.reading.paths import escape_pattern
from forklake.errors import InvalidInput

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

Options: TypeAlias = Mapping[str, Any]

_CONDITION = re.compile(r"^\[[A-Z_.]+\]\s*")


def read_files(
    engine: Engine,
    format: str,
    files: Sequence[str],
    options: Options,
    *,
    root: str | None,
    keys: Sequence[str],
    filename: bool | str,
) -> DataFrame:
    """Return the rows of files.

    Args:
        format: `parquet`, `csv` or `json`.
        options: those of the DuckDB function for this format.
        root: the folder below which folders are hive partitions with these `keys`; None if there
            are none.
        filename: whether to add a column for the file of each row, or its name.
    """
    with translate_spark_errors(), _translate_loading_errors():
        reader = engine.spark.read
        if root is not None:
            reader = reader.option("basePath", root)
        rows = _LOADERS[format](reader, files, options)
        if root is not None:
            rows = _order_partition_keys(rows, keys)
        return _add_filename(rows, filename)


@contextmanager
def _translate_loading_errors() -> Iterator[None]:
    """Raise InvalidInput if Spark looks into files while loading and finds no columns."""
    try:
        yield
    except Py4JJavaError as reason:
        message = _CONDITION.sub("", messages_of(reason)[1]).splitlines()[0]
        raise InvalidInput(
            f"The files cannot be read: {message}", remedy="Check that they have this format."
        ) from None


def _add_filename(rows: DataFrame, column: bool | str) -> DataFrame:
    """Return rows with a column for the file of each row: `filename`, or the name in `column`."""
    if column is False:
        return rows
    uri = F.url_decode(F.replace(F.col("_metadata.file_path"), F.lit("+"), F.lit("%2B")))
    path = F.regexp_replace(uri, "^file:/+", "/")
    return rows.withColumn("filename" if column is True else str(column), path)


def _order_partition_keys(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Return rows with hive partition keys as the last columns, sorted, numbers as BIGINT."""
    kinds = dict(rows.dtypes)
    columns = [F.col(quoted(name)) for name in rows.columns if name not in keys]
    key_columns = [
        F.col(quoted(name)).cast("bigint" if kinds[name] == "int" else kinds[name]).alias(name)
        for name in sorted(keys)
    ]
    return rows.select(*columns, *key_columns)


# Parquet


def _load_parquet(reader: DataFrameReader, files: Sequence[str], options: Options) -> DataFrame:
    merges = bool(options.get("union_by_name"))
    return reader.option("mergeSchema", merges).parquet(*map(escape_pattern, files))


# JSON


def _load_json(reader: DataFrameReader, files: Sequence[str], options: Options) -> DataFrame:
    is_array = options.get("format", "auto") == "array"
    if options.get("format", "auto") == "auto":
        is_array = read_first_character(files[0]) == "["
    form = {"format": "array" if is_array else "newline_delimited"}
    columns = detect_columns("read_json", files[0], {**options, **form})
    schema = from_arrow_schema(columns, prefer_timestamp_ntz=True)
    configured = reader.schema(schema).option("multiLine", is_array).option("mode", "FAILFAST")
    return configured.json([*map(escape_pattern, files)])


_LOADERS: dict[str, Callable[[DataFrameReader, Sequence[str], Options], DataFrame]] = {
    "parquet": _load_parquet,
    "csv": load_csv,
    "json": _load_json,
}
