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


def fits(held: str, column: str) -> bool:
    """Return whether all values of a file type are valid in a column type."""
    if held == column or any({held, column} <= kinds for kinds in _ALIKE):
        return True
    if held in INTEGER_RANGES and column in INTEGER_RANGES:
        low, high = INTEGER_RANGES[column]
        least, greatest = INTEGER_RANGES[held]
        return low <= least and greatest <= high
    if held.startswith("decimal") or (held, column) == ("float32", "float64"):
        return is_wider(held, column)
    return False


def source_type(held: str, column: str) -> str | None:
    """Return the type to read before a cast to the column type, or None if no cast is needed."""
    if any({held, column} <= kinds for kinds in _ALIKE):
        return None
    read = read_as(held)
    return None if read == column else read


def read_as(held: str) -> str:
    """Return the type that Spark reads for a file type."""
    return _READ_AS.get(held, held)


def require_fit(path: str, name: str, held: str, column: str) -> None:
    """Raise InvalidInput if the values of a file do not fit a column, and Unsupported if Spark
    does not read them."""
    if not fits(held, column):
        raise InvalidInput(
            f"Column '{name}' is of type {column}, but the file {path!r} has values of type"
            f" {held}.",
            remedy="Write the file with the type of the column, or widen the column.",
            path=path,
        )
    if held in _NOT_READ:
        raise Unsupported(
            f"Column '{name}' of the file {path!r} has values of type {held}, which Spark does not"
            " support.",
            remedy=_NOT_READ[held],
            path=path,
        )
