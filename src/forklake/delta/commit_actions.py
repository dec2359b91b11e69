"""Actions of the commit of one Delta version.

Stored actions of an imported version are repeated; the others are derived from rows of the lake.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from importlib.metadata import version as version_of
from typing import Any

import pyarrow as pa

from forklake.delta.actions import (
    Add,
    AnyAction,
    Cdc,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    Remove,
    Txn,
)
from forklake.delta.columns import FileColumns
from forklake.delta.description import DescriptionBuilder
from forklake.delta.file_actions import FileConverter, read_file_details
from forklake.delta.log.paths import canonical_path, full_path, is_absolute
from forklake.delta.log.replay import file_key
from forklake.delta.mirror.checkpoint_rows import FILES, TOMBSTONES
from forklake.delta.mirror.checkpoints import CheckpointState
from forklake.delta.mirror.links import link_missing_files
from forklake.delta.version_batch import VersionBatch
from forklake.errors import InvalidInput
from forklake.files.systems import exists
from forklake.model.entities import DeltaVersion
from forklake.model.options import as_age
from forklake.model.scans import ScanFile
from forklake.store.phases import reached

_RETENTION = "delta.deletedFileRetentionDuration"
_CHANGE_FEED, _COMMIT_TIMESTAMPS = "delta.enableChangeDataFeed", "delta.enableInCommitTimestamps"
_REPEATED = (Txn, DomainMetadata)  # stored actions that are repeated unchanged


@dataclass(frozen=True, slots=True)
class ProtocolAndMetadata:
    """The protocol and metadata of a log that are in effect before a version."""

    protocol: Protocol | None = None
    metadata: Metadata | None = None

    def after(self, actions: Iterable[AnyAction]) -> ProtocolAndMetadata:
        """Return the protocol and metadata in effect after `actions`."""
        protocol, metadata = self.protocol, self.metadata
        for one in actions:
            if isinstance(one, Protocol):
                protocol = one
            elif isinstance(one, Metadata):
                metadata = one
        return ProtocolAndMetadata(protocol, metadata)


class CommitBuilder:
    """Builder of the actions of one version, for readers at a location."""

    def __init__(
        self,
        batch: VersionBatch,
        version: DeltaVersion,
        previous: ProtocolAndMetadata,
        location: str,
    ) -> None:
        self._batch = batch
        self._version = version
        self._location = location
        self.previous = previous
        self._stored = batch.stored_actions(version)
        self.stored_kinds = {one.kind for one in self._stored}
        self._seen = batch.snapshot_at(version)
        current = previous.after(self._stored)
        fields = self._seen.state.fields(batch.table)
        self._description = DescriptionBuilder(
            fields, batch.delta_table, current.protocol, current.metadata
        )
        self.metadata = self._description.build_metadata(batch.table.table_name, version.timestamp)
        self._converter = FileConverter(self._seen, batch.table, self.metadata, location)

    def build_actions(self, *, is_first: bool) -> list[AnyAction]:
        """Return all actions of the version. The first version of a log has the complete state."""
        files: list[Add | Remove] = [*self._live_adds()] if is_first else self._changed_files()
        actions: list[AnyAction] = [self._build_commit_info()]
        for action, previous in (
            (self._build_protocol(files), self.previous.protocol),
            (self.metadata, self.previous.metadata),
        ):
            if is_first or action.kind in self.stored_kinds or action != previous:
                actions.append(action)
        if is_first:
            actions += self._newest_actions()
        else:
            actions += [one for one in self._stored if isinstance(one, _REPEATED)]
            actions += self._link_change_files()
        reached("mirror.linked")
        return [*actions, *files]

    def _build_protocol(self, files: Sequence[Add | Remove]) -> Protocol:
        has_vectors = any(isinstance(one, Add) and one.deletion_vector for one in files)
        return self._description.build_protocol(self.metadata, has_vectors=has_vectors)

    def _build_commit_info(self) -> CommitInfo:
        key = self._version.transaction_id
        for one in self._stored:
            if isinstance(one, CommitInfo):
                return replace(one, extra={**one.extra, "txnId": one.txn_id or key})
        participants = self._batch.participants(self._version)
        group = {"id": self._version.group_id, "participants": participants}
        return CommitInfo(
            extra={
                "timestamp": self._version.timestamp,
                "operation": self._version.operation,
                "operationParameters": {},
                "engineInfo": f"Forklake/{version_of('forklake')}",
                "txnId": key,
                **(
                    {"inCommitTimestamp": self._version.timestamp}
                    if self._is_property_set(_COMMIT_TIMESTAMPS)
                    else {}
                ),
                **({"transactionGroup": group} if participants else {}),
            }
        )

    def _is_property_set(self, name: str) -> bool:
        """Return whether a table property is true."""
        return (self.metadata.configuration.get(name) or "").lower() == "true"

    def _newest_actions(self) -> list[Txn | DomainMetadata]:
        """Return the newest action of each application and domain."""
        return [*self._batch.newest_actions(self._seen, Txn), *self._newest_domains()]

    def _newest_domains(self) -> list[DomainMetadata]:
        return self._batch.newest_actions(self._seen, DomainMetadata)

    def _link_change_files(self) -> list[Cdc]:
        """Return change data files of the version, after linking them at the location.

        None are returned if one is missing: readers then derive the changes from the data files.
        """
        if CommitInfo.kind not in self.stored_kinds:
            return self._write_change_files()
        change_files = [one for one in self._stored if isinstance(one, Cdc)]
        origin = self._batch.location_at(self._seen)
        if origin is None or any(is_absolute(one.path) for one in change_files):
            return []
        sources = {full_path(origin, one.path): canonical_path(one.path) for one in change_files}
        if not all(map(exists, sources)):
            return []
        if origin != self._location:
            link_missing_files((path, f"{self._location}/{name}") for path, name in sources.items())
        return change_files

    def _write_change_files(self) -> list[Cdc]:
        """Write the change data files of a version that was not imported, if it needs them."""
        if not self._is_property_set(_CHANGE_FEED):
            return []
        # Imported here because it loads the modules that read rows.
        from forklake.delta.changed_data import ChangeDataWriter, needs_change_files

        changes = self._batch.all_changes
        if not needs_change_files(changes, self._version.begin_snapshot):
            return []
        table, location = self._batch.table, self._location
        return ChangeDataWriter(self._seen, table, self.metadata, location).write(changes)

    # Files

    def _live_adds(self) -> list[Add]:
        return self._convert_files(self._seen.scan_files(self._batch.table))

    def _convert_files(self, files: Sequence[ScanFile]) -> list[Add]:
        return self._converter.to_adds(
            files, read_file_details(self._seen, self._batch.table, files)
        )

    def _changed_files(self) -> list[Add | Remove]:
        changed = self._batch.changed_files(self._version)
        time, is_change = self._version.timestamp, not changed.is_rewrite
        details, removed = self._batch.file_details, ((time, file) for file in changed.removed)
        adds = self._converter.to_adds(changed.added, details, data_change=is_change)
        removes = self._converter.to_removes(removed, details, data_change=is_change)
        # An add of a live file replaces its entry, so a remove of the same file must be left out.
        added = set(map(file_key, adds))
        return [*(one for one in removes if file_key(one) not in added), *adds]

    def build_checkpoint(self) -> CheckpointState:
        """Return the complete state at the version for a checkpoint. All links exist already."""
        table, paths = self._batch.table, self._batch.paths
        columns = FileColumns(self._seen, table, paths, self.metadata, self._location)
        plain, special = columns.read_live()
        adds = self._convert_files(
            [one for one in self._seen.scan_files(table) if one.file.data_file_id in special]
            if special
            else []
        )
        return CheckpointState(
            self._build_protocol(adds),
            self.metadata,
            [plain, _to_columns(adds, FILES)],
            self._removed_files(columns, adds),
            transactions=self._batch.newest_actions(self._seen, Txn),
            domains=self._newest_domains(),
        )

    def _removed_files(self, columns: FileColumns, live: Sequence[Add]) -> list[pa.RecordBatch]:
        """Return the files removed within the retention period: older readers may need them."""
        since = self._version.timestamp - _retention_ms(self.metadata)
        first = self._batch.first_snapshot_since(self._seen, since)
        if first is None:
            return []
        plain, special = columns.read_removed(first)
        removed = [
            (time, file)
            for time, file in (self._batch.removed_files(self._seen, since) if special else ())
            if file.file.data_file_id in special
        ]
        files = [file for _, file in removed]
        details = read_file_details(self._seen, self._batch.table, files, with_bounds=False)
        removes = {file_key(one): one for one in self._converter.to_removes(removed, details)}
        for add in live:
            removes.pop(file_key(add), None)
        return [plain, _to_columns(list(removes.values()), TOMBSTONES)]


def _retention_ms(metadata: Metadata) -> int:
    """Return how long removed files stay in checkpoints, in milliseconds."""
    age = timedelta(weeks=1)
    with suppress(InvalidInput):  # a format that Forklake does not parse: keep the default
        age = as_age((metadata.configuration.get(_RETENTION) or "").removeprefix("interval "))
    return age // timedelta(milliseconds=1)


def _to_columns(files: Sequence[Add | Remove], schema: pa.Schema) -> pa.RecordBatch:
    """Return files as the columns that checkpoints are written from."""
    vectors = [one.deletion_vector for one in files]
    columns = []
    for field in schema:
        values: list[Any]
        if field.name.startswith("dv_"):
            name = field.name.removeprefix("dv_")
            values = [one and getattr(one, name) for one in vectors]
        else:
            values = [getattr(one, field.name) for one in files]
        if pa.types.is_map(field.type):
            values = [one if one is None else list(one.items()) for one in values]
        columns.append(pa.array(values, field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)
