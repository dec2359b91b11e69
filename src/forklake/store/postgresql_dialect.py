"""SQL dialect of PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forklake.store.wire import Numbers

_TYPES = {"boolean": "BOOLEAN", "blob": "BYTEA"}
_INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"}


class PostgresDialect:
    """SQL texts of PostgreSQL."""

    name = "postgresql"
    least = "least"
    joins_writes = True
    for_commit = " FOR NO KEY UPDATE"
    for_fork = " FOR KEY SHARE"
    for_removal = " FOR UPDATE"
    for_picking = " FOR UPDATE SKIP LOCKED"
    now = "clock_timestamp()"
    every_column = (
        "SELECT table_name::text, column_name::text, data_type::text"
        " FROM information_schema.columns WHERE table_schema = current_schema()"
        " AND table_name NOT IN (SELECT relname FROM pg_class WHERE relispartition)"
        " ORDER BY table_name, ordinal_position"
    )

    def any_of(self, column: str, parameter: str) -> str:
        return f"{column} = ANY(:{parameter})"

    def array(self, values: Sequence[Any]) -> Any:
        return Numbers(values) if values and isinstance(values[0], int) else list(values)

    def in_code_order(self, column: str) -> str:
        return f'{column} COLLATE "C"'

    def ending(self, column: str, length: int) -> str:
        return f"right({column}, {length})"

    def time(self, column: str) -> str:
        return column

    def column_type(self, name: str) -> str:
        return "BIGINT" if name in _INTEGERS else _TYPES.get(name, "TEXT")
