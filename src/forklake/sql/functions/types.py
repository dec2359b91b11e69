"""Types and defaults of columns in DuckDB SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forklake.model.duckdb_types import duckdb_type, shown_name
from forklake.model.fields import Field

_UNQUOTED_DEFAULTS = frozenset({"boolean", "float32", "float64"})


def decimal_digits(type_name: str) -> tuple[int | None, int | None]:
    """Return precision and scale of a decimal, or two times None."""
    match = re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", type_name.lower())
    return (int(match[1]), int(match[2])) if match else (None, None)


def default_text(field: Field) -> str | None:
    """Return the default of a column as a SQL expression."""
    text = field.default_value
    if text is None or field.default_value_type == "expression":
        return text
    is_bare = field.type in _UNQUOTED_DEFAULTS or field.type.lstrip("u").startswith(
        ("int", "decimal")
    )
    is_bare = is_bare and field.type != "interval"
    return text if is_bare else "'" + text.replace("'", "''") + "'"


def create_table_text(name: str, fields: Sequence[Field]) -> str:
    """Return a CREATE TABLE statement with these columns."""
    return f"CREATE TABLE {shown_name(name)}({', '.join(map(_column_text, fields))});"


def _column_text(field: Field) -> str:
    default = default_text(field)
    return (
        f"{shown_name(field.name)} {duckdb_type(field)}"
        + (f" DEFAULT({default})" if default is not None else "")
        + ("" if field.nulls_allowed else " NOT NULL")
    )
