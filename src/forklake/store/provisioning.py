"""Provisioning: creating, renaming and dropping catalogs, one or ten thousand in a snapshot."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import cast

from forklake.model.changes import Change, ChangeKind
from forklake.model.ids import FOREVER, CatalogId
from forklake.model.names import folder_for
from forklake.model.snapshots import Head
from forklake.store.catalogs import (
    CATALOG_COLUMNS,
    CatalogRow,
    find_catalog,
    find_catalogs,
    missing,
    taken,
)
from forklake.store.database import Connection, Database
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
from forklake.store.operations import Allocate, Insert, Operation, Statement, Values
from forklake.store.phases import reached

LINEAGE_COLUMNS = ("catalog_id", "depth", "ancestor_id", "upto_snapshot")
_SCHEMA_COLUMNS = (
    "catalog_id",
    "schema_id",
    "schema_uuid",
    "begin_snapshot",
    "schema_name",
    "path",
    "path_is_relative",
)


def create_catalogs(
    database: Database, names: Sequence[str], *, data_path: str | None, if_not_exists: bool
) -> list[CatalogRow]:
    """New, empty catalogs with a schema `main`, all in one snapshot; existing ones are kept."""
    with database.writing() as connection:
        reached("create.begun")
        existing, new_names = split_names(connection, names, if_not_exists=if_not_exists)
        if not new_names:
            return existing
        folders = choose_folders(connection, new_names)
        ((allocation,),) = connection.run([Allocate(entities=2 * len(new_names))])
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
            ]
        )
        reached("create.committed")
        return existing + made


def catalog_inserts(made: Sequence[CatalogRow], head: Head, change: Change) -> list[Operation]:
    """The rows of new catalogs: whose snapshot it is, the catalogs themselves, their heads."""
    ids = [row.catalog_id for row in made]
    return [
        changes_insert(ids, head, [change]),
        Insert("ducklake_catalog", CATALOG_COLUMNS, [_values(row) for row in made]),
        heads_insert(ids, head),
    ]


_values = cast("Callable[[CatalogRow], Values]", attrgetter(*CATALOG_COLUMNS))


def split_names(
    connection: Connection, names: Sequence[str], *, if_not_exists: bool
) -> tuple[list[CatalogRow], list[str]]:
    """Catalogs that are there already (an error unless wanted), and the names left to make."""
    existing = find_catalogs(connection, names)
    if existing and not if_not_exists:
        raise taken([row.catalog_name for row in existing])
    found = {row.catalog_name for row in existing}
    return existing, [name for name in names if name not in found]


def choose_folders(connection: Connection, names: Sequence[str]) -> list[tuple[str, str]]:
    """A uuid and a folder for each new catalog.

    The folder is the name, unless a catalog has or had it: two catalogs never share a folder, or
    the clean-up of one could remove files of the other.
    """
    uuids = [str(uuid.uuid4()) for _ in names]
    wanted = [folder_for(name, one) for name, one in zip(names, uuids, strict=True)]
    dialect = connection.dialect
    used = {
        path
        for (path,) in connection.fetch(
            f"SELECT path FROM ducklake_catalog c WHERE {dialect.any_of('c.path', 'paths')}",
            paths=dialect.array(wanted),
        )
    }
    return [
        (one, f"{one}/" if path in used else path) for one, path in zip(uuids, wanted, strict=True)
    ]


def rename_catalog(database: Database, name: str, new_name: str) -> CatalogRow:
    """Give a catalog another name; its folder and everything in it stay."""
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
        connection.commit(
            [
                Statement(
                    "UPDATE ducklake_catalog SET end_snapshot = :snapshot"
                    " WHERE catalog_id = :catalog AND end_snapshot IS NULL",
                    {"catalog": row.catalog_id, "snapshot": moved.snapshot_id},
                ),
                snapshot_insert(allocation, moved),
                changes_insert([row.catalog_id], moved, []),
                Insert("ducklake_catalog", CATALOG_COLUMNS, [_values(renamed)]),
                move_head(row.catalog_id, moved),
            ]
        )
        return renamed


def drop_catalogs(database: Database, names: Sequence[str], *, if_exists: bool) -> list[CatalogRow]:
    """End catalogs, all in one snapshot. Rows that a fork still sees stay.

    Taking the head away waits for commits and forks under way and lets none begin.
    """
    with database.writing() as connection:
        rows = sorted(find_catalogs(connection, names), key=lambda row: row.catalog_id)
        absent = sorted(set(names) - {row.catalog_name for row in rows})
        if absent and not if_exists:
            raise missing(absent[0])
        if not rows:
            return []
        reached("drop.begun")
        dialect = connection.dialect
        ids = dialect.array([row.catalog_id for row in rows])
        among = dialect.any_of("catalog_id", "ids")
        delete = f"DELETE FROM ducklake_catalog_head WHERE {among} RETURNING catalog_id"
        dropped, (allocation,) = connection.run([Statement(delete, {"ids": ids}), Allocate()])
        gone = {catalog_id for (catalog_id,) in dropped}
        reached("drop.locked")
        connection.commit(
            [
                snapshot_insert(allocation, Head(allocation.snapshot_id, 0, allocation.now)),
                Statement(
                    "UPDATE ducklake_catalog SET end_snapshot = :snapshot"
                    f" WHERE {among} AND end_snapshot IS NULL",
                    {"snapshot": allocation.snapshot_id, "ids": ids},
                ),
            ]
        )
        reached("drop.committed")
        return [row for row in rows if row.catalog_id in gone]
