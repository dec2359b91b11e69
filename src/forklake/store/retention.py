"""Rows that may be deleted, found in the database: the rule of `model.retention` as one statement.

All rows of a table with the same begin and end are treated alike, so the statement decides about
intervals. For each it finds the next retained point, in one pass over intervals and points in
order: the same text is fast on all databases, for any number of snapshots, forks and rows.

The statements take the parameter :catalogs, the catalogs whose rows are checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forklake.model.ids import FOREVER
from forklake.model.kinds import DATA_FILE, DELETE_FILE, KINDS
from forklake.store.database import Dialect

_END = f"coalesce(end_snapshot, {FOREVER})"


@dataclass(frozen=True, slots=True)
class Versioned:
    """Table of rows that are valid for an interval of snapshots, and the ends of the interval."""

    name: str
    begin: str = "begin_snapshot"
    end: str = _END


# Not one of KINDS. A tombstone is valid from its snapshot on, without end.
TOMBSTONES = Versioned("ducklake_tombstone", "end_snapshot", str(FOREVER))
SCHEMA_VERSIONS = "ducklake_schema_versions"


def versioned_tables() -> Iterator[Versioned]:
    """Yield all tables of rows with a begin and an end, except for files and inlined rows."""
    yield from (Versioned(kind.name) for kind in KINDS if kind not in (DATA_FILE, DELETE_FILE))
    yield TOMBSTONES


def that_may_go(table: Versioned, dialect: Dialect) -> str:
    """Return a condition on rows of a table: they belong to :catalogs and no snapshot sees them."""
    among = dialect.any_of("catalog_id", "catalogs")
    intervals = (
        f"SELECT DISTINCT catalog_id, {table.begin} AS began, {table.end} AS ended"
        f" FROM {table.name} WHERE {among}"
    )
    return (
        f"{among} AND (catalog_id, {table.begin}, {table.end}) IN ("
        f"{_dead(intervals, dialect)} SELECT catalog_id, began, ended FROM dead)"
    )


def schema_versions_that_may_go(dialect: Dialect) -> str:
    """Return the same for schema versions, each of which is valid until the next."""
    among = dialect.any_of("catalog_id", "catalogs")
    following = "lead(begin_snapshot) OVER (PARTITION BY catalog_id ORDER BY begin_snapshot)"
    intervals = (
        f"SELECT catalog_id, begin_snapshot AS began, coalesce({following}, {FOREVER}) AS ended"
        f" FROM {SCHEMA_VERSIONS} WHERE {among}"
    )
    return (
        f"{among} AND (catalog_id, begin_snapshot) IN ("
        f"{_dead(intervals, dialect)} SELECT catalog_id, began FROM dead)"
    )


def _dead(intervals: str, dialect: Dialect) -> str:
    """Return WITH … dead(catalog_id, began, ended): the intervals that contain no point."""
    return (
        f"WITH intervals AS ({intervals}), marks AS ({_points(dialect)}"
        " UNION ALL SELECT catalog_id, began, CAST(NULL AS BIGINT) FROM intervals),"
        " following AS (SELECT DISTINCT catalog_id, mark, min(point)"
        " OVER (PARTITION BY catalog_id ORDER BY mark DESC) AS point FROM marks),"
        " dead AS (SELECT i.catalog_id, i.began, i.ended FROM intervals i JOIN following f"
        " ON f.catalog_id = i.catalog_id AND f.mark = i.began"
        f" WHERE i.ended <= coalesce(f.point, {FOREVER}))"
    )


def _points(dialect: Dialect) -> str:
    """Return SELECT catalog_id, mark, point: retained snapshots, and fork points of live forks.

    A catalog is live while it has a head.
    """
    return (
        "SELECT catalog_id, snapshot_id AS mark, snapshot_id AS point"
        f" FROM ducklake_snapshot_changes WHERE {dialect.any_of('catalog_id', 'catalogs')}"
        " UNION ALL SELECT l.ancestor_id, l.upto_snapshot, l.upto_snapshot"
        " FROM ducklake_catalog_lineage l JOIN ducklake_catalog_head h"
        " ON h.catalog_id = l.catalog_id"
        f" WHERE {dialect.any_of('l.ancestor_id', 'catalogs')} AND l.depth > 0"
    )
