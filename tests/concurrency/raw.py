"""Rows of a metastore and their visibility to catalogs, independent of the product.

A row is valid for the snapshots from its begin up to, not including, its end. A catalog sees its
own rows and those of each ancestor as of the snapshot at which it was forked off, except for what
a tombstone in the lineage ends.
"""

from __future__ import annotations

import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import psycopg
import pymysql
from psycopg import sql
from psycopg.rows import dict_row
from pymysql.cursors import DictCursor

from forklake.store.mysql_address import parsed
from tests.fix_metastore import Place

Row = dict[str, Any]
FOREVER = 2**63 - 1
ALL_FILES, ALL_CONTENT = 101, 102
INLINED_ROWS = 16


@dataclass(frozen=True)
class Kind:
    """A table of versioned rows: its number in tombstones, and the columns that identify a row."""

    code: int
    table: str
    identity: tuple[str, ...]
    scope: str = ""  # the column of the table or object that it belongs to
    entity: str = ""
    text: str = ""
    is_content: bool = False

    def tombstone_key(self, row: Row) -> tuple[Any, ...]:
        """Return the key of a row in tombstones."""
        return (
            row[self.scope] if self.scope else 0,
            row[self.entity] if self.entity else 0,
            row[self.text] if self.text else "",
            row["begin_snapshot"],
        )


SCHEMA = Kind(1, "ducklake_schema", ("schema_id",), entity="schema_id")
TABLE = Kind(2, "ducklake_table", ("table_id",), entity="table_id")
COLUMN = Kind(3, "ducklake_column", ("table_id", "column_id"), "table_id", "column_id")
VIEW = Kind(4, "ducklake_view", ("view_id",), entity="view_id")
MACRO = Kind(5, "ducklake_macro", ("macro_id",), entity="macro_id")
TAG = Kind(6, "ducklake_tag", ("object_id", "key"), "object_id", text="key")
COLUMN_TAG = Kind(
    7, "ducklake_column_tag", ("table_id", "column_id", "key"), "table_id", "column_id", "key"
)
PARTITION = Kind(8, "ducklake_partition_info", ("partition_id",), "table_id", "partition_id")
OPTION = Kind(9, "ducklake_metadata", ("scope_id", "key"), "scope_id", text="key")
INLINED_TABLE = Kind(
    10,
    "ducklake_inlined_data_tables",
    ("table_id", "schema_version"),
    "table_id",
    "schema_version",
)
DATA_FILE = Kind(
    11, "ducklake_data_file", ("data_file_id",), "table_id", "data_file_id", is_content=True
)
DELETE_FILE = Kind(
    12, "ducklake_delete_file", ("delete_file_id",), "table_id", "delete_file_id", is_content=True
)
TABLE_STATISTICS = Kind(13, "ducklake_table_stats", ("table_id",), "table_id")
COLUMN_STATISTICS = Kind(
    14,
    "ducklake_table_column_stats",
    ("table_id", "column_id"),
    "table_id",
    "column_id",
    is_content=True,
)
INLINED_DELETE = Kind(
    15,
    "ducklake_inlined_delete",
    ("data_file_id", "row_position"),
    "table_id",
    "data_file_id",
    is_content=True,
)
KINDS = (
    SCHEMA,
    TABLE,
    COLUMN,
    VIEW,
    MACRO,
    TAG,
    COLUMN_TAG,
    PARTITION,
    OPTION,
    INLINED_TABLE,
    DATA_FILE,
    DELETE_FILE,
    TABLE_STATISTICS,
    COLUMN_STATISTICS,
    INLINED_DELETE,
)


