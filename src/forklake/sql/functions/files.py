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
from forklake.sql.functions.paths import find_hive_partitioning

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.sql.session import Session

Options: TypeAlias = Mapping[str, Any]

# Options that are handled in this module for all formats.
_COMMON_OPTIONS = frozenset({"filename", "hive_partitioning"})
_COMPRESSION_EXTENSIONS = (".gz", ".zst", ".bz2")


@dataclass(frozen=True, slots=True)
class FileFormat:
    """File format, and the DuckDB options that are supported for it."""

    options: frozenset[str]
    format: str


def has_file_extension(text: str) -> bool:
    """Return whether a name has the extension of a file that can be read."""
    return _find_read_function(text) is not None


def read_file(session: Session, path: str) -> DataFrame:
    """Return the rows of a file, whose extension defines its format."""
    function = _find_read_function(path)
    if function is None:
        raise InvalidInput(
            f"The file {path!r} has no known extension.",
            remedy="Read it with one of the functions " + ", ".join(READ_FUNCTIONS) + ".",
        )
    return read_files(session, function, [path], {})


def _find_read_function(text: str) -> str | None:
    name = text.lower()
    for extension in _COMPRESSION_EXTENSIONS:
        name = name.removesuffix(extension)
    return _FUNCTION_OF_EXTENSION.get(name.rpartition(".")[2]) if "." in name else None


def read_files(
    session: Session, function: str, positional: Sequence[Any], named: Mapping[str, Any]
) -> DataFrame:
    """Return the rows of files, given by one path or pattern or by a list of them."""
    file_format = READ_FUNCTIONS[function.lower()]
    options = {name.lower(): value for name, value in named.items()}
    _check_options(function, file_format, options)
    patterns = _parse_patterns(function, positional)
    session.guard.check_files(patterns)
    files = found_files(patterns)
    hive = find_hive_partitioning(files, _boolean_option(function, options, "hive_partitioning"))
    format_options = {name: value for name, value in options.items() if name not in _COMMON_OPTIONS}
    _boolean_option("read_parquet", format_options, "union_by_name")
    return session.engine.queries.read_files(
        file_format.format,
        files,
        format_options,
        root=None if hive is None else hive.root,
        keys=() if hive is None else hive.keys,
        filename=options.get("filename", False),
    )


def _parse_patterns(function: str, positional: Sequence[Any]) -> list[str]:
    match positional:
        case [str(path)]:
            return [path]
        case [list(paths)] if paths and all(isinstance(path, str) for path in paths):
            return paths
    raise InvalidInput(
        f"The function {function} expects a path or a list of paths.",
        remedy=f"Write {function}('data/*.parquet') or {function}(['a.parquet', 'b.parquet']).",
    )


def _check_options(function: str, file_format: FileFormat, options: Options) -> None:
    supported = file_format.options | _COMMON_OPTIONS
    for name, value in options.items():
        if name not in supported:
            raise Unsupported(
                f"The function {function} does not support the option '{name}'.",
                remedy="Supported options: " + ", ".join(sorted(supported)) + ".",
            )
        if value is None:
            raise InvalidInput(
                f"The option '{name}' of {function} cannot be NULL.", remedy="Remove the option."
            )


def _boolean_option(function: str, options: Options, name: str) -> bool | None:
    value = options.get(name)
    if value is not None and not isinstance(value, bool):
        raise InvalidInput(
            f"The option '{name}' of {function} cannot be {value!r}.",
            remedy="Set it to true or false.",
        )
    return value


_PARQUET = FileFormat(frozenset({"union_by_name"}), "parquet")
_CSV = FileFormat(
    frozenset(
        "all_varchar auto_detect columns comment dateformat delim dtypes escape header names"
        " normalize_names nullstr quote sample_size sep timestampformat types".split()
    ),
    "csv",
)
_JSON = FileFormat(frozenset({"columns", "format", "sample_size"}), "json")
READ_FUNCTIONS: dict[str, FileFormat] = {
    "read_parquet": _PARQUET,
    "parquet_scan": _PARQUET,
    "read_csv": _CSV,
    "read_csv_auto": _CSV,
    "read_json": _JSON,
    "read_json_auto": _JSON,
    "read_ndjson": _JSON,
}
_FUNCTION_OF_EXTENSION = {
    "parquet": "read_parquet",
    "csv": "read_csv",
    "tsv": "read_csv",
    "json": "read_json",
    "jsonl": "read_json",
    "ndjson": "read_json",
}
