"""Models of catalogs and forks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field, model_validator

from forklake.crucible.shapes.base import MAX_BATCH, Lifetime, Number, RequestBody, ResponseBody
from forklake.model.requests import ForkRequest
from forklake.store.catalogs import CatalogRow
from forklake.store.provisioning import Provided

Names = Annotated[list[str], Field(min_length=1, max_length=MAX_BATCH)]


class Catalog(ResponseBody):
    """Catalog. For a fork, `parent_catalog_id` and `fork_snapshot` are its origin."""

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
        """Return the model of a stored catalog."""
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


class CatalogDetails(Catalog):
    """Catalog with the name of its parent, and the time from which on it may be dropped.

    `parent` is null if the parent was dropped or cannot be read by the caller.
    """

    parent: str | None
    expires_at: datetime | None


class CatalogPage(ResponseBody):
    """Catalogs ordered by name. To get the next page, pass `next` as `after`."""

    catalogs: list[Catalog]
    next: str | None

    @classmethod
    def of(cls, rows: Sequence[CatalogRow], limit: int) -> CatalogPage:
        """Return a page; a full one has `next`, even if no more catalogs follow."""
        more = rows[-1].catalog_name if len(rows) == limit else None
        return cls(catalogs=[Catalog.of(row) for row in rows], next=more)


class CreatedCatalogs(ResponseBody):
    """Requested catalogs, and how many of them were created. Existing ones come first."""

    catalogs: list[Catalog]
    made: int

    @classmethod
    def of(cls, provided: Provided) -> CreatedCatalogs:
        """Return the model of stored catalogs and the number of created ones."""
        return cls(catalogs=[Catalog.of(row) for row in provided.rows], made=provided.created)


class DropResult(ResponseBody):
    """Number of dropped catalogs."""

    dropped: int


class TreeNode(ResponseBody):
    """Catalog in a fork tree, `depth` levels below the requested catalog."""

    depth: int
    catalog: Catalog


class Tree(ResponseBody):
    """Fork tree in depth-first order. `is_cut` is true if catalogs were omitted by `limit`."""

    nodes: list[TreeNode]
    is_cut: bool


class _ExpiringBody(RequestBody):
    ttl_seconds: Lifetime = None

    @property
    def lifetime(self) -> timedelta | None:
        """Time until the catalog expires; None for never."""
        return None if self.ttl_seconds is None else timedelta(seconds=self.ttl_seconds)


class _CreationBody(_ExpiringBody):
    if_not_exists: bool = False


class NewCatalog(_CreationBody):
    """New catalog. Only a root principal can set `data_path`."""

    name: str
    data_path: str | None = None


class NewCatalogs(_CreationBody):
    """Catalogs to create in one snapshot. Only a root principal can set `data_path`."""

    names: Names
    data_path: str | None = None


class NewForks(_CreationBody):
    """One fork (`name`) or many in one snapshot (`names`).

    `at` is the snapshot to fork; the default is the current one.
    """

    name: str | None = None
    names: Names | None = None
    at: Number | None = None
    mode: Literal["inherit", "copy"] = "inherit"

    @model_validator(mode="after")
    def _check_names(self) -> NewForks:
        if (self.name is None) == (self.names is None):
            raise ValueError("set either name or names, but not both")
        return self

    def request(self, parent: str) -> ForkRequest:
        """Return the request for forks of `parent`."""
        return ForkRequest(
            parent,
            [self.name] if self.name is not None else list(self.names or ()),
            at=self.at,
            mode=self.mode,
            if_not_exists=self.if_not_exists,
            ttl=self.lifetime,
        )


class DropCatalogs(RequestBody):
    """Catalogs to drop."""

    names: Names
    if_exists: bool = False


class ChangeCatalog(_ExpiringBody):
    """New name, new time to live (null: never expires), or both."""

    name: str | None = None

    @property
    def sets_lifetime(self) -> bool:
        """Whether the request changes the time to live."""
        return "ttl_seconds" in self.model_fields_set


class MaterializeResult(ResponseBody):
    """Snapshot at which a fork was materialized; null if it did not inherit anything."""

    snapshot: int | None
