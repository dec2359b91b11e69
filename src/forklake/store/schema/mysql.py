"""The schema in the form of MySQL and MariaDB."""

from __future__ import annotations

from collections.abc import Iterator

from forklake.store.schema.definitions import Definition, Kind
from forklake.store.schema.delta_log_views import ViewSyntax
from forklake.store.schema.description import Backend, Column, Index, Table, Type
from forklake.store.schema.form import Form
from forklake.store.schema.versions import version_rows

_TYPES = {
    Type.SMALL_NUMBER: "SMALLINT",
    Type.NUMBER_OF_32_BITS: "INTEGER",
    Type.NUMBER: "BIGINT",
    Type.TRUTH: "BOOLEAN",
    Type.TEXT: "LONGTEXT",
    Type.LONG_TEXT: "LONGTEXT",
    Type.TIME: "DATETIME(6)",
    Type.UUID: "CHAR(36)",
    Type.BYTES: "LONGBLOB",
}
_INDEXED = 191  # characters of an unlimited text that an index contains


class _MysqlStyle:
    """DDL of MySQL and MariaDB."""

    backend = Backend.MYSQL
    reserved = frozenset({"key", "sql"})
    has_partial_indexes = False

    def declare(self, column: Column) -> str:
        name = f"VARCHAR({column.length})" if column.length else _TYPES[column.type]
        if column.generated:
            return (
                f"{name} GENERATED ALWAYS AS (\n        {column.generated}\n    ) VIRTUAL INVISIBLE"
            )
        return name

    def index(self, column: Column, index: Index) -> str:
        return f"({_INDEXED})" if column.type is Type.TEXT and not column.length else ""

    def finish(self, table: Table) -> str:
        return ""

    def settings(self, table: Table) -> frozenset[str]:
        return frozenset()

    def extend(self, table: Table) -> Iterator[Definition]:
        return iter(())


STYLE = _MysqlStyle()
_HEADER = """The metastore's schema for MariaDB 10.6 and newer, and for MySQL 8.0.21 and newer.

Load it with `forklake init`, or by hand, into a database of its own:
mariadb <database> < mysql.sql"""
_PREPARATION = (
    Definition(
        Kind.SETTING,
        "names",
        "SET NAMES utf8mb4",
        "Names and bounds are compared byte by byte, trailing spaces included. MariaDB and MySQL"
        " have different names for such a collation: each executes one of these conditional"
        " comments.",
    ),
    Definition(
        Kind.SETTING,
        "mode",
        "SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES'",
    ),
    Definition(Kind.SETTING, "engine", "SET SESSION default_storage_engine = InnoDB"),
    Definition(
        Kind.SETTING,
        "collation",
        "ALTER DATABASE CHARACTER SET utf8mb4\n"
        "    COLLATE /*M!100203 utf8mb4_nopad_bin */ /*!80017 utf8mb4_0900_bin */",
    ),
)
_VIEWS = ViewSyntax(
    text="nullif(json_unquote(json_extract({column}, '$.{key}')), 'null')",
    document="nullif(CAST(json_extract({column}, '$.{key}') AS CHAR), 'null')",
    number="CAST(json_value({column}, '$.{key}') AS SIGNED)",
    truth="json_unquote(json_extract({column}, '$.{key}')) = 'true'",
    collection="json_objectagg({key}, {value})",
    joined="concat({0}, {1}, {2})",
    text_type="CHAR",
    key='"key"',
)
# The rows come before the views: the last view shows that the metastore is complete.
_ROWS = (
    Definition(
        Kind.ROWS,
        "ducklake_sequence",
        "INSERT INTO ducklake_sequence VALUES ('snapshot', 1), ('entity', 0), ('file', 0)",
    ),
    Definition(
        Kind.ROWS,
        "ducklake_lock",
        "INSERT INTO ducklake_lock\n"
        "WITH RECURSIVE kinds AS"
        " (SELECT 1 AS kind UNION ALL SELECT kind + 1 FROM kinds WHERE kind < 31),\n"
        "places AS (SELECT 0 AS place UNION ALL SELECT place + 1 FROM places WHERE place < 31)\n"
        "SELECT kind, place FROM kinds CROSS JOIN places",
    ),
    Definition(
        Kind.ROWS,
        "ducklake_snapshot",
        "INSERT INTO ducklake_snapshot VALUES (0, utc_timestamp(6), 0, 0, 0)",
        "Snapshot 0 is the empty metastore. The first catalog gets id 0 and snapshot 1.",
    ),
    *version_rows('"key"'),
)

FORM = Form(_HEADER, _VIEWS, _ROWS, preparation=_PREPARATION, is_transactional=False)
