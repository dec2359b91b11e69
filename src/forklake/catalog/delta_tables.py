"""Delta tables of a catalog, and the entries of their logs that do not follow from files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from forklake.catalog.draft import Draft
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.errors import AlreadyExists, Forbidden, InvalidInput, NotFound, Unsupported
from forklake.model.changes import Change, ChangeKind
from forklake.model.delta_tables import FaceAction, FaceCommit, FaceMode, operation_of
from forklake.model.entities import DeltaAction, DeltaTable, DeltaVersion, Table, Tag
from forklake.model.fields import UNWRITABLE
from forklake.model.ids import FOREVER, NO_CATALOG, TableId
from forklake.model.kinds import (
    COLUMN,
    DELTA_ACTION,
    DELTA_TABLE,
    DELTA_VERSION,
    TABLE,
    TAG,
    Kind,
)
from forklake.model.state import CatalogState
from forklake.store.delta_tables import milliseconds

_STREAMING = "STREAMING UPDATE"  # operation of such writes in the history of a Delta table


def find_face(state: CatalogState, table: Table) -> DeltaTable | None:
    """Return the Delta table that a table is registered as; None if it is not."""
    row = state.get(DELTA_TABLE, (table.table_id,))
    return row if isinstance(row, DeltaTable) else None


class FaceChanges:
    """The part of a transaction that registers Delta tables and adds to their logs."""

    _draft: Draft
    _told: dict[TableId, FaceCommit]

    def _ready(self) -> Draft:
        raise NotImplementedError

    def add_face(self, table: Table, delta_id: str, location: str | None, mode: FaceMode) -> None:
        """Register a table as a Delta table."""
        face = find_face(self._ready().state, table)
        if face is not None and face.location is not None and self._is_ours(face):
            raise AlreadyExists(
                f"Table '{table.table_name}' is already a Delta table at {face.location!r}.",
                remedy="Use that Delta table.",
            )
        self._draft.put(
            DeltaTable(
                table_id=table.table_id, delta_id=delta_id, location=location, mode=mode.value
            )
        )

    def _is_ours(self, face: DeltaTable) -> bool:
        """Return whether this catalog wrote the row: Delta tables of ancestors are elsewhere."""
        return face.catalog_id in (self._draft.base.catalog_id, NO_CATALOG)

    def change_face(self, face: DeltaTable) -> None:
        """Change the location or mode of a Delta table."""
        self._ready()
        self._draft.put(face)

    def tell(self, table: Table, commit: FaceCommit) -> None:
        """Set the entry of this transaction in the log of a Delta table."""
        if find_face(self._ready().state, table) is None:
            raise InvalidInput(
                f"Table '{table.table_name}' is not a Delta table.",
                remedy="Publish it first: forklake delta publish.",
            )
        self._told[table.table_id] = commit

    def tell_progress(self, table: Table, application: str, version: int) -> None:
        """Add a txn action to the log: the last write of an application that counts its writes."""
        now = milliseconds(datetime.now(UTC))
        body = {"appId": application, "version": version, "lastUpdated": now}
        action = FaceAction("txn", application, json.dumps(body, separators=(",", ":")))
        self.tell(table, FaceCommit(_STREAMING, (action,)))

    def _face_commits(self, changes: set[Change]) -> dict[TableId, FaceCommit]:
        """Return the log entries of the commit, for all Delta tables that it changes."""
        faces = self._draft.state.rows(DELTA_TABLE)
        if not faces:
            return {}
        found: dict[TableId, FaceCommit] = {}
        for face in faces:
            kinds = {one.kind for one in changes if one.object_id == face.table_id}
            told = self._told.get(face.table_id)
            if told is None and (kinds or face.table_id in self._draft.tables):
                told = FaceCommit(operation_of(kinds))
            if told is not None and told.version is None:
                self._refuse_following(face)
                self._refuse_unwritable(face, kinds)
                self._refuse_shown_defaults(face)
            if told is not None:
                found[face.table_id] = told
        return found

    def _refuse_following(self, face: DeltaTable) -> None:
        if face.mode == FaceMode.FOLLOW and face.location is not None and self._is_ours(face):
            table = self._draft.state.get(TABLE, (face.table_id,))
            name = table.table_name if isinstance(table, Table) else face.table_id
            raise Forbidden(
                f"Table '{name}' follows the Delta log at {face.location!r}, so it can only be"
                " changed there.",
                remedy="Change the Delta table, or a fork of this catalog.",
            )

    def _refuse_unwritable(self, face: DeltaTable, kinds: set[ChangeKind]) -> None:
        table = self._draft.state.get(TABLE, (face.table_id,))
        if face.table_id not in self._draft.tables or not isinstance(table, Table):
            return
        tag = self._draft.state.get(TAG, (face.table_id, UNWRITABLE))
        if isinstance(tag, Tag):
            raise Unsupported(
                f"Rows of the Delta table '{table.table_name}' cannot be changed by Forklake."
                f" {tag.value}",
                remedy="Use an engine that supports this, or rewrite the table without it.",
            )
        reason = self._draft.state.rules(table).why_not(kinds)
        if reason is not None:
            raise Forbidden(
                f"The rules of the Delta table '{table.table_name}' forbid this change. {reason}",
                remedy="Make a change that they allow, or copy the rows to a table without rules.",
            )

    def _refuse_shown_defaults(self, face: DeltaTable) -> None:
        """Raise Unsupported for a new column with a default: Delta readers would show NULL in
        existing rows."""
        if face.mode != FaceMode.OWN or face.location is None or not self._is_ours(face):
            return
        before = {one.column_id for one in self._draft.base.beneath(COLUMN, face.table_id)}
        for one in self._draft.state.beneath(COLUMN, face.table_id):
            if before and one.column_id not in before and one.initial_default is not None:
                raise Unsupported(
                    f"Existing rows of the Delta table at {face.location!r} cannot get the default"
                    f" {one.initial_default!r} for the new column '{one.column_name}'.",
                    remedy="Add the column without a default, then UPDATE it and set the default.",
                )


# The newest version time up to :time, looked up per ancestor by index; times grow with versions.
_NEWEST_TIME = """
SELECT max(t.newest) FROM (SELECT (
    SELECT max(n.timestamp) FROM dl_table_versions n
    WHERE n.catalog_id = l.ancestor_id AND n.table_id = :scope AND n.timestamp <= :time
        AND n.begin_snapshot <= l.upto_snapshot AND n.begin_snapshot <= :snapshot
) AS newest FROM ducklake_catalog_lineage l WHERE l.catalog_id = :catalog) t
"""


class FaceReading:
    """Reader of the log of a Delta table, as of a snapshot of the catalog."""

    def __init__(self, view: SnapshotReads, table: Table) -> None:
        self._view = view
        self._table = table
        face = find_face(view.state, table)
        if face is None:
            raise NotFound(
                f"Table '{table.table_name}' is not a Delta table.",
                remedy="Publish it first: forklake delta publish.",
            )
        self.face = face

    def _rows(self, kind: Kind, where: str, **parameters: object) -> list[Any]:
        with self._view.reading() as reader:
            return reader.rows(kind, scope=self._table.table_id, where=where, **parameters)

    def latest(self) -> DeltaVersion:
        """Return the newest version."""
        with self._view.reading() as reader:
            rows: list[DeltaVersion] = reader.newest(DELTA_VERSION, self._table.table_id)
        return max(rows, key=lambda one: one.version)

    def versions(self, first: int = 0, last: int = int(FOREVER)) -> list[DeltaVersion]:
        """Return versions in order, `first` and `last` included."""
        rows = self._rows(
            DELTA_VERSION, "r.version BETWEEN :first AND :last", first=first, last=last
        )
        return sorted(rows, key=lambda one: one.version)

    def versions_since(self, milliseconds: int) -> list[DeltaVersion]:
        """Return the versions that were committed after a time, in order."""
        rows = self._rows(DELTA_VERSION, "r.timestamp > :time", time=milliseconds)
        return sorted(rows, key=lambda one: one.version)

    def version(self, number: int) -> DeltaVersion:
        """Return one version; raise NotFound if it does not exist."""
        found = self.versions(number, number)
        if not found:
            raise NotFound(
                f"The Delta table '{self._table.table_name}' has no version {number}.",
                remedy="List its versions, and choose one of them.",
            )
        return found[0]

    def version_at(self, milliseconds: int) -> DeltaVersion:
        """Return the version that was the newest at a time; raise NotFound before the first."""
        rows = self._rows(DELTA_VERSION, f"r.timestamp = ({_NEWEST_TIME})", time=milliseconds)
        if not rows:
            raise NotFound(
                f"The Delta table '{self._table.table_name}' has no version from that time.",
                remedy="Choose a later time.",
            )
        newest: DeltaVersion = max(rows, key=lambda one: one.version)
        return newest

    def actions(self, kinds: Sequence[str], first: int = 0) -> list[DeltaAction]:
        """Return actions of some kinds, in the order of their versions."""
        named = ", ".join(f"'{kind}'" for kind in kinds)
        where = f"r.kind IN ({named}) AND r.version >= :first"
        rows = self._rows(DELTA_ACTION, where, first=first)
        return sorted(rows, key=lambda one: (one.version, one.kind, one.key))

    def newest_action(
        self, kind: str, key: str = "", before: int = int(FOREVER)
    ) -> DeltaAction | None:
        """Return the newest action of a kind and key in versions before another; None if none."""
        rows = self._rows(
            DELTA_ACTION,
            "r.kind = :wanted AND r.key = :key AND r.version = (SELECT max(n.version)"
            " FROM dl_actions n WHERE n.catalog_id = r.catalog_id AND n.table_id = :scope"
            " AND n.kind = :wanted AND n.key = :key AND n.begin_snapshot <= :snapshot"
            " AND n.version < :before)",
            wanted=kind,
            key=key,
            before=before,
        )
        return max(rows, key=lambda one: one.version, default=None)
