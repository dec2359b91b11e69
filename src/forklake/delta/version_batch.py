"""Batch of consecutive Delta versions with their metadata.

A mirror writes versions one by one. Reading the metadata of each version separately would need many
queries, so it is read once for the whole batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from forklake.catalog.catalog import Catalog
from forklake.catalog.changes import known_changes
from forklake.catalog.delta_tables import FaceReading, find_face
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.delta.actions import (
    AnyAction,
    Cdc,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    Txn,
    parse_action,
)
from forklake.delta.file_actions import read_file_details
from forklake.errors import NotFound
from forklake.model.entities import DeltaTable, DeltaVersion, Table
from forklake.model.ids import SnapshotId
from forklake.model.kinds import DELTA_TABLE, DELTA_VERSION
from forklake.model.scans import ScanFile, TableChanges
from forklake.model.state import CatalogState
from forklake.store.delta_tables import schema_versions

_STORED_KINDS = tuple(
    one.kind for one in (Txn, DomainMetadata, Cdc, CommitInfo, Protocol, Metadata)
)
N = TypeVar("N", Txn, DomainMetadata)


@dataclass(slots=True)
class ChangedFiles:
    """The files that one version ended and began."""

    removed: list[ScanFile] = field(default_factory=list)
    added: list[ScanFile] = field(default_factory=list)
    is_rewrite: bool = False  # the rows did not change


class VersionBatch:
    """Consecutive versions of a Delta table that a mirror will write."""

    def __init__(
        self,
        catalog: Catalog,
        table: Table,
        delta_table: DeltaTable,
        versions: Sequence[DeltaVersion],
    ) -> None:
        self._catalog = catalog
        self._states: dict[int, CatalogState] = {}
        self.paths = catalog.paths
        self.table = table
        self.delta_table = delta_table
        self.versions = versions
        last = catalog.at(version=versions[-1].begin_snapshot)
        self._stored: dict[int, list[AnyAction]] = {}
        for one in FaceReading(last, table).actions(_STORED_KINDS, versions[0].version):
            self._stored.setdefault(one.version, []).append(
                parse_action(one.kind, json.loads(one.body))
            )
        self.all_changes = self._read_changes(last, versions[0].begin_snapshot)
        self._changed = _group_by_snapshot(self.all_changes)
        touched = [file for one in self._changed.values() for file in (*one.removed, *one.added)]
        self.file_details = read_file_details(
            last, table, touched
        )  # metadata of all files of these versions
        self._groups = self._read_groups(last)
        # Checked last: rows that expired during the queries above may be missing in them.
        self._schema_versions = self._require_retained()

    def _require_retained(self) -> dict[SnapshotId, int]:
        numbers = [one.begin_snapshot for one in self.versions]
        found = schema_versions(self._catalog.database, self._catalog.catalog_id, numbers)
        for one in self.versions:
            if one.begin_snapshot not in found:
                raise NotFound(
                    f"Version {one.version} of the Delta table '{self.table.table_name}' has"
                    " expired before it was mirrored.",
                    remedy="Publish the table to another location, where its log begins again:"
                    " `forklake delta publish`.",
                )
        return found

    def snapshot_at(self, version: DeltaVersion) -> SnapshotReads:
        """Return the catalog at a version. Definitions are read once for each schema version."""
        number = self._schema_versions[version.begin_snapshot]
        if number not in self._states:
            self._states[number] = self._catalog.at(version=version.begin_snapshot).state
        return self._catalog.seen(self._states[number].seen_at(version.begin_snapshot))

    # Actions of versions

    def stored_actions(self, version: DeltaVersion) -> list[AnyAction]:
        """Return the actions of a version that the metastore stores."""
        return self._stored.get(version.version, [])

    def newest_actions(self, view: SnapshotReads, kind: type[N]) -> list[N]:
        """Return the newest action of each application (Txn) or domain (DomainMetadata)."""
        rows = FaceReading(view, self.table).actions((kind.kind,))
        newest = {one.key: one.body for one in rows}
        return [kind.from_body(json.loads(body)) for body in newest.values()]

    def location_at(self, view: SnapshotReads) -> str | None:
        """Return the location of the log at that time. Each fork has its own location."""
        delta_table = find_face(view.state, self.table)
        return None if delta_table is None else delta_table.location

    def participants(self, version: DeltaVersion) -> list[dict[str, Any]]:
        """Return the tables changed by the same group commit, including this one."""
        state = self.snapshot_at(version).state
        return [
            {"tableId": delta_table.delta_id, "version": one.version}
            for one in self._groups.get(version.begin_snapshot, ())
            if isinstance(delta_table := state.get(DELTA_TABLE, (one.table_id,)), DeltaTable)
        ]

    def _read_groups(self, last: SnapshotReads) -> dict[SnapshotId, list[DeltaVersion]]:
        if not any(one.group_id for one in self.versions):
            return {}
        with last.reading() as reader:
            rows: list[DeltaVersion] = reader.rows(
                DELTA_VERSION,
                where="r.group_id IS NOT NULL AND r.begin_snapshot >= :first",
                first=self.versions[0].begin_snapshot,
            )
        found: dict[SnapshotId, list[DeltaVersion]] = {}
        for one in sorted(rows, key=lambda row: row.table_id):
            found.setdefault(one.begin_snapshot, []).append(one)
        return found

    # Files of versions

    def changed_files(self, version: DeltaVersion) -> ChangedFiles:
        """Return the files that a version ended and began."""
        return self._changed.get(version.begin_snapshot) or ChangedFiles()

    def first_snapshot_since(self, view: SnapshotReads, time: int) -> SnapshotId | None:
        """Return the snapshot of the first version after a time, or None."""
        versions = FaceReading(view, self.table).versions_since(time)
        return versions[0].begin_snapshot if versions else None

    def removed_files(self, view: SnapshotReads, since: int) -> Iterator[tuple[int, ScanFile]]:
        """Yield the files that ended after a time, with their end; expired ones are missing."""
        versions = FaceReading(view, self.table).versions_since(since)
        if versions:
            times = {one.begin_snapshot: one.timestamp for one in versions}
            for one in self._read_changes(view, versions[0].begin_snapshot).deleted:
                yield times.get(one.snapshot_id, since), one.before

    def _read_changes(self, view: SnapshotReads, start: SnapshotId) -> TableChanges:
        with self._catalog.database.reading() as connection:
            return known_changes(connection, self.paths, view, self.table, start)


def _group_by_snapshot(changes: TableChanges) -> dict[SnapshotId, ChangedFiles]:
    found: dict[SnapshotId, ChangedFiles] = {}
    for one in changes.deleted:
        changed = found.setdefault(one.snapshot_id, ChangedFiles())
        changed.removed.append(one.before)
        if one.after is not None:
            changed.added.append(one.after)
    for file in changes.added:
        found.setdefault(file.file.begin_snapshot, ChangedFiles()).added.append(file)
    for number in changes.rewrites & found.keys():
        found[number].is_rewrite = True
    return found
