"""Types of files that others wrote: into which columns their values fit, and how they are read."""

from __future__ import annotations

from forklake.errors import InvalidInput, Unsupported
from forklake.model.types import is_wider
from forklake.model.values import INTEGER_RANGES

# Types whose values are the same thing in a file.
_ALIKE = (
    frozenset({"varchar", "json"}),
    frozenset({"timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "int96"}),
    frozenset({"timestamptz", "timestamp_ns", "int96"}),
    frozenset({"time", "time_ms"}),
)
# What Spark reads from files, where it is not what the file says.
_READ_AS = {"uuid": "blob"}
# Types that files may have and Spark does not read.
_NOT_READ = {
    "timestamp_ns": "Spark counts microseconds: write the file with these.",
    "time_ms": "Write the file with times in microseconds.",
    "timetz": "Spark has no time with a zone: write the file with a timestamp.",
    "interval": "Spark has no such interval: write the file with numbers or texts.",
}


def fits(held: str, column: str) -> bool:
    """Whether all values of a type that a file holds are values of a column's type."""
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
    """The type as which a file is read before its values become the column's; None if it is the
    column's own."""
    if any({held, column} <= kinds for kinds in _ALIKE):
        return None
    read = read_as(held)
    return None if read == column else read


def read_as(held: str) -> str:
    """The type as which Spark reads what a file holds."""
    return _READ_AS.get(held, held)


def require_fit(path: str, name: str, held: str, column: str) -> None:
    """InvalidInput if a file's values do not fit into a column; Unsupported if Spark does not
    read them."""
    if not fits(held, column):
        raise InvalidInput(
            f"Column '{name}' is of type {column}, but the file {path!r} has values of type"
            f" {held}.",
            remedy="Write the file with the column's type, or widen the column.",
            path=path,
        )
    if held in _NOT_READ:
        raise Unsupported(
            f"Column '{name}' of the file {path!r} has values of type {held}, which Spark does not"
            " read.",
            remedy=_NOT_READ[held],
            path=path,
        )
