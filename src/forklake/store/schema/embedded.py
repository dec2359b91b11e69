"""DDL that SQLite and DuckDB have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forklake.store.schema.definitions import Definition
from forklake.store.schema.description import Backend, Column, Index, Table, Type

_TYPES = {
    Type.SMALL_NUMBER: "SMALLINT",
    Type.NUMBER_OF_32_BITS: "INTEGER",
    Type.NUMBER: "BIGINT",
    Type.TRUTH: "BOOLEAN",
    Type.TEXT: "VARCHAR",
    Type.LONG_TEXT: "TEXT",
    Type.TIME: "TIMESTAMPTZ",
    Type.UUID: "UUID",
    Type.BYTES: "BLOB",
}


@dataclass(frozen=True, slots=True)
class EmbeddedStyle:
    """DDL of an embedded database. To SQLite, types are names by which the driver converts."""

    backend: Backend
    has_partial_indexes: bool
    has_clustered_tables: bool
    reserved: frozenset[str] = frozenset()

    def declare(self, column: Column) -> str:
        return _TYPES[column.type]

    def index(self, column: Column, index: Index) -> str:
        return ""

    def finish(self, table: Table) -> str:
        return " WITHOUT ROWID" if table.is_clustered and self.has_clustered_tables else ""

    def settings(self, table: Table) -> frozenset[str]:
        return frozenset()

    def extend(self, table: Table) -> Iterator[Definition]:
        return iter(())
