"""Listings: what is known of the files of a table, put together once and read at a stroke.

A listing holds the files that one catalog has begun up to a snapshot, ended ones included. Nothing
in it ever changes and nothing depends on it: which files a reader sees is asked as always, those
that began later are read as always, and a listing that is missing costs time only. It is made of
parts, each a value in Arrow's format.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from weakref import WeakKeyDictionary

from forklake.model.ids import CatalogId, SnapshotId, TableId
from forklake.store.database import Database, Dialect, Lock, Readable, Rows
from forklake.store.operations import Insert, Statement
from forklake.store.undone import again_if_undone

NAME = "ducklake_file_listing"
_COLUMNS = ("catalog_id", "table_id", "upto_snapshot", "part", "column_id", "number", "body")
NO_COLUMN = -1


class Part(StrEnum):
    """What a row of a listing holds."""

    FILES = "files"  # the rows of the files
    BOUNDS = "bounds"  # what is known of a column in each of them, in the same order
    ZONES = "zones"  # the bounds of a column in groups of files with similar values
    NUMBERS = "numbers"  # the files of one of these groups


@dataclass(frozen=True, slots=True)
class Listed:
    """A part of a listing.

    `number`: of numbers, the zone; of files and bounds, 1 for files that had ended, 0 for others.
    """

    catalog_id: CatalogId
    upto_snapshot: SnapshotId
    part: Part
    column_id: int
    number: int
    body: bytes


_are_kept: WeakKeyDictionary[Readable, bool] = WeakKeyDictionary()


def are_kept(database: Readable) -> bool:
    """Whether a metastore has the table of listings: those made by older versions have not."""
    if database not in _are_kept:
        with database.reading() as connection:
            columns = connection.fetch(connection.dialect.every_column)
        _are_kept[database] = any(table == NAME for table, *_ in columns)
    return _are_kept[database]


def parts_text(parts: Iterable[Part], condition: str = "") -> str:
    """SELECT of parts of the listings of :scope on a catalog's line."""
    chosen = ", ".join(f"p.{column}" for column in _COLUMNS if column != "table_id")
    wanted = ", ".join(f"'{part}'" for part in parts)
    return (
        f"SELECT {chosen} FROM lineage l JOIN {NAME} p ON p.catalog_id = l.ancestor_id"
        f" AND p.table_id = :scope AND p.part IN ({wanted}){condition}"
    )


def newest(rows: Rows) -> list[Listed]:
    """The parts of the newest listing of each catalog, among those that were read."""
    found = [Listed(*row) for row in rows]
    last: dict[CatalogId, SnapshotId] = {}
    for one in found:
        last[one.catalog_id] = max(one.upto_snapshot, last.get(one.catalog_id, one.upto_snapshot))
    return [one for one in found if one.upto_snapshot == last[one.catalog_id]]


def last_listing(catalog_id: CatalogId, table_id: TableId) -> Statement:
    """SELECT of the snapshot up to which a catalog has listed the files of a table; -1 for none."""
    return Statement(
        f"SELECT coalesce(max(upto_snapshot), -1) FROM {NAME} WHERE catalog_id = :catalog"
        " AND table_id = :scope",
        {"catalog": catalog_id, "scope": table_id},
    )


@again_if_undone
def put_listing(database: Database, table_id: TableId, parts: Sequence[Listed]) -> None:
    """Keep a listing in the place of an older one of the same catalog and table."""
    catalog_id, upto = parts[0].catalog_id, parts[0].upto_snapshot
    given = {"catalog": catalog_id, "scope": table_id}
    rows = [
        (one.catalog_id, table_id, one.upto_snapshot, one.part, one.column_id, one.number, one.body)
        for one in parts
    ]
    with database.writing() as connection:
        # Others may keep one at this moment; and the files may go, and their listings with them.
        connection.run(connection.lock(Lock.SWEEP))
        last, files = connection.run([last_listing(catalog_id, table_id), Statement(_FILES, given)])
        if files and last[0][0] < upto:
            connection.commit([Statement(_OLD, given), Insert(NAME, _COLUMNS, rows)])


_FILES = (
    "SELECT 1 FROM ducklake_data_file WHERE catalog_id = :catalog AND table_id = :scope LIMIT 1"
)
_OLD = f"DELETE FROM {NAME} WHERE catalog_id = :catalog AND table_id = :scope"


def idle_text(dialect: Dialect) -> str:
    """DELETE of the listings of :catalogs of whose files no row is left."""
    among = dialect.any_of("catalog_id", "catalogs")
    return (
        f"DELETE FROM {NAME} WHERE {among} AND NOT EXISTS (SELECT 1 FROM ducklake_data_file f"
        f" WHERE f.catalog_id = {NAME}.catalog_id AND f.table_id = {NAME}.table_id)"
    )
