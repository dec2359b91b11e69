"""Checks of metastores in any database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyarrow.fs import FileType

from forklake.catalog.doctor.checks import Check, Limits, Weight
from forklake.errors import ForklakeError
from forklake.files.locations import location_of
from forklake.files.systems import file_system, is_local, translating
from forklake.model.ids import FOREVER
from forklake.store.schema.definitions import Kind
from forklake.store.schema_comparison import find_missing, find_missing_columns
from forklake.store.times import as_time

if TYPE_CHECKING:
    from forklake.catalog.metastore import Metastore

_MAINTAIN = "Run this regularly, for example from a timer: forklake maintain."
_SOME = 100  # maximum data paths to check


def _missing(metastore: Metastore, _: Limits) -> Iterator[tuple[str, str]]:
    with metastore.database.reading() as connection:
        for one in find_missing(connection):
            if one.kind is not Kind.SETTING:
                yield one.kind.value, one.name


def _missing_columns(metastore: Metastore, _: Limits) -> Iterator[tuple[str]]:
    with metastore.database.reading() as connection:
        yield from ((name,) for name in find_missing_columns(connection))


def _clock(metastore: Metastore, limits: Limits) -> Iterator[tuple[float, str]]:
    with metastore.database.reading() as connection:
        dialect = connection.dialect
        if dialect.name in {"sqlite", "duckdb"}:  # they use the clock of this process
            return
        before = datetime.now(UTC)
        ((there,),) = connection.fetch(f"SELECT {dialect.time(dialect.now)}")
    middle = before + (datetime.now(UTC) - before) / 2
    apart = (as_time(there) - middle).total_seconds()
    if abs(apart) > limits["seconds"]:
        yield abs(apart), "ahead of" if apart > 0 else "behind"


def _expired(metastore: Metastore, limits: Limits) -> list[Any]:
    with metastore.database.reading() as connection:
        rows = connection.fetch(
            "SELECT count(*) FROM ducklake_catalog_lease WHERE expires_at < :moment",
            moment=_ago(limits),
        )
    return [row for row in rows if row[0]]


def _dropped(metastore: Metastore, limits: Limits) -> list[Any]:
    with metastore.database.reading() as connection:
        rows = connection.fetch(
            "SELECT count(*) FROM ducklake_catalog_lineage l LEFT JOIN ducklake_catalog_head h"
            " ON h.catalog_id = l.catalog_id WHERE l.depth = 0 AND h.catalog_id IS NULL"
            " AND l.upto_snapshot = :forever",
            forever=FOREVER,
        )
    return [row for row in rows if row[0] > limits["catalogs"]]


def _waiting_files(metastore: Metastore, limits: Limits) -> list[Any]:
    with metastore.database.reading() as connection:
        rows = connection.fetch(
            "SELECT count(*) FROM ducklake_files_scheduled_for_deletion"
            " WHERE schedule_start < :moment",
            moment=_ago(limits),
        )
    return [row for row in rows if row[0]]


def _ago(limits: Limits) -> datetime:
    return datetime.now(UTC) - timedelta(hours=limits["hours"])


def _data_paths(metastore: Metastore, _: Limits) -> Iterator[tuple[str, str]]:
    for path in _live_data_paths(metastore):
        if problem := _problem_of(metastore, path):
            yield path, problem


def _live_data_paths(metastore: Metastore) -> list[str]:
    with metastore.database.reading() as connection:
        rows = connection.fetch(
            "SELECT DISTINCT data_path FROM ducklake_catalog WHERE end_snapshot IS NULL"
            " AND data_path IS NOT NULL LIMIT :most",
            most=_SOME,
        )
    return [path for (path,) in rows]


def _nested_data_paths(metastore: Metastore, _: Limits) -> Iterator[tuple[str, str]]:
    """Yield data paths that lie within others: older versions did not refuse all of them."""
    places = {path: f"{location_of(path).rstrip('/')}/" for path in _live_data_paths(metastore)}
    for inner, place in places.items():
        for outer, around in places.items():
            if place != around and place.startswith(around):
                yield inner, outer


def _problem_of(metastore: Metastore, path: str) -> str | None:
    """Return the problem of a data path, if any. A new folder is created by the first write."""
    try:
        system, inside = file_system(path)
        with translating(path):
            kind = system.get_file_info(inside.rstrip("/") or "/").type
    except ForklakeError as reason:
        return reason.message
    if not is_local(path):
        return None
    if kind == FileType.File:
        return "it is a file, not a folder"
    if kind == FileType.NotFound:
        return (
            "it does not exist, although files were written to it"
            if _is_used(metastore, path)
            else None
        )
    is_usable = os.access(Path(inside), os.R_OK | os.W_OK)
    return None if is_usable else "this user cannot read and write it"


def _is_used(metastore: Metastore, path: str) -> bool:
    with metastore.database.reading() as connection:
        rows = connection.fetch(
            "SELECT 1 FROM ducklake_catalog c JOIN ducklake_data_file f"
            " ON f.catalog_id = c.catalog_id AND f.end_snapshot IS NULL"
            " WHERE c.data_path = :path AND c.end_snapshot IS NULL LIMIT 1",
            path=path,
        )
    return bool(rows)


_MIRRORS = (
    "SELECT s.table_id, c.catalog_name, s.mirror_engine, s.state, coalesce(s.last_error, '')"
    " FROM dl_mirror_status s JOIN ducklake_catalog c"
    " ON c.catalog_id = s.catalog_id AND c.end_snapshot IS NULL"
    " WHERE s.state IN ('FAILED', 'DIVERGED') ORDER BY c.catalog_name, s.table_id"
)
_LAGGING = (
    "SELECT s.table_id, c.catalog_name, s.mirror_engine, max(v.version) - s.mirrored_version"
    " FROM dl_mirror_status s JOIN ducklake_catalog c"
    " ON c.catalog_id = s.catalog_id AND c.end_snapshot IS NULL"
    " JOIN dl_table_versions v ON v.catalog_id = s.catalog_id AND v.table_id = s.table_id"
    " GROUP BY s.table_id, c.catalog_name, s.mirror_engine, s.mirrored_version"
    " HAVING max(v.version) - s.mirrored_version > :versions"
    " ORDER BY c.catalog_name, s.table_id"
)

CHECKS = (
    Check(
        "schema",
        Weight.SERIOUS,
        _missing,
        "The {0} {1} is missing: it was dropped.",
        "Run: forklake init --upgrade. It creates what is missing and changes nothing else.",
    ),
    Check(
        "columns",
        Weight.SERIOUS,
        _missing_columns,
        "The column {0} is missing.",
        "Restore the metastore from a backup, or add the column as the schema file defines it.",
    ),
    Check(
        "clock",
        Weight.ADVICE,
        _clock,
        "The clock of the database is {0:.1f} s {1} the clock of this machine.",
        "Synchronize both with NTP: times to live and reads at a timestamp depend on them.",
        {"seconds": 2},
    ),
    Check(
        "expired catalogs",
        Weight.ADVICE,
        _expired,
        "Catalogs that expired more than an hour ago and were not dropped: {0:,}.",
        _MAINTAIN,
        {"hours": 1},
    ),
    Check(
        "dropped catalogs",
        Weight.ADVICE,
        _dropped,
        "Dropped catalogs that still occupy rows in the metastore: {0:,}.",
        _MAINTAIN,
        {"catalogs": 10_000},
    ),
    Check(
        "files to remove",
        Weight.ADVICE,
        _waiting_files,
        "Files that have been scheduled for deletion for more than a week: {0:,}.",
        _MAINTAIN,
        {"hours": 7 * 24},
    ),
    Check(
        "mirrors",
        Weight.SERIOUS,
        _MIRRORS,
        "The {2} mirror of table {0} of the catalog '{1}' is {3}: {4}",
        "Show the errors with: forklake delta status. Then correct their cause.",
    ),
    Check(
        "lag of mirrors",
        Weight.ADVICE,
        _LAGGING,
        "The {2} mirror of table {0} of the catalog '{1}' is {3:,} versions behind.",
        "Run: forklake delta mirror.",
        {"versions": 100},
    ),
    Check(
        "data paths",
        Weight.SERIOUS,
        _data_paths,
        "The data path {0!r} cannot be used from this machine: {1}.",
        "Mount it, or check the address and the credentials on this machine.",
    ),
    Check(
        "nested data paths",
        Weight.SERIOUS,
        _nested_data_paths,
        "The data path {0!r} lies within {1!r}, where another catalog may use the same folder.",
        "Move its catalogs: fork each with another data_path, materialize the fork, and drop the"
        " original.",
    ),
)
