"""Where the files of a catalog are: the data paths of the catalogs on its line."""

from __future__ import annotations

from forklake.errors import NotFound
from forklake.files.paths import resolve
from forklake.model.entities import DataFile, DeleteFile
from forklake.model.ids import NOBODY, CatalogId
from forklake.store.catalogs import CatalogRow, data_paths
from forklake.store.database import Database


class DataPaths:
    """Full paths of stored ones. Files lie below the data path of the catalog that wrote them."""

    def __init__(self, database: Database, row: CatalogRow) -> None:
        self._database = database
        self._row = row
        self._known: dict[CatalogId, str | None] = {}

    @property
    def own(self) -> str:
        """Where new files of the catalog go."""
        return self._found(self._row.data_path)

    def full(self, file: DataFile | DeleteFile) -> str:
        """The full path of a file."""
        return self.below(file.catalog_id, file.path) if file.path_is_relative else file.path

    def below(self, owner: CatalogId, path: str) -> str:
        """The full path of one that is relative to the data path of a catalog."""
        return resolve(self._of(owner), path, is_relative=True)

    def _of(self, owner: CatalogId) -> str:
        if owner == self._row.catalog_id or owner == NOBODY:  # nobody: the open transaction
            return self.own
        if owner not in self._known:
            self._load()
        return self._found(self._known.get(owner))

    def _load(self) -> None:
        """Read the line. Who opened the catalog with another data path of its own, because the
        files were moved, means the ancestors that shared the old one as well."""
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
                remedy="Attach it with a data_path, or create it with one.",
                catalog=self._row.catalog_name,
            )
        return path
