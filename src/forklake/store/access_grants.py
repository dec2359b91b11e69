"""Grants of roles on catalogs and on name prefixes, and the queries of an access check.

A check covers a catalog and all its ancestors. Ancestors are found by `parent_catalog_id`, not by
ducklake_catalog_lineage, which is cut when a fork is materialized: a fork that has its own copy of
the rows still derives from its parents. They are followed as far as their catalog rows exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from forklake.errors import InvalidInput, QuotaExceeded
from forklake.model.ids import CatalogId
from forklake.store.catalogs import CatalogRow, names_statement
from forklake.store.database import Connection, Database
from forklake.store.operations import Insert, Operation, Statement
from forklake.store.quotas import Quota, quota_statement, require_catalogs
from forklake.store.times import as_time

_VALID = "(expires_at IS NULL OR expires_at > :now)"
# Subqueries by key, no joins: each finds its rows by the key, even when the statement was prepared
# while the tables were empty and the planner had no statistics.
_CHAINS = """
WITH RECURSIVE chain(begin_id, member_id, parent_id) AS (
    SELECT c.catalog_id, c.catalog_id, c.parent_catalog_id FROM ducklake_catalog c
    WHERE c.end_snapshot IS NULL AND {chosen}
    UNION ALL
    SELECT chain.begin_id, chain.parent_id,
           (SELECT max(p.parent_catalog_id) FROM ducklake_catalog p
            WHERE p.catalog_id = chain.parent_id)
    FROM chain WHERE chain.parent_id IS NOT NULL)
SELECT begin_id, member_id,
       (SELECT max(CASE WHEN c.end_snapshot IS NULL THEN c.catalog_name END)
        FROM ducklake_catalog c WHERE c.catalog_id = chain.member_id) AS live_name,
       (SELECT g.role FROM crucible_grant g
        WHERE g.principal_id = :principal AND g.catalog_id = chain.member_id
          AND (g.expires_at IS NULL OR g.expires_at > :now)) AS role
