"""Files that a query reads directly: `read_parquet`, `read_csv`, `read_json`, or a bare path.

The engine reads them. DuckDB detects the columns and types of CSV and JSON files from the beginning
of the first file, so that they are the same as in DuckDB.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from forklake.errors import InvalidInput, Unsupported
from forklake.files.file_search import found_files
from forklake.sql.functions.paths import hive_folders

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.sql.session import Session

Options: TypeAlias = Mapping[str, Any]

# Options that are handled in this module for all formats.
_COMMON = frozenset({"filename", "hive_partitioning"})
_ENDINGS = (".gz", ".zst", ".bz2")


@dataclass(frozen=True, slots=True)
class Reader:
    """File format, and the DuckDB options that are supported for it."""

    options: frozenset[str]
    format: str


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
    session.guard.check_files(patterns)
    files = found_files(patterns)
    hive = hive_folders(files, _boolean(function, options, "hive_partitioning"))
    own = {name: value for name, value in options.items() if name not in _COMMON}
    _boolean("read_parquet", own, "union_by_name")
    return session.engine.queries.read_files(
        reader.format,
        files,
        own,
        root=None if hive is None else hive.root,
        keys=() if hive is None else hive.keys,
        filename=options.get("filename", False),
    )


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


_PARQUET = Reader(frozenset({"union_by_name"}), "parquet")
_CSV = Reader(
    frozenset(
        "all_varchar auto_detect columns comment dateformat delim dtypes escape header names"
        " normalize_names nullstr quote sample_size sep timestampformat types".split()
    ),
    "csv",
)
_JSON = Reader(frozenset({"columns", "format", "sample_size"}), "json")
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
