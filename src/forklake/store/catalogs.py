"""Catalogs: finding, listing, creating, renaming and dropping them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from forklake.errors import AlreadyExists, NotFound
from forklake.model.changes import Change, ChangeKind, format_changes
from forklake.model.ids import FOREVER, CatalogId, SnapshotId
from forklake.model.names import folder_for
from forklake.model.snapshots import Head
from forklake.store.database import Connection, Database, Lock
from forklake.store.operations import Allocate, Allocation, Insert, Operation, Statement
from forklake.store.phases import reached

CATALOG_COLUMNS = (
    "catalog_id",
    "catalog_uuid",
    "catalog_name",
    "begin_snapshot",
    "parent_catalog_id",
    "fork_snapshot",
    "data_path",
    "path",
)
_SELECT = f"SELECT {', '.join('c.' + column for column in CATALOG_COLUMNS)}, c.end_snapshot"
_LIVE = f"{_SELECT} FROM ducklake_catalog c WHERE c.end_snapshot IS NULL"


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """A catalog as the metastore keeps it."""

    catalog_id: CatalogId
    catalog_uuid: str
    catalog_name: str
    begin_snapshot: SnapshotId
    parent_catalog_id: CatalogId | None
    fork_snapshot: SnapshotId | None
    data_path: str | None
    path: str
    end_snapshot: SnapshotId | None = None


def missing(name: str) -> NotFound:
    """The error for a catalog that is not there."""
    return NotFound(
        f"Catalog '{name}' does not exist",
        remedy="Create it, or attach with CREATE_IF_NOT_EXISTS true.",
        catalog=name,
    )


def taken(names: Sequence[str]) -> AlreadyExists:
    """The error for names that are in use."""
    shown = ", ".join(f"'{name}'" for name in names[:5]) + (" …" if len(names) > 5 else "")
    return AlreadyExists(
        f"Catalog {shown} already exists.",
        remedy="Choose another name.",
        catalogs=list(names[:100]),
    )


def find_catalog(connection: Connection, name: str) -> CatalogRow | None:
    """The live catalog of a name."""
    rows = connection.fetch(f"{_LIVE} AND c.catalog_name = :name", name=name)
    return CatalogRow(*rows[0]) if rows else None


def find_catalogs(connection: Connection, names: Sequence[str]) -> list[CatalogRow]:
    """The live catalogs among some names."""
    dialect = connection.dialect
    text = f"{_LIVE} AND {dialect.any_of('c.catalog_name', 'names')}"
    return [CatalogRow(*row) for row in connection.fetch(text, names=dialect.array(names))]


def list_catalogs(
    connection: Connection, *, prefix: str = "", after: str = "", limit: int = 100
) -> list[CatalogRow]:
    """A page of live catalogs in the order of their names, from an index range."""
    text = f"{_LIVE} AND c.catalog_name > :after AND c.catalog_name >= :prefix"
    ends = _after_prefix(prefix)
    if ends:
        text += " AND c.catalog_name < :ends"
    text += " ORDER BY c.catalog_name LIMIT :count"
    rows = connection.fetch(text, after=after, prefix=prefix, ends=ends, count=limit)
    return [CatalogRow(*row) for row in rows]


def _after_prefix(prefix: str) -> str:
    """The least text above all texts that begin with the prefix; empty if there is none."""
    for length in range(len(prefix), 0, -1):
        code = ord(prefix[length - 1])
        following = 0xE000 if code == 0xD7FF else code + 1
        if following <= 0x10FFFF:
            return prefix[: length - 1] + chr(following)
    return ""


def count_catalogs(connection: Connection) -> int:
    """How many catalogs are live: each has one head."""
    return int(connection.fetch("SELECT count(*) FROM ducklake_catalog_head")[0][0])


def list_children(connection: Connection, parent_id: CatalogId) -> list[CatalogRow]:
    """The live catalogs that were forked from this one."""
    text = (
        f"{_LIVE} AND c.catalog_id IN (SELECT l.catalog_id FROM ducklake_catalog_lineage l"
        " WHERE l.ancestor_id = :parent AND l.depth = 1) ORDER BY c.catalog_name"
    )
    return [CatalogRow(*row) for row in connection.fetch(text, parent=parent_id)]


def find_head(connection: Connection, catalog_id: CatalogId) -> Head | None:
    """The newest snapshot of a live catalog."""
    rows = connection.fetch(
        "SELECT snapshot_id, schema_version FROM ducklake_catalog_head WHERE catalog_id = :catalog",
        catalog=catalog_id,
    )
    return Head(*rows[0]) if rows else None


def has_ancestors(connection: Connection, catalog_id: CatalogId) -> bool:
    """Whether a catalog reads rows of others."""
    text = "SELECT 1 FROM ducklake_catalog_lineage WHERE catalog_id = :catalog AND depth = 1"
    return bool(connection.fetch(text, catalog=catalog_id))


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
        ids = iter(allocation.entity_ids)
        made: list[CatalogRow] = []
        schemas: list[tuple[object, ...]] = []
        for name, (catalog_uuid, path) in zip(new_names, folders, strict=True):
            catalog_id, schema_id = CatalogId(next(ids)), next(ids)
            made.append(
                CatalogRow(
                    catalog_id,
                    catalog_uuid,
                    name,
                    allocation.snapshot_id,
                    None,
                    None,
                    data_path,
                    path,
                )
            )
            schema_uuid = str(uuid.uuid4())
            schemas.append(
                (catalog_id, schema_id, schema_uuid, allocation.snapshot_id, "main", "main/", True)
            )
        columns = (
            "catalog_id schema_id schema_uuid begin_snapshot schema_name path path_is_relative"
        )
        main = Change(ChangeKind.CREATED_SCHEMA, name=("main",))
        reached("create.allocated")
        connection.commit(
            [
                *catalog_inserts(
                    made, allocation, allocation.now, Head(allocation.snapshot_id, 0), main
                ),
                Insert("ducklake_schema", tuple(columns.split()), schemas),
                _schema_versions(made, 0),
                Insert(
                    "ducklake_catalog_lineage",
                    LINEAGE_COLUMNS,
                    [(row.catalog_id, 0, row.catalog_id, FOREVER) for row in made],
                ),
            ]
        )
        reached("create.committed")
        return existing + made


LINEAGE_COLUMNS = ("catalog_id", "depth", "ancestor_id", "upto_snapshot")


def _schema_versions(made: Sequence[CatalogRow], version: int) -> Insert:
    columns = ("catalog_id", "begin_snapshot", "schema_version")
    rows = [(row.catalog_id, row.begin_snapshot, version) for row in made]
    return Insert("ducklake_schema_versions", columns, rows)


def catalog_inserts(
    made: Sequence[CatalogRow],
    allocation: Allocation,
    moment: datetime,
    head: Head,
    change: Change,
) -> list[Operation]:
    """The rows of new catalogs: the snapshot, whose it is, the catalogs and their heads."""
    text = format_changes([change])
    return [
        snapshot_insert(allocation, head.schema_version, moment),
        Insert(
            "ducklake_snapshot_changes",
            ("catalog_id", "snapshot_id", "changes_made"),
            [(row.catalog_id, allocation.snapshot_id, text) for row in made],
        ),
        Insert(
            "ducklake_catalog",
            CATALOG_COLUMNS,
            [
                (
                    row.catalog_id,
                    row.catalog_uuid,
                    row.catalog_name,
                    row.begin_snapshot,
                    row.parent_catalog_id,
                    row.fork_snapshot,
                    row.data_path,
                    row.path,
                )
                for row in made
            ],
        ),
        Insert(
            "ducklake_catalog_head",
            ("catalog_id", "snapshot_id", "schema_version"),
            [(row.catalog_id, head.snapshot_id, head.schema_version) for row in made],
        ),
    ]


def snapshot_insert(allocation: Allocation, schema_version: int, moment: datetime) -> Insert:
    """The row of a new snapshot."""
    return Insert(
        "ducklake_snapshot",
        ("snapshot_id", "snapshot_time", "schema_version", "next_catalog_id", "next_file_id"),
        [
            (
                allocation.snapshot_id,
                moment,
                schema_version,
                allocation.next_entity_id,
                allocation.next_file_id,
            )
        ],
    )


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


def lock_head(connection: Connection, catalog_id: CatalogId) -> list[Operation]:
    """The operations that put a writer in the catalog's line and read its head; head last.

    The advisory lock makes the line first come, first served; the row lock makes it safe.
    """
    return [
        *connection.lock(Lock.QUEUE, catalog_id),
        *connection.lock(Lock.FENCE, shared=True),
        Statement(
            "SELECT snapshot_id, schema_version FROM ducklake_catalog_head"
            f" WHERE catalog_id = :catalog{connection.dialect.for_commit}",
            {"catalog": catalog_id},
        ),
    ]


def rename_catalog(database: Database, name: str, new_name: str) -> CatalogRow:
    """Give a catalog another name; its folder and everything in it stay."""
    with database.writing() as connection:
        row = find_catalog(connection, name)
        if row is None:
            raise missing(name)
        if new_name == name:
            return row
        *_, head = connection.run(lock_head(connection, row.catalog_id))
        if not head or find_catalog(connection, name) is None:
            raise missing(name)
        if find_catalog(connection, new_name) is not None:
            raise taken([new_name])
        ((allocation,),) = connection.run([Allocate()])
        moment = later_time(connection, head[0][0], allocation)
        snapshot_id = allocation.snapshot_id
        renamed = CatalogRow(
            row.catalog_id,
            row.catalog_uuid,
            new_name,
            snapshot_id,
            row.parent_catalog_id,
            row.fork_snapshot,
            row.data_path,
            row.path,
        )
        parameters = {"catalog": row.catalog_id, "snapshot": snapshot_id}
        connection.commit(
            [
                Statement(
                    "UPDATE ducklake_catalog SET end_snapshot = :snapshot"
                    " WHERE catalog_id = :catalog AND end_snapshot IS NULL",
                    parameters,
                ),
                snapshot_insert(allocation, head[0][1], moment),
                Insert(
                    "ducklake_snapshot_changes",
                    ("catalog_id", "snapshot_id", "changes_made"),
                    [(row.catalog_id, snapshot_id, "")],
                ),
                Insert(
                    "ducklake_catalog",
                    CATALOG_COLUMNS,
                    [tuple(getattr(renamed, column) for column in CATALOG_COLUMNS)],
                ),
                Statement(
                    "UPDATE ducklake_catalog_head SET snapshot_id = :snapshot"
                    " WHERE catalog_id = :catalog",
                    parameters,
                ),
            ]
        )
        return renamed


def later_time(connection: Connection, head: SnapshotId, allocation: Allocation) -> datetime:
    """The time of a new snapshot: now, but always after the one before it."""
    column = connection.dialect.time("snapshot_time")
    rows = connection.fetch(
        f"SELECT {column} FROM ducklake_snapshot WHERE snapshot_id = :head", head=head
    )
    return after(rows[0][0] if rows else None, allocation.now)


def after(previous: datetime | int | None, now: datetime) -> datetime:
    """The later of now and one microsecond after the previous time."""
    if previous is None:
        return now
    return max(now, as_time(previous) + timedelta(microseconds=1))


def as_time(value: datetime | int) -> datetime:
    """A time as the driver returned it: microseconds where it has no better way."""
    if isinstance(value, datetime):
        return value
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)


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
                snapshot_insert(allocation, 0, allocation.now),
                Statement(
                    "UPDATE ducklake_catalog SET end_snapshot = :snapshot"
                    f" WHERE {among} AND end_snapshot IS NULL",
                    {"snapshot": allocation.snapshot_id, "ids": ids},
                ),
            ]
        )
        reached("drop.committed")
        return [row for row in rows if row.catalog_id in gone]
