"""Storage use as stored in the metastore: intervals of files, and the forks that pin them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forklake.model.ids import FOREVER, CatalogId
from forklake.model.kinds import DATA_FILE, DELETE_FILE, Kind
from forklake.model.usage import FileInterval, Pin, Point
from forklake.store.database import Connection
from forklake.store.operations import Statement
from forklake.store.table_cache import is_ours


@dataclass(frozen=True, slots=True)
class Owned:
    """Files of one catalog, its snapshots, and the points at which live forks read it.

    `pins` are the fork points of the readers that were requested.
    """

    intervals: list[FileInterval]
    snapshots: list[int]
    points: list[Point]
    pins: list[Pin]


def owners_of(connection: Connection, catalogs: Sequence[CatalogId]) -> list[CatalogId]:
    """Return all catalogs of which `catalogs` see rows, themselves included."""
    dialect = connection.dialect
    rows = connection.fetch(
        "SELECT DISTINCT ancestor_id FROM ducklake_catalog_lineage"
        f" WHERE {dialect.any_of('catalog_id', 'catalogs')}",
        catalogs=dialect.array(catalogs),
    )
    return [number for (number,) in rows]


def read_usage(
    connection: Connection, owners: Sequence[CatalogId], readers: Sequence[CatalogId]
) -> dict[CatalogId, Owned]:
    """Return the files of `owners` and their retention points, with the pins of `readers`."""
    dialect = connection.dialect
    given = {"owners": dialect.array(owners), "readers": dialect.array(readers)}
    forks = (
        "FROM ducklake_catalog_lineage l JOIN ducklake_catalog_head h"
        " ON h.catalog_id = l.catalog_id WHERE l.depth > 0"
    )
    texts = [
        "SELECT catalog_id, snapshot_id FROM ducklake_snapshot_changes"
        f" WHERE {dialect.any_of('catalog_id', 'owners')} ORDER BY snapshot_id",
        f"SELECT l.ancestor_id, l.upto_snapshot, count(*), min(l.catalog_id) {forks}"
        f" AND {dialect.any_of('l.ancestor_id', 'owners')}"
        " GROUP BY l.ancestor_id, l.upto_snapshot ORDER BY l.upto_snapshot",
        f"SELECT l.ancestor_id, l.upto_snapshot, l.catalog_id {forks}"
        f" AND {dialect.any_of('l.catalog_id', 'readers')}",
        *(_intervals(connection, kind) for kind in (DATA_FILE, DELETE_FILE)),
    ]
    snapshots, points, pins, *intervals = connection.run([Statement(text, given) for text in texts])
    found = {owner: Owned([], [], [], []) for owner in owners}
    for owner, number in snapshots:
        found[owner].snapshots.append(number)
    for owner, upto, count, reader in points:
        found[owner].points.append(Point(upto, count, reader))
    for owner, upto, reader in pins:
        found[owner].pins.append(Pin(upto, reader))
    for owner, begin, end, is_copied, size in (row for rows in intervals for row in rows):
        found[owner].intervals.append(FileInterval(begin, end, bool(is_copied), int(size)))
    return found


def _intervals(connection: Connection, kind: Kind) -> str:
    """Return the SELECT of the bytes of files, grouped by begin and end.

    Files that other catalogs have rows of too, or that Forklake does not own, are a separate group.
    """
    end = f"coalesce(r.end_snapshot, {FOREVER})"
    copied = (
        f"(NOT {is_ours(kind)} OR EXISTS (SELECT 1 FROM {kind.name} o"
        f" WHERE o.{kind.entity} = r.{kind.entity} AND o.catalog_id <> r.catalog_id))"
    )
    return (
        "SELECT catalog_id, began, ended, is_copied, sum(bytes) FROM ("
        f"SELECT r.catalog_id, r.begin_snapshot AS began, {end} AS ended, {copied} AS is_copied,"
        f" r.file_size_bytes AS bytes FROM {kind.name} r"
        f" WHERE {connection.dialect.any_of('r.catalog_id', 'owners')}) f"
        " GROUP BY catalog_id, began, ended, is_copied"
    )
