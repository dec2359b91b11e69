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
from forklake.delta.description import Description
from forklake.delta.file_actions import Teller, known_of
from forklake.delta.log.paths import canonical, full_path, is_absolute
from forklake.delta.log.replay import file_key
from forklake.delta.mirror.checkpoint_rows import FILES, TOMBSTONES
from forklake.delta.mirror.checkpoints import State
from forklake.delta.mirror.links import make_present
from forklake.delta.version_batch import Chapter
from forklake.errors import InvalidInput
from forklake.files.systems import exists
from forklake.model.entities import DeltaVersion
from forklake.model.options import as_age
from forklake.model.scans import ScanFile
from forklake.store.phases import reached

_RETENTION = "delta.deletedFileRetentionDuration"
_FEED, _TIMES = "delta.enableChangeDataFeed", "delta.enableInCommitTimestamps"
_AS_KEPT = (Txn, DomainMetadata)  # stored actions that are repeated unchanged


@dataclass(frozen=True, slots=True)
class Stated:
    """The protocol and metadata of a log that are in effect before a version."""

    protocol: Protocol | None = None
    metadata: Metadata | None = None

    def after(self, actions: Iterable[AnyAction]) -> Stated:
        """Return the protocol and metadata in effect after `actions`."""
        protocol, metadata = self.protocol, self.metadata
        for one in actions:
            if isinstance(one, Protocol):
                protocol = one
            elif isinstance(one, Metadata):
                metadata = one
        return Stated(protocol, metadata)


