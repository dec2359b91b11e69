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
from forklake.catalog.snapshot_reads import Snapshotted
from forklake.delta.actions import (
    AnyAction,
    Cdc,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    Txn,
    parse,
)
from forklake.delta.file_actions import known_of
from forklake.errors import NotFound
from forklake.model.entities import DeltaTable, DeltaVersion, Table
from forklake.model.ids import SnapshotId
from forklake.model.kinds import DELTA_TABLE, DELTA_VERSION
from forklake.model.scans import ScanFile, TableChanges
from forklake.model.state import CatalogState
from forklake.store.delta_tables import schema_versions

_KEPT = tuple(one.kind for one in (Txn, DomainMetadata, Cdc, CommitInfo, Protocol, Metadata))
N = TypeVar("N", Txn, DomainMetadata)


@dataclass(slots=True)
class Changed:
    """The files that one version ended and began."""

    gone: list[ScanFile] = field(default_factory=list)
    new: list[ScanFile] = field(default_factory=list)
    is_rewrite: bool = False  # the rows did not change


class Chapter:
    """Consecutive versions of a Delta table that a mirror will write."""

    def __init__(
        self, catalog: Catalog, table: Table, face: DeltaTable, versions: Sequence[DeltaVersion]
    ) -> None:
        self._catalog = catalog
        self._states: dict[int, CatalogState] = {}
        self.paths = catalog.paths
        self.table = table
        self.face = face
        self.versions = versions
        last = catalog.at(version=versions[-1].begin_snapshot)
        self._kept: dict[int, list[AnyAction]] = {}
        for one in FaceReading(last, table).actions(_KEPT, versions[0].version):
            self._kept.setdefault(one.version, []).append(parse(one.kind, json.loads(one.body)))
        self.all_changes = self._changes(last, versions[0].begin_snapshot)
        self._changed = _by_snapshot(self.all_changes)
        touched = [file for one in self._changed.values() for file in (*one.gone, *one.new)]
        self.known = known_of(last, table, touched)  # metadata of all files of these versions
        self._groups = self._read_groups(last)
        # Checked last: rows that expired during the queries above may be missing in them.
        self._schema_versions = self._retained()

    def _retained(self) -> dict[SnapshotId, int]:
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

    def view(self, version: DeltaVersion) -> Snapshotted:
        """Return the catalog at a version. Definitions are read once for each schema version."""
        number = self._schema_versions[version.begin_snapshot]
        if number not in self._states:
            self._states[number] = self._catalog.at(version=version.begin_snapshot).state
        return self._catalog.seen(self._states[number].seen_at(version.begin_snapshot))

    # Actions of versions

    def kept(self, version: DeltaVersion) -> list[AnyAction]:
        """Return the actions of a version that the metastore stores."""
        return self._kept.get(version.version, [])

    def newest(self, view: Snapshotted, kind: type[N]) -> list[N]:
        """Return the newest action of each application (Txn) or domain (DomainMetadata)."""
        rows = FaceReading(view, self.table).actions((kind.kind,))
        newest = {one.key: one.body for one in rows}
        return [kind.from_body(json.loads(body)) for body in newest.values()]

    def location_at(self, view: Snapshotted) -> str | None:
        """Return the location of the log at that time. Each fork has its own location."""
        face = find_face(view.state, self.table)
        return None if face is None else face.location

    def participants(self, version: DeltaVersion) -> list[dict[str, Any]]:
        """Return the tables changed by the same group commit, including this one."""
        state = self.view(version).state
        return [
            {"tableId": face.delta_id, "version": one.version}
            for one in self._groups.get(version.begin_snapshot, ())
            if isinstance(face := state.get(DELTA_TABLE, (one.table_id,)), DeltaTable)
        ]

    def _read_groups(self, last: Snapshotted) -> dict[SnapshotId, list[DeltaVersion]]:
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

    def changes(self, version: DeltaVersion) -> Changed:
        """Return the files that a version ended and began."""
        return self._changed.get(version.begin_snapshot) or Changed()

    def first_since(self, view: Snapshotted, time: int) -> SnapshotId | None:
        """Return the snapshot of the first version after a time, or None."""
        versions = FaceReading(view, self.table).versions_since(time)
        return versions[0].begin_snapshot if versions else None

    def removed(self, view: Snapshotted, since: int) -> Iterator[tuple[int, ScanFile]]:
        """Yield the files that ended after a time, with their end; expired ones are missing."""
        versions = FaceReading(view, self.table).versions_since(since)
        if versions:
            times = {one.begin_snapshot: one.timestamp for one in versions}
            for one in self._changes(view, versions[0].begin_snapshot).deleted:
                yield times.get(one.snapshot_id, since), one.before

    def _changes(self, view: Snapshotted, start: SnapshotId) -> TableChanges:
        with self._catalog.database.reading() as connection:
            return known_changes(connection, self.paths, view, self.table, start)


def _by_snapshot(changes: TableChanges) -> dict[SnapshotId, Changed]:
    found: dict[SnapshotId, Changed] = {}
    for one in changes.deleted:
        changed = found.setdefault(one.snapshot_id, Changed())
        changed.gone.append(one.before)
        if one.after is not None:
            changed.new.append(one.after)
    for file in changes.added:
        found.setdefault(file.file.begin_snapshot, Changed()).new.append(file)
    for number in changes.rewrites & found.keys():
        found[number].is_rewrite = True
    return found