class RawMetastore:
    """All rows of all tables, read at one moment."""

    def __init__(self, place: Place) -> None:
        self.tables = dict(_read(place))
        self.by_owner: dict[str, dict[int, list[Row]]] = {}
        for name, rows in self.tables.items():
            if rows and "catalog_id" in rows[0]:
                grouped = self.by_owner[name] = defaultdict(list)
                for row in rows:
                    grouped[row["catalog_id"]].append(row)

    def __getitem__(self, table: str) -> list[Row]:
        return self.tables[f"ducklake_{table}"]

    def owned(self, table: str, catalog_id: int) -> list[Row]:
        """Return the rows of a table that a catalog wrote."""
        return self.by_owner.get(table, {}).get(catalog_id, [])

    def lineage(self, catalog_id: int) -> list[Row]:
        """Return the catalog itself and its ancestors, nearest first."""
        rows = self.owned("ducklake_catalog_lineage", catalog_id)
        return sorted(rows, key=lambda row: int(row["depth"]))

    def inlined_rows_kind(self, table: str) -> Kind:
        """Return the kind of the inlined rows in a table of the metastore."""
        return Kind(INLINED_ROWS, table, ("row_id",), "table_id", "row_id", is_content=True)

    def visible(self, kind: Kind, catalog_id: int, at: int) -> list[Row]:
        """Return the rows of a kind that a catalog sees at a snapshot."""
        line = [
            (row["ancestor_id"], min(row["upto_snapshot"], at)) for row in self.lineage(catalog_id)
        ]
        dead, cuts = self._ends(kind, line)
        return [
            row
            for depth, (owner, cap) in enumerate(line)
            for row in self.owned(kind.table, owner)
            if row["begin_snapshot"] <= cap
            and (row["end_snapshot"] is None or row["end_snapshot"] > cap)
            and kind.tombstone_key(row) not in dead
            and (not kind.scope or depth <= cuts.get(row[kind.scope], math.inf))
        ]

    def _ends(
        self, kind: Kind, line: list[tuple[int, int]]
    ) -> tuple[set[tuple[Any, ...]], dict[int, int]]:
        """Return the keys of ended rows, and by table the depth beyond which all rows are ended."""
        dead = set()
        cuts: dict[int, int] = {}
        cutting = {ALL_CONTENT, ALL_FILES} if kind.is_content else {ALL_CONTENT}
        for depth, (owner, cap) in enumerate(line):
            for row in self.owned("ducklake_tombstone", owner):
                if row["end_snapshot"] > cap:
                    continue
                if row["kind"] == kind.code:
                    names = ("table_id", "entity_id", "entity_key", "begin_snapshot")
                    dead.add(tuple(row[name] for name in names))
                elif row["kind"] in cutting and kind.scope:
                    cuts.setdefault(row["table_id"], depth)
        return dead, cuts


def _read(place: Place) -> Iterator[tuple[str, list[Row]]]:
    address = place.uri.split(":", 2)[2]
    match place.backend:
        case "postgresql":
            yield from _read_postgresql(address, place.metadata_schema or "public")
        case "sqlite":
            yield from _read_sqlite(address)
        case "mysql":
            yield from _read_mysql(address)
        case _:
            yield from _read_duckdb(address)


def _read_postgresql(dsn: str, schema: str) -> Iterator[tuple[str, list[Row]]]:
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        named = "SELECT tablename AS name FROM pg_tables WHERE schemaname = %s"
        for table in connection.execute(named, (schema,)).fetchall():
            text = sql.SQL("SELECT * FROM {}").format(sql.Identifier(schema, table["name"]))
            yield table["name"], connection.execute(text).fetchall()
        names = "SELECT sequencename AS name, last_value + 1 AS next_value FROM pg_sequences"
        rows = connection.execute(f"{names} WHERE schemaname = %s", (schema,)).fetchall()
        yield "ducklake_sequence", [row | {"name": row["name"].split("_")[1]} for row in rows]


def _read_mysql(dsn: str) -> Iterator[tuple[str, list[Row]]]:
    address = {"cursorclass": DictCursor, "sql_mode": "ANSI_QUOTES", **parsed(dsn)}
    with pymysql.connect(**address) as connection, connection.cursor() as cursor:
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        cursor.execute(
            "SELECT table_name AS name FROM information_schema.tables"
            " WHERE table_schema = database() AND table_type = 'BASE TABLE'"
        )
        for table in cursor.fetchall():
            cursor.execute(f'SELECT * FROM "{table["name"]}"')
            yield table["name"], list(cursor.fetchall())


def _read_sqlite(path: str) -> Iterator[tuple[str, list[Row]]]:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("BEGIN")
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
            yield name, [dict(row) for row in connection.execute(f"SELECT * FROM {name}")]
    finally:
        connection.close()


def _read_duckdb(path: str) -> Iterator[tuple[str, list[Row]]]:
    with duckdb.connect(path) as connection:
        connection.begin()
        for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            columns = f"SELECT column_name FROM duckdb_columns() WHERE table_name = '{name}'"
            chosen = [
                "epoch_us(snapshot_time)" if column == "snapshot_time" else column
                for (column,) in connection.execute(columns).fetchall()
            ]
            cursor = connection.execute(f"SELECT {', '.join(chosen)} FROM {name}")
            names = [column.replace("epoch_us(", "").rstrip(")") for column in chosen]
            yield name, [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        following = "SELECT sequence_name, last_value + 1 FROM duckdb_sequences()"
        yield (
            "ducklake_sequence",
            [
                {"name": name.split("_")[1], "next_value": value}
                for name, value in connection.execute(following).fetchall()
            ],
        )
