"""Column types in DuckDB syntax."""

from __future__ import annotations

import re

from forklake.model.duckdb_keywords import KEYWORDS
from forklake.model.fields import Field
from forklake.model.names import quoted
from forklake.model.types import ColumnType

# Types whose DuckDB name is not the stored name in capitals.
_NAMES = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "int128": "HUGEINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "uint128": "UHUGEINT",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "timetz": "TIME WITH TIME ZONE",
}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def duckdb_type(node: Field | ColumnType) -> str:
    """Return the DuckDB type of a column, such as `DECIMAL(18,3)` or `STRUCT(a INTEGER)[]`."""
    if isinstance(node, Field):
        kind, parts = node.type, [(part.name, duckdb_type(part)) for part in node.fields]
    else:
        kind, parts = node.name, [(name, duckdb_type(part)) for name, part in node.fields]
    match kind, parts:
        case "struct", _:
            return f"STRUCT({', '.join(f'{shown_name(name)} {part}' for name, part in parts)})"
        case "list", [(_, element)]:
            return f"{element}[]"
        case "map", [(_, key), (_, value)]:
            return f"MAP({key}, {value})"
    return _NAMES.get(kind, kind.upper())


def shown_name(name: str) -> str:
    """Return a name, quoted as DuckDB shows it: keywords and special characters need quotes."""
    is_plain = _PLAIN.fullmatch(name) is not None and name.lower() not in KEYWORDS
    return name if is_plain else quoted(name)
