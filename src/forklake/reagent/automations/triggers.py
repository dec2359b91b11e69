"""Triggers: snapshots of a catalog that changed a watched table, found in its change log.

Snapshots of one catalog become visible in order. A reader that has read the log up to the head has
missed none, and can continue there the next time.
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
from forklake.reagent.commit_tags import facts_of
from forklake.store.automations import Watched
from forklake.store.database import Connection
from forklake.store.expired import has_gaps
from forklake.store.heads import find_head
from forklake.store.times import as_time

# Without compaction: it moves rows, but does not change them.
_ROW_CHANGES = frozenset(
    {
        ChangeKind.INSERTED,
        ChangeKind.DELETED,
        ChangeKind.INLINED_INSERT,
        ChangeKind.INLINED_DELETE,
        ChangeKind.ALTERED_TABLE,
    }
)


@dataclass(frozen=True, slots=True)
class LoggedSnapshot:
    """Snapshot with its changes."""

    snapshot_id: SnapshotId
    schema_version: int
    time: datetime
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class TableChanges:
    """Snapshots that changed a table, and the last snapshot that was examined."""

    snapshots: list[tuple[SnapshotId, datetime]]
    examined: SnapshotId


def find_table_changes(
    catalog: Catalog, watched: Watched, seen: SnapshotId, *, except_keys: str
) -> TableChanges | None:
    """Return the snapshots after `seen` that changed a table. None if the catalog was dropped.

    Commits of runs whose keys begin with `except_keys` are ignored, so that an automation does not
    trigger itself. If snapshots have expired unseen, the head is returned in their place.
    """
    with catalog.database.reading() as connection:
        head = find_head(connection, catalog.catalog_id)
        if head is None:
            return None
        upto = head.snapshot_id
        logged = list(_read_log(connection, catalog, seen, upto, except_keys))
        # Check after reading: snapshots that expire during the read may be missing in the log.
        is_whole = not has_gaps(connection, catalog.catalog_id, seen, upto)
    tables = _WatchedTable(catalog, watched)
    found = [(one.snapshot_id, one.time) for one in logged if tables.is_changed_by(one)]
    if not is_whole and (not found or found[-1][0] != upto):
        found.append((upto, head.snapshot_time))
    return TableChanges(found, upto)


def _read_log(
    connection: Connection, catalog: Catalog, seen: SnapshotId, upto: SnapshotId, except_keys: str
) -> Iterator[LoggedSnapshot]:
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
    for number, version, changes, extra_info, moment in rows:
        # A worktask that is not atomic commits without an idempotency key: use its commit tag.
        if str(facts_of(extra_info).get("run", "")).startswith(except_keys):
            continue
        yield LoggedSnapshot(SnapshotId(number), version, as_time(moment), parse_changes(changes))


class _WatchedTable:
    """Ids of the table with the watched name, by schema version of the catalog."""

    def __init__(self, catalog: Catalog, watched: Watched) -> None:
        self._catalog = catalog
        self._watched = watched
        self._ids: dict[int, int | None] = {}

    def is_changed_by(self, logged: LoggedSnapshot) -> bool:
        if self._is_created(logged.changes):
            return True
        touched = {one.object_id for one in logged.changes if one.kind in _ROW_CHANGES}
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

    def _table_at(self, logged: LoggedSnapshot) -> int | None:
        if logged.schema_version not in self._ids:
            self._ids[logged.schema_version] = self._find_table_id(logged.snapshot_id)
        return self._ids[logged.schema_version]

    def _find_table_id(self, snapshot_id: SnapshotId) -> int | None:
        state = self._catalog.at(version=snapshot_id).state
        if state.find_schema(self._watched.schema) is None:
            return None
        found = state.find_relation(self._watched.table, self._watched.schema)
        return found.table_id if isinstance(found, Table) else None
