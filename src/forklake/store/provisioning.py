"""Creating, renaming and dropping catalogs: from one to ten thousand in a snapshot."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple, cast

from forklake.model.changes import Change, ChangeKind
from forklake.model.ids import FOREVER, CatalogId
from forklake.model.names import folder_for
from forklake.model.requests import CreateRequest
from forklake.model.snapshots import Head
from forklake.store.catalogs import (
    CATALOG_COLUMNS,
    CatalogRow,
    catalogs_of,
    find_catalog,
    find_catalogs,
    missing,
    names_statement,
    taken,
)
from forklake.store.data_paths import claim_data_path
from forklake.store.database import Connection, Database, Lock, Rows
from forklake.store.deadlock_retry import again_if_undone
from forklake.store.heads import (
    as_head,
    changes_insert,
    following,
    heads_insert,
    move_head,
    queue_for_head,
    snapshot_insert,
    versions_insert,
)
from forklake.store.leases import end_expired, leases_end, leases_insert
from forklake.store.operations import Allocate, Allocation, Insert, Operation, Statement, Values
from forklake.store.phases import reached
from forklake.store.schema.catalog_tables import CATALOG_LINEAGE

# Hook that is called inside the transaction while catalogs are created, renamed or dropped. It may
# refuse by raising an error; the operations that it returns are committed with the rest.
Besides = Callable[[Connection, Sequence[CatalogRow]], Sequence[Operation]]
LINEAGE_COLUMNS = CATALOG_LINEAGE.column_names
_SCHEMA_COLUMNS = (
    "catalog_id",
    "schema_id",
    "schema_uuid",
    "begin_snapshot",
    "schema_name",
    "path",
    "path_is_relative",
)


def nothing_besides(connection: Connection, rows: Sequence[CatalogRow]) -> Sequence[Operation]:
    """Return no operations: the default hook."""
    return ()


class Provided(NamedTuple):
    """Requested catalogs, existing ones first, and the number of those that were created."""

    rows: list[CatalogRow]
    created: int


def create_catalogs(
    database: Database,
    request: CreateRequest,
    *,
    expires_at: datetime | None,
    besides: Besides = nothing_besides,
) -> Provided:
    """Create empty catalogs with a schema `main`, all in one snapshot. Existing ones are kept."""
    data_path = request.data_path
    with database.writing() as connection:
        reached("create.begun")
        existing = find_catalogs(connection, request.names)
        new_names = names_to_make(existing, request.names, if_not_exists=request.if_not_exists)
        if not new_names:
            return Provided(existing, 0)
        if data_path is not None:
            claim_data_path(connection, data_path)
        planned = Folders.for_names(new_names)
        used, *_, (allocation,) = connection.run(
            [
                planned.statement(connection),
                *connection.lock(Lock.FENCE, shared=True),
                Allocate(entities=2 * len(new_names)),
            ]
        )
        folders = planned.chosen(used)
        head = Head(allocation.snapshot_id, 0, allocation.now)
        catalog_ids, schema_ids = allocation.entity_ids[::2], allocation.entity_ids[1::2]
        made = [
            CatalogRow(
                CatalogId(number), unique, name, head.snapshot_id, None, None, data_path, path
            )
            for number, name, (unique, path) in zip(catalog_ids, new_names, folders, strict=True)
        ]
        schemas = [
            (row.catalog_id, number, str(uuid.uuid4()), head.snapshot_id, "main", "main/", True)
            for row, number in zip(made, schema_ids, strict=True)
        ]
        main = Change(ChangeKind.CREATED_SCHEMA, name=("main",))
        more = besides(connection, made)
        reached("create.allocated")
        connection.commit(
            [
                snapshot_insert(allocation, head),
                *catalog_inserts(made, head, main),
                Insert("ducklake_schema", _SCHEMA_COLUMNS, schemas),
                versions_insert([row.catalog_id for row in made], head),
                Insert(
                    "ducklake_catalog_lineage",
                    LINEAGE_COLUMNS,
                    [(row.catalog_id, 0, row.catalog_id, FOREVER) for row in made],
                ),
                *leases_insert([row.catalog_id for row in made], expires_at),
                *more,
            ]
        )
        reached("create.committed")
        return Provided(existing + made, len(made))


def catalog_inserts(made: Sequence[CatalogRow], head: Head, change: Change) -> list[Operation]:
    """Return the operations that add new catalogs, their heads, and their entry in a snapshot."""
    ids = [row.catalog_id for row in made]
    return [
        changes_insert(ids, head, [change]),
        Insert("ducklake_catalog", CATALOG_COLUMNS, [_values(row) for row in made]),
        heads_insert(ids, head),
    ]


def catalog_insert(row: CatalogRow) -> Insert:
    """Return the operation that adds a catalog whose history is added separately."""
    return Insert("ducklake_catalog", CATALOG_COLUMNS, [_values(row)])


_values = cast("Callable[[CatalogRow], Values]", attrgetter(*CATALOG_COLUMNS))


def names_to_make(
    existing: Sequence[CatalogRow], names: Sequence[str], *, if_not_exists: bool
) -> list[str]:
    """Return the names that are not taken. Raise AlreadyExists if others are not allowed."""
    if existing and not if_not_exists:
        raise taken([row.catalog_name for row in existing])
    found = {row.catalog_name for row in existing}
    return [name for name in names if name not in found]


@dataclass(frozen=True, slots=True)
class Folders:
    """A uuid and a folder for each new catalog.

    The folder is the name, unless a catalog has or had it: two catalogs never share a folder,
    because the clean-up of one could delete files of the other.
    """

    names: Sequence[str]
    uuids: Sequence[str]

    @classmethod
    def for_names(cls, names: Sequence[str]) -> Folders:
        """Return folders that are not checked yet."""
        return cls(names, [str(uuid.uuid4()) for _ in names])

    def _wanted(self) -> list[str]:
        pairs = zip(self.names, self.uuids, strict=True)
        return [folder_for(name, unique) for name, unique in pairs]

    def statement(self, connection: Connection) -> Statement:
        """Return the statement that finds which of the folders are in use."""
        dialect = connection.dialect
        return Statement(
            f"SELECT path FROM ducklake_catalog c WHERE {dialect.any_of('c.path', 'paths')}",
            {"paths": dialect.array(self._wanted())},
        )

    def chosen(self, used: Rows) -> list[tuple[str, str]]:
        """Return each uuid with its folder, given the folders in use."""
        taken_paths = {path for (path,) in used}
        return [
            (unique, f"{unique}/" if path in taken_paths else path)
            for unique, path in zip(self.uuids, self._wanted(), strict=True)
        ]


@again_if_undone
def rename_catalog(
    database: Database, name: str, new_name: str, *, besides: Besides = nothing_besides
) -> CatalogRow:
    """Rename a catalog. Its folder and its contents do not change."""
    with database.writing() as connection:
        row = find_catalog(connection, name)
        if row is None:
            raise missing(name)
        if new_name == name:
            return row
        (heads,) = connection.run([queue_for_head(connection, row.catalog_id)])
        head = as_head(heads)
        if head is None or find_catalog(connection, name) is None:
            raise missing(name)
        if find_catalog(connection, new_name) is not None:
            raise taken([new_name])
        ((allocation,),) = connection.run([Allocate()])
        moved = following(head, allocation)
        renamed = replace(row, catalog_name=new_name, begin_snapshot=moved.snapshot_id)
        more = besides(connection, [renamed])
        # The folder moves to the new row: exactly one row of each catalog reserves it.
        connection.fetch(
            "UPDATE ducklake_catalog SET end_snapshot = :snapshot, path = NULL"
            " WHERE catalog_id = :catalog AND end_snapshot IS NULL",
            catalog=row.catalog_id,
            snapshot=moved.snapshot_id,
        )
        connection.commit(
            [
                snapshot_insert(allocation, moved),
                changes_insert([row.catalog_id], moved, []),
                Insert("ducklake_catalog", CATALOG_COLUMNS, [_values(renamed)]),
                move_head(row.catalog_id, moved),
                *more,
            ]
        )
        return renamed


def drop_catalogs(
    database: Database,
    names: Sequence[str],
    *,
    if_exists: bool,
    besides: Besides = nothing_besides,
) -> list[CatalogRow]:
    """Drop catalogs, all in one snapshot. Rows that a fork can see are kept.

    Deleting the head waits for commits and forks in progress, and new ones find no head.
    """
    dropped: list[CatalogRow] | None = None
    while dropped is None:
        dropped = _drop(database, names, if_exists, besides)
    return dropped


@again_if_undone
def _drop(
    database: Database, names: Sequence[str], if_exists: bool, besides: Besides
) -> list[CatalogRow] | None:
    """Try once. Return None, without a drop, if a catalog was renamed concurrently."""
    with database.writing() as connection:
        rows = find_catalogs(connection, names)
        _require_all(names, rows, if_exists=if_exists)
        if not rows:
            return []
        reached("drop.begun")
        ids = [row.catalog_id for row in rows]
        *_, gone, _, current, (allocation,) = connection.run(
            [
                *connection.lock(Lock.FENCE, shared=True),  # before the heads: commits do so too
                _heads_end(connection, ids),
                leases_end(connection, ids),
                names_statement(connection, names),
                Allocate(),
            ]
        )
        ours = {catalog_id for (catalog_id,) in gone}
        still = [CatalogRow(*row) for row in current]
        if not ours <= {row.catalog_id for row in still}:
            return None
        rows = [row for row in still if row.catalog_id in ours]
        _require_all(names, rows, if_exists=if_exists)
        if rows:
            _end(connection, rows, allocation, besides(connection, rows))
        return rows


@again_if_undone
def drop_expired(database: Database, now: datetime, limit: int) -> list[CatalogRow]:
    """Drop catalogs that expired before `now`, all in one snapshot, and return them."""
    with database.writing() as connection:
        connection.run(connection.lock(Lock.FENCE, shared=True))  # before the heads, as in _drop
        ids = end_expired(connection, now, limit)
        if not ids:
            return []
        reached("drop.begun")
        _, (allocation,) = connection.run([_heads_end(connection, ids), Allocate()])
        rows = catalogs_of(connection, ids)
        _end(connection, rows, allocation)
        return rows


def _heads_end(connection: Connection, ids: Sequence[CatalogId]) -> Statement:
    """Return the statement that deletes heads and returns which ones existed."""
    dialect = connection.dialect
    return Statement(
        f"DELETE FROM ducklake_catalog_head WHERE {dialect.any_of('catalog_id', 'ids')}"
        " RETURNING catalog_id",
        {"ids": dialect.array(sorted(ids))},
    )


def _end(
    connection: Connection,
    rows: Sequence[CatalogRow],
    allocation: Allocation,
    more: Sequence[Operation] = (),
) -> None:
    """Record the end of catalogs whose heads were deleted, and commit."""
    reached("drop.locked")
    dialect = connection.dialect
    ids = dialect.array(sorted(row.catalog_id for row in rows))
    connection.commit(
        [
            snapshot_insert(allocation, Head(allocation.snapshot_id, 0, allocation.now)),
            Statement(
                "UPDATE ducklake_catalog SET end_snapshot = :snapshot"
                f" WHERE {dialect.any_of('catalog_id', 'ids')} AND end_snapshot IS NULL",
                {"snapshot": allocation.snapshot_id, "ids": ids},
            ),
            *more,
        ]
    )
    reached("drop.committed")


def _require_all(names: Sequence[str], rows: Sequence[CatalogRow], *, if_exists: bool) -> None:
    absent = sorted(set(names) - {row.catalog_name for row in rows})
    if absent and not if_exists:
        raise missing(absent[0])