FROM chain"""


class Link(NamedTuple):
    """Live member of a lineage, and the role granted on it to the principal, if any."""

    catalog_id: CatalogId
    name: str
    role: str | None


class PrefixGrant(NamedTuple):
    """Role on all catalogs whose names begin with a prefix."""

    prefix: str
    role: str


@dataclass(frozen=True, slots=True)
class Known:
    """Result of `look_up`: catalogs, their lineages, prefix grants and quota of a principal."""

    rows: dict[str, CatalogRow]  # by name
    chains: dict[CatalogId, list[Link]]  # live ancestors of each catalog, and itself
    prefixes: list[PrefixGrant]
    quota: Quota


@dataclass(frozen=True, slots=True)
class GrantRow:
    """Grant as it is listed."""

    principal_id: int
    role: str
    expires_at: datetime | None


def look_up(
    connection: Connection, principal_id: int, names: Sequence[str], now: datetime
) -> Known:
    """Return, in one round trip, all that an access check of a principal on catalogs needs."""
    dialect = connection.dialect
    found = names_statement(connection, names)
    chains = _chains_statement(dialect.any_of("c.catalog_name", "names"), principal_id, now)
    rows, links, prefixes, quotas = connection.run(
        [
            Statement(found.sql, found.parameters, is_plain_read=True),
            Statement(chains.sql, {**chains.parameters, **found.parameters}, is_plain_read=True),
            _prefixes_statement(principal_id, now),
            quota_statement(principal_id),
        ]
    )
    return Known(
        {row.catalog_name: row for row in (CatalogRow(*row) for row in rows)},
        _chains(links),
        [PrefixGrant(*row) for row in prefixes],
        Quota(*quotas[0]) if quotas else Quota(),
    )


def chains_of(
    connection: Connection, principal_id: int, ids: Sequence[CatalogId], now: datetime
) -> dict[CatalogId, list[Link]]:
    """Return the live ancestors of catalogs, themselves included, with the roles granted."""
    dialect = connection.dialect
    statement = _chains_statement(dialect.any_of("c.catalog_id", "ids"), principal_id, now)
    given = {**statement.parameters, "ids": dialect.array(ids)}
    return _chains(connection.fetch(statement.sql, **given))


def _chains_statement(chosen: str, principal_id: int, now: datetime) -> Statement:
    text = _CHAINS.format(chosen=chosen)
    return Statement(text, {"principal": principal_id, "now": now})


def _chains(
    rows: Sequence[tuple[int, int, str | None, str | None]],
) -> dict[CatalogId, list[Link]]:
    found: dict[CatalogId, list[Link]] = {}
    for begin_id, member_id, name, role in rows:
        if name is not None:
            link = Link(CatalogId(member_id), name, role)
            found.setdefault(CatalogId(begin_id), []).append(link)
    return found


def _prefixes_statement(principal_id: int, now: datetime) -> Statement:
    return Statement(
        "SELECT prefix, role FROM crucible_prefix_grant WHERE principal_id = :principal"
        f" AND {_VALID}",
        {"principal": principal_id, "now": now},
        is_plain_read=True,
    )


def granted_ids(
    connection: Connection, principal_id: int, limit: int, now: datetime
) -> list[CatalogId]:
    """Return up to `limit` ids of catalogs on which a principal has been granted a role."""
    rows = connection.fetch(
        "SELECT catalog_id FROM crucible_grant WHERE principal_id = :principal"
        f" AND {_VALID} LIMIT :count",
        principal=principal_id,
        now=now,
        count=limit,
    )
    return [CatalogId(number) for (number,) in rows]


def prefix_grants(connection: Connection, principal_id: int, now: datetime) -> list[PrefixGrant]:
    """Return the prefix grants of a principal that have not expired."""
    (rows,) = connection.run([_prefixes_statement(principal_id, now)])
    return [PrefixGrant(*row) for row in rows]


def list_grants(connection: Connection, catalog_id: CatalogId) -> list[GrantRow]:
    """Return the grants on a catalog, expired ones included."""
    time = connection.dialect.time("expires_at")
    rows = connection.fetch(
        f"SELECT principal_id, role, {time} FROM crucible_grant WHERE catalog_id = :catalog"
        " ORDER BY principal_id",
        catalog=catalog_id,
    )
    return [
        GrantRow(number, role, None if moment is None else as_time(moment))
        for number, role, moment in rows
    ]


def owners_insert(principal_id: int, catalogs: Sequence[CatalogId]) -> Insert:
    """Return the operation that makes a principal the owner of new catalogs."""
    rows = [(principal_id, catalog_id, "owner") for catalog_id in catalogs]
    return Insert("crucible_grant", ("principal_id", "catalog_id", "role"), rows)


def grants_end(connection: Connection, catalogs: Sequence[CatalogId]) -> Statement:
    """Return the statement that deletes the grants on catalogs that are dropped."""
    dialect = connection.dialect
    return Statement(
        f"DELETE FROM crucible_grant WHERE {dialect.any_of('catalog_id', 'ids')}",
        {"ids": dialect.array(catalogs)},
    )


def tidy_grants(database: Database) -> int:
    """Delete the grants on dropped catalogs and return how many there were."""
    with database.writing() as connection:
        gone = connection.fetch(
            "DELETE FROM crucible_grant WHERE catalog_id NOT IN"
            " (SELECT catalog_id FROM ducklake_catalog_head) RETURNING catalog_id"
        )
        connection.commit()
    return len(gone)


def write_grant(
    database: Database,
    catalog: CatalogRow,
    grant: GrantRow,
    besides: Sequence[Operation] = (),
    *,
    is_new_owner: bool = False,
    ends_owner: bool = False,
) -> None:
    """Grant a principal a role on a catalog, replacing its previous role there.

    `is_new_owner` checks the principal's quota of catalogs; `ends_owner` checks that another owner
    remains. `besides` is written in the same transaction.
    """
    upsert = Statement(
        "INSERT INTO crucible_grant (principal_id, catalog_id, role, expires_at)"
        " VALUES (:principal, :catalog, :role, :expires)"
        " ON CONFLICT (principal_id, catalog_id)"
        " DO UPDATE SET role = excluded.role, expires_at = excluded.expires_at",
        {
            "principal": grant.principal_id,
            "catalog": catalog.catalog_id,
            "role": grant.role,
            "expires": grant.expires_at,
        },
    )
    with database.writing() as connection:
        if is_new_owner:
            _require_room(connection, grant.principal_id)
        if ends_owner:
            _require_other_owner(connection, catalog, grant.principal_id)
        connection.commit([upsert, *besides])


def _require_room(connection: Connection, principal_id: int) -> None:
    """Raise QuotaExceeded if a principal cannot own one more catalog.

    The error hides how many it owns: that is not for the granting principal to see.
    """
    try:
        require_catalogs(connection, principal_id, 1)
    except QuotaExceeded:
        raise QuotaExceeded(
            "The principal already owns as many catalogs as its quota allows.",
            remedy="Grant the role admin instead, drop catalogs that it owns, or raise its quota.",
        ) from None


def delete_grant(
    database: Database,
    catalog: CatalogRow,
    principal_id: int,
    besides: Sequence[Operation] = (),
    *,
    ends_owner: bool = False,
) -> None:
    """Revoke a principal's role on a catalog; `ends_owner` checks that another owner remains."""
    text = "DELETE FROM crucible_grant WHERE principal_id = :principal AND catalog_id = :catalog"
    gone = Statement(text, {"principal": principal_id, "catalog": catalog.catalog_id})
    with database.writing() as connection:
        if ends_owner:
            _require_other_owner(connection, catalog, principal_id)
        connection.commit([gone, *besides])


