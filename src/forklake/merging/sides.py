"""The two sides of a merge: each catalog as it is now, and as of its last merge into the other.

A catalog and its fork are equal at the fork. The unmerged changes of a side are its snapshots since
its last merge into the other side, without the snapshots that are merges from the other side. So
any number of merges in both directions takes every change exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any

from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.errors import InvalidInput, NotFound
from forklake.model.changes import Change, ChangeKind, parse_changes
from forklake.model.entities import Row
from forklake.model.ids import SnapshotId, TableId
from forklake.model.kinds import KIND_OF, Kind
from forklake.model.merges import WHOLE_CATALOG, Merge
from forklake.store.adoption import merges_between
from forklake.store.expired import expired_since_statement, has_gaps
from forklake.store.snapshots import changes_statement


class Side:
    """One of the two catalogs, read at one snapshot."""

    def __init__(
        self,
        catalog: Catalog,
        now: SnapshotReads,
        first: Callable[[], SnapshotReads],
        since_fork: SnapshotId,
        merges: Sequence[Merge],
    ) -> None:
        self.catalog = catalog
        self.now = now
        self._first = first
        self._since_fork = since_fork
        self.departures = [one for one in merges if one.source_id == catalog.catalog_id]
        self.arrivals = [one for one in merges if one.catalog_id == catalog.catalog_id]

    def since(self, table_id: TableId = WHOLE_CATALOG) -> SnapshotId:
        """Return the snapshot up to which a table was merged into the other side."""
        snapshots = [one.source_snapshot for one in self.departures if one.is_about(table_id)]
        return max(snapshots, default=self._since_fork)

    def origin(self, table_id: TableId = WHOLE_CATALOG) -> SnapshotReads:
        """Return the catalog at the snapshot `since`: the last state that the other side has."""
        if any(one.is_about(table_id) for one in self.departures):
            return self._at(self.since(table_id))
        return self._first()

    def arrived_snapshots(self, table_id: TableId = WHOLE_CATALOG) -> list[SnapshotId]:
        """Return the snapshots since the last merge that are merges from the other side."""
        since = self.since(table_id)
        found = {
            one.snapshot_id
            for one in self.arrivals
            if one.is_about(table_id) and since < one.snapshot_id <= self.now.snapshot_id
        }
        return sorted(found)

    def at_arrival(self, snapshot: SnapshotId) -> SnapshotReads:
        """Return the catalog at one of the snapshots of `arrived_snapshots`."""
        return self._at(snapshot)

    def before_arrival(self, snapshot: SnapshotId, table_id: TableId) -> SnapshotReads:
        """Return the catalog just before one of the snapshots of `arrived_snapshots`."""
        since = self.since(table_id)
        earlier = max((one for one in self.log if since < one < snapshot), default=since)
        with self.catalog.database.reading() as connection:
            if has_gaps(connection, self.catalog.catalog_id, earlier, snapshot):
                raise _expired(self.catalog, f"The snapshot before {snapshot}")
        return self._at(earlier) if earlier > since else self.origin(table_id)

    @lru_cache(maxsize=64)  # noqa: B019 - sides live as long as their merge
    def _at(self, snapshot: SnapshotId) -> SnapshotReads:
        return _read_at(self.catalog, snapshot)

    def last_departure(self, table_id: TableId = WHOLE_CATALOG) -> SnapshotId:
        """Return the snapshot of the last merge of a table into the other side, or 0."""
        snapshots = [one.snapshot_id for one in self.departures if one.is_about(table_id)]
        return max(snapshots, default=SnapshotId(0))

    # History

    @cached_property
    def log(self) -> dict[SnapshotId, tuple[Change, ...]]:
        """Changes of each snapshot, without snapshots that have expired."""
        with self.catalog.database.reading() as connection:
            given = {
                "catalog": self.catalog.catalog_id,
                "snapshot": self.now.snapshot_id,
                "start": self._since_fork,
            }
            (rows,) = connection.run([changes_statement(connection, given)])
        return {number: parse_changes(text) for number, text in rows}

    def may_have_touched(self, table_id: TableId) -> bool:
        """Return whether rows may have changed, according to the commits; no data is read."""
        return self._has_gaps or any(
            change.object_id == table_id
            for snapshot, changes in self.log.items()
            if snapshot > self.since(table_id)
            for change in changes
        )

    @cached_property
    def _has_gaps(self) -> bool:
        """Whether snapshots have expired, so that the log of changes is incomplete."""
        with self.catalog.database.reading() as connection:
            statement = expired_since_statement(self.catalog.catalog_id, self._since_fork)
            (rows,) = connection.run([statement])
        return bool(rows)

    def kinds(self, snapshot: SnapshotId, table_id: TableId) -> set[ChangeKind]:
        """Return the kinds of change that a snapshot made to a table; empty if it has expired."""
        changes = self.log.get(snapshot, ())
        return {one.kind for one in changes if one.object_id == table_id}


def common_rows(one: Side, other: Side, kind: Kind) -> list[Row]:
    """Return the common base of two sides: definitions of a kind as of their last merge.

    The state of the source of the last merge is the base. A definition that the target did not take
    over from it was changed by the target, and only there.
    """
    rows: list[Any] = _later_source(one, other).origin().state.rows(kind)
    whole = max(one.last_departure(), other.last_departure())
    merges = (*one.departures, *other.departures)
    apart = {merge.table_id for merge in merges if merge.snapshot_id > whole}
    kept = [row for row in rows if owner_of(row) not in apart]
    for table_id in apart:
        rows_of_table: list[Any] = (
            _later_source(one, other, table_id).origin(table_id).state.rows(kind)
        )
        kept += [row for row in rows_of_table if owner_of(row) == table_id]
    return kept


def _later_source(one: Side, other: Side, table_id: TableId = WHOLE_CATALOG) -> Side:
    return one if one.last_departure(table_id) >= other.last_departure(table_id) else other


def owner_of(row: Row) -> int | None:
    """Return the id of the table, or other object, that a definition belongs to."""
    kind = KIND_OF[type(row)]
    column = kind.scope or kind.entity
    return getattr(row, column) if column else None


def read_sides(metastore: Metastore, source: str, target: str) -> tuple[Side, Side]:
    """Return source and target of a merge. One must be a fork of the other."""
    one, other = metastore.catalog(source), metastore.catalog(target)
    fork = next(
        (
            child
            for child, parent in ((one, other), (other, one))
            if child.row.parent_catalog_id == parent.catalog_id
        ),
        None,
    )
    if fork is None or one.catalog_id == other.catalog_id:
        raise InvalidInput(
            f"'{source}' cannot be merged into '{target}': neither is a fork of the other.",
            remedy="Merge a fork into its parent, or a parent into its fork.",
        )
    begin = _first_snapshot(fork)
    # Read the heads before the merges: otherwise a merge that `now` sees could be missing.
    seen = {catalog.catalog_id: catalog.now() for catalog in (one, other)}
    with metastore.database.reading() as connection:
        found = merges_between(connection, one.catalog_id, other.catalog_id)
    merges = [merge for merge in found if merge.snapshot_id <= seen[merge.catalog_id].snapshot_id]
    forked_at = fork.row.fork_snapshot
    assert forked_at is not None

    @cache
    def first() -> SnapshotReads:
        return _read_at(fork, begin)

    def side(catalog: Catalog) -> Side:
        since = begin if catalog is fork else forked_at
        return Side(catalog, seen[catalog.catalog_id], first, since, merges)

    return side(one), side(other)


def _read_at(catalog: Catalog, snapshot: SnapshotId) -> SnapshotReads:
    try:
        return catalog.at(version=snapshot)
    except NotFound:
        raise _expired(catalog, f"Snapshot {snapshot}") from None


def _expired(catalog: Catalog, what: str) -> NotFound:
    return NotFound(
        f"{what} of the catalog '{catalog.name}' has expired: the changes since the last merge are"
        " not known any more.",
        remedy="Create a new fork. To prevent this, retain the snapshots of merges, and the ones"
        " before them, when you expire snapshots.",
        catalog=catalog.name,
    )


def _first_snapshot(fork: Catalog) -> SnapshotId:
    """Return the snapshot that created a fork: the fork is still equal to its parent there."""
    with fork.database.reading() as connection:
        ((first,),) = connection.fetch(
            "SELECT min(begin_snapshot) FROM ducklake_catalog WHERE catalog_id = :catalog",
            catalog=fork.catalog_id,
        )
    return SnapshotId(first)
