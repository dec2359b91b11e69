"""Mirror: write the versions of a Delta table from the metastore to the files of its log, in order.

Each version is written with put-if-absent; a file that exists already must be our own. So an
interrupted mirror can be resumed by any worker, and a version that another writer took is never
overwritten: the state of the mirror becomes DIVERGED instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forklake.catalog.catalog import Catalog
from forklake.catalog.delta_tables import FaceReading
from forklake.catalog.file_listings import keep_listing
from forklake.delta.actions import AnyAction, Metadata, Protocol, parse_action
from forklake.delta.commit_actions import CommitBuilder, ProtocolAndMetadata
from forklake.delta.files import format_body
from forklake.delta.mirror.checkpoints import write_checkpoint
from forklake.delta.mirror.commits import write_commit
from forklake.delta.version_batch import VersionBatch
from forklake.errors import Conflict, ForklakeError, InvalidInput
from forklake.model.delta_tables import FaceMode
from forklake.model.entities import DeltaTable, DeltaVersion, Table
from forklake.model.kinds import DELTA_ACTION, DELTA_TABLE, TABLE
from forklake.store.delta_tables import schema_versions
from forklake.store.mirrors import MirrorStatus, find_status, put_status
from forklake.store.operations import Insert
from forklake.store.phases import reached

_BATCH_SIZE = 100  # versions in a batch
_CHECKPOINT_INTERVAL = 10  # default number of versions between checkpoints
_INTERVAL_PROPERTY = "delta.checkpointInterval"


@dataclass(frozen=True, slots=True)
class MirrorResult:
    """Result of a mirror run: the number of versions written, and the status."""

    versions: int
    status: MirrorStatus


class Mirror:
    """Mirror of one Delta table of a catalog to the log at its location."""

    def __init__(self, catalog: Catalog, table: Table) -> None:
        self._catalog = catalog
        self._table = table
        self._log = FaceReading(catalog.now(), table)
        self._delta_table = self._log.face
        if self._delta_table.location is None or not is_mirrored(catalog, self._delta_table):
            raise InvalidInput(
                f"The Delta table '{table.table_name}' is not mirrored: this catalog has no"
                " location for it.",
                remedy="Publish it to a location: `forklake delta publish`.",
            )
        self.location = self._delta_table.location
        blank = MirrorStatus(catalog_id=catalog.catalog_id, table_id=table.table_id)
        self.status = find_status(catalog.database, blank)

    def run(self) -> MirrorResult:
        """Write all versions that are not mirrored yet."""
        begin = self.status.mirrored_version
        count = 0
        try:
            for versions in self._pending_batches():
                count += self._write_batch(versions)
        except Conflict as reason:
            self._save_status(state="DIVERGED", last_error=reason.message)
            raise
        except ForklakeError as reason:
            self._save_status(state="FAILED", last_error=reason.message)
            raise
        if self.status.mirrored_version != begin or self.status.state != "CURRENT":
            self._save_status(state="CURRENT", last_error=None)
        return MirrorResult(count, self.status)

    def _pending_batches(self) -> Iterator[Sequence[DeltaVersion]]:
        """Yield the versions that are not mirrored yet, in batches."""
        versions = self._log.versions(self.status.mirrored_version + 1)
        if self.status.mirrored_version < 0:
            versions = self._skip_expired(versions)
        for start in range(0, len(versions), _BATCH_SIZE):
            yield versions[start : start + _BATCH_SIZE]

    def _skip_expired(self, versions: list[DeltaVersion]) -> list[DeltaVersion]:
        """Return the versions after the last expired one: a new log may begin at any version."""
        numbers = [one.begin_snapshot for one in versions]
        retained = schema_versions(self._catalog.database, self._catalog.catalog_id, numbers)
        expired = [place for place, number in enumerate(numbers) if number not in retained]
        return versions[expired[-1] + 1 :] if expired else versions

    def _save_status(self, **changes: Any) -> None:
        self.status = replace(self.status, **changes)
        put_status(self._catalog.database, self.status)

    # Writing versions

    def _write_batch(self, versions: Sequence[DeltaVersion]) -> int:
        batch = VersionBatch(self._catalog, self._table, self._delta_table, versions)
        previous = self._read_previous(batch, versions[0])
        for version in versions:
            previous = self._write_version(
                CommitBuilder(batch, version, previous, self.location), version
            )
        self._save_status(state="LAGGING")
        reached("mirror.noted")
        return len(versions)

    def _read_previous(self, batch: VersionBatch, version: DeltaVersion) -> ProtocolAndMetadata:
        """Return the protocol and metadata in effect before a version."""
        log = FaceReading(batch.snapshot_at(version), self._table)
        found = [
            log.newest_action(kind.kind, before=version.version) for kind in (Protocol, Metadata)
        ]
        return ProtocolAndMetadata().after(
            parse_action(one.kind, json.loads(one.body)) for one in found if one
        )

    def _write_version(self, builder: CommitBuilder, version: DeltaVersion) -> ProtocolAndMetadata:
        is_first = self.status.mirrored_version < 0
        actions = builder.build_actions(is_first=is_first)
        write_commit(self.location, version.version, actions)
        reached("mirror.published")
        self._store_actions(version, builder, actions)
        self.status = replace(self.status, mirrored_version=version.version)
        interval = int(
            builder.metadata.configuration.get(_INTERVAL_PROPERTY) or _CHECKPOINT_INTERVAL
        )
        if version.version and (is_first or version.version % interval == 0):
            write_checkpoint(self.location, version.version, builder.build_checkpoint())
            reached("mirror.checkpointed")
            self.status = replace(self.status, checkpoint_version=version.version)
            keep_listing(self._catalog, self._table)
        return builder.previous.after(actions)

    def _store_actions(
        self, version: DeltaVersion, builder: CommitBuilder, actions: list[AnyAction]
    ) -> None:
        """Store new protocol and metadata actions, so that later versions do not repeat them."""
        rows = [
            (
                self._catalog.catalog_id,
                version.begin_snapshot,
                self._table.table_id,
                version.version,
                action.kind,
                "",
                format_body(action),
            )
            for action in actions
            if isinstance(action, Protocol | Metadata) and action.kind not in builder.stored_kinds
        ]
        if rows:
            insert = Insert(DELTA_ACTION.name, DELTA_ACTION.columns, rows, skips_existing=True)
            with self._catalog.database.writing() as connection:
                connection.commit([insert])


def mirror_catalog(catalog: Catalog) -> list[tuple[Table, MirrorResult | ForklakeError]]:
    """Mirror all Delta tables of a catalog, and return the result or error of each."""
    seen = catalog.now()
    results: list[tuple[Table, MirrorResult | ForklakeError]] = []
    for delta_table in seen.state.rows(DELTA_TABLE):
        table = seen.state.get(TABLE, (delta_table.table_id,))
        if isinstance(table, Table) and is_mirrored(catalog, delta_table):
            try:
                results.append((table, Mirror(catalog, table).run()))
            except ForklakeError as reason:  # stored in the status; go on with other tables
                results.append((table, reason))
    return results


def is_mirrored(catalog: Catalog, delta_table: DeltaTable) -> bool:
    """Return whether this catalog mirrors a Delta table: it owns it, and has a location."""
    return (
        delta_table.location is not None
        and delta_table.mode == FaceMode.OWN
        and delta_table.catalog_id == catalog.catalog_id
    )
