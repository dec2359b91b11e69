"""Dumps of metastores of version 0.1.0, and how they are loaded.

`<database>.sql` is an empty metastore. `<database>-optional.sql` and `<database>-rows.sql` add
access rules, automations, and catalogs with a history; `make_dump` writes the rows.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pymysql
from psycopg import sql
from pymysql.constants import CLIENT

from forklake.store.bootstrap import upgrade_database
from forklake.store.mysql_address import parsed
from forklake.store.uri import parse_uri
from tests.fix_metastore import Place
from tests.upgrade.make_dump import ROOT

FOLDER = Path(__file__).parent / "version_0_1_0"
# Databases with a dump of rows.
WITH_ROWS = ("postgresql", "mysql", "sqlite", "duckdb")
_MYSQL_MODE = "ANSI_QUOTES,STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES"


def load_empty(place: Place) -> None:
    """Load an empty metastore."""
    _execute(place, _text(place, ""))


def load_optional(place: Place) -> None:
    """Add the tables of access rules and automations."""
    _execute(place, _text(place, "-optional"))


def load_rows(place: Place, folder: Path) -> None:
    """Replace all rows by catalogs with a history, whose files are copied to a folder."""
    shutil.copytree(FOLDER / "files" / place.backend, folder / "files" / place.backend)
    delta = f"{place.backend}-delta"
    shutil.copytree(FOLDER / "files" / delta, folder / "files" / delta)
    _execute(place, _text(place, "-rows").replace(str(ROOT), str(folder)))


def load(place: Place, folder: Path) -> None:
    """Load a metastore with catalogs, whose files are copied to a folder."""
    load_empty(place)
    load_optional(place)
    load_rows(place, folder)


def upgrade(place: Place) -> None:
    """Upgrade a metastore."""
    upgrade_database(place.uri, metadata_schema=place.metadata_schema)


def _text(place: Place, part: str) -> str:
    return (FOLDER / f"{place.backend}{part}.sql").read_text()


def _execute(place: Place, text: str) -> None:
    location: Any = parse_uri(place.uri).location
    match place.backend:
        case "sqlite":
            with closing(sqlite3.connect(location)) as connection:
                connection.executescript(text)
        case "duckdb":
            with duckdb.connect(location) as database:
                database.execute(text)
        case "postgresql":
            _execute_in_schema(location, place.metadata_schema or "public", text)
        case "mysql":
            _execute_in_database(location, text)


def _execute_in_schema(dsn: str, schema: str, text: str) -> None:
    name = sql.Identifier(schema)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
        connection.execute(sql.SQL("SET search_path TO {}").format(name))
        connection.execute(text.encode())


def _execute_in_database(dsn: str, text: str) -> None:
    address = parsed(dsn)
    name = address.pop("database")
    with (
        closing(pymysql.connect(**address, client_flag=CLIENT.MULTI_STATEMENTS)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(f"CREATE DATABASE IF NOT EXISTS {name}; USE {name}")
        while cursor.nextset():
            pass
        cursor.execute(f"SET SESSION sql_mode = '{_MYSQL_MODE}'; {text} COMMIT")
        while cursor.nextset():
            pass
