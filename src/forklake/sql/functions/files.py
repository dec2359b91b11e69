"""Files that a query reads directly: `read_parquet`, `read_csv`, `read_json`, or a bare path.

Spark reads them. DuckDB detects the columns and types of CSV and JSON files from the beginning of
the first file, so that they are the same as in DuckDB.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from py4j.protocol import Py4JJavaError

from forklake.engines.spark.failures import messages_of
from forklake.engines.spark.quoting import quoted
from forklake.errors import InvalidInput, Unsupported
from forklake.files.file_search import found_files
from forklake.sql.functions.csv_files import load_csv
from forklake.sql.functions.csv_sample import described, first_sign
from forklake.sql.functions.paths import as_written, hive_folders
from forklake.sql.query.failures import explained

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader

    from forklake.sql.session import Session

Options: TypeAlias = Mapping[str, Any]
Load: TypeAlias = "Callable[[DataFrameReader, Sequence[str], Options], DataFrame]"

# Options that are handled in this module for all formats.
_COMMON = frozenset({"filename", "hive_partitioning"})
_CONDITION = re.compile(r"^\[[A-Z_.]+\]\s*")
_ENDINGS = (".gz", ".zst", ".bz2")


@dataclass(frozen=True, slots=True)
class Reader:
    """File format: the DuckDB options that are supported for it, and the function that loads it."""

    options: frozenset[str]
    load: Load


def is_path(text: str) -> bool:
    """Return whether a name has the extension of a file that can be read."""
    return _reader_of(text) is not None


def read_path(session: Session, path: str) -> DataFrame:
    """Return the rows of a file, whose extension defines its format."""
    function = _reader_of(path)
    if function is None:
        raise InvalidInput(
            f"The file {path!r} has no known extension.",
            remedy="Read it with one of the functions " + ", ".join(READERS) + ".",
        )
    return read_files(session, function, [path], {})


def _reader_of(text: str) -> str | None:
    plain = text.lower()
    for ending in _ENDINGS:
        plain = plain.removesuffix(ending)
    return _BY_ENDING.get(plain.rpartition(".")[2]) if "." in plain else None


def read_files(
    session: Session, function: str, positional: Sequence[Any], named: Mapping[str, Any]
) -> DataFrame:
    """Return the rows of files, given by one path or pattern or by a list of them."""
    reader = READERS[function.lower()]
    options = {name.lower(): value for name, value in named.items()}
    _check_options(function, reader, options)
    patterns = _patterns(function, positional)
    session.guard.files(patterns)
    files = found_files(patterns)
    spark = session.engine.spark
    hive = hive_folders(files, _boolean(function, options, "hive_partitioning"))
    own = {name: value for name, value in options.items() if name not in _COMMON}
    with explained(), _readable():
        loading = spark.read
        if hive is not None:
            loading = loading.option("basePath", hive.root)
        rows = reader.load(loading, files, own)
        if hive is not None:
            rows = _with_keys(rows, hive.keys)
        return _with_filename(rows, options.get("filename", False))


@contextmanager
def _readable() -> Iterator[None]:
    """Raise InvalidInput if Spark looks into files while loading and finds no columns."""
    try:
        yield
    except Py4JJavaError as reason:
        message = _CONDITION.sub("", messages_of(reason)[1]).splitlines()[0]
        raise InvalidInput(
            f"The files cannot be read: {message}", remedy="Check that they have this format."
        ) from None


def _patterns(function: str, positional: Sequence[Any]) -> list[str]:
    match positional:
        case [str(path)]:
            return [path]
        case [list(paths)] if paths and all(isinstance(path, str) for path in paths):
            return paths
    raise InvalidInput(
        f"The function {function} expects a path or a list of paths.",
        remedy=f"Write {function}('data/*.parquet') or {function}(['a.parquet', 'b.parquet']).",
    )


def _check_options(function: str, reader: Reader, options: Options) -> None:
    known = reader.options | _COMMON
    for name, value in options.items():
        if name not in known:
            raise Unsupported(
                f"The function {function} does not support the option '{name}'.",
                remedy="Supported options: " + ", ".join(sorted(known)) + ".",
            )
        if value is None:
            raise InvalidInput(
                f"The option '{name}' of {function} cannot be NULL.", remedy="Remove the option."
            )


def _boolean(function: str, options: Options, name: str) -> bool | None:
    value = options.get(name)
    if value is not None and not isinstance(value, bool):
        raise InvalidInput(
            f"The option '{name}' of {function} cannot be {value!r}.",
            remedy="Set it to true or false.",
        )
    return value


def _with_filename(rows: DataFrame, column: bool | str) -> DataFrame:
    """Return rows with a column for the file of each row: `filename`, or the name in `column`."""
    from pyspark.sql import functions as F  # noqa: N812

    if column is False:
        return rows
    uri = F.url_decode(F.replace(F.col("_metadata.file_path"), F.lit("+"), F.lit("%2B")))
    path = F.regexp_replace(uri, "^file:/+", "/")
    return rows.withColumn("filename" if column is True else str(column), path)


def _with_keys(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Return rows with hive partition keys as the last columns, sorted, numbers as BIGINT."""
    from pyspark.sql import functions as F  # noqa: N812

    kinds = dict(rows.dtypes)
    own = [F.col(quoted(name)) for name in rows.columns if name not in keys]
    last = [
        F.col(quoted(name)).cast("bigint" if kinds[name] == "int" else kinds[name]).alias(name)
        for name in sorted(keys)
    ]
    return rows.select(*own, *last)


# Parquet


def _load_parquet(reader: DataFrameReader, files: Sequence[str], options: Options) -> DataFrame:
    merges = _boolean("read_parquet", options, "union_by_name")
    return reader.option("mergeSchema", bool(merges)).parquet(*map(as_written, files))


# JSON


def _load_json(reader: DataFrameReader, files: Sequence[str], options: Options) -> DataFrame:
    is_array = options.get("format", "auto") == "array"
    if options.get("format", "auto") == "auto":
        is_array = first_sign(files[0]) == "["
    form = {"format": "array" if is_array else "newline_delimited"}
    schema = described("read_json", files[0], {**options, **form})
    loading = reader.schema(schema).option("multiLine", is_array).option("mode", "FAILFAST")
    return loading.json([*map(as_written, files)])


_PARQUET = Reader(frozenset({"union_by_name"}), _load_parquet)
_CSV = Reader(
    frozenset(
        "all_varchar auto_detect columns comment dateformat delim dtypes escape header names"
        " normalize_names nullstr quote sample_size sep timestampformat types".split()
    ),
    load_csv,
)
_JSON = Reader(frozenset({"columns", "format", "sample_size"}), _load_json)
READERS: dict[str, Reader] = {
    "read_parquet": _PARQUET,
    "parquet_scan": _PARQUET,
    "read_csv": _CSV,
    "read_csv_auto": _CSV,
    "read_json": _JSON,
    "read_json_auto": _JSON,
    "read_ndjson": _JSON,
}
_BY_ENDING = {
    "parquet": "read_parquet",
    "csv": "read_csv",
    "tsv": "read_csv",
    "json": "read_json",
    "jsonl": "read_json",
    "ndjson": "read_json",
}
