"""The schema in the form of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forklake.store.schema.definitions import Definition, Kind
from forklake.store.schema.delta_log_views import ViewSyntax
from forklake.store.schema.description import Backend, Column, Index, Storage, Table, Type
from forklake.store.schema.form import Form
from forklake.store.schema.versions import version_rows

_TYPES = {
    Type.SMALL_NUMBER: "SMALLINT",
    Type.NUMBER_OF_32_BITS: "INTEGER",
    Type.NUMBER: "BIGINT",
    Type.TRUTH: "BOOLEAN",
    Type.TEXT: "VARCHAR",
    Type.LONG_TEXT: "TEXT",
    Type.TIME: "TIMESTAMPTZ",
    Type.UUID: "UUID",
    Type.BYTES: "BYTEA",
}
_CHANGING = ("autovacuum_vacuum_scale_factor=0.02", "autovacuum_vacuum_cost_limit=2000")
_SETTINGS: dict[Storage, tuple[str, ...]] = {
    Storage.SMALL: (),
    Storage.GROWING: (
        "autovacuum_vacuum_scale_factor=0.02",
        "autovacuum_vacuum_insert_scale_factor=0.1",
        "autovacuum_analyze_scale_factor=0.02",
    ),
    Storage.CHANGING: _CHANGING,
    Storage.UPDATED: ("fillfactor=70", *_CHANGING),
    Storage.CONTENDED: ("fillfactor=50", *_CHANGING),
}


@dataclass(frozen=True, slots=True)
class PostgresqlStyle:
    """DDL of PostgreSQL, with the number of partitions of the large tables (0 for none)."""

    partitions: int = 0
    backend: Backend = Backend.POSTGRESQL
    reserved: frozenset[str] = frozenset()
    has_partial_indexes: bool = True

    def declare(self, column: Column) -> str:
        collation = ' COLLATE "C"' if column.is_bytewise else ""
        return f"{_TYPES[column.type]}{collation}"

    def index(self, column: Column, index: Index) -> str:
        return ' COLLATE "C"' if index.is_bytewise else ""

    def finish(self, table: Table) -> str:
        if self._is_partitioned(table):
            return f" PARTITION BY HASH ({table.partitioned_by})"
        return _with_settings(table)

    def settings(self, table: Table) -> frozenset[str]:
        return frozenset(() if self._is_partitioned(table) else _SETTINGS[table.storage])

    def extend(self, table: Table) -> Iterator[Definition]:
        if self._is_partitioned(table):
            yield from (self._define_partition(table, number) for number in range(self.partitions))
        for column in table.columns:
            if column.is_compressed:
                yield Definition(
                    Kind.SETTING,
                    table.name,
                    f"ALTER TABLE {table.name} ALTER COLUMN {column.name} SET STORAGE EXTERNAL",
                    "The values are compressed already.",
                )

    def _is_partitioned(self, table: Table) -> bool:
        return self.partitions > 0 and table.partitioned_by is not None

    def _define_partition(self, table: Table, number: int) -> Definition:
        name = f"{table.name}_{number:03}"
        text = (
            f"CREATE TABLE {name} PARTITION OF {table.name} FOR VALUES"
            f" WITH (MODULUS {self.partitions}, REMAINDER {number}){_with_settings(table)}"
        )
        settings = frozenset(_SETTINGS[table.storage])
        return Definition(Kind.TABLE, name, text, settings=settings)


def _with_settings(table: Table) -> str:
    settings = [one.replace("=", " = ") for one in _SETTINGS[table.storage]]
    joined = ",\n    ".join(settings)
    return f" WITH (\n    {joined}\n)" if settings else ""


_HEADER = """The metastore's schema for PostgreSQL 14 and newer.

Load it with `forklake init`, or by hand:  psql -d <database> -f postgresql.sql
(into another schema than public:  PGOPTIONS='-c search_path=<schema>' psql …).

Tables that only grow are vacuumed and analyzed before a fifth of them has changed, which is the
default of PostgreSQL. Tables with frequent updates have a low fill factor, so that the next row
version fits on the same page, and are vacuumed early."""
_SEQUENCES = (
    Definition(
        Kind.SEQUENCE,
        "ducklake_snapshot_id_seq",
        "CREATE SEQUENCE ducklake_snapshot_id_seq MINVALUE 0 CACHE 1",
        "Ids. The snapshot sequence must not cache: cached values of a session would be lower than"
        " those of snapshots already committed, and the snapshots of a catalog would not be in"
        " commit order.",
    ),
    *(
        Definition(Kind.SEQUENCE, name, f"CREATE SEQUENCE {name} MINVALUE 0 START 0")
        for name in ("ducklake_entity_id_seq", "ducklake_file_id_seq")
    ),
)
_VIEWS = ViewSyntax(
    text="{column}::json ->> '{key}'",
    document="{column}::json ->> '{key}'",
    number="CAST({column}::json ->> '{key}' AS BIGINT)",
    truth="CAST({column}::json ->> '{key}' AS BOOLEAN)",
    collection="jsonb_object_agg({key}, {value})::text",
)
_ROWS = (
    Definition(
        Kind.ROWS,
        "ducklake_snapshot",
        "INSERT INTO ducklake_snapshot VALUES (0, clock_timestamp(), 0, 0, 0)",
        "Snapshot 0 is the empty metastore. The first catalog gets id 0 and snapshot 1.",
    ),
    Definition(
        Kind.ROWS,
        "ducklake_snapshot_id_seq",
        "SELECT setval('ducklake_snapshot_id_seq', 1, false)",
    ),
    *version_rows("key"),
    Definition(
        Kind.ROWS,
        "ducklake_metadata",
        "INSERT INTO ducklake_metadata (key, value, scope)"
        " VALUES ('secret', gen_random_uuid()::text, 'locks')",
        "Keys of advisory locks are derived from it: other users of the database cannot compute"
        " them.",
    ),
)

FORM = Form(_HEADER, _VIEWS, _ROWS, sequences=_SEQUENCES)
