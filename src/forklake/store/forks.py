"""Forks: a catalog row, its lineage and its head. No rows of the parent are copied or changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from forklake.errors import AlreadyExists
from forklake.model.changes import Change, ChangeKind
from forklake.model.ids import FOREVER, CatalogId, SnapshotId
from forklake.model.requests import ForkMode, ForkRequest
from forklake.model.snapshots import Head
from forklake.store.catalogs import CatalogRow, find_names, find_parent_and_forks, missing
from forklake.store.data_paths import claim_data_path
from forklake.store.database import Connection, Database, Lock
from forklake.store.heads import as_head, following, head_statement, snapshot_insert
from forklake.store.holds import hold_statement, refuse_held
from forklake.store.leases import leases_insert
from forklake.store.materialize import copy_operations
from forklake.store.operations import Allocate, Insert, Operation, Statement
from forklake.store.phases import reached
from forklake.store.provisioning import (
    LINEAGE_COLUMNS,
    Besides,
    Folders,
    Provided,
    catalog_inserts,
    names_to_make,
    nothing_besides,
)
from forklake.store.snapshots import snapshot_at_version

# Every read walks the whole lineage: a fork that would exceed this is materialized.
MAX_DEPTH = 64


Ancestor = tuple[CatalogId, SnapshotId]


def fork_catalogs(
    database: Database,
    request: ForkRequest,
    *,
    expires_at: datetime | None,
    besides: Besides = nothing_besides,
) -> Provided:
    """Create forks in one snapshot. Existing ones are kept."""
    with database.writing() as connection:
        reached("fork.begun")
        parent, existing = find_parent_and_forks(connection, request.parent, request.names)
        names = names_to_make(existing, request.names, if_not_exists=request.if_not_exists)
        _require_same_forks(connection, existing, parent, request)
        if not names:
            return Provided(existing, 0)
        if request.data_path not in (None, parent.data_path):
            claim_data_path(connection, request.data_path)
        planned = Folders.for_names(names)
        *_, heads, held, ancestors, used, (allocation,) = connection.run(
            [
                *connection.lock(Lock.FENCE, shared=True),  # before the head: commits do so too
                head_statement(connection, parent.catalog_id, connection.dialect.for_fork),
                hold_statement(parent.catalog_id),
                _lineage_statement(parent.catalog_id),
                planned.statement(connection),
                Allocate(entities=len(names)),
            ]
        )
        refuse_held(held, parent.catalog_name, "forked")
        head = _fork_point(connection, parent, as_head(heads), _snapshot(request))
        line = [(ancestor, min(upto, head.snapshot_id)) for ancestor, upto in ancestors]
        reached("fork.locked")
        made = [
            CatalogRow(
                CatalogId(number),
                catalog_uuid,
                name,
                allocation.snapshot_id,
                parent.catalog_id,
                head.snapshot_id,
                request.data_path or parent.data_path,
                path,
            )
            for number, name, (catalog_uuid, path) in zip(
                allocation.entity_ids, names, planned.chosen(used), strict=True
            )
        ]
        forked = Change(ChangeKind.FORKED, parent.catalog_id)
        new_head = following(head, allocation)
        operations: list[Operation] = [
            snapshot_insert(allocation, new_head),
            *catalog_inserts(made, new_head, forked),
            Insert("ducklake_catalog_lineage", LINEAGE_COLUMNS, _lineage_rows(made, line)),
            *leases_insert([row.catalog_id for row in made], expires_at),
            *besides(connection, made),
        ]
        if request.mode == ForkMode.COPY or len(line) >= MAX_DEPTH:
            connection.run(operations)
            operations = [
                operation
                for row in made
                for operation in copy_operations(connection, row.catalog_id, row.data_path)
            ]
        reached("fork.prepared")
        connection.commit(operations)
        reached("fork.committed")
        return Provided(existing + made, len(made))


def _require_same_forks(
    connection: Connection,
    existing: Sequence[CatalogRow],
    parent: CatalogRow,
    request: ForkRequest,
) -> None:
    """Raise AlreadyExists unless the existing catalogs are the forks that were requested."""
    at = _snapshot(request)
    for row in existing:
        if row.parent_catalog_id != parent.catalog_id:
            other = [] if row.parent_catalog_id is None else [row.parent_catalog_id]
            names = list(find_names(connection, other).values())
            raise other_fork(row, parent.catalog_name, names[0] if names else None)
        if at is not None and at != row.fork_snapshot:
            at = snapshot_at_version(connection, parent.catalog_id, at).snapshot_id
        if at is not None and at != row.fork_snapshot:
            raise AlreadyExists(
                f"The catalog '{row.catalog_name}' already exists and is a fork of"
                f" '{parent.catalog_name}' at snapshot {row.fork_snapshot}, not {at}.",
                remedy="Choose another name, or leave out the snapshot.",
                fork=row.catalog_name,
            )
        if request.data_path not in (None, row.data_path):
            raise AlreadyExists(
                f"The catalog '{row.catalog_name}' already exists and has the data path"
                f" {row.data_path!r}, not {request.data_path!r}.",
                remedy="Choose another name, or leave out the data path.",
                fork=row.catalog_name,
            )


def _snapshot(request: ForkRequest) -> SnapshotId | None:
    return None if request.at is None else SnapshotId(request.at)


def other_fork(row: CatalogRow, parent: str, of: str | None) -> AlreadyExists:
    """Return the error for a catalog whose parent is `of` (None if unknown) instead of `parent`."""
    has_parent = row.parent_catalog_id is not None
    known = f"a fork of '{of}'" if of is not None else "a fork of another catalog"
    return AlreadyExists(
        f"The catalog '{row.catalog_name}' already exists and is"
        f" {f'{known}, not of' if has_parent else 'not a fork of'} '{parent}'.",
        remedy="Choose another name.",
        fork=row.catalog_name,
        parent=of,
    )


def _lineage_statement(catalog_id: CatalogId) -> Statement:
    """Return the statement that reads a lineage, nearest ancestor first."""
    return Statement(
        "SELECT ancestor_id, upto_snapshot FROM ducklake_catalog_lineage"
        " WHERE catalog_id = :catalog ORDER BY depth",
        {"catalog": catalog_id},
    )


def _fork_point(
    connection: Connection, parent: CatalogRow, head: Head | None, at: SnapshotId | None
) -> Head:
    """Return the snapshot at which to fork: the head, or an earlier one.

    The head was read under a lock that excludes expiry and dropping of the parent. An earlier
    snapshot may belong to an ancestor: so its own row is locked too, and then looked up again.
    """
    if head is None:
        raise missing(parent.catalog_name)
    if at is None or at == head.snapshot_id:
        return head
    found = snapshot_at_version(connection, parent.catalog_id, at)
    connection.fetch(
        "SELECT h.snapshot_id FROM ducklake_snapshot_changes h WHERE h.snapshot_id = :snapshot"
        " AND h.catalog_id IN (SELECT l.ancestor_id FROM ducklake_catalog_lineage l"
        f" WHERE l.catalog_id = :catalog){connection.dialect.for_fork}",
        catalog=parent.catalog_id,
        snapshot=found.snapshot_id,
    )
    return snapshot_at_version(connection, parent.catalog_id, at)


def _lineage_rows(made: Sequence[CatalogRow], line: Sequence[Ancestor]) -> list[tuple[int, ...]]:
    rows: list[tuple[int, ...]] = []
    for row in made:
        rows.append((row.catalog_id, 0, row.catalog_id, FOREVER))
        rows.extend(
            (row.catalog_id, depth, ancestor, upto)
            for depth, (ancestor, upto) in enumerate(line, start=1)
        )
    return rows
