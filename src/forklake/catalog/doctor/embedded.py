"""Checks of metastores in SQLite and DuckDB files."""

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
        results = [str(text) for (text,) in connection.fetch("PRAGMA quick_check")]
    yield from ((text,) for text in results if text != "ok")


def _journal(metastore: Metastore, _: Limits) -> Iterator[tuple[str]]:
    with metastore.database.reading() as connection:
        ((mode,),) = connection.fetch("PRAGMA journal_mode")
    if mode != "wal":
        yield (mode,)


_SIZE = Check(
    "size",
    Weight.ADVICE,
    _large,
    "The size of the file {0} is {1}.",
    "For metastores of this size, and for many writers, use PostgreSQL.",
    {"bytes": 20_000_000_000},
)
SQLITE = (
    Check(
        "integrity",
        Weight.SERIOUS,
        _damage,
        "SQLite reports damage: {0}",
        "Stop all writers, keep a copy of the file, and restore it from a backup.",
    ),
    Check(
        "journal",
        Weight.ADVICE,
        _journal,
        "The journal mode is {0}, so readers and writers block each other.",
        "Run in the file: PRAGMA journal_mode = WAL; and keep the file on a local disk.",
    ),
    _SIZE,
)
DUCKDB = (_SIZE,)
