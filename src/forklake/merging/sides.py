"""The two sides of a merge: each catalog as it is, and as the other last heard of it.

A catalog and its fork are the same up to the fork. A merge tells the target what the source did
until then: what a side did that the other has not heard of yet is what came after the last merge
in that direction, but for what the other side itself has told. So merges in both directions, as
many as one likes, take everything once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any

from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore
from forklake.catalog.reading import Snapshotted
from forklake.errors import InvalidInput, NotFound
from forklake.model.changes import Change, ChangeKind, parse_changes
from forklake.model.entities import Row
from forklake.model.ids import SnapshotId, TableId
from forklake.model.kinds import KIND_OF, Kind
from forklake.model.merges import WHOLE_CATALOG, Merge
from forklake.store.adopting import merges_between
from forklake.store.expired import expired_since_statement, has_gaps
from forklake.store.snapshots import changes_statement


class Side:
    """One of the two catalogs, read at one snapshot."""

    def __init__(
        self,
        catalog: Catalog,
        now: Snapshotted,
        first: Callable[[], Snapshotted],
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
        """The snapshot up to which the other side has heard of a table."""
        told = [one.source_snapshot for one in self.departures if one.is_about(table_id)]
        return max(told, default=self._since_fork)

    def origin(self, table_id: TableId = WHOLE_CATALOG) -> Snapshotted:
        """The catalog at that snapshot."""
        if any(one.is_about(table_id) for one in self.departures):
            return self._at(self.since(table_id))
        return self._first()

    def arrived(self, table_id: TableId = WHOLE_CATALOG) -> list[SnapshotId]:
        """The snapshots since then that are merges of the other side."""
        since = self.since(table_id)
        found = {
            one.snapshot_id
            for one in self.arrivals
            if one.is_about(table_id) and since < one.snapshot_id <= self.now.snapshot_id
        }
        return sorted(found)

    def arrival(self, snapshot: SnapshotId) -> Snapshotted:
        """The catalog at such a snapshot."""
        return self._at(snapshot)

    def before(self, snapshot: SnapshotId, table_id: TableId) -> Snapshotted:
        """The catalog just before such a snapshot."""
        since = self.since(table_id)
        earlier = max((one for one in self.log if since < one < snapshot), default=since)
        with self.catalog.database.reading() as connection:
            if has_gaps(connection, self.catalog.catalog_id, earlier, snapshot):
                raise _expired(self.catalog, f"The snapshot before {snapshot}")
        return self._at(earlier) if earlier > since else self.origin(table_id)

    @lru_cache(maxsize=64)  # noqa: B019 - sides live as long as their merge
    def _at(self, snapshot: SnapshotId) -> Snapshotted:
        return _seen_at(self.catalog, snapshot)

    def told_last(self, table_id: TableId = WHOLE_CATALOG) -> SnapshotId:
        """The merge by which the other side last heard of a table; 0 if none did."""
        told = [one.snapshot_id for one in self.departures if one.is_about(table_id)]
        return max(told, default=SnapshotId(0))

    # History

    @cached_property
    def log(self) -> dict[SnapshotId, tuple[Change, ...]]:
        """What each snapshot changed, as far as that is still known."""
        with self.catalog.database.reading() as connection:
            given = {
                "catalog": self.catalog.catalog_id,
                "snapshot": self.now.snapshot_id,
                "start": self._since_fork,
            }
            (rows,) = connection.run([changes_statement(connection, given)])
        return {number: parse_changes(text) for number, text in rows}

    def may_have_touched(self, table_id: TableId) -> bool:
        """Whether a table's rows may have changed, as far as that is known without a look."""
        return self._has_gaps or any(
            change.object_id == table_id
            for snapshot, changes in self.log.items()
            if snapshot > self.since(table_id)
            for change in changes
        )

    @cached_property
    def _has_gaps(self) -> bool:
        """Whether snapshots have expired, so that not all that was changed is known."""
        with self.catalog.database.reading() as connection:
            statement = expired_since_statement(self.catalog.catalog_id, self._since_fork)
            (rows,) = connection.run([statement])
        return bool(rows)

    def kinds(self, snapshot: SnapshotId, table_id: TableId) -> set[ChangeKind]:
        """What a snapshot did to a table; nothing if that is not known any more."""
        changes = self.log.get(snapshot, ())
        return {one.kind for one in changes if one.object_id == table_id}


def common_rows(one: Side, other: Side, kind: Kind) -> list[Row]:
    """The definitions of a kind of which both sides know: those that were told last, whoever told.

    What the other did not take over from that it had changed itself, and only itself.
    """
    rows: list[Any] = _teller(one, other).origin().state.rows(kind)
    whole = max(one.told_last(), other.told_last())
    merges = (*one.departures, *other.departures)
    apart = {merge.table_id for merge in merges if merge.snapshot_id > whole}
    kept = [row for row in rows if owner_of(row) not in apart]
    for table_id in apart:
        told: list[Any] = _teller(one, other, table_id).origin(table_id).state.rows(kind)
        kept += [row for row in told if owner_of(row) == table_id]
    return kept


def _teller(one: Side, other: Side, table_id: TableId = WHOLE_CATALOG) -> Side:
    return one if one.told_last(table_id) >= other.told_last(table_id) else other


def owner_of(row: Row) -> int | None:
    """The table, or other object, that a definition belongs to."""
    kind = KIND_OF[type(row)]
    column = kind.scope or kind.entity
    return getattr(row, column) if column else None


def sides_of(metastore: Metastore, source: str, target: str) -> tuple[Side, Side]:
    """Source and target of a merge, of which one is a fork of the other."""
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
            remedy="Merge a fork into what it was forked from, or that into the fork.",
        )
    begin = _first_snapshot(fork)
    # Before the merges are read, so that none of those that are seen is missing.
    seen = {catalog.catalog_id: catalog.now() for catalog in (one, other)}
    with metastore.database.reading() as connection:
        found = merges_between(connection, one.catalog_id, other.catalog_id)
    merges = [merge for merge in found if merge.snapshot_id <= seen[merge.catalog_id].snapshot_id]
    forked_at = fork.row.fork_snapshot
    assert forked_at is not None

    @cache
    def first() -> Snapshotted:
        return _seen_at(fork, begin)

    def side(catalog: Catalog) -> Side:
        since = begin if catalog is fork else forked_at
        return Side(catalog, seen[catalog.catalog_id], first, since, merges)

    return side(one), side(other)


def _seen_at(catalog: Catalog, snapshot: SnapshotId) -> Snapshotted:
    try:
        return catalog.at(version=snapshot)
    except NotFound:
        raise _expired(catalog, f"Snapshot {snapshot}") from None


def _expired(catalog: Catalog, what: str) -> NotFound:
    return NotFound(
        f"{what} of the catalog '{catalog.name}' has expired: what was changed since the last merge"
        " cannot be told any more.",
        remedy="Keep the snapshots of merges, and those before them: fork again to go on.",
        catalog=catalog.name,
    )


def _first_snapshot(fork: Catalog) -> SnapshotId:
    """The snapshot that made a fork: then it is still what it was forked from."""
    with fork.database.reading() as connection:
        ((first,),) = connection.fetch(
            "SELECT min(begin_snapshot) FROM ducklake_catalog WHERE catalog_id = :catalog",
            catalog=fork.catalog_id,
        )
    return SnapshotId(first)
