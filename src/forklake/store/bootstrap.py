"""Opening a metastore: connect, optionally create the tables, check the version."""

from __future__ import annotations

import shlex
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from forklake.errors import AlreadyExists, ForklakeError, InvalidInput, NotFound, Unsupported
from forklake.model.names import checked_name
from forklake.store.database import Database
from forklake.store.partitioning import count_partitions, require_partitions
from forklake.store.upgrade import Upgrade, require_version, upgrade
from forklake.store.uri import Target, parse_uri

if TYPE_CHECKING:
    from forklake.store.mysql import MysqlDatabase


def connect(target: Target, *, metadata_schema: str | None = None, partitions: int = 0) -> Database:
    """Return a database of the target's kind. Drivers are imported only when needed."""
    match target.backend:
        case "postgresql":
            from forklake.store.postgresql import PostgresDatabase

            return PostgresDatabase(
                target.location, metadata_schema=metadata_schema, partitions=partitions
            )
        case "sqlite":
            from forklake.store.sqlite import SqliteDatabase

            return SqliteDatabase(target.location, metadata_schema=metadata_schema)
        case "duckdb":
            from forklake.store.duckdb import DuckdbDatabase

            return DuckdbDatabase(target.location, metadata_schema=metadata_schema)
        case "mysql":
            return _mysql()(target.location, metadata_schema=metadata_schema)
        case other:
            raise AssertionError(other)


def _mysql() -> type[MysqlDatabase]:
    try:
        from forklake.store.mysql import MysqlDatabase
    except ModuleNotFoundError as reason:
        raise Unsupported(
            "Metastores in MySQL or MariaDB need the package PyMySQL, which is not installed.",
            remedy="Install it: `pip install 'forklake[mysql]'`.",
        ) from reason
    return MysqlDatabase


def open_database(
    uri: str, *, create: bool = False, metadata_schema: str | None = None, partitions: int = 0
) -> Database:
    """Return the database behind an attach string, checked to be a metastore of this version."""
    require_partitions(parse_uri(uri).backend, partitions)
    database = _open(uri, create, metadata_schema, partitions)
    try:
        require_version(database)
        _check_partitions(database, partitions)
    except BaseException:
        database.close()
        raise
    return database


def upgrade_database(uri: str, *, metadata_schema: str | None = None) -> Upgrade:
    """Upgrade the metastore behind an attach string to this version. Raise NotFound without one."""
    with closing(_open(uri, False, metadata_schema, 0)) as database:
        return upgrade(database)


def _open(uri: str, create: bool, metadata_schema: str | None, partitions: int) -> Database:
    target = parse_uri(uri)
    if metadata_schema is not None:
        metadata_schema = _check_schema_name(metadata_schema)
    if target.backend == "duckdb" and not create and not Path(target.location).exists():
        raise _no_metastore(target, target.location)  # before DuckDB creates a file of that name
    database = connect(target, metadata_schema=metadata_schema, partitions=partitions)
    try:
        if not database.is_initialised():
            if not create:
                raise _no_metastore(target, database.address)
            _create(database)
    except BaseException:
        database.close()
        raise
    return database


def _check_schema_name(name: str) -> str:
    checked = checked_name(name, "metadata schema")
    if set(checked) & set("/\\"):  # with SQLite it becomes part of a file name
        raise InvalidInput(
            f"The name of the metadata schema {checked!r} contains a slash.",
            remedy="Choose a name without slashes.",
        )
    return checked


def _no_metastore(target: Target, address: str) -> NotFound:
    """Return the error for a file that is missing, or a database without a metastore."""
    if target.is_file:
        prefix = "" if target.backend == "sqlite" else f"{target.backend}:"
        uri = shlex.quote(f"ducklake:{prefix}{target.location}")
        path = Path(address)
        is_there = path.exists() and path.stat().st_size > 0
        fault = "holds no metastore" if is_there else "does not exist"
        return NotFound(
            f"DuckLake metadata not found: the file {address!r} {fault}.",
            remedy=f"Check the path, or create the metastore with: forklake init -m {uri}.",
            address=address,
        )
    return NotFound(
        f"DuckLake metadata not found: the database {address} holds no metastore.",
        remedy="Check the address and the metadata schema, or create the metastore with: forklake"
        f" init -m <address>. By hand, load schema/{target.backend}.sql.",
        address=address,
    )


def _create(database: Database) -> None:
    try:
        database.load_schema()
    except ForklakeError:
        # Another process may have created the tables first.
        if not database.is_initialised():
            raise


def _check_partitions(database: Database, wanted: int) -> None:
    """Raise AlreadyExists if the number of partitions differs: it cannot be changed."""
    if not wanted:
        return
    with database.reading() as connection:
        found = count_partitions(connection)
    if found != wanted:
        raise AlreadyExists(
            f"The metastore {database.address} already exists and has"
            f" {found or 'no'} partitions, not {wanted}.",
            remedy="Leave out the number of partitions, or create another metastore.",
        )
