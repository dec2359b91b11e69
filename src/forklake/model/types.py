"""Column types: the stored names, and nested types as trees.

A nested column is stored as one row per node: a `struct` with a row for each field, a `list` with
a row named `element`, a `map` with rows named `key` and `value`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from forklake.errors import InvalidInput, Unsupported
from forklake.model.names import checked_name, folded

SCALARS = frozenset(
    "boolean int8 int16 int32 int64 int128 uint8 uint16 uint32 uint64 uint128 float32 float64 "
    "time timetz date timestamp timestamp_s timestamp_ms timestamp_ns timestamptz interval "
    "varchar blob uuid json".split()
)
NESTED = frozenset({"struct", "list", "map"})
_DECIMAL = re.compile(r"decimal\(\s*0*(\d{1,9})\s*,\s*0*(\d{1,9})\s*\)")
_MAX_PRECISION = 38
_MOST_LEVELS = 64  # of nested types; JSON encoders fail beyond some hundred
# SQL names of stored types.
_ALIASES = {
    "bool": "boolean",
    "tinyint": "int8",
    "smallint": "int16",
    "integer": "int32",
    "int": "int32",
    "bigint": "int64",
    "hugeint": "int128",
    "utinyint": "uint8",
    "usmallint": "uint16",
    "uinteger": "uint32",
    "ubigint": "uint64",
    "uhugeint": "uint128",
    "float": "float32",
    "real": "float32",
    "double": "float64",
    "string": "varchar",
    "text": "varchar",
    "binary": "blob",
    "bytea": "blob",
    "timestamp_us": "timestamp",
    "timestamp with time zone": "timestamptz",
}


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A type: a stored name, and the named parts if it is nested."""

    name: str
    fields: tuple[tuple[str, ColumnType], ...] = ()

    def __str__(self) -> str:
        if not self.fields:
            return self.name
        if self.name == "struct":
            return f"struct({', '.join(f'{name} {kind}' for name, kind in self.fields)})"
        return f"{self.name}({', '.join(str(kind) for _, kind in self.fields)})"


# type -> the types that can represent all its values
_WIDER: dict[str, frozenset[str]] = {
    "int8": frozenset({"int16", "int32", "int64", "int128", "float32", "float64"}),
    "int16": frozenset({"int32", "int64", "int128", "float32", "float64"}),
    "int32": frozenset({"int64", "int128", "float64"}),
    "int64": frozenset({"int128"}),
    "uint8": frozenset(
        {"uint16", "uint32", "uint64", "uint128", "int16", "int32", "int64", "int128"}
    ),
    "uint16": frozenset({"uint32", "uint64", "uint128", "int32", "int64", "int128"}),
    "uint32": frozenset({"uint64", "uint128", "int64", "int128"}),
    "uint64": frozenset({"uint128", "int128"}),
    "float32": frozenset({"float64"}),
    "date": frozenset({"timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"}),
    "timestamp_s": frozenset({"timestamp_ms", "timestamp", "timestamp_ns"}),
    "timestamp_ms": frozenset({"timestamp", "timestamp_ns"}),
    "timestamp": frozenset({"timestamp_ns"}),
}


def is_wider(old: str, new: str) -> bool:
    """Return whether the scalar type `new` can represent every value of `old`, and differs."""
    was, becomes = _DECIMAL.fullmatch(old), _DECIMAL.fullmatch(new)
    if was and becomes:
        scale_grows = int(becomes[2]) - int(was[2])
        return scale_grows >= 0 and int(becomes[1]) - int(was[1]) >= scale_grows
    return new in _WIDER.get(old, frozenset())


def scalar(name: str) -> ColumnType:
    """Return the type with a stored or SQL name, such as `int64`, `BIGINT` or `decimal(18,3)`."""
    text = " ".join(name.lower().split())
    text = _ALIASES.get(text, text)
    if text in SCALARS:
        return ColumnType(text)
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise Unsupported(
            f"The column type {name!r} is an unsupported type.",
            remedy="Use one of: "
            + ", ".join(sorted(SCALARS))
            + ", decimal(p,s), struct, list, map.",
        )
    precision, scale = int(match[1]), int(match[2])
    if not 1 <= precision <= _MAX_PRECISION or scale > precision:
        raise InvalidInput(
            f"The column type {name!r} is not valid.",
            remedy=f"Use a precision of 1 to {_MAX_PRECISION}, and a scale of at most that.",
        )
    return ColumnType(f"decimal({precision},{scale})")


def struct(**fields: ColumnType | str) -> ColumnType:
    """Return a struct type with these fields, in order."""
    return struct_of(list(fields.items()))


def struct_of(fields: list[tuple[str, ColumnType | str]]) -> ColumnType:
    """Return a struct type; unlike `struct` it accepts names that are not Python identifiers."""
    if not fields:
        raise Unsupported("A struct without fields is an unsupported type.", remedy="Add a field.")
    parts = tuple((checked_name(name, "field"), as_type(kind)) for name, kind in fields)
    names = [folded(name) for name, _ in parts]
    if len(set(names)) != len(names):
        raise InvalidInput(
            "A struct has two fields with the same name.", remedy="Rename one of them."
        )
    return _nested("struct", parts)


def list_of(element: ColumnType | str) -> ColumnType:
    """Return a list type."""
    return _nested("list", (("element", as_type(element)),))


def map_of(key: ColumnType | str, value: ColumnType | str) -> ColumnType:
    """Return a map type."""
    return _nested("map", (("key", as_type(key)), ("value", as_type(value))))


def _nested(name: str, parts: tuple[tuple[str, ColumnType], ...]) -> ColumnType:
    levels, inside = 1, [kind for _, kind in parts]
    while inside := [kind for one in inside for _, kind in one.fields]:
        levels += 1
    if levels >= _MOST_LEVELS:
        raise InvalidInput(
            f"A type has more than {_MOST_LEVELS} levels.", remedy="Nest fewer types."
        )
    return ColumnType(name, parts)


def as_type(kind: ColumnType | str) -> ColumnType:
    """Return a type unchanged, or the scalar type with this name."""
    return scalar(kind) if isinstance(kind, str) else kind


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """Definition of a column to create."""

    name: str
    type: ColumnType | str
    nulls_allowed: bool = True
    default: str | None = None
    default_type: str = "literal"
    comment: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
