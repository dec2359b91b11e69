"""Changes in progress, as far as engines take part in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from forklake.catalog.catalog import Catalog
from forklake.catalog.transaction import Transaction
from forklake.model.entities import Table
from forklake.model.state import CatalogState


class Storage(Protocol):
    """Location and options of the files of a catalog."""

    @property
    def catalog(self) -> Catalog:
        """Catalog whose files these are."""

    def folder(self, state: CatalogState, table: Table) -> str:
        """Return the folder of a table relative to the data path, with a trailing slash."""

    def located(self, path: str) -> str:
        """Return the full path for one that is relative to the data path."""

    def option(self, state: CatalogState, name: str, table: Table | None = None) -> str | None:
        """Return the value of an option."""


class PendingChange(Protocol):
    """Transaction on a catalog, with the files that engines write for it."""

    @property
    def attachment(self) -> Storage:
        """Location and options of the files."""

    @property
    def transaction(self) -> Transaction:
        """Transaction that the files are added to."""

    def wrote(self, paths: Iterable[str]) -> None:
        """Register files that are removed if the change is discarded."""
