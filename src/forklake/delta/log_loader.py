"""Loading of a Delta log: each version becomes one snapshot of a catalog, in order.

Each version is an ordinary transaction, so time travel, forks and expiry work for it. Many versions
share one database transaction, and a version with very many files is written in parts. Data files
are shared in place and never deleted. The actions of the log are stored unchanged beside the rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from time import monotonic

from forklake.catalog.catalog import Catalog
from forklake.catalog.delta_tables import FaceReading
from forklake.catalog.series import Series
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.catalog.transaction import Transaction
from forklake.delta.actions import Add, Metadata, Protocol
from forklake.delta.features import explain_unreadable
from forklake.delta.files import NewFiles, format_body
from forklake.delta.live import LiveFiles, VectorId, VersionSummary, vector_id_of
from forklake.delta.live_files import StoredFile, StoredFiles
from forklake.delta.log.delta_log import LogVersion
from forklake.delta.parts import VersionChange, VersionPart
from forklake.delta.rules import apply_rules
from forklake.delta.stored_actions import find_stored_action
from forklake.delta.table_shape import TableShape, apply_metadata, is_same_shape, read_shape
from forklake.errors import Conflict
from forklake.model.delta_tables import FaceMode
from forklake.model.entities import Table
from forklake.model.ids import DataFileId, TableId

# Limits of versions that are committed together: they block other commits of the catalog meanwhile.
MOST_VERSIONS = 1000
MOST_SECONDS = 1.0


class LogLoader:
    """Loader of versions of a log into one table, which the first version creates.

    Args:
        ignore_features: whether rows may be read even if the log requires unknown features.
    """

    def __init__(
        self, catalog: Catalog, name: tuple[str, str], location: str, *, ignore_features: bool
    ) -> None:
        self._catalog = catalog
        self._schema, self._name = name
        self._location = location
        self._ignore_features = ignore_features
        self._table_id: TableId | None = None
        self._shape: TableShape | None = None
        self._metadata: Metadata | None = None  # the metadata that `_shape` was derived from
        self._rules: tuple[Protocol | None, Metadata | None] = (None, None)  # constrain writers
        self._stored_files = StoredFiles(catalog.catalog_id)
        self.live = LiveFiles()

    def resume(self, seen: SnapshotReads, table: Table) -> None:
        """Continue with a table that already has versions."""
        with self._catalog.transaction(seen=seen) as transaction:
            self._shape = read_shape(transaction, table)
            transaction.rollback()
        reading = FaceReading(seen, table)
        self._table_id = table.table_id
        self._rules = (find_stored_action(reading, Protocol), find_stored_action(reading, Metadata))
        paths = self._stored_files.load(seen, table)
        vectors = _read_vectors(seen, table)
        self.live = LiveFiles(
            (path, vectors.get(self._stored_files[path].number)) for path in paths
        )

    def has_loaded(self, reading: FaceReading, version: LogVersion) -> bool:
        """Return whether the newest version of the table is equal to this version of the log."""
        summary = VersionSummary.of(version, self._location)
        if not self.live.matches(summary):
            return False
        # The version may have been loaded from a checkpoint, which has other table actions.
        before = version.number - 1
        if summary.is_state or (before >= 0 and not reading.versions(before, before)):
            return True
        logged = {(one.kind, format_body(one)) for one in summary.table_actions()}
        stored = reading.actions(("protocol", "metaData", "commitInfo"), version.number)
        return logged == {(one.kind, one.body) for one in stored}

    def load(self, versions: Iterable[LogVersion], on_loaded: Callable[[int], None]) -> None:
        """Commit versions.

        Args:
            on_loaded: is called after each version with the number of files that it adds.
        """
        rest = iter(versions)
        while (first := next(rest, None)) is not None:
            with self._catalog.series() as series:
                for version in _take_batch(chain([first], rest)):
                    on_loaded(self._load_version(series, version))

    def _load_version(self, series: Series, version: LogVersion) -> int:
        summary = VersionSummary.of(version, self._location)
        ended, kept = self.live.find_changes(summary)
        change = VersionChange(version, summary, kept, self._stored_files.pop(ended))
        for part in change.split(self._location):
            self._load_part(series, change, part)
        self.live.apply(summary)
        return len(summary.adds)

    def _load_part(self, series: Series, change: VersionChange, part: VersionPart) -> None:
        with series.transaction(message=change.message, continues=not part.is_last) as transaction:
            table = self._find_or_create_table(transaction, change.summary)
            if part.is_first:
                self._apply_definition(transaction, table, change.summary)
                self._end_files(transaction, table, change.ended.values())
            assert self._shape is not None
            files = NewFiles(transaction, self._catalog, table, self._shape)
            new = {path: add for path, add in part.adds.items() if path not in change.kept}
            added = files.add_data_files(new)
            kept = {path: self._stored_files[path] for path in part.adds if path in change.kept}
            file_ids = {path: one.number for path, one in (added | kept).items()}
            marked = files.add_delete_files(
                {path: (file_ids[path], add) for path, add in part.adds.items()},
                self._location,
                self._stored_files.to_delete_files(table.table_id, kept.values()),
            )
            transaction.tell(table, change.to_commit(part))
        assert transaction.committed is not None
        self._stored_files.add_committed(transaction.committed, added, marked)
        self._shape = self._shape.with_final_ids(transaction.committed)
        if self._table_id is None:
            self._table_id = TableId(transaction.committed.entity_ids[0])

    def _find_or_create_table(self, transaction: Transaction, summary: VersionSummary) -> Table:
        """Return the table. The first version creates it."""
        found = transaction.state.find_relation(self._name, self._schema)
        if isinstance(found, Table) and found.table_id == self._table_id:
            return found
        if self._table_id is not None:
            raise Conflict(
                f"The table '{self._schema}.{self._name}' was dropped or renamed during the"
                " import.",
                remedy="Import the Delta table again.",
            )
        assert summary.metadata is not None  # `LogCheck` requires it
        table = transaction.create_foreign_table(self._name, schema=self._schema)
        transaction.add_face(table, summary.metadata.id, self._location, FaceMode.FOLLOW)
        return table

    def _apply_definition(
        self, transaction: Transaction, table: Table, summary: VersionSummary
    ) -> None:
        """Apply the columns and rules of a version to the table."""
        is_new = table.table_id < 0
        if (is_new or summary.protocol is not None) and not self._ignore_features:
            transaction.set_unreadable(table, explain_unreadable(summary.protocol))
        if summary.metadata is not None and not is_same_shape(summary.metadata, self._metadata):
            self._shape = apply_metadata(transaction, table, summary.metadata)
            self._metadata = summary.metadata
        if summary.protocol is not None or summary.metadata is not None:
            protocol, metadata = self._rules
            self._rules = (summary.protocol or protocol, summary.metadata or metadata)
            apply_rules(transaction, table, *self._rules)

    def _end_files(
        self, transaction: Transaction, table: Table, ended: Collection[StoredFile]
    ) -> None:
        if ended:
            transaction.end_data_files(
                table,
                self._stored_files.to_data_files(table.table_id, ended),
                deletes=self._stored_files.to_delete_files(table.table_id, ended),
            )


def _take_batch(versions: Iterable[LogVersion]) -> Iterator[LogVersion]:
    """Yield the next versions to commit together."""
    until = monotonic() + MOST_SECONDS
    for count, version in enumerate(versions, 1):
        yield version
        if count == MOST_VERSIONS or monotonic() > until:
            return


def _read_vectors(seen: SnapshotReads, table: Table) -> dict[DataFileId, VectorId]:
    """Return the deletion vectors of data files that have one."""
    deletes = {row.delete_file_id: row.data_file_id for row in seen.delete_files(table)}
    return {
        one.data_file_id: vector_id_of(Add.from_body(json.loads(one.body)))
        for one in seen.file_actions(table, sorted(set(deletes.values())))
        if one.delete_file_id in deletes
    }
