"""A version of a Delta table in the words of a log: every action of its commit.

What another log said of the version is said again; the rest follows from the lake's own rows.
"""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version as version_of
from typing import TypeVar

import pyarrow as pa

from forklake.catalog.catalog import Catalog
from forklake.catalog.faces import FaceReading
from forklake.delta.actions import (
    Add,
    AnyAction,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    Remove,
    Txn,
    parse,
)
from forklake.delta.describing import Description
from forklake.delta.mirror.checkpoint_rows import FILES
from forklake.delta.mirror.checkpoints import State
from forklake.delta.telling import Teller
from forklake.model.entities import DeltaVersion, Table

# Actions of a version that are told as they are kept.
_AS_KEPT = (Txn.kind, DomainMetadata.kind, "cdc")
N = TypeVar("N", Txn, DomainMetadata)
_KEPT = (*_AS_KEPT, CommitInfo.kind, Protocol.kind, Metadata.kind)


class Wording:
    """One version, told to readers at a location."""

    def __init__(
        self, catalog: Catalog, table: Table, version: DeltaVersion, location: str
    ) -> None:
        self._catalog = catalog
        self._version = version
        self._location = location
        self._seen = catalog.at(version=version.begin_snapshot)
        self._table = table
        self._description = Description(self._seen, table, version)
        self.metadata = self._description.metadata()
        self._teller = Teller(self._seen, table, self.metadata, location, table.table_uuid)
        reading = FaceReading(self._seen, table)
        self._kept = [
            (one.kind, parse(one.kind, json.loads(one.body)))
            for one in reading.actions(_KEPT, version.version)
            if one.version == version.version
        ]
        self.kept_kinds = {kind for kind, _ in self._kept}

    def actions(self, *, is_first: bool) -> list[AnyAction]:
        """All that the version says; the first one of a log says everything."""
        files: list[Add | Remove] = [*self._state()] if is_first else self._changes()
        has_vectors = any(isinstance(one, Add) and one.deletion_vector for one in files)
        said: list[AnyAction] = [self._commit_info()]
        described = self._description
        protocol = described.protocol(has_vectors=has_vectors)
        for action, stated in (
            (protocol, described.stated_protocol),
            (self.metadata, described.stated_metadata),
        ):
            if is_first or action.kind in self.kept_kinds or action != stated:
                said.append(action)
        if is_first:
            said += [*self._newest(Txn), *self._newest(DomainMetadata)]
        else:
            said += [one for kind, one in self._kept if kind in _AS_KEPT]
        return [*said, *files]

    def _commit_info(self) -> CommitInfo:
        kept = next((one for _, one in self._kept if isinstance(one, CommitInfo)), None)
        if kept is not None:
            return replace(
                kept, extra={**kept.extra, "txnId": kept.txn_id or self._version.transaction_id}
            )
        group = self._version.group_id
        return CommitInfo(
            extra={
                "timestamp": self._version.timestamp,
                "operation": self._version.operation,
                "operationParameters": {},
                "engineInfo": f"Forklake/{version_of('forklake')}",
                "txnId": self._version.transaction_id,
                **({"transactionGroup": {"id": group}} if group else {}),
            }
        )

    def _newest(self, kind: type[N]) -> list[N]:
        """The newest of each application or domain."""
        rows = FaceReading(self._seen, self._table).actions((kind.kind,))
        newest = {one.key: one.body for one in rows}
        return [kind.from_body(json.loads(body)) for body in newest.values()]

    def _state(self) -> list[Add]:
        files = self._seen.scan_files(self._table)
        return self._teller.adds(files, time=self._version.timestamp)

    def _changes(self) -> list[Add | Remove]:
        at = self._version.begin_snapshot
        changes = self._catalog.table_changes(self._seen, self._table, at)
        is_change = at not in changes.rewrites
        gone = [one.before for one in changes.deleted]
        new = [one.after for one in changes.deleted if one.after is not None]
        new += [one for one in changes.added if one.file.begin_snapshot == at]
        time = self._version.timestamp
        return [
            *self._teller.removes(gone, time=time, data_change=is_change),
            *self._teller.adds(new, time=time, data_change=is_change),
        ]

    def state(self) -> State:
        """The whole state at the version, for a checkpoint."""
        adds = self._state()
        has_vectors = any(one.deletion_vector for one in adds)
        return State(
            self._description.protocol(has_vectors=has_vectors),
            self.metadata,
            [_columns(adds)],
            transactions=self._newest(Txn),
            domains=self._newest(DomainMetadata),
        )


def _columns(adds: list[Add]) -> pa.RecordBatch:
    """Live files as the columns that a checkpoint is written from."""
    rows = []
    for add in adds:
        vector = add.deletion_vector
        rows.append(
            {
                "path": add.path,
                "partition_values": list(add.partition_values.items()),
                "size": add.size,
                "modification_time": add.modification_time,
                "stats": add.stats,
                "tags": None if add.tags is None else list(add.tags.items()),
                "dv_storage_type": vector and vector.storage_type,
                "dv_path_or_inline": vector and vector.path_or_inline,
                "dv_offset": vector and vector.offset,
                "dv_size_in_bytes": vector and vector.size_in_bytes,
                "dv_cardinality": vector and vector.cardinality,
                "base_row_id": add.base_row_id,
                "default_row_commit_version": add.default_row_commit_version,
                "clustering_provider": add.clustering_provider,
            }
        )
    return pa.RecordBatch.from_pylist(rows, schema=FILES)