class Wording:
    """Builder of the actions of one version, for readers at a location."""

    def __init__(
        self, chapter: Chapter, version: DeltaVersion, stated: Stated, location: str
    ) -> None:
        self._chapter = chapter
        self._version = version
        self._location = location
        self.stated = stated
        self._kept = chapter.kept(version)
        self.kept_kinds = {one.kind for one in self._kept}
        self._seen = chapter.view(version)
        base = stated.after(self._kept)
        fields = self._seen.state.fields(chapter.table)
        self._description = Description(fields, chapter.face, base.protocol, base.metadata)
        self.metadata = self._description.metadata(chapter.table.table_name, version.timestamp)
        self._teller = Teller(self._seen, chapter.table, self.metadata, location)

    def actions(self, *, is_first: bool) -> list[AnyAction]:
        """Return all actions of the version. The first version of a log has the complete state."""
        files: list[Add | Remove] = [*self._state()] if is_first else self._changes()
        said: list[AnyAction] = [self._commit_info()]
        for action, stated in (
            (self._protocol(files), self.stated.protocol),
            (self.metadata, self.stated.metadata),
        ):
            if is_first or action.kind in self.kept_kinds or action != stated:
                said.append(action)
        if is_first:
            said += self._newest()
        else:
            said += [one for one in self._kept if isinstance(one, _AS_KEPT)]
            said += self._changed_data()
        reached("mirror.linked")
        return [*said, *files]

    def _protocol(self, files: Sequence[Add | Remove]) -> Protocol:
        has_vectors = any(isinstance(one, Add) and one.deletion_vector for one in files)
        return self._description.protocol(self.metadata, has_vectors=has_vectors)

    def _commit_info(self) -> CommitInfo:
        key = self._version.transaction_id
        for one in self._kept:
            if isinstance(one, CommitInfo):
                return replace(one, extra={**one.extra, "txnId": one.txn_id or key})
        participants = self._chapter.participants(self._version)
        group = {"id": self._version.group_id, "participants": participants}
        return CommitInfo(
            extra={
                "timestamp": self._version.timestamp,
                "operation": self._version.operation,
                "operationParameters": {},
                "engineInfo": f"Forklake/{version_of('forklake')}",
                "txnId": key,
                **({"inCommitTimestamp": self._version.timestamp} if self._is_set(_TIMES) else {}),
                **({"transactionGroup": group} if participants else {}),
            }
        )

    def _is_set(self, name: str) -> bool:
        """Return whether a table property is true."""
        return (self.metadata.configuration.get(name) or "").lower() == "true"

    def _newest(self) -> list[Txn | DomainMetadata]:
        """Return the newest action of each application and domain."""
        return [*self._chapter.newest(self._seen, Txn), *self._domains()]

    def _domains(self) -> list[DomainMetadata]:
        return self._chapter.newest(self._seen, DomainMetadata)

    def _changed_data(self) -> list[Cdc]:
        """Return change data files of the version, after linking them at the location.

        None are returned if one is missing: readers then derive the changes from the data files.
        """
        if CommitInfo.kind not in self.kept_kinds:
            return self._changed_here()
        told = [one for one in self._kept if isinstance(one, Cdc)]
        origin = self._chapter.location_at(self._seen)
        if origin is None or any(is_absolute(one.path) for one in told):
            return []
        sources = {full_path(origin, one.path): canonical(one.path) for one in told}
        if not all(map(exists, sources)):
            return []
        if origin != self._location:
            make_present((path, f"{self._location}/{name}") for path, name in sources.items())
        return told

    def _changed_here(self) -> list[Cdc]:
        """Write the change data files of a version that was not imported, if it needs them."""
        if not self._is_set(_FEED):
            return []
        # Imported here because it loads the modules that read rows.
        from forklake.delta.changed_data import ChangedData, must_tell

        changes = self._chapter.all_changes
        if not must_tell(changes, self._version.begin_snapshot):
            return []
        table, location = self._chapter.table, self._location
        return ChangedData(self._seen, table, self.metadata, location).written(changes)

    # Files

    def _state(self) -> list[Add]:
        return self._told(self._seen.scan_files(self._chapter.table))

    def _told(self, files: Sequence[ScanFile]) -> list[Add]:
        return self._teller.adds(files, known_of(self._seen, self._chapter.table, files))

    def _changes(self) -> list[Add | Remove]:
        changed = self._chapter.changes(self._version)
        time, is_change = self._version.timestamp, not changed.is_rewrite
        known, gone = self._chapter.known, ((time, file) for file in changed.gone)
        adds = self._teller.adds(changed.new, known, data_change=is_change)
        removes = self._teller.removes(gone, known, data_change=is_change)
        # An add of a live file replaces its entry, so a remove of the same file must be left out.
        said = set(map(file_key, adds))
        return [*(one for one in removes if file_key(one) not in said), *adds]

    def state(self) -> State:
        """Return the complete state at the version for a checkpoint. All links exist already."""
        table, paths = self._chapter.table, self._chapter.paths
        columns = FileColumns(self._seen, table, paths, self.metadata, self._location)
        plain, special = columns.live()
        adds = self._told(
            [one for one in self._seen.scan_files(table) if one.file.data_file_id in special]
            if special
            else []
        )
        return State(
            self._protocol(adds),
            self.metadata,
            [plain, _columns(adds, FILES)],
            self._tombstones(columns, adds),
            transactions=self._chapter.newest(self._seen, Txn),
            domains=self._domains(),
        )

    def _tombstones(self, columns: FileColumns, live: Sequence[Add]) -> list[pa.RecordBatch]:
        """Return the files removed within the retention period: older readers may need them."""
        since = self._version.timestamp - _retention(self.metadata)
        first = self._chapter.first_since(self._seen, since)
        if first is None:
            return []
        plain, special = columns.removed(first)
        removed = [
            (time, file)
            for time, file in (self._chapter.removed(self._seen, since) if special else ())
            if file.file.data_file_id in special
        ]
        files = [file for _, file in removed]
        known = known_of(self._seen, self._chapter.table, files, with_bounds=False)
        found = {file_key(one): one for one in self._teller.removes(removed, known)}
        for add in live:
            found.pop(file_key(add), None)
        return [plain, _columns(list(found.values()), TOMBSTONES)]


def _retention(metadata: Metadata) -> int:
    """Return how long removed files stay in checkpoints, in milliseconds."""
    age = timedelta(weeks=1)
    with suppress(InvalidInput):  # a format that Forklake does not parse: keep the default
        age = as_age((metadata.configuration.get(_RETENTION) or "").removeprefix("interval "))
    return age // timedelta(milliseconds=1)


def _columns(files: Sequence[Add | Remove], schema: pa.Schema) -> pa.RecordBatch:
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
