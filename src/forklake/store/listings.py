"""Listings: cached file lists of tables, each written once and read in one query.

A listing holds the files that one catalog has begun up to a snapshot, ended ones included. It is
immutable, and nothing depends on it: which files a reader sees is queried as always, files that
began later are read as always, and a missing listing only costs time. It consists of parts, each
an Arrow stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from weakref import WeakKeyDictionary

from forklake.model.ids import CatalogId, SnapshotId, TableId
from forklake.store.database import Database, Dialect, Lock, Readable, Rows
from forklake.store.deadlock_retry import again_if_undone
from forklake.store.operations import Insert, Statement
from forklake.store.schema.file_tables import FILE_LISTING

NAME = "ducklake_file_listing"
_COLUMNS = FILE_LISTING.column_names
NO_COLUMN = -1


class Part(StrEnum):
    """Content of a row of a listing."""

    FILES = "files"  # the rows of the files
    BOUNDS = "bounds"  # statistics of a column for each of these files, in the same order
    ZONES = "zones"  # the bounds of a column in groups of files with similar values
    NUMBERS = "numbers"  # the files of one of these groups


@dataclass(frozen=True, slots=True)
class Listed:
    """Part of a listing.

    `number`: for NUMBERS, the zone; for FILES and BOUNDS, 1 for ended files and 0 for others.
    """

    catalog_id: CatalogId
    upto_snapshot: SnapshotId
    part: Part
    column_id: int
    number: int
    body: bytes


_are_kept: WeakKeyDictionary[Readable, bool] = WeakKeyDictionary()


def are_kept(database: Readable) -> bool:
    """Return whether a metastore has the table of listings. Those of older versions do not."""
    if database not in _are_kept:
        with database.reading() as connection:
            columns = connection.fetch(connection.dialect.every_column)
        _are_kept[database] = any(table == NAME for table, *_ in columns)
    return _are_kept[database]


def parts_text(parts: Iterable[Part], condition: str = "") -> str:
    """Return the SELECT of parts of the listings of :scope in a catalog's lineage."""
    chosen = ", ".join(f"p.{column}" for column in _COLUMNS if column != "table_id")
    wanted = ", ".join(f"'{part}'" for part in parts)
    return (
        f"SELECT {chosen} FROM lineage l JOIN {NAME} p ON p.catalog_id = l.ancestor_id"
        f" AND p.table_id = :scope AND p.part IN ({wanted}){condition}"
    )


def newest(rows: Rows) -> list[Listed]:
    """Return the parts of the newest listing of each catalog in a result."""
    found = [Listed(*row) for row in rows]
    last: dict[CatalogId, SnapshotId] = {}
    for one in found:
        last[one.catalog_id] = max(one.upto_snapshot, last.get(one.catalog_id, one.upto_snapshot))
    return [one for one in found if one.upto_snapshot == last[one.catalog_id]]


def last_listing(catalog_id: CatalogId, table_id: TableId) -> Statement:
    """Return the SELECT of the snapshot of the last listing of a table in a catalog; -1 if none."""
    return Statement(
        f"SELECT coalesce(max(upto_snapshot), -1) FROM {NAME} WHERE catalog_id = :catalog"
        " AND table_id = :scope",
        {"catalog": catalog_id, "scope": table_id},
    )


@again_if_undone
def put_listing(database: Database, table_id: TableId, parts: Sequence[Listed]) -> None:
    """Store a listing, replacing an older one of the same catalog and table."""
    catalog_id, upto = parts[0].catalog_id, parts[0].upto_snapshot
    given = {"catalog": catalog_id, "scope": table_id}
    rows = [
        (one.catalog_id, table_id, one.upto_snapshot, one.part, one.column_id, one.number, one.body)
        for one in parts
    ]
    with database.writing() as connection:
        # Another process may store one now, or sweep the files and their listings.
        connection.run(connection.lock(Lock.SWEEP))
        last, files = connection.run([last_listing(catalog_id, table_id), Statement(_FILES, given)])
        if files and last[0][0] < upto:
            connection.commit([Statement(_OLD, given), Insert(NAME, _COLUMNS, rows)])


_FILES = (
    "SELECT 1 FROM ducklake_data_file WHERE catalog_id = :catalog AND table_id = :scope LIMIT 1"
)
_OLD = f"DELETE FROM {NAME} WHERE catalog_id = :catalog AND table_id = :scope"


def idle_text(dialect: Dialect) -> str:
    """Return the DELETE of the listings of :catalogs for whose files no row is left."""
    among = dialect.any_of("catalog_id", "catalogs")
    return (
        f"DELETE FROM {NAME} WHERE {among} AND NOT EXISTS (SELECT 1 FROM ducklake_data_file f"
        f" WHERE f.catalog_id = {NAME}.catalog_id AND f.table_id = {NAME}.table_id)"
    )
