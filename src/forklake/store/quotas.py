"""Quotas: limits of principals, and the maximum number of bytes of a catalog.

The limit of a catalog is a setting of the metastore. So a commit to a catalog without a limit only
costs the lookup of a row that does not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from forklake.errors import QuotaExceeded
from forklake.model.ids import CatalogId
from forklake.model.plan import CommitPlan
from forklake.store.database import Connection, Database
from forklake.store.operations import Insert, Statement

_SETTING = "catalog_id IS NULL AND scope = 'quota' AND key = 'bytes'"
LIMIT_OF_CATALOG = f"SELECT value FROM ducklake_metadata WHERE {_SETTING} AND scope_id = :catalog"
_LIVE = "JOIN ducklake_catalog_head h ON h.catalog_id = g.catalog_id"
_SETTING_COLUMNS = ("key", "value", "scope", "scope_id")


class Quota(NamedTuple):
    """Limits of a principal; None means unlimited."""

    catalogs: int | None = None
    bytes: int | None = None
    sessions: int | None = None


def quota_statement(principal_id: int, lock: str = "") -> Statement:
    """Return the statement that reads the limits of a principal."""
    return Statement(
        "SELECT catalogs, bytes, sessions FROM crucible_quota"
        f" WHERE principal_id = :principal{lock}",
        {"principal": principal_id},
        is_plain_read=not lock,
    )


def find_quota(connection: Connection, principal_id: int) -> Quota:
    """Return the limits of a principal."""
    (rows,) = connection.run([quota_statement(principal_id)])
    return Quota(*rows[0]) if rows else Quota()


def require_catalogs(
    connection: Connection, principal_id: int, more: int, prefixes: Sequence[str] | None = None
) -> None:
    """Raise QuotaExceeded if a principal would own more catalogs than its quota allows.

    With `prefixes`, only catalogs whose names begin with one of them count. A principal can create
    catalogs under its own prefixes only: so catalogs that others have granted it as an owner do
    not prevent it from creating some.

    The quota row is locked until the transaction ends, so that the next transaction counts the
    catalogs created by this one.
    """
    (rows,) = connection.run([quota_statement(principal_id, connection.dialect.for_commit)])
    limit = rows[0][0] if rows else None
    if limit is None:
        return
    # Grants on dropped catalogs may remain. Excluding them costs a join: only do so near the limit.
    owned = _count_owned(connection, principal_id, limit, "")
    if owned + more > limit:
        owned = _count_owned(connection, principal_id, limit, _LIVE, prefixes)
    if owned + more > limit:
        raise QuotaExceeded(
            f"Quota exceeded: {more} more catalogs cannot be created, because {owned} of at most"
            f" {limit} exist.",
            remedy="Drop catalogs that are not needed, or let an administrator raise the limit.",
            limit=limit,
            used=owned,
        )


def _count_owned(
    connection: Connection,
    principal_id: int,
    most: int,
    live: str,
    prefixes: Sequence[str] | None = None,
) -> int:
    given = {f"prefix_{place}": prefix for place, prefix in enumerate(prefixes or ())}
    begins = " OR ".join(
        f"substr(c.catalog_name, 1, {len(prefix)}) = :{name}" for name, prefix in given.items()
    )
    named = (
        " AND EXISTS (SELECT 1 FROM ducklake_catalog c WHERE c.catalog_id = g.catalog_id"
        f" AND c.end_snapshot IS NULL AND ({begins or '1 = 0'}))"
    )
    rows = connection.fetch(
        f"SELECT count(*) FROM (SELECT 1 FROM crucible_grant g {live}"
        " WHERE g.principal_id = :principal AND g.role = 'owner'"
        f"{named if prefixes is not None else ''} LIMIT :most) o",
        principal=principal_id,
        most=most + 1,
        **given,
    )
    return int(rows[0][0])


def write_quota(database: Database, principal_id: int, quota: Quota) -> None:
    """Set the limits of a principal, and the byte limits of the catalogs that it owns."""
    upsert = Statement(
        "INSERT INTO crucible_quota (principal_id, catalogs, bytes, sessions)"
        " VALUES (:principal, :catalogs, :bytes, :sessions)"
        " ON CONFLICT (principal_id) DO UPDATE SET catalogs = excluded.catalogs,"
        " bytes = excluded.bytes, sessions = excluded.sessions",
        {"principal": principal_id, **quota._asdict()},
    )
    owned = (
        f"SELECT g.catalog_id FROM crucible_grant g {_LIVE}"
        " WHERE g.principal_id = :principal AND g.role = 'owner'"
    )
    with database.writing() as connection:
        rows = connection.fetch(owned, principal=principal_id)
        catalogs = [CatalogId(number) for (number,) in rows]
        connection.commit([upsert, *catalog_limits(connection, catalogs, quota.bytes)])


def write_catalog_limit(database: Database, catalog_id: CatalogId, limit: int | None) -> None:
    """Set or remove the maximum number of bytes of a catalog."""
    with database.writing() as connection:
        connection.commit(catalog_limits(connection, [catalog_id], limit))


def limit_statement(catalog_id: CatalogId) -> Statement:
    """Return the statement that reads the maximum number of bytes of a catalog."""
    return Statement(LIMIT_OF_CATALOG, {"catalog": catalog_id}, is_plain_read=True)


def find_catalog_limit(connection: Connection, catalog_id: CatalogId) -> int | None:
    """Return the maximum number of bytes of a catalog, or None."""
    (rows,) = connection.run([limit_statement(catalog_id)])
    return int(rows[0][0]) if rows else None


def catalog_limits(
    connection: Connection, catalogs: Sequence[CatalogId], limit: int | None
) -> list[Statement | Insert]:
    """Return the operations that set the maximum number of bytes of catalogs."""
    dialect = connection.dialect
    among = dialect.any_of("scope_id", "ids")
    gone = f"DELETE FROM ducklake_metadata WHERE {_SETTING} AND {among}"
    return [
        Statement(gone, {"ids": dialect.array(catalogs)}),
        *limits_insert(catalogs, limit),
    ]


def limits_insert(catalogs: Sequence[CatalogId], limit: int | None) -> list[Insert]:
    """Return the operations that set the limits of catalogs that have none yet."""
    if limit is None or not catalogs:
        return []
    rows = [("bytes", str(limit), "quota", catalog_id) for catalog_id in catalogs]
    return [Insert("ducklake_metadata", _SETTING_COLUMNS, rows)]


def require_bytes(connection: Connection, plan: CommitPlan, limit: int) -> None:
    """Raise QuotaExceeded if a commit would exceed the byte limit of its catalog."""
    added = sum(work.added_bytes for work in plan.tables.values())
    if not added:
        return
    ((used,),) = connection.fetch(
        "SELECT (SELECT coalesce(sum(file_size_bytes), 0) FROM ducklake_data_file"
        " WHERE catalog_id = :catalog) + (SELECT coalesce(sum(file_size_bytes), 0)"
        " FROM ducklake_delete_file WHERE catalog_id = :catalog)",
        catalog=plan.catalog_id,
    )
    if int(used) + added > limit:
        raise QuotaExceeded(
            f"Quota exceeded: the commit adds {added} bytes, and the files of the catalog already"
            f" take {int(used)} of at most {limit} bytes.",
            remedy="Drop what is not needed, expire snapshots and clean up, or let an"
            " administrator raise the limit.",
            limit=limit,
            used=int(used),
        )
