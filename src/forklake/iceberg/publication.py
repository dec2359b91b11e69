"""Publication of a table of any catalog as Iceberg metadata over the same data files.

Snapshots keep their ids: the newest one is the head of the catalog, and the older ones are those
that changed the table. Written files are named after their content and the schema version, and
never change: publishing again writes only what is new and does not disturb readers.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from pydantic_core import to_json
from pyiceberg.manifest import ManifestEntry, ManifestFile
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil

from forklake.catalog.catalog import Catalog
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.errors import NotFound, Unsupported
from forklake.files.conditional_put import put
from forklake.files.locations import normalize_data_path
from forklake.files.systems import exists, file_system, is_local, make_folder
from forklake.iceberg.documents import TableDocument
from forklake.iceberg.files import ManifestGroup, TableFiles
from forklake.iceberg.manifests import FileSummary, write_list, write_manifest
from forklake.iceberg.name_mapping import name_mapping
from forklake.model.changes import ChangeKind
from forklake.model.entities import Table
from forklake.model.kinds import TABLE
from forklake.model.snapshots import Snapshot
from forklake.store.data_paths import refuse_location

HISTORY = 10  # default number of older snapshots to publish
_FOLDER = ".iceberg"  # cannot be the folder of a catalog
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A published table: the location of its metadata, and its content as JSON."""

    location: str
    metadata_location: str
    text: str

    @property
    def metadata(self) -> TableMetadata:
        """The metadata as an object of pyiceberg."""
        return TableMetadataUtil.parse_raw(self.text)


def publish_table(
    catalog: Catalog,
    table_name: str,
    schema: str = "main",
    location: str | None = None,
    *,
    history: int = HISTORY,
) -> PublishedTable:
    """Write Iceberg metadata of a table. Raise Unsupported if Iceberg cannot represent its rows.

    Args:
        location: the root of the Iceberg table, outside of the folders of catalogs; by default a
            folder below the data path.
        history: maximum number of older snapshots; those that Iceberg cannot represent are left
            out.
    """
    if location:
        with catalog.database.reading() as connection:
            refuse_location(connection, normalize_data_path(location))
    seen = catalog.now()
    table = seen.state.table(table_name, schema)
    root = location.rstrip("/") if location else _default_root(catalog, table)
    return _Publication(catalog, seen, table, _absolute(root)).run(history)


class _Publication:
    """Publication of one table to one location."""

    def __init__(self, catalog: Catalog, seen: SnapshotReads, table: Table, root: str) -> None:
        self._catalog = catalog
        self._seen = seen
        self._table = table
        self._root = root
        self._folder = f"{root}/metadata"
        self._fields = seen.state.fields(table)
        self._document = TableDocument(seen, table, root)
        identity = f"{catalog.row.catalog_uuid} {table.table_uuid}"
        mark = hashlib.sha256(identity.encode()).hexdigest()[:8]
        self._stem = f"{self._folder}/{mark}-{seen.state.schema_version}"

    def run(self, history: int) -> PublishedTable:
        """Write the missing files, and the metadata document last, so that readers find all."""
        make_folder(self._folder)
        files = self._table_files(self._seen, self._table)
        properties = name_mapping(self._seen, self._table, self._fields, files.files)
        (head,) = self._catalog.snapshots(limit=1)
        self._add_snapshot(self._seen, self._table, files, head)
        for snapshot in self._changed_snapshots(head, history):
            self._add_past_snapshot(snapshot)
        # Serialized directly: pyiceberg reads version 3 of the format, but does not write it.
        text = to_json(self._document.build(properties), exclude_none=True)
        version = str(int(self._seen.snapshot_id))
        path = f"{self._folder}/v{version}.metadata.json"
        put(path, text)
        put(f"{self._folder}/version-hint.text", version.encode())
        return PublishedTable(self._root, path, text.decode())

    def _table_files(self, seen: SnapshotReads, table: Table) -> TableFiles:
        """Return the files of the table at a snapshot. Raise Unsupported for inlined rows."""
        seen.state.require_readable(table)
        if seen.inlined_rows(table):
            raise Unsupported(
                f"Table '{table.table_name}' has inlined rows, which are not in files: Iceberg"
                " readers would not find them.",
                remedy="Write them to files first: run flush_inlined_data.",
            )
        return TableFiles(seen, table, self._fields)

    # Selection of snapshots

    def _changed_snapshots(self, head: Snapshot, history: int) -> Iterator[Snapshot]:
        """Yield older snapshots that changed the table, newest first."""
        before = int(head.snapshot_id)
        while history and (page := self._catalog.snapshots(before=before, limit=_PAGE)):
            for one in reversed(page):
                if history and self._is_changed_by(one):
                    history -= 1
                    yield one
            before = int(page[0].snapshot_id)

    def _is_changed_by(self, snapshot: Snapshot) -> bool:
        table, schema = self._table, self._seen.state.schema_of(self._table)
        named = (schema.schema_name, table.table_name)
        return any(
            change.object_id == table.table_id
            or (change.kind is ChangeKind.CREATED_TABLE and change.name == named)
            for change in snapshot.changes
        )

    def _add_past_snapshot(self, snapshot: Snapshot) -> None:
        """Add an older snapshot, unless Iceberg cannot represent it or it expired meanwhile."""
        try:
            seen = self._catalog.at(version=snapshot.snapshot_id)
            table = seen.state.get(TABLE, (self._table.table_id,))
            if isinstance(table, Table):
                self._add_snapshot(seen, table, self._table_files(seen, table), snapshot)
        except (NotFound, Unsupported):
            return

    # Content of snapshots

    def _add_snapshot(
        self, seen: SnapshotReads, table: Table, files: TableFiles, snapshot: Snapshot
    ) -> None:
        number = int(seen.snapshot_id)
        path = f"{self._stem}-{number}-list.avro"
        if not exists(path):
            write_list(path, number, list(self._write_manifests(files)))
        self._document.add(seen, table, files, snapshot, path)

    def _write_manifests(self, files: TableFiles) -> Iterator[ManifestFile]:
        for group in files.groups():
            path = f"{self._stem}-{group.unique_name()}-data.avro"
            yield self._write_manifest(
                path, files, group, partial(files.data_entries, group, _absolute)
            )
            if (with_deletes := group.with_deletes).files:
                path = f"{self._stem}-{with_deletes.unique_delete_name()}-deletes.avro"
                entries = partial(files.write_delete_entries, with_deletes, self._folder, _absolute)
                yield self._write_manifest(path, files, with_deletes, entries, of_deletes=True)

    def _write_manifest(
        self,
        path: str,
        files: TableFiles,
        group: ManifestGroup,
        entries: Callable[[], Iterator[ManifestEntry]],
        *,
        of_deletes: bool = False,
    ) -> ManifestFile:
        summaries = [
            FileSummary(
                int(one.file.begin_snapshot),
                one.deleted_rows if of_deletes else one.file.record_count,
                files.partition_of(group, one),
            )
            for one in group.files
        ]
        spec, schema = group.partitioning.spec, self._document.newest_schema
        return write_manifest(path, spec, schema, summaries, entries, of_deletes=of_deletes)


def _default_root(catalog: Catalog, table: Table) -> str:
    folder = f"{catalog.data_path().rstrip('/')}/{_FOLDER}"
    return f"{folder}/{catalog.row.catalog_uuid}/{table.table_uuid}"


def _absolute(path: str) -> str:
    """Return a path that is valid from every working directory."""
    return os.path.abspath(file_system(path)[1]) if is_local(path) else path
