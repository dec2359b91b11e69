"""Import of a DuckLake as a catalog, with its history; its data files are shared, not copied.

Each of its snapshots becomes a snapshot of the catalog, in order, with its time, author and
message. Nothing is written to the DuckLake, and its files are never deleted.

New delete files are written before the catalog exists. Every attempt to import under one name
writes to the same folder, so files of an interrupted attempt are orphans of the next one, which
the clean-up deletes.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from itertools import count

from forklake.catalog.catalog import Catalog
from forklake.catalog.metastore import Metastore
from forklake.errors import AlreadyExists, Conflict, InvalidInput, NotFound
from forklake.files.locations import normalize_data_path
from forklake.files.paths import resolve
from forklake.files.systems import remove
from forklake.maintenance.ducklake.catalog_writer import has_folder, past_snapshots, write_catalog
from forklake.maintenance.ducklake.definitions import DefinitionReader
from forklake.maintenance.ducklake.deletes import DeleteReader
from forklake.maintenance.ducklake.files import DataFileReader
from forklake.maintenance.ducklake.id_map import IdMap
from forklake.maintenance.ducklake.imported_rows import ImportedRows
from forklake.maintenance.ducklake.rows import InlinedRowReader
from forklake.maintenance.ducklake.source import DuckLakeSource, open_source
from forklake.maintenance.ducklake.statistics import Statistics
from forklake.model.ids import NO_CATALOG, UNCOMMITTED
from forklake.model.names import checked_catalog_name
from forklake.store.catalogs import CatalogRow, find_catalog, taken
from forklake.store.data_paths import refuse_overlap
from forklake.store.database import Connection
from forklake.store.phases import reached

# Folder of new delete files, below the folder of the catalog.
_DELETES = "deletes/"
# Errors that prove that the catalog was not created. After other errors, such as a lost connection
# during COMMIT, the outcome is unknown, so the written files are kept.
_REFUSALS = (AlreadyExists, Conflict, InvalidInput)
# Namespace of the UUIDs that name folders.
_NAMESPACE = uuid.UUID("a1c9a3f0-6f3c-4c57-9d3b-6f1f0f6f6c9e")


@dataclass(frozen=True, slots=True)
class DuckLakeImportResult:
    """An imported catalog, with the numbers of imported objects."""

    catalog: Catalog
    snapshots: int
    tables: int
    files: int


def import_ducklake(
    metastore: Metastore,
    source_uri: str,
    name: str,
    *,
    data_path: str | None = None,
    source_data_path: str | None = None,
    metadata_schema: str | None = None,
) -> DuckLakeImportResult:
    """Import a DuckLake as a new catalog that shares its files.

    Args:
        source_uri: its metadata: `ducklake:<DuckDB file>` or `ducklake:postgres:<dsn>`.
        data_path: folder for new files of the catalog; required if files that DuckLake merged have
            many rows that older snapshots do not see.
        source_data_path: folder of its data files, if they were moved.
        metadata_schema: the database schema of its metadata.
    """
    row = _plan_catalog(metastore, name, data_path)
    with open_source(source_uri, metadata_schema) as source:
        snapshots = sorted(
            source.rows("ducklake_snapshot"), key=lambda one: int(one["snapshot_id"])
        )
        past = past_snapshots(snapshots, source.rows("ducklake_snapshot_changes"))
        ids = IdMap([one["snapshot_id"] for one in snapshots])
        definitions = DefinitionReader(
            source, ids, ImportedRows(), source_data_path or _read_data_path(source)
        )
        deletes = DeleteReader(
            definitions, Statistics(definitions), _delete_folder(row), row.path + _DELETES
        )
        _collect_rows(definitions, deletes)
        reached("import.gathered")
        try:
            created = write_catalog(metastore.database, row, past, ids, definitions.imported)
        except _REFUSALS:
            remove(deletes.written_paths)
            raise
    _, files = definitions.imported.rows.get("ducklake_data_file", ((), []))
    return DuckLakeImportResult(
        Catalog(metastore, created), len(past), len(definitions.tables), len(files)
    )


def _collect_rows(definitions: DefinitionReader, deletes: DeleteReader) -> None:
    try:
        definitions.gather()
        DataFileReader(definitions, deletes.statistics, deletes).gather()
        InlinedRowReader(definitions, deletes.statistics).gather()
        deletes.statistics.gather()
    except BaseException:
        remove(deletes.written_paths)
        raise


def _plan_catalog(metastore: Metastore, name: str, data_path: str | None) -> CatalogRow:
    checked = checked_catalog_name(name)
    path = None if data_path is None else normalize_data_path(data_path)
    with metastore.database.reading() as connection:
        if find_catalog(connection, checked) is not None:
            raise taken([checked])
        if path is not None:
            refuse_overlap(connection, path)  # before files are written there
        folder = _find_free_folder(connection, checked)
    unique = str(uuid.uuid4())
    return CatalogRow(NO_CATALOG, unique, checked, UNCOMMITTED, None, None, path, folder)


def _find_free_folder(connection: Connection, name: str) -> str:
    """Return the first folder for a name that no catalog uses or used."""
    folders = (str(uuid.uuid5(_NAMESPACE, f"{number} {name}")) for number in count())
    return next(f"{one}/" for one in folders if not has_folder(connection, f"{one}/"))


def _delete_folder(row: CatalogRow) -> str | None:
    if row.data_path is None:
        return None
    return resolve(row.data_path, row.path + _DELETES, is_relative=True)


def _read_data_path(source: DuckLakeSource) -> str:
    for row in source.rows("ducklake_metadata"):
        if row["key"] == "data_path":
            return str(row["value"])
    raise NotFound(
        f"The metadata of the DuckLake in {source.address} has no data path.",
        remedy="Name the folder of its files: `source_data_path` (`--source-data-path`).",
    )
