"""Opening a metastore: connect, create the tables if asked, check the version."""

from __future__ import annotations

from pathlib import Path

from forklake.errors import ForklakeError, InvalidInput, NotFound, Unsupported
from forklake.model.names import checked_name
from forklake.store.database import Database
from forklake.store.uri import Target, parse_uri

VERSION = "0.5-dev1"


def connect(target: Target, *, metadata_schema: str | None = None) -> Database:
    """A database of the target's kind; drivers are loaded when they are needed."""
    match target.backend:
        case "postgresql":
            from forklake.store.postgresql import PostgresDatabase

            return PostgresDatabase(target.location, metadata_schema=metadata_schema)
        case "sqlite":
            from forklake.store.sqlite import SqliteDatabase

            return SqliteDatabase(target.location, metadata_schema=metadata_schema)
        case "duckdb":
            from forklake.store.duckdb import DuckdbDatabase

            return DuckdbDatabase(target.location, metadata_schema=metadata_schema)
        case other:
            raise AssertionError(other)


def open_database(
    uri: str, *, create: bool = False, metadata_schema: str | None = None
) -> Database:
    """The database behind an attach string, checked to be a metastore of this version."""
    target = parse_uri(uri)
    if metadata_schema is not None:
        metadata_schema = _checked_schema(metadata_schema)
    if target.backend == "duckdb" and not create and not Path(target.location).exists():
        raise _no_metastore(target.location)  # before DuckDB makes an empty file of that name
    database = connect(target, metadata_schema=metadata_schema)
    try:
        if not database.is_initialised():
            if not create:
                raise _no_metastore(database.address)
            _create(database)
        check_version(database)
    except BaseException:
        database.close()
        raise
    return database


def _checked_schema(name: str) -> str:
    checked = checked_name(name, "metadata schema")
    if set(checked) & set("/\\"):  # beside a SQLite file it is part of a file's name
        raise InvalidInput(
            f"The metadata schema {checked!r} contains a slash.", remedy="Choose another name."
        )
    return checked


def _no_metastore(address: str) -> NotFound:
    return NotFound(
        "DuckLake metadata not found. Run schema/postgresql.sql or schema/duckdb.sql first.",
        remedy="Or create the metastore with: forklake init.",
        address=address,
    )


def _create(database: Database) -> None:
    try:
        database.load_schema()
    except ForklakeError:
        # Somebody else may have been faster; then everything is there already.
        if not database.is_initialised():
            raise


def check_version(database: Database) -> None:
    """Refuse a metastore that this version cannot read."""
    with database.reading() as connection:
        rows = connection.fetch("SELECT value FROM ducklake_metadata WHERE key = 'version'")
    version = rows[0][0] if rows else "none"
    if version != VERSION:
        raise Unsupported(
            f"Unsupported DuckLake version: {version}. Expected {VERSION}. This version requires a"
            " fresh schema. Migration from older versions is not supported.",
            address=database.address,
        )
