"""Catalogs and forks, as requests and answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field, model_validator

from forklake.crucible.shapes.base import MAX_BATCH, Answer, Body, Lifetime, Number
from forklake.store.catalogs import CatalogRow

Names = Annotated[list[str], Field(min_length=1, max_length=MAX_BATCH)]


class Catalog(Answer):
    """A catalog; a fork names the catalog and the snapshot that it was forked from."""

    name: str
    catalog_id: int
    uuid: str
    begin_snapshot: int
    parent_catalog_id: int | None
    fork_snapshot: int | None
    data_path: str | None
    path: str

    @classmethod
    def of(cls, row: CatalogRow) -> Catalog:
        """A catalog as the metastore keeps it."""
        return cls(
            name=row.catalog_name,
            catalog_id=row.catalog_id,
            uuid=str(row.catalog_uuid),
            begin_snapshot=row.begin_snapshot,
            parent_catalog_id=row.parent_catalog_id,
            fork_snapshot=row.fork_snapshot,
            data_path=row.data_path,
            path=row.path,
        )


class CatalogInFull(Catalog):
    """A catalog, the one that it was forked from, if that is there and may be read, and from when
    on it may be dropped by itself."""

    parent: str | None
    expires_at: datetime | None


class CatalogPage(Answer):
    """Some catalogs in the order of their names; the next page comes `after` the name `next`."""

    catalogs: list[Catalog]
    next: str | None

    @classmethod
    def of(cls, rows: Sequence[CatalogRow], limit: int) -> CatalogPage:
        """A page that may be the last one."""
        more = rows[-1].catalog_name if len(rows) == limit else None
        return cls(catalogs=[Catalog.of(row) for row in rows], next=more)


class Catalogs(Answer):
    """Catalogs that were asked for, those that were there already first."""

    catalogs: list[Catalog]

    @classmethod
    def of(cls, rows: Sequence[CatalogRow]) -> Catalogs:
        """What there is now."""
        return cls(catalogs=[Catalog.of(row) for row in rows])


class Made(Answer):
    """Forks that were asked for, those that were there already first; and how many are new."""

    catalogs: list[Catalog]
    made: int

    @classmethod
    def of(cls, rows: Sequence[CatalogRow], made: int) -> Made:
        """What was made."""
        return cls(catalogs=[Catalog.of(row) for row in rows], made=made)


class Dropped(Answer):
    """How many catalogs were dropped."""

    dropped: int


class TreeNode(Answer):
    """A catalog in the tree of forks, `depth` levels below the one that was asked for."""

    depth: int
    catalog: Catalog


class Tree(Answer):
    """A catalog and its forks, each before its own; whether some had to be left out."""

    nodes: list[TreeNode]
    is_cut: bool


class _Lasting(Body):
    ttl_seconds: Lifetime = None

    @property
    def lifetime(self) -> timedelta | None:
        """How long it lives, if not for ever."""
        return None if self.ttl_seconds is None else timedelta(seconds=self.ttl_seconds)


class _New(_Lasting):
    if_not_exists: bool = False


class NewCatalog(_New):
    """A catalog to be created; only a root says where its files go."""

    name: str
    data_path: str | None = None


class NewCatalogs(_New):
    """Many catalogs to be created, in one snapshot."""

    names: Names
    data_path: str | None = None


class NewForks(_New):
    """A fork, or many in one snapshot: of the catalog as it is, or as it was at a snapshot."""

    name: str | None = None
    names: Names | None = None
    at: Number | None = None
    mode: Literal["inherit", "copy"] = "inherit"

    @model_validator(mode="after")
    def _one_of_both(self) -> NewForks:
        if (self.name is None) == (self.names is None):
            raise ValueError("give name, or names, and not both")
        return self

    @property
    def wanted(self) -> list[str]:
        """All names."""
        return [self.name] if self.name is not None else list(self.names or ())


class DropCatalogs(Body):
    """Catalogs to be dropped."""

    names: Names
    if_exists: bool = False


class ChangeCatalog(_Lasting):
    """Another name, another time to live (null: for ever), or both."""

    name: str | None = None

    @property
    def sets_lifetime(self) -> bool:
        """Whether the time to live is to change."""
        return "ttl_seconds" in self.model_fields_set


class Materialized(Answer):
    """The snapshot at which a fork got rows of its own; null if it had its own already."""

    snapshot: int | None
