"""Metastores of every backend, fresh for each test."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pymysql
import pytest
from psycopg import sql

import forklake
from forklake import Metastore
from forklake.store.mysql_address import parsed

BACKENDS = ("sqlite", "duckdb", "postgresql", "mysql")
_numbers = itertools.count()  # each worker has its own server
# Runs all tests on metastores that version 0.1.0 made and that were upgraded.
IS_UPGRADED = os.environ.get("FORKLAKE_TEST_UPGRADED") == "1"
# Runs all tests on a partitioned metastore.
PARTITIONS = int(os.environ.get("FORKLAKE_TEST_PARTITIONS", "0"))


@dataclass(frozen=True)
class Place:
    """The location of a metastore, with which other processes can open it."""

    backend: str
    uri: str
    metadata_schema: str | None = None
    partitions: int = 0

    def open(self) -> Metastore:
        """Return the metastore, creating it if necessary."""
        return forklake.open(
            self.uri,
            create=True,
            metadata_schema=self.metadata_schema,
            partitions=self.partitions,
        )


@pytest.fixture(scope="session")
def shared_database(postgres_server: object) -> str:
    """Return one PostgreSQL database for all tests; each uses its own schema."""
    return postgres_server.dsn("postgres")  # type: ignore[attr-defined, no-any-return]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Return each backend in turn."""
    return str(request.param)


@pytest.fixture
def vacant_place(backend: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    """Yield a place on the backend where no metastore is yet."""
    with new_place(backend, tmp_path, request) as found:
        yield found


@pytest.fixture
def place(vacant_place: Place) -> Place:
    """Return a place for a metastore on the backend."""
    if IS_UPGRADED:
        from tests.upgrade import dumps

        dumps.load_empty(vacant_place)
        dumps.upgrade(vacant_place)
    return vacant_place


@contextmanager
def new_place(backend: str, folder: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    """Yield a place where no metastore is yet."""
    match backend:
        case "postgresql":
            with postgres_schema(request.getfixturevalue("shared_database")) as found:
                yield found
        case "mysql":
            with mysql_database(request.getfixturevalue("mysql_address")) as found:
                yield found
        case _:
            yield Place(backend, f"ducklake:{backend}:{folder / 'metastore.db'}")


class postgres_schema:  # noqa: N801
    """A schema in a PostgreSQL database, dropped at the end."""

    def __init__(self, dsn: str, partitions: int = PARTITIONS) -> None:
        self._dsn = dsn
        self._partitions = partitions
        self._name = f"metastore_{next(_numbers)}"

    def __enter__(self) -> Place:
        return Place("postgresql", f"ducklake:postgres:{self._dsn}", self._name, self._partitions)

    def __exit__(self, *_: object) -> None:
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            name = sql.Identifier(self._name)
            connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(name))


@contextmanager
def mysql_database(address: str) -> Iterator[Place]:
    """Yield a new database on a MySQL or MariaDB server, dropped at the end."""
    name = f"metastore_{os.getpid()}_{next(_numbers)}"
    yield Place("mysql", f"ducklake:mysql:{address} database={name}")
    with pymysql.connect(**parsed(address)) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {name}")


@pytest.fixture
def metastore(place: Place) -> Iterator[Metastore]:
    """Yield a fresh metastore."""
    with place.open() as found:
        yield found
