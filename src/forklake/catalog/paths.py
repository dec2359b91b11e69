"""Data paths of a catalog and its ancestors, and full paths of their files."""

from __future__ import annotations

from forklake.errors import NotFound
from forklake.files.paths import resolve
from forklake.model.entities import DataFile, DeleteFile
from forklake.model.ids import NO_CATALOG, CatalogId
from forklake.store.catalogs import CatalogRow, data_paths
from forklake.store.database import Database


class DataPaths:
    """Resolver of stored paths. A file lies below the data path of the catalog that wrote it."""

    def __init__(self, database: Database, row: CatalogRow) -> None:
        self._database = database
        self._row = row
        self._known: dict[CatalogId, str | None] = {}

    @property
    def own(self) -> str:
        """Data path of new files of the catalog."""
        return self._found(self._row.data_path)

    def full(self, file: DataFile | DeleteFile) -> str:
        """Return the full path of a file."""
        return self.below(file.catalog_id, file.path) if file.path_is_relative else file.path

    def below(self, owner: CatalogId, path: str) -> str:
        """Return the full path for a path relative to the data path of a catalog."""
        return resolve(self._of(owner), path, is_relative=True)

    def _of(self, owner: CatalogId) -> str:
        # Files of the open transaction have no writer yet.
        if owner == self._row.catalog_id or owner == NO_CATALOG:
            return self.own
        if owner not in self._known:
            self._load()
        return self._found(self._known.get(owner))

    def _load(self) -> None:
        """Read the data paths of the lineage.

        If the catalog was opened with another data path than the stored one, because the files were
        moved, this also replaces the data path of those ancestors that shared the stored one.
        """
        with self._database.reading() as connection:
            found = data_paths(connection, self._row.catalog_id)
        stored = found.get(self._row.catalog_id)
        self._known = {
            owner: self._row.data_path if path == stored else path for owner, path in found.items()
        }

    def _found(self, path: str | None) -> str:
        if path is None:
            raise NotFound(
                f"The catalog '{self._row.catalog_name}' has no data path.",
                remedy="Attach it with a data_path, or create it with a data_path.",
                catalog=self._row.catalog_name,
            )
        return path
