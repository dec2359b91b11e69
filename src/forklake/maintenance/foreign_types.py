"""Types of foreign files: which columns their values fit, and how Spark reads them."""

from __future__ import annotations

from forklake.errors import InvalidInput, Unsupported
from forklake.model.types import is_wider
from forklake.model.values import INTEGER_RANGES

# Groups of types that Spark reads from a file as the same values.
_ALIKE = (
    frozenset({"varchar", "json"}),
    frozenset({"timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "int96"}),
    frozenset({"timestamptz", "timestamp_ns", "int96"}),
    frozenset({"time", "time_ms"}),
)
# The types that Spark reads, where they differ from those of the file.
_READ_AS = {"uuid": "blob"}
# Types of files that Spark does not read, with the remedy.
_NOT_READ = {
    "timestamp_ns": "Write the file with timestamps in microseconds.",
    "time_ms": "Write the file with times in microseconds.",
    "timetz": "Write the file with a timestamp: Spark has no time with a time zone.",
    "interval": "Write the file with a number or a text: Spark has no such interval.",
}


def fits(file_type: str, column_type: str) -> bool:
    """Return whether all values of a file type are valid in a column type."""
    if file_type == column_type or any({file_type, column_type} <= kinds for kinds in _ALIKE):
        return True
    if file_type in INTEGER_RANGES and column_type in INTEGER_RANGES:
        low, high = INTEGER_RANGES[column_type]
        least, greatest = INTEGER_RANGES[file_type]
        return low <= least and greatest <= high
    if file_type.startswith("decimal") or (file_type, column_type) == ("float32", "float64"):
        return is_wider(file_type, column_type)
    return False


def source_type(file_type: str, column_type: str) -> str | None:
    """Return the type to read before a cast to the column type, or None if no cast is needed."""
    if any({file_type, column_type} <= kinds for kinds in _ALIKE):
        return None
    read = readable_type(file_type)
    return None if read == column_type else read


def readable_type(file_type: str) -> str:
    """Return the type that Spark reads for a file type."""
    return _READ_AS.get(file_type, file_type)


def require_fit(path: str, name: str, file_type: str, column_type: str) -> None:
    """Raise an error if the values of a file do not fit a column, or Spark does not read them."""
    if not fits(file_type, column_type):
        raise InvalidInput(
            f"Column '{name}' is of type {column_type}, but the file {path!r} has values of type"
            f" {file_type}.",
            remedy="Write the file with the type of the column, or widen the column.",
            path=path,
        )
    if file_type in _NOT_READ:
        raise Unsupported(
            f"Column '{name}' of the file {path!r} has values of type {file_type}, which Spark does"
            " not support.",
            remedy=_NOT_READ[file_type],
            path=path,
        )
