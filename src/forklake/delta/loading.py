"""Loading: the versions of a Delta log become snapshots of a catalog, one each, in order.

Each version is an ordinary transaction, so all that the lake knows how to do with snapshots holds
for it. Files stay where they are and are never removed. What the log said of files and versions is
kept word for word beside the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from forklake.catalog.catalog import Catalog
from forklake.catalog.faces import FaceReading
from forklake.catalog.reading import Snapshotted
from forklake.catalog.transaction import Transaction
from forklake.delta.actions import Add, AnyAction, Cdc, DomainMetadata, Metadata, Protocol, Txn
from forklake.delta.features import why_unreadable, why_unwritable
from forklake.delta.files import NewFiles, text_of
from forklake.delta.live import LiveFiles, Told, vector_of
from forklake.delta.log.reading import Version
from forklake.delta.shaping import TableShape, apply_metadata, is_same_shape, shape_of
from forklake.delta.stating import stated
from forklake.model.entities import DataFile, Table
from forklake.model.faces import FaceAction, FaceCommit, FaceMode
from forklake.model.ids import DataFileId, TableId
from forklake.model.plan import Committed
from forklake.model.state import CatalogState


class Loader:
    """Commits versions of a log to one table, which the first of them creates.

    Args:
        ignore_features: whether rows may be read whatever the log demands of readers.
    """

    def __init__(
        self, catalog: Catalog, name: tuple[str, str], location: str, *, ignore_features: bool
    ) -> None:
        self._catalog = catalog
        self._schema, self._name = name
        self._location = location
        self._ignore_features = ignore_features
        self._shape: TableShape | None = None
        self._metadata: Metadata | None = None  # that gave it
        self._rules: tuple[Protocol | None, Metadata | None] = (None, None)  # for writers
        self._seen: Snapshotted | None = None  # where the definitions are known
        self._rows: dict[str, DataFile] = {}  # of live files, by full path
        self.live = LiveFiles()

    def resume(self, seen: Snapshotted, table: Table) -> None:
        """Go on with a table that has versions already."""
        with self._catalog.transaction(seen=seen) as transaction:
            self._shape = shape_of(transaction, table)
            transaction.rollback()
        reading = FaceReading(seen, table)
        self._rules = (stated(reading, Protocol), stated(reading, Metadata))
        vectors = _vectors(seen, table)
        self._rows = {seen.full_path(file): file for file in seen.data_files(table)}
        self.live = LiveFiles(
            (path, vectors.get(file.data_file_id)) for path, file in self._rows.items()
        )

    def has_loaded(self, reading: FaceReading, version: Version) -> bool:
        """Whether the newest version of the table is this version of the log."""
        told = Told.of(version, self._location)
        if not self.live.agrees(told):
            return False
        said = {(one.kind, text_of(one)) for one in told.about_table()}
        kept = reading.actions(("protocol", "metaData", "commitInfo"), version.number)
        return told.is_state or said == {(one.kind, one.body) for one in kept}

    def load(self, version: Version) -> None:
        """Commit one version."""
        told = Told.of(version, self._location)
        ended, kept = self.live.changes(told)
        message = f"Delta version {version.number}"
        with self._catalog.transaction(message=message, seen=self._seen) as transaction:
            base = transaction.committed_view().state
            table, shape = self._table(transaction, told)
            files = NewFiles(transaction, self._catalog, table, shape)
            if ended:
                transaction.end_data_files(table, [self._rows[path] for path in ended])
            added = files.add({path: add for path, add in told.adds.items() if path not in kept})
            rows = added | {path: self._rows[path] for path in kept}
            files.mark(
                {path: (row.data_file_id, told.adds[path]) for path, row in rows.items()},
                self._location,
            )
            transaction.tell(table, self._commit(version, told, ended))
        assert transaction.committed is not None
        self._note(transaction.committed, table, ended, added)
        self.live.apply(told)
        self._shape = shape.committed(transaction.committed)
        self._seen = self._known(base, transaction.committed)

    def _known(self, base: CatalogState, committed: Committed) -> Snapshotted | None:
        """The catalog as the next version finds it, if nobody has changed definitions."""
        if base.schema_version != committed.schema_version:
            return None
        return self._catalog.seen(base.seen_at(committed.snapshot_id))

    def _table(self, transaction: Transaction, told: Told) -> tuple[Table, TableShape]:
        """The table, with the columns that the version gives it."""
        table = transaction.state.find_relation(self._name, self._schema)
        is_new = not isinstance(table, Table)
        if not isinstance(table, Table):
            assert told.metadata is not None
            table = transaction.create_foreign_table(self._name, schema=self._schema)
            transaction.add_face(table, told.metadata.id, self._location, FaceMode.FOLLOW)
        if (is_new or told.protocol is not None) and not self._ignore_features:
            transaction.set_unreadable(table, why_unreadable(told.protocol))
        if told.protocol is not None or told.metadata is not None:
            protocol, metadata = self._rules
            self._rules = (told.protocol or protocol, told.metadata or metadata)
            transaction.set_unwritable(table, why_unwritable(*self._rules))
        if told.metadata is not None and not is_same_shape(told.metadata, self._metadata):
            self._shape = apply_metadata(transaction, table, told.metadata)
            self._metadata = told.metadata
        assert self._shape is not None
        return table, self._shape

    def _note(
        self,
        committed: Committed,
        table: Table,
        ended: Iterable[str],
        added: Mapping[str, DataFile],
    ) -> None:
        """Know the files as they are after the commit."""
        for path in ended:
            del self._rows[path]
        is_new = table.table_id < 0
        table_id = TableId(committed.entity_ids[0]) if is_new else table.table_id
        for path, row in added.items():
            self._rows[path] = replace(
                row,
                catalog_id=self._catalog.catalog_id,
                begin_snapshot=committed.snapshot_id,
                table_id=table_id,
                data_file_id=DataFileId(committed.file_ids[-row.data_file_id - 1]),
            )

    def _commit(self, version: Version, told: Told, ended: Iterable[str]) -> FaceCommit:
        said = [_said(one, "") for one in told.about_table()]
        said += [
            _said(told.removes[path], str(int(self._rows[path].data_file_id)))
            for path in ended
            if path in told.removes
        ]
        said += [_said(one, _key(one, number)) for number, one in enumerate(told.others)]
        return FaceCommit(
            told.operation, tuple(said), version=version.number, timestamp=version.timestamp_ms
        )


def _vectors(seen: Snapshotted, table: Table) -> dict[DataFileId, str | None]:
    """The deletion vectors of the files that have some."""
    deletes = {row.delete_file_id: row.data_file_id for row in seen.delete_files(table)}
    return {
        one.data_file_id: vector_of(Add.from_body(json.loads(one.body)))
        for one in seen.file_actions(table, sorted(set(deletes.values())))
        if one.delete_file_id in deletes
    }


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
