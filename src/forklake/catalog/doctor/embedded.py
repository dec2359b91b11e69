"""Checks of metastores in a file: SQLite and DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklake.catalog.doctor.checks import Check, Limits, Weight
from forklake.model.figures import size

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore


def _large(metastore: Metastore, limits: Limits) -> Iterator[tuple[str, str]]:
    path = Path(metastore.database.address)
    if path.exists() and path.stat().st_size > limits["bytes"]:
        yield str(path), size(path.stat().st_size)


def _damage(metastore: Metastore, _: Limits) -> Iterator[tuple[str]]:
    with metastore.database.reading() as connection:
        said = [str(text) for (text,) in connection.fetch("PRAGMA quick_check")]
    yield from ((text,) for text in said if text != "ok")


def _journal(metastore: Metastore, _: Limits) -> Iterator[tuple[str]]:
    with metastore.database.reading() as connection:
        ((mode,),) = connection.fetch("PRAGMA journal_mode")
    if mode != "wal":
        yield (mode,)


_SIZE = Check(
    "size",
    Weight.ADVICE,
    _large,
    "The file {0} has {1}.",
    "From this size on, and for many writers, PostgreSQL is the better place.",
    {"bytes": 20_000_000_000},
)
SQLITE = (
    Check(
        "integrity",
        Weight.SERIOUS,
        _damage,
        "SQLite finds damage: {0}",
        "Stop writing, keep a copy of the file, and restore it from a backup.",
    ),
    Check(
        "journal",
        Weight.ADVICE,
        _journal,
        "The journal mode is {0}: readers and writers wait for each other.",
        "Run in the file: PRAGMA journal_mode = WAL; and keep it on a local disk.",
    ),
    _SIZE,
)
DUCKDB = (_SIZE,)
