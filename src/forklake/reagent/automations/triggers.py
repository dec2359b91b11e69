"""Triggers: the snapshots of a catalog that touched a table, found in its change log.

The snapshots of one catalog become visible in their order. So whoever has read all up to its head
has missed none, and goes on from there the next time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from forklake.catalog.catalog import Catalog
from forklake.errors import NotFound
from forklake.model.changes import Change, ChangeKind, parse_changes
from forklake.model.entities import Table
from forklake.model.ids import SnapshotId
from forklake.reagent.stamping import facts_of
from forklake.store.automations import Watched
from forklake.store.database import Connection
from forklake.store.expired import has_gaps
from forklake.store.heads import find_head
from forklake.store.times import as_time

# Compaction is not among them: it moves rows, and changes none.
_TOUCHES = frozenset(
    {
        ChangeKind.INSERTED,
        ChangeKind.DELETED,
        ChangeKind.INLINED_INSERT,
        ChangeKind.INLINED_DELETE,
        ChangeKind.ALTERED_TABLE,
    }
)


@dataclass(frozen=True, slots=True)
class Logged:
    """A snapshot, and what it changed."""

    snapshot_id: SnapshotId
    schema_version: int
    time: datetime
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The snapshots that touched a table, and up to which one was looked."""

    snapshots: list[tuple[SnapshotId, datetime]]
    seen: SnapshotId


def find_touches(
    catalog: Catalog, watched: Watched, seen: SnapshotId, *, except_keys: str
) -> Found | None:
    """The snapshots after `seen` that touched a table; None if the catalog is gone.

    Commits of runs whose keys begin with `except_keys` do not count: an automation does not wake
    itself.
    Where snapshots have expired before anybody looked, the newest one counts for them.
    """
    with catalog.database.reading() as connection:
        head = find_head(connection, catalog.catalog_id)
        if head is None:
            return None
        upto = head.snapshot_id
        logged = list(_log(connection, catalog, seen, upto, except_keys))
        # Afterwards: what has gone meanwhile may be missing.
        is_whole = not has_gaps(connection, catalog.catalog_id, seen, upto)
    tables = _Tables(catalog, watched)
    found = [(one.snapshot_id, one.time) for one in logged if tables.are_touched_by(one)]
    if not is_whole and (not found or found[-1][0] != upto):
        found.append((upto, head.snapshot_time))
    return Found(found, upto)


def _log(
    connection: Connection, catalog: Catalog, seen: SnapshotId, upto: SnapshotId, except_keys: str
) -> Iterator[Logged]:
    rows = connection.fetch(
        "SELECT h.snapshot_id, s.schema_version, h.changes_made, h.commit_extra_info,"
        f" {connection.dialect.time('s.snapshot_time')}"
        " FROM ducklake_snapshot_changes h JOIN ducklake_snapshot s"
        " ON s.snapshot_id = h.snapshot_id WHERE h.catalog_id = :catalog"
        " AND h.snapshot_id > :seen AND h.snapshot_id <= :upto"
        " AND (h.idempotency_key IS NULL OR h.idempotency_key NOT LIKE :keys)"
        " ORDER BY h.snapshot_id",
        catalog=catalog.catalog_id,
        seen=seen,
        upto=upto,
        keys=f"{except_keys}%",
    )
    for number, version, changes, stamp, moment in rows:
        # A task that is not atomic commits without a key.
        if str(facts_of(stamp).get("run", "")).startswith(except_keys):
            continue
        yield Logged(SnapshotId(number), version, as_time(moment), parse_changes(changes))


class _Tables:
    """Which table bore the watched name, by version of the catalog's definitions."""

    def __init__(self, catalog: Catalog, watched: Watched) -> None:
        self._catalog = catalog
        self._watched = watched
        self._known: dict[int, int | None] = {}

    def are_touched_by(self, logged: Logged) -> bool:
        if self._is_created(logged.changes):
            return True
        touched = {one.object_id for one in logged.changes if one.kind in _TOUCHES}
        try:
            return bool(touched) and self._table_at(logged) in touched
        except NotFound:  # the snapshot has expired since the log was read
            return True

    def _is_created(self, changes: Iterable[Change]) -> bool:
        wanted = (self._watched.schema.casefold(), self._watched.table.casefold())
        return any(
            one.kind is ChangeKind.CREATED_TABLE and tuple(map(str.casefold, one.name)) == wanted
            for one in changes
        )

    def _table_at(self, logged: Logged) -> int | None:
        if logged.schema_version not in self._known:
            self._known[logged.schema_version] = self._look(logged.snapshot_id)
        return self._known[logged.schema_version]

    def _look(self, snapshot_id: SnapshotId) -> int | None:
        state = self._catalog.at(version=snapshot_id).state
        if state.find_schema(self._watched.schema) is None:
            return None
        found = state.find_relation(self._watched.table, self._watched.schema)
        return found.table_id if isinstance(found, Table) else None
