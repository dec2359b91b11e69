"""Loading: the versions of a Delta log become snapshots of a catalog, one each, in order.

Each version is an ordinary transaction, so all that the lake knows how to do with snapshots holds
for it. Files stay where they are and are never removed. What the log said of files and versions is
kept word for word beside the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from forklake.catalog.catalog import Catalog
from forklake.catalog.reading import Snapshotted
from forklake.catalog.transaction import Transaction
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
from forklake.delta.features import require_readable
from forklake.delta.files import LoadedFile, NewFiles, text_of, vector_of
from forklake.delta.log.paths import full_path
from forklake.delta.log.reading import Version
from forklake.delta.shaping import TableShape, apply_metadata, shape_of
from forklake.errors import Unsupported
from forklake.model.entities import DataFile, Table
from forklake.model.faces import FaceAction, FaceCommit, FaceMode
from forklake.model.ids import DataFileId, TableId
from forklake.model.plan import Committed


@dataclass(slots=True)
class Told:
    """What one version says, sorted by kind; adds and removes by the full path of the file."""

    protocol: Protocol | None = None
    metadata: Metadata | None = None
    info: CommitInfo | None = None
    adds: dict[str, Add] = field(default_factory=dict)
    removes: dict[str, Remove] = field(default_factory=dict)
    others: list[AnyAction] = field(default_factory=list)

    @classmethod
    def of(cls, actions: Iterable[AnyAction], location: str) -> Told:
        """Sort actions."""
        told = cls()
        for action in actions:
            match action:
                case Add():
                    told.adds[full_path(location, action.path)] = action
                case Remove():
                    told.removes[full_path(location, action.path)] = action
                case Protocol():
                    told.protocol = action
                case Metadata():
                    told.metadata = action
                case CommitInfo():
                    told.info = action
                case _:
                    told.others.append(action)
        return told

    @property
    def operation(self) -> str:
        """What was done, as the log calls it."""
        return (self.info.operation if self.info else None) or "UNKNOWN"


class Loader:
    """Commits versions of a log to one table, which the first of them creates."""

    def __init__(
        self, catalog: Catalog, name: tuple[str, str], location: str, mode: FaceMode
    ) -> None:
        self._catalog = catalog
        self._schema, self._name = name
        self._location = location
        self._mode = mode
        self._shape: TableShape | None = None
        self.live: dict[str, LoadedFile] = {}  # by full path

    def resume(self, table: Table) -> None:
        """Go on with a table that has versions already."""
        seen = self._catalog.now()
        with self._catalog.transaction(seen=seen) as transaction:
            self._shape = shape_of(transaction, table)
            transaction.rollback()
        vectors = self._vectors(seen, table)
        self.live = {
            seen.full_path(file): LoadedFile(file, vectors.get(file.data_file_id))
            for file in seen.data_files(table)
        }

    def _vectors(self, seen: Snapshotted, table: Table) -> dict[DataFileId, str | None]:
        """The deletion vectors of the files that have some."""
        deletes = {row.delete_file_id: row.data_file_id for row in seen.delete_files(table)}
        return {
            one.data_file_id: vector_of(Add.from_body(json.loads(one.body)))
            for one in seen.file_actions(table, sorted(set(deletes.values())))
            if one.delete_file_id in deletes
        }

    def load(self, version: Version) -> None:
        """Commit one version."""
        told = Told.of(version.actions, self._location)
        with self._catalog.transaction(message=f"Delta version {version.number}") as transaction:
            table, shape = self._table(transaction, told)
            files = NewFiles(transaction, self._catalog, table, shape)
            ended, kept = self._changes(told, is_state=version.is_state)
            if ended:
                transaction.end_data_files(table, [one.row for one in ended.values()])
            added = files.add({path: told.adds[path] for path in told.adds.keys() - kept.keys()})
            rows = added | {path: one.row for path, one in kept.items()}
            marks = {path: (rows[path].data_file_id, told.adds[path]) for path in rows}
            files.mark(marks, self._location)
            transaction.tell(table, self._commit(version, told, ended))
        assert transaction.committed is not None
        self._note(transaction.committed, table, ended, added)
        for path in kept.keys() | added.keys():
            self.live[path] = replace(self.live[path], vector=vector_of(told.adds[path]))
        self._shape = shape.committed(transaction.committed)

    def _table(self, transaction: Transaction, told: Told) -> tuple[Table, TableShape]:
        """The table, with the columns that the version gives it."""
        table = transaction.state.find_relation(self._name, self._schema)
        if not isinstance(table, Table):
            assert told.metadata is not None
            table = transaction.create_foreign_table(self._name, schema=self._schema)
            transaction.add_face(table, told.metadata.id, self._location, self._mode)
        if told.protocol is not None:
            transaction.set_unreadable(table, _why_unreadable(told.protocol))
        if told.metadata is not None:
            self._shape = apply_metadata(transaction, table, told.metadata)
        assert self._shape is not None
        return table, self._shape

    def _changes(
        self, told: Told, *, is_state: bool
    ) -> tuple[dict[str, LoadedFile], dict[str, LoadedFile]]:
        """The live files that end, and those that go on with another deletion vector."""
        named = told.removes.keys() | told.adds.keys()
        found = (
            dict(self.live)
            if is_state
            else {path: self.live[path] for path in named if self._is_meant(told, path)}
        )
        kept = {path: one for path, one in found.items() if _goes_on(told.adds.get(path))}
        return {path: one for path, one in found.items() if path not in kept}, kept

    def _is_meant(self, told: Told, path: str) -> bool:
        """Whether a version changes a live file. To remove it with a vector that it has no more
        changes nothing."""
        there = self.live.get(path)
        if there is None:
            return False
        return path in told.adds or vector_of(told.removes[path]) == there.vector

    def _note(
        self,
        committed: Committed,
        table: Table,
        ended: Iterable[str],
        added: Mapping[str, DataFile],
    ) -> None:
        """Know the files as they are after the commit."""
        for path in ended:
            del self.live[path]
        is_new = table.table_id < 0
        table_id = TableId(committed.entity_ids[0]) if is_new else table.table_id
        for path, row in added.items():
            final = replace(
                row,
                catalog_id=self._catalog.catalog_id,
                begin_snapshot=committed.snapshot_id,
                table_id=table_id,
                data_file_id=DataFileId(committed.file_ids[-row.data_file_id - 1]),
            )
            self.live[path] = LoadedFile(final)

    def _commit(self, version: Version, told: Told, ended: Mapping[str, LoadedFile]) -> FaceCommit:
        said = [_said(one, "") for one in (told.protocol, told.metadata, told.info) if one]
        said += [
            _said(remove, str(int(ended[path].row.data_file_id)))
            for path, remove in told.removes.items()
            if path in ended
        ]
        said += [_said(one, _key(one, number)) for number, one in enumerate(told.others)]
        return FaceCommit(
            told.operation, tuple(said), version=version.number, timestamp=version.timestamp_ms
        )


def _why_unreadable(protocol: Protocol) -> str | None:
    """A log can be loaded whatever it demands of readers; who reads is told."""
    try:
        require_readable(protocol)
    except Unsupported as reason:
        return reason.message
    return None


def _goes_on(add: Add | None) -> bool:
    """Whether a live file stays, with rows deleted: any other add says something new of it."""
    return add is not None and add.deletion_vector is not None


def _said(action: AnyAction, key: str) -> FaceAction:
    return FaceAction(action.kind, key, text_of(action))


def _key(action: AnyAction, number: int) -> str:
    match action:
        case Txn():
            return action.app_id
        case DomainMetadata():
            return action.domain
        case Cdc():
            return action.path
    return str(number)