def _require_other_owner(connection: Connection, catalog: CatalogRow, principal_id: int) -> None:
    """Raise InvalidInput unless another principal owns the catalog: quotas count owners.

    All owner rows are locked until the transaction ends, so that two owners cannot remove each
    other concurrently.
    """
    rows = connection.fetch(
        "SELECT principal_id FROM crucible_grant WHERE catalog_id = :catalog AND role = 'owner'"
        f" AND expires_at IS NULL ORDER BY principal_id{connection.dialect.for_commit}",
        catalog=catalog.catalog_id,
    )
    if not any(owner != principal_id for (owner,) in rows):
        raise InvalidInput(
            f"The catalog '{catalog.catalog_name}' would have no owner.",
            remedy="Grant the role owner to another principal first.",
        )


def write_prefix_grant(
    database: Database,
    principal_id: int,
    grant: PrefixGrant,
    expires_at: datetime | None,
    besides: Sequence[Operation] = (),
) -> None:
    """Grant a principal a role on a name prefix, replacing its previous role there."""
    upsert = Statement(
        "INSERT INTO crucible_prefix_grant (principal_id, prefix, role, expires_at)"
        " VALUES (:principal, :prefix, :role, :expires)"
        " ON CONFLICT (principal_id, prefix)"
        " DO UPDATE SET role = excluded.role, expires_at = excluded.expires_at",
        {
            "principal": principal_id,
            "prefix": grant.prefix,
            "role": grant.role,
            "expires": expires_at,
        },
    )
    with database.writing() as connection:
        connection.commit([upsert, *besides])


def delete_prefix_grant(
    database: Database, principal_id: int, prefix: str, besides: Sequence[Operation] = ()
) -> None:
    """Revoke a principal's role on a name prefix."""
    text = "DELETE FROM crucible_prefix_grant WHERE principal_id = :principal AND prefix = :prefix"
    with database.writing() as connection:
        connection.commit(
            [Statement(text, {"principal": principal_id, "prefix": prefix}), *besides]
        )
