"""Metastores of every backend, fresh for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

import forklake
from forklake import Metastore

BACKENDS = ("sqlite", "duckdb", "postgresql")
_numbers = itertools.count()  # a worker has a server of its own


@dataclass(frozen=True)
class Place:
    """Where a metastore is, so that another process can open it too."""

    backend: str
    uri: str
    metadata_schema: str | None = None

    def open(self) -> Metastore:
        """The metastore, made if need be."""
        return forklake.open(self.uri, create=True, metadata_schema=self.metadata_schema)


@pytest.fixture(scope="session")
def shared_database(postgres_server: object) -> str:
    """One PostgreSQL database for all tests; each works in a schema of its own."""
    return postgres_server.dsn("postgres")  # type: ignore[attr-defined, no-any-return]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend in turn."""
    return str(request.param)


@pytest.fixture
def place(backend: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    """A place for a metastore on the backend."""
    if backend != "postgresql":
        yield Place(backend, f"ducklake:{backend}:{tmp_path / 'metastore.db'}")
        return
    dsn = request.getfixturevalue("shared_database")
    with postgres_schema(dsn) as found:
        yield found


class postgres_schema:  # noqa: N801
    """A schema of its own in a PostgreSQL database, dropped at the end."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._name = f"metastore_{next(_numbers)}"

    def __enter__(self) -> Place:
        return Place("postgresql", f"ducklake:postgres:{self._dsn}", self._name)

    def __exit__(self, *_: object) -> None:
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            name = sql.Identifier(self._name)
            connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(name))


@pytest.fixture
def metastore(place: Place) -> Iterator[Metastore]:
    """A fresh metastore."""
    with place.open() as found:
        yield found
