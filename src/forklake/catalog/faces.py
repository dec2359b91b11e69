"""Delta faces: tables that are also Delta tables, and what their logs say besides files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from forklake.catalog.draft import Draft
from forklake.catalog.reading import Snapshotted
from forklake.errors import AlreadyExists, Forbidden, InvalidInput, NotFound, Unsupported
from forklake.model.changes import Change, ChangeKind
from forklake.model.entities import DeltaAction, DeltaTable, DeltaVersion, Table, Tag
from forklake.model.faces import FaceAction, FaceCommit, FaceMode, operation_of
from forklake.model.fields import UNWRITABLE
from forklake.model.ids import FOREVER, NOBODY, TableId
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
from forklake.store.faces import milliseconds

_STREAMING = "STREAMING UPDATE"  # what Delta's history calls the writes of such applications


def find_face(state: CatalogState, table: Table) -> DeltaTable | None:
    """The Delta face of a table."""
    row = state.get(DELTA_TABLE, (table.table_id,))
    return row if isinstance(row, DeltaTable) else None


class FaceChanges:
    """The part of a transaction that gives tables a Delta face and tells their logs more."""

    _draft: Draft
    _told: dict[TableId, FaceCommit]

    def _ready(self) -> Draft:
        raise NotImplementedError

    def add_face(self, table: Table, delta_id: str, location: str | None, mode: FaceMode) -> None:
        """Make a table a Delta table too."""
        face = find_face(self._ready().state, table)
        if face is not None and face.location is not None and self._is_ours(face):
            raise AlreadyExists(
                f"Table '{table.table_name}' is a Delta table already, at {face.location!r}.",
                remedy="Use that one.",
            )
        self._draft.put(
            DeltaTable(
                table_id=table.table_id, delta_id=delta_id, location=location, mode=mode.value
            )
        )

    def _is_ours(self, face: DeltaTable) -> bool:
        """Whether the face is this catalog's: those of ancestors have other places."""
        return face.catalog_id in (self._draft.base.catalog_id, NOBODY)

    def change_face(self, face: DeltaTable) -> None:
        """Another location or mode."""
        self._ready()
        self._draft.put(face)

    def tell(self, table: Table, commit: FaceCommit) -> None:
        """What this transaction tells the log of a Delta table."""
        if find_face(self._ready().state, table) is None:
            raise InvalidInput(
                f"Table '{table.table_name}' is no Delta table.", remedy="Publish it as one."
            )
        self._told[table.table_id] = commit

    def tell_progress(self, table: Table, application: str, version: int) -> None:
        """Tell the log of a Delta table how far an application is that counts its own writes."""
        now = milliseconds(datetime.now(UTC))
        body = {"appId": application, "version": version, "lastUpdated": now}
        action = FaceAction("txn", application, json.dumps(body, separators=(",", ":")))
        self.tell(table, FaceCommit(_STREAMING, (action,)))

    def _face_commits(self, changes: set[Change]) -> dict[TableId, FaceCommit]:
        """What the commit tells the logs of all Delta tables that it changes."""
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
                f"Table '{name}' follows the Delta log at {face.location!r}: it is changed there.",
                remedy="Take it over to change it here, or change a fork of the catalog.",
            )

    def _refuse_unwritable(self, face: DeltaTable, kinds: set[ChangeKind]) -> None:
        table = self._draft.state.get(TABLE, (face.table_id,))
        if face.table_id not in self._draft.tables or not isinstance(table, Table):
            return
        tag = self._draft.state.get(TAG, (face.table_id, UNWRITABLE))
        if isinstance(tag, Tag):
            raise Unsupported(
                f"Rows of the Delta table '{table.table_name}' cannot be changed here. {tag.value}",
                remedy="Change it with an engine that can, or have it written without that.",
            )
        reason = self._draft.state.rules(table).why_not(kinds)
        if reason is not None:
            raise Forbidden(
                f"The rules of the Delta table '{table.table_name}' forbid this change. {reason}",
                remedy="Change it in another way, or copy its rows to a table without rules.",
            )

    def _refuse_shown_defaults(self, face: DeltaTable) -> None:
        """A Delta table shows NULL for a column that files lack, whatever its default."""
        if face.mode != FaceMode.OWN or face.location is None or not self._is_ours(face):
            return
        before = {one.column_id for one in self._draft.base.beneath(COLUMN, face.table_id)}
        for one in self._draft.state.beneath(COLUMN, face.table_id):
            if before and one.column_id not in before and one.initial_default is not None:
                raise Unsupported(
                    f"Rows of the Delta table at {face.location!r} cannot show"
                    f" {one.initial_default!r} for the new column '{one.column_name}'.",
                    remedy="Add it without a default, then UPDATE it and set the default.",
                )


