"""Catalogs as the metastore keeps them: finding and listing them."""

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


class Within(NamedTuple):
    """Some catalogs: those of these ids, and those whose names begin with one of the prefixes."""

    ids: Sequence[CatalogId]
    prefixes: Sequence[str]


def missing(name: str) -> NotFound:
    """The error for a catalog that is not there."""
    return NotFound(
        f"Catalog '{name}' does not exist",
        remedy="Check the name, or create the catalog first.",
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
    rows = connection.fetch(_BY_NAME, name=name)
    return CatalogRow(*rows[0]) if rows else None


def find_catalogs(connection: Connection, names: Sequence[str]) -> list[CatalogRow]:
    """The live catalogs among some names."""
    (rows,) = connection.run([names_statement(connection, names)])
    return [CatalogRow(*row) for row in rows]


def find_parent_and_forks(
    connection: Connection, parent: str, names: Sequence[str]
) -> tuple[CatalogRow, list[CatalogRow]]:
    """A catalog that must be there, and those that have the names of its forks already."""
    found, existing = connection.run(
        [Statement(_BY_NAME, {"name": parent}), names_statement(connection, names)]
    )
    if not found:
        raise missing(parent)
    return CatalogRow(*found[0]), [CatalogRow(*row) for row in existing]


def names_statement(connection: Connection, names: Sequence[str]) -> Statement:
    """The statement that finds live catalogs by their names."""
    dialect = connection.dialect
    text = f"{_LIVE} AND {dialect.any_of('c.catalog_name', 'names')}"
    return Statement(text, {"names": dialect.array(names)})


def catalogs_of(connection: Connection, ids: Sequence[CatalogId]) -> list[CatalogRow]:
    """The live catalogs among some ids."""
    dialect = connection.dialect
    text = f"{_LIVE} AND {dialect.any_of('c.catalog_id', 'ids')} ORDER BY c.catalog_name"
    return [CatalogRow(*row) for row in connection.fetch(text, ids=dialect.array(ids))]


def find_names(connection: Connection, ids: Sequence[CatalogId]) -> dict[CatalogId, str]:
    """The names of the live catalogs among some ids."""
    dialect = connection.dialect
    text = (
        "SELECT catalog_id, catalog_name FROM ducklake_catalog WHERE end_snapshot IS NULL"
        f" AND {dialect.any_of('catalog_id', 'ids')}"
    )
    return dict(connection.fetch(text, ids=dialect.array(ids)))


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


def list_children(
    connection: Connection,
    parent_id: CatalogId,
    *,
    after: str = "",
    limit: int | None = None,
    within: Within | None = None,
) -> list[CatalogRow]:
    """The live catalogs that were forked from this one, or some of them, by name."""
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
    """The condition that a catalog is one of some, and its parameters."""
    dialect = connection.dialect
    parts, given = [dialect.any_of("c.catalog_id", "ids")], {"ids": dialect.array(within.ids)}
    for place, prefix in enumerate(within.prefixes):
        part, given[f"prefix_{place}"] = f"c.catalog_name >= :prefix_{place}", prefix
        if ends := _after_prefix(prefix):
            part, given[f"ends_{place}"] = f"{part} AND c.catalog_name < :ends_{place}", ends
        parts.append(part)
    return f"({' OR '.join(parts)})", given


def count_children(connection: Connection, ids: Sequence[CatalogId]) -> dict[CatalogId, int]:
    """How many live catalogs were forked from each of some, of those that have any."""
    dialect = connection.dialect
    text = (
        "SELECT l.ancestor_id, count(*) FROM ducklake_catalog_lineage l"
        " JOIN ducklake_catalog_head h ON h.catalog_id = l.catalog_id WHERE l.depth = 1"
        f" AND {dialect.any_of('l.ancestor_id', 'ids')} GROUP BY l.ancestor_id"
    )
    return dict(connection.fetch(text, ids=dialect.array(ids)))


def has_ancestors(connection: Connection, catalog_id: CatalogId) -> bool:
    """Whether a catalog reads rows of others."""
    text = "SELECT 1 FROM ducklake_catalog_lineage WHERE catalog_id = :catalog AND depth = 1"
    return bool(connection.fetch(text, catalog=catalog_id))


def data_paths(connection: Connection, catalog_id: CatalogId) -> dict[CatalogId, str | None]:
    """The data path of each catalog on the line."""
    text = (
        "SELECT DISTINCT c.catalog_id, c.data_path FROM ducklake_catalog_lineage l"
        " JOIN ducklake_catalog c ON c.catalog_id = l.ancestor_id WHERE l.catalog_id = :catalog"
    )
    return dict(connection.fetch(text, catalog=catalog_id))
