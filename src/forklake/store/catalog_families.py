"""Move of catalogs to another stamp: find related catalogs, copy their rows, erase the originals.

A stamp is one of several metastores behind the service. Ids do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

from forklake.model.children import CHILDREN
from forklake.model.ids import FOREVER, CatalogId
from forklake.model.kinds import KINDS
from forklake.model.snapshots import Head
from forklake.store.catalogs import CATALOG_COLUMNS, CatalogRow
from forklake.store.database import Connection, Lock
from forklake.store.heads import snapshot_insert
from forklake.store.inlined import declared_statement
from forklake.store.operations import Allocate, Insert, Statement
from forklake.store.provisioning import LINEAGE_COLUMNS

# Tables with a catalog_id whose rows are moved, besides those of KINDS and CHILDREN.
_OTHERS = (
    "ducklake_catalog_head",
    "ducklake_catalog_lease",
    "ducklake_catalog_lineage",
    "ducklake_catalog_merge",
    "ducklake_catalog_hold",
    "ducklake_tombstone",
    "ducklake_snapshot_changes",
    "ducklake_expired_snapshots",
    "ducklake_idempotency_key",
    "ducklake_schema_versions",
    "ducklake_files_scheduled_for_deletion",
    "dl_mirror_status",
    "crucible_grant",
)
# Listings are only a cache, and the audit stays where it happened (it is copied, not erased).
NOT_COPIED = ("ducklake_file_listing",)
NOT_ERASED = ("crucible_audit",)
_BOTH = tuple(dict.fromkeys([*(k.name for k in KINDS), *(c.NAME for c in CHILDREN), *_OTHERS]))
_CATALOGS = "ducklake_catalog"
COPIED = (*_BOTH, *NOT_ERASED)
ERASED = (_CATALOGS, *_BOTH, *NOT_COPIED)
_OF_PRINCIPALS = ("crucible_prefix_grant", "crucible_quota")
# Catalogs whose rows are held in memory at a time.
_BATCH = 200
_LIMITS = "catalog_id IS NULL AND scope = 'quota' AND scope_id = ANY(:ids)"


@dataclass(frozen=True, slots=True)
class Family:
    """Catalogs, live and dropped ones, that share rows or files and so have to move together."""

    ids: list[CatalogId]
    strangers: list[str]  # live catalogs among them that other principals own


def family_of(connection: Connection, principals: Sequence[int]) -> Family:
    """Return the catalogs that principals own, with all their ancestors and descendants."""
    owned = {
        number
        for (number,) in connection.fetch(
            "SELECT catalog_id FROM crucible_grant WHERE role = 'owner'"
            " AND principal_id = ANY(:principals)",
            principals=list(principals),
        )
    }
    found, added = set(owned), set(owned)
    while added:
        added = _relatives(connection, added) - found
        found |= added
    strangers = connection.fetch(
        "SELECT catalog_name FROM ducklake_catalog WHERE end_snapshot IS NULL"
        " AND catalog_id = ANY(:ids) ORDER BY catalog_name",
        ids=sorted(found - owned),
    )
    return Family(sorted(found), [name for (name,) in strangers])


def _relatives(connection: Connection, ids: set[int]) -> set[int]:
    rows = connection.fetch(
        "SELECT catalog_id, ancestor_id FROM ducklake_catalog_lineage"
        " WHERE catalog_id = ANY(:ids) OR (ancestor_id = ANY(:ids) AND depth > 0) UNION"
        " SELECT catalog_id, parent_catalog_id FROM ducklake_catalog"
        " WHERE parent_catalog_id IS NOT NULL"
        " AND (catalog_id = ANY(:ids) OR parent_catalog_id = ANY(:ids))",
        ids=sorted(ids),
    )
    return {number for row in rows for number in row}


def lock_family(connection: Connection, principals: Sequence[int]) -> Family:
    """Return the same, locked until the transaction ends.

    No catalog of the family is committed to, forked, dropped or swept meanwhile.
    """
    connection.run(connection.lock(Lock.SWEEP, shared=True))
    known: Family | None = None
    while known != (family := family_of(connection, principals)):
        connection.fetch(
            "SELECT catalog_id FROM ducklake_catalog_head WHERE catalog_id = ANY(:ids)"
            f" ORDER BY catalog_id{connection.dialect.for_removal}",
            ids=family.ids,
        )
        known = family
    return family


# Copying


def copy_rows(
    source: Connection,
    target: Connection,
    ids: Sequence[CatalogId],
    principals: Sequence[int],
    folders: Mapping[CatalogId, str],
) -> int:
    """Copy all rows of catalogs, and the access rules of principals. Return the number of rows.

    `folders`: new folders of those catalogs that cannot keep theirs.
    """
    count = 0
    for batch in _batches(ids):
        count += _copy_catalogs(source, target, batch, folders)
        for table in COPIED:
            rule = "catalog_id = ANY(:ids)"
            if table == "ducklake_metadata":
                rule = f"({rule} OR ({_LIMITS}))"
            count += _copy(source, target, table, rule, ids=batch)
        count += _copy(source, target, "ducklake_snapshot", f"snapshot_id IN ({_OWN})", ids=batch)
    for name in _inlined_tables(source, ids):
        target.run([declared_statement(name, _list_value_columns(source, name))])
        count += _copy(source, target, name, "catalog_id = ANY(:ids)", ids=list(ids))
    for table in _OF_PRINCIPALS:
        count += _copy(source, target, table, "principal_id = ANY(:ids)", ids=list(principals))
    return count


# Snapshots of the catalogs :ids, and those that only dropped one of them.
_OWN = (
    "SELECT h.snapshot_id FROM ducklake_snapshot_changes h WHERE h.catalog_id = ANY(:ids)"
    " UNION SELECT c.end_snapshot FROM ducklake_catalog c WHERE c.catalog_id = ANY(:ids)"
)


def _copy(
    source: Connection, target: Connection, table: str, rule: str, *, ids: Sequence[int]
) -> int:
    columns = tuple(source.columns_of(table))
    rows = source.fetch(f"SELECT {', '.join(columns)} FROM {table} WHERE {rule}", ids=ids)
    # A snapshot may exist already: forks of several accounts can be created in one snapshot.
    for first in range(0, len(rows), 1000):
        skips = table in {"ducklake_snapshot", *_OF_PRINCIPALS, *NOT_ERASED}
        part = rows[first : first + 1000]
        target.run([Insert(table, columns, part, skips_existing=skips)])
    return len(rows)


def _copy_catalogs(
    source: Connection,
    target: Connection,
    ids: Sequence[CatalogId],
    folders: Mapping[CatalogId, str],
) -> int:
    columns = (*CATALOG_COLUMNS, "end_snapshot")
    text = f"SELECT {', '.join(columns)} FROM {_CATALOGS} WHERE catalog_id = ANY(:ids)"
    rows = [CatalogRow(*row) for row in source.fetch(text, ids=list(ids))]
    placed = [
        replace(row, path=folders[row.catalog_id])
        if row.path is not None and row.catalog_id in folders
        else row
        for row in rows
    ]
    target.run([Insert(_CATALOGS, columns, [astuple(row) for row in placed])])
    return len(rows)


def _batches(ids: Sequence[CatalogId]) -> Iterator[list[CatalogId]]:
    for first in range(0, len(ids), _BATCH):
        yield list(ids[first : first + _BATCH])


def _inlined_tables(connection: Connection, ids: Sequence[CatalogId]) -> list[str]:
    """Return the existing tables of inlined rows of catalogs."""
    rows = connection.fetch(
        "SELECT DISTINCT table_name FROM ducklake_inlined_data_tables"
        " WHERE catalog_id = ANY(:ids) AND to_regclass(table_name) IS NOT NULL",
        ids=list(ids),
    )
    return [name for (name,) in rows]


def _list_value_columns(connection: Connection, table: str) -> list[tuple[str, str]]:
    """Return the value columns of a table of inlined rows, and their types."""
    rows = connection.fetch(
        "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute"
        " WHERE attrelid = to_regclass(:name) AND attnum > 0 AND NOT attisdropped"
        " AND attname ~ '^c[0-9]+$' ORDER BY attnum",
        name=table,
    )
    return [(name, kind) for name, kind in rows]


def paths_in_use(
    connection: Connection, paths: Sequence[str], ids: Sequence[CatalogId]
) -> dict[str, str | None]:
    """Return which of these folders other catalogs have, and below which data path."""
    rows = connection.fetch(
        "SELECT path, data_path FROM ducklake_catalog WHERE path = ANY(:paths)"
        " AND NOT catalog_id = ANY(:ids)",
        paths=list(paths),
        ids=list(ids),
    )
    return dict(rows)


def folders_of(
    connection: Connection, ids: Sequence[CatalogId]
) -> list[tuple[CatalogId, str, str, str | None]]:
    """Return the id, uuid, folder and data path of each catalog that has a folder."""
    return connection.fetch(
        "SELECT catalog_id, catalog_uuid, path, data_path FROM ducklake_catalog"
        " WHERE catalog_id = ANY(:ids) AND path IS NOT NULL",
        ids=list(ids),
    )


# Erasing


def erase_rows(connection: Connection, ids: Sequence[CatalogId], principals: Sequence[int]) -> None:
    """Delete all rows of catalogs, and the access rules of principals."""
    connection.run([Statement(f"DROP TABLE {name}") for name in _inlined_tables(connection, ids)])
    for batch in _batches(ids):
        snapshots = connection.fetch(_OWN, ids=batch)
        given = {"ids": batch}
        connection.run(
            [
                Statement(f"DELETE FROM ducklake_metadata WHERE {_LIMITS}", given),
                *(
                    Statement(f"DELETE FROM {table} WHERE catalog_id = ANY(:ids)", given)
                    for table in ERASED
                ),
            ]
        )
        connection.fetch(
            "DELETE FROM ducklake_snapshot s WHERE s.snapshot_id = ANY(:snapshots)"
            " AND NOT EXISTS (SELECT h.catalog_id FROM ducklake_snapshot_changes h"
            " WHERE h.snapshot_id = s.snapshot_id)"
            " AND NOT EXISTS (SELECT c.catalog_id FROM ducklake_catalog c"
            " WHERE s.snapshot_id IN (c.begin_snapshot, c.end_snapshot))",
            snapshots=[number for (number,) in snapshots if number is not None],
        )
    for table in _OF_PRINCIPALS:
        connection.fetch(
            f"DELETE FROM {table} WHERE principal_id = ANY(:principals)",
            principals=list(principals),
        )


def leave_folders(connection: Connection, folders: Sequence[tuple[str, ...]]) -> None:
    """Reserve the folders of erased catalogs: each gets the row of a dropped catalog.

    If another catalog got such a folder, its clean-up could delete files of the catalog that was
    moved to another stamp. Each element is (id, uuid, name, data path, folder).
    """
    if not folders:
        return
    ((allocation,),) = connection.run([Allocate()])
    at = allocation.snapshot_id
    columns = (*CATALOG_COLUMNS, "end_snapshot")
    rows = [
        (number, unique, name, at, None, None, data_path, path, at)
        for number, unique, name, data_path, path in folders
    ]
    lines = [(number, 0, number, FOREVER) for number, *_ in folders]
    connection.run(
        [
            snapshot_insert(allocation, Head(at, 0, allocation.now)),
            Insert("ducklake_catalog", columns, rows),
            Insert("ducklake_catalog_lineage", LINEAGE_COLUMNS, lines),
        ]
    )


def folders_left(connection: Connection, ids: Sequence[CatalogId]) -> list[tuple[str, ...]]:
    """Return the argument of `leave_folders`. Call it before the catalogs are erased."""
    return connection.fetch(
        "SELECT catalog_id, catalog_uuid, catalog_name, data_path, path FROM ducklake_catalog"
        " WHERE catalog_id = ANY(:ids) AND path IS NOT NULL",
        ids=list(ids),
    )
