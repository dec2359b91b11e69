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
from forklake.catalog.snapshot_reads import Snapshotted
from forklake.catalog.transaction import Transaction
from forklake.delta.actions import Add, Metadata, Protocol
from forklake.delta.features import why_unreadable
from forklake.delta.files import NewFiles, text_of
from forklake.delta.live import LiveFiles, Told, Vector, vector_of
from forklake.delta.live_files import Held, HeldFiles
from forklake.delta.log.delta_log import Version
from forklake.delta.parts import Change, Part
from forklake.delta.rules import apply_rules
from forklake.delta.stored_actions import stated
from forklake.delta.table_shape import TableShape, apply_metadata, is_same_shape, shape_of
from forklake.errors import Conflict
from forklake.model.delta_tables import FaceMode
from forklake.model.entities import Table
from forklake.model.ids import DataFileId, TableId

# Limits of versions that are committed together: they block other commits of the catalog meanwhile.
MOST_VERSIONS = 1000
MOST_SECONDS = 1.0


class Loader:
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
        self._held = HeldFiles(catalog.catalog_id)
        self.live = LiveFiles()

    def resume(self, seen: Snapshotted, table: Table) -> None:
        """Continue with a table that already has versions."""
        with self._catalog.transaction(seen=seen) as transaction:
            self._shape = shape_of(transaction, table)
            transaction.rollback()
        reading = FaceReading(seen, table)
        self._table_id = table.table_id
        self._rules = (stated(reading, Protocol), stated(reading, Metadata))
        paths = self._held.look_up(seen, table)
        vectors = _vectors(seen, table)
        self.live = LiveFiles((path, vectors.get(self._held[path].number)) for path in paths)

    def has_loaded(self, reading: FaceReading, version: Version) -> bool:
        """Return whether the newest version of the table is equal to this version of the log."""
        told = Told.of(version, self._location)
        if not self.live.agrees(told):
            return False
        # The version may have been loaded from a checkpoint, which has other table actions.
        before = version.number - 1
        if told.is_state or (before >= 0 and not reading.versions(before, before)):
            return True
        said = {(one.kind, text_of(one)) for one in told.about_table()}
        kept = reading.actions(("protocol", "metaData", "commitInfo"), version.number)
        return said == {(one.kind, one.body) for one in kept}

    def load(self, versions: Iterable[Version], loaded: Callable[[int], None]) -> None:
        """Commit versions.

        Args:
            loaded: is called after each version with the number of files that it adds.
        """
        rest = iter(versions)
        while (first := next(rest, None)) is not None:
            with self._catalog.series() as series:
                for version in _batch(chain([first], rest)):
                    loaded(self._load(series, version))

    def _load(self, series: Series, version: Version) -> int:
        told = Told.of(version, self._location)
        ended, kept = self.live.changes(told)
        change = Change(version, told, kept, self._held.leave(ended))
        for part in change.parts(self._location):
            self._load_part(series, change, part)
        self.live.apply(told)
        return len(told.adds)

    def _load_part(self, series: Series, change: Change, part: Part) -> None:
        with series.transaction(message=change.message, continues=not part.is_last) as transaction:
            table = self._table(transaction, change.told)
            if part.is_first:
                self._define(transaction, table, change.told)
                self._end(transaction, table, change.leaving.values())
            assert self._shape is not None
            files = NewFiles(transaction, self._catalog, table, self._shape)
            new = {path: add for path, add in part.adds.items() if path not in change.kept}
            added = files.add(new)
            kept = {path: self._held[path] for path in part.adds if path in change.kept}
            numbers = {path: one.number for path, one in (added | kept).items()}
            marked = files.mark(
                {path: (numbers[path], add) for path, add in part.adds.items()},
                self._location,
                self._held.delete_files(table.table_id, kept.values()),
            )
            transaction.tell(table, change.said(part))
        assert transaction.committed is not None
        self._held.note(transaction.committed, added, marked)
        self._shape = self._shape.committed(transaction.committed)
        if self._table_id is None:
            self._table_id = TableId(transaction.committed.entity_ids[0])

    def _table(self, transaction: Transaction, told: Told) -> Table:
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
        assert told.metadata is not None  # `LogCheck` requires it
        table = transaction.create_foreign_table(self._name, schema=self._schema)
        transaction.add_face(table, told.metadata.id, self._location, FaceMode.FOLLOW)
        return table

    def _define(self, transaction: Transaction, table: Table, told: Told) -> None:
        """Apply the columns and rules of a version to the table."""
        is_new = table.table_id < 0
        if (is_new or told.protocol is not None) and not self._ignore_features:
            transaction.set_unreadable(table, why_unreadable(told.protocol))
        if told.metadata is not None and not is_same_shape(told.metadata, self._metadata):
            self._shape = apply_metadata(transaction, table, told.metadata)
            self._metadata = told.metadata
        if told.protocol is not None or told.metadata is not None:
            protocol, metadata = self._rules
            self._rules = (told.protocol or protocol, told.metadata or metadata)
            apply_rules(transaction, table, *self._rules)

    def _end(self, transaction: Transaction, table: Table, leaving: Collection[Held]) -> None:
        if leaving:
            transaction.end_data_files(
                table,
                self._held.data_files(table.table_id, leaving),
                deletes=self._held.delete_files(table.table_id, leaving),
            )


def _batch(versions: Iterable[Version]) -> Iterator[Version]:
    """Yield the next versions to commit together."""
    until = monotonic() + MOST_SECONDS
    for count, version in enumerate(versions, 1):
        yield version
        if count == MOST_VERSIONS or monotonic() > until:
            return


def _vectors(seen: Snapshotted, table: Table) -> dict[DataFileId, Vector]:
    """Return the deletion vectors of data files that have one."""
    deletes = {row.delete_file_id: row.data_file_id for row in seen.delete_files(table)}
    return {
        one.data_file_id: vector_of(Add.from_body(json.loads(one.body)))
        for one in seen.file_actions(table, sorted(set(deletes.values())))
        if one.delete_file_id in deletes
    }