# The time of the newest version until :time, on each line by its index; times grow with versions.
_NEWEST_TIME = """
SELECT max(t.newest) FROM (SELECT (
    SELECT max(n.timestamp) FROM dl_table_versions n
    WHERE n.catalog_id = l.ancestor_id AND n.table_id = :scope AND n.timestamp <= :time
        AND n.begin_snapshot <= l.upto_snapshot AND n.begin_snapshot <= :snapshot
) AS newest FROM ducklake_catalog_lineage l WHERE l.catalog_id = :catalog) t
"""


class FaceReading:
    """The log of a Delta table as a snapshot of the catalog shows it."""

    def __init__(self, view: Snapshotted, table: Table) -> None:
        self._view = view
        self._table = table
        face = find_face(view.state, table)
        if face is None:
            raise NotFound(
                f"Table '{table.table_name}' is no Delta table.", remedy="Publish it as one."
            )
        self.face = face

    def _rows(self, kind: Kind, where: str, **parameters: object) -> list[Any]:
        with self._view.reading() as reader:
            return reader.rows(kind, scope=self._table.table_id, where=where, **parameters)

    def latest(self) -> DeltaVersion:
        """The newest version."""
        with self._view.reading() as reader:
            rows: list[DeltaVersion] = reader.newest(DELTA_VERSION, self._table.table_id)
        return max(rows, key=lambda one: one.version)

    def versions(self, first: int = 0, last: int = int(FOREVER)) -> list[DeltaVersion]:
        """Versions in order."""
        rows = self._rows(
            DELTA_VERSION, "r.version BETWEEN :first AND :last", first=first, last=last
        )
        return sorted(rows, key=lambda one: one.version)

    def versions_since(self, milliseconds: int) -> list[DeltaVersion]:
        """Versions that were committed after a time, in order."""
        rows = self._rows(DELTA_VERSION, "r.timestamp > :time", time=milliseconds)
        return sorted(rows, key=lambda one: one.version)

    def version(self, number: int) -> DeltaVersion:
        """One version."""
        found = self.versions(number, number)
        if not found:
            raise NotFound(
                f"The Delta table '{self._table.table_name}' has no version {number}.",
                remedy="List its versions.",
            )
        return found[0]

    def version_at(self, milliseconds: int) -> DeltaVersion:
        """The version that was the newest at a time."""
        rows = self._rows(DELTA_VERSION, f"r.timestamp = ({_NEWEST_TIME})", time=milliseconds)
        if not rows:
            raise NotFound(
                f"The Delta table '{self._table.table_name}' has no version of that time.",
                remedy="Ask for a later time.",
            )
        newest: DeltaVersion = max(rows, key=lambda one: one.version)
        return newest

    def actions(self, kinds: Sequence[str], first: int = 0) -> list[DeltaAction]:
        """Actions of some kinds, in the order of their versions."""
        named = ", ".join(f"'{kind}'" for kind in kinds)
        where = f"r.kind IN ({named}) AND r.version >= :first"
        rows = self._rows(DELTA_ACTION, where, first=first)
        return sorted(rows, key=lambda one: (one.version, one.kind, one.key))

    def newest_action(
        self, kind: str, key: str = "", before: int = int(FOREVER)
    ) -> DeltaAction | None:
        """The newest action of a kind and key, of a version before another."""
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
