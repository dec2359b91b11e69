"""Grants: roles on catalogs and on prefixes of names; and what is asked to check them.

A check looks at a catalog and at all it was forked from, whether it still reads their rows or has
a copy of them: the chain of parents, as far as their rows are known.
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
# Subqueries on keys alone, no joins: each finds its rows by the key, whatever the planner knew of
# the tables when the statement was prepared.
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
    """A live catalog of a chain, and the role that the principal has been granted on it."""

    catalog_id: CatalogId
    name: str
    role: str | None


class PrefixGrant(NamedTuple):
    """A role on all catalogs whose names begin so."""

    prefix: str
    role: str


@dataclass(frozen=True, slots=True)
class Known:
    """What a check asks for: catalogs, what stands behind each, and the principal's own rules."""

    rows: dict[str, CatalogRow]  # by name
    chains: dict[CatalogId, list[Link]]  # the catalog itself is among them
    prefixes: list[PrefixGrant]
    quota: Quota


@dataclass(frozen=True, slots=True)
class GrantRow:
    """A grant as it is listed."""

    principal_id: int
    role: str
    expires_at: datetime | None


def look_up(
    connection: Connection, principal_id: int, names: Sequence[str], now: datetime
) -> Known:
    """What there is to know about some catalogs for one principal, in one round trip."""
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
    """The chains of some catalogs by their ids."""
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
    """Catalogs on which a principal has been granted a role, up to so many."""
    rows = connection.fetch(
        "SELECT catalog_id FROM crucible_grant WHERE principal_id = :principal"
        f" AND {_VALID} LIMIT :count",
        principal=principal_id,
        now=now,
        count=limit,
    )
    return [CatalogId(number) for (number,) in rows]


def prefix_grants(connection: Connection, principal_id: int, now: datetime) -> list[PrefixGrant]:
    """The roles of a principal on prefixes."""
    (rows,) = connection.run([_prefixes_statement(principal_id, now)])
    return [PrefixGrant(*row) for row in rows]


def list_grants(connection: Connection, catalog_id: CatalogId) -> list[GrantRow]:
    """The grants on a catalog, those that have run out included."""
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
    """Whoever makes catalogs owns them."""
    rows = [(principal_id, catalog_id, "owner") for catalog_id in catalogs]
    return Insert("crucible_grant", ("principal_id", "catalog_id", "role"), rows)


def grants_end(connection: Connection, catalogs: Sequence[CatalogId]) -> Statement:
    """The statement that removes the grants on catalogs which go."""
    dialect = connection.dialect
    return Statement(
        f"DELETE FROM crucible_grant WHERE {dialect.any_of('catalog_id', 'ids')}",
        {"ids": dialect.array(catalogs)},
    )


def tidy_grants(database: Database) -> int:
    """Remove the grants on catalogs that are gone; how many there were."""
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
    """Give a principal a role on a catalog, in place of the one it had.

    A new owner must be allowed to own one more; where one ends, another must be left.
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

    How many it owns is not for the principal that grants.
    """
    try:
        require_catalogs(connection, principal_id, 1)
    except QuotaExceeded:
        raise QuotaExceeded(
            "The principal owns as many catalogs as it may.",
            remedy="Grant admin instead, or let it drop some or ask for a higher limit.",
        ) from None


def delete_grant(
    database: Database,
    catalog: CatalogRow,
    principal_id: int,
    besides: Sequence[Operation] = (),
    *,
    ends_owner: bool = False,
) -> None:
    """Take a principal's role on a catalog away; where an owner ends, another must be left."""
    text = "DELETE FROM crucible_grant WHERE principal_id = :principal AND catalog_id = :catalog"
    gone = Statement(text, {"principal": principal_id, "catalog": catalog.catalog_id})
    with database.writing() as connection:
        if ends_owner:
            _require_other_owner(connection, catalog, principal_id)
        connection.commit([gone, *besides])


def _require_other_owner(connection: Connection, catalog: CatalogRow, principal_id: int) -> None:
    """Somebody has to own a catalog: quotas count owners.

    All owners are locked until the transaction ends, so that two do not end each other.
    """
    rows = connection.fetch(
        "SELECT principal_id FROM crucible_grant WHERE catalog_id = :catalog AND role = 'owner'"
        f" AND expires_at IS NULL ORDER BY principal_id{connection.dialect.for_commit}",
        catalog=catalog.catalog_id,
    )
    if not any(owner != principal_id for (owner,) in rows):
        raise InvalidInput(
            f"The catalog '{catalog.catalog_name}' would have no owner.",
            remedy="Make somebody else its owner first.",
        )


def write_prefix_grant(
    database: Database,
    principal_id: int,
    grant: PrefixGrant,
    expires_at: datetime | None,
    besides: Sequence[Operation] = (),
) -> None:
    """Give a principal a role on a prefix, in place of the one it had."""
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
    """Take a principal's role on a prefix away."""
    text = "DELETE FROM crucible_prefix_grant WHERE principal_id = :principal AND prefix = :prefix"
    with database.writing() as connection:
        connection.commit(
            [Statement(text, {"principal": principal_id, "prefix": prefix}), *besides]
        )
