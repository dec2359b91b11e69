"""Rows of ducklake_catalog: queries that find and list catalogs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from forklake.errors import AlreadyExists, NotFound
from forklake.model.ids import CatalogId, SnapshotId
from forklake.store.database import Connection
from forklake.store.operations import Statement

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
_BY_NAME = f"{_LIVE} AND c.catalog_name = :name"


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """Row of ducklake_catalog."""

    catalog_id: CatalogId
    catalog_uuid: str
    catalog_name: str
    begin_snapshot: SnapshotId
    parent_catalog_id: CatalogId | None
    fork_snapshot: SnapshotId | None
    data_path: str | None
    path: str
    end_snapshot: SnapshotId | None = None


class Within(NamedTuple):
    """Selection of catalogs: by id, or by a prefix of the name."""

    ids: Sequence[CatalogId]
    prefixes: Sequence[str]


def missing(name: str) -> NotFound:
    """Return the error for a catalog that does not exist."""
    return NotFound(
        f"Catalog '{name}' does not exist",
        remedy="Check the name, or create the catalog first.",
        catalog=name,
    )


def taken(names: Sequence[str]) -> AlreadyExists:
    """Return the error for catalog names that are in use."""
    shown = ", ".join(f"'{name}'" for name in names[:5]) + (" …" if len(names) > 5 else "")
    return AlreadyExists(
        f"Catalog {shown} already exists.",
        remedy="Choose another name.",
        catalogs=list(names[:100]),
    )


def find_catalog(connection: Connection, name: str) -> CatalogRow | None:
    """Return the live catalog with this name, or None."""
    rows = connection.fetch(_BY_NAME, name=name)
    return CatalogRow(*rows[0]) if rows else None


def find_catalogs(connection: Connection, names: Sequence[str]) -> list[CatalogRow]:
    """Return the live catalogs with these names."""
    (rows,) = connection.run([names_statement(connection, names)])
    return [CatalogRow(*row) for row in rows]


def find_parent_and_forks(
    connection: Connection, parent: str, names: Sequence[str]
) -> tuple[CatalogRow, list[CatalogRow]]:
    """Return a catalog that must exist, and existing catalogs with the names of its new forks."""
    found, existing = connection.run(
        [Statement(_BY_NAME, {"name": parent}), names_statement(connection, names)]
    )
    if not found:
        raise missing(parent)
    return CatalogRow(*found[0]), [CatalogRow(*row) for row in existing]


def names_statement(connection: Connection, names: Sequence[str]) -> Statement:
    """Return the statement that finds live catalogs by name."""
    dialect = connection.dialect
    text = f"{_LIVE} AND {dialect.any_of('c.catalog_name', 'names')}"
    return Statement(text, {"names": dialect.array(names)})


def catalogs_of(connection: Connection, ids: Sequence[CatalogId]) -> list[CatalogRow]:
    """Return the live catalogs with these ids."""
    dialect = connection.dialect
    text = f"{_LIVE} AND {dialect.any_of('c.catalog_id', 'ids')} ORDER BY c.catalog_name"
    return [CatalogRow(*row) for row in connection.fetch(text, ids=dialect.array(ids))]


def find_names(connection: Connection, ids: Sequence[CatalogId]) -> dict[CatalogId, str]:
    """Return the names of the live catalogs with these ids."""
    dialect = connection.dialect
    text = (
        "SELECT catalog_id, catalog_name FROM ducklake_catalog WHERE end_snapshot IS NULL"
        f" AND {dialect.any_of('catalog_id', 'ids')}"
    )
    return dict(connection.fetch(text, ids=dialect.array(ids)))


def list_catalogs(
    connection: Connection, *, prefix: str = "", after: str = "", limit: int = 100
) -> list[CatalogRow]:
    """Return a page of live catalogs, sorted by name. It is read from an index range."""
    text = f"{_LIVE} AND c.catalog_name > :after AND c.catalog_name >= :prefix"
    ends = _after_prefix(prefix)
    if ends:
        text += " AND c.catalog_name < :ends"
    text += " ORDER BY c.catalog_name LIMIT :count"
    rows = connection.fetch(text, after=after, prefix=prefix, ends=ends, count=limit)
    return [CatalogRow(*row) for row in rows]


def _after_prefix(prefix: str) -> str:
    """Return the least text above all texts that begin with the prefix; empty if there is none."""
    for length in range(len(prefix), 0, -1):
        code = ord(prefix[length - 1])
        following = 0xE000 if code == 0xD7FF else code + 1  # surrogates cannot be encoded
        if following <= 0x10FFFF:
            return prefix[: length - 1] + chr(following)
    return ""


def count_catalogs(connection: Connection) -> int:
    """Return the number of live catalogs: each has one head."""
    return int(connection.fetch("SELECT count(*) FROM ducklake_catalog_head")[0][0])


def list_children(
    connection: Connection,
    parent_id: CatalogId,
    *,
    after: str = "",
    limit: int | None = None,
    within: Within | None = None,
) -> list[CatalogRow]:
    """Return the live forks of a catalog, sorted by name; `within` restricts them."""
    text = (
        f"{_LIVE} AND c.catalog_name > :after AND c.catalog_id IN (SELECT l.catalog_id"
        " FROM ducklake_catalog_lineage l WHERE l.ancestor_id = :parent AND l.depth = 1)"
    )
    given: dict[str, Any] = {"parent": parent_id, "after": after}
    if within is not None:
        condition, more = _is_within(connection, within)
        text, given = f"{text} AND {condition}", given | more
    text += " ORDER BY c.catalog_name"
    if limit is not None:
        text += f" LIMIT {int(limit)}"
    return [CatalogRow(*row) for row in connection.fetch(text, **given)]


def _is_within(connection: Connection, within: Within) -> tuple[str, dict[str, Any]]:
    """Return the condition that selects `within`, and its parameters."""
    dialect = connection.dialect
    parts, given = [dialect.any_of("c.catalog_id", "ids")], {"ids": dialect.array(within.ids)}
    for place, prefix in enumerate(within.prefixes):
        part, given[f"prefix_{place}"] = f"c.catalog_name >= :prefix_{place}", prefix
        if ends := _after_prefix(prefix):
            part, given[f"ends_{place}"] = f"{part} AND c.catalog_name < :ends_{place}", ends
        parts.append(part)
    return f"({' OR '.join(parts)})", given


def count_children(connection: Connection, ids: Sequence[CatalogId]) -> dict[CatalogId, int]:
    """Return the number of live forks of each of these catalogs. Those without are left out."""
    dialect = connection.dialect
    text = (
        "SELECT l.ancestor_id, count(*) FROM ducklake_catalog_lineage l"
        " JOIN ducklake_catalog_head h ON h.catalog_id = l.catalog_id WHERE l.depth = 1"
        f" AND {dialect.any_of('l.ancestor_id', 'ids')} GROUP BY l.ancestor_id"
    )
    return dict(connection.fetch(text, ids=dialect.array(ids)))


def has_ancestors(connection: Connection, catalog_id: CatalogId) -> bool:
    """Return whether a catalog reads rows of ancestors."""
    text = "SELECT 1 FROM ducklake_catalog_lineage WHERE catalog_id = :catalog AND depth = 1"
    return bool(connection.fetch(text, catalog=catalog_id))


def data_paths(connection: Connection, catalog_id: CatalogId) -> dict[CatalogId, str | None]:
    """Return the data path of each catalog in the lineage."""
    text = (
        "SELECT DISTINCT c.catalog_id, c.data_path FROM ducklake_catalog_lineage l"
        " JOIN ducklake_catalog c ON c.catalog_id = l.ancestor_id WHERE l.catalog_id = :catalog"
    )
    return dict(connection.fetch(text, catalog=catalog_id))
