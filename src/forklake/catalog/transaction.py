"""Transaction: changes to one catalog that become visible together, as one snapshot."""

from __future__ import annotations

import uuid
from dataclasses import replace
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING

from forklake.catalog.adoption import Adopting
from forklake.catalog.data import DataChanges
from forklake.catalog.definitions import DefinitionChanges
from forklake.catalog.delta_tables import FaceChanges
from forklake.catalog.draft import Draft
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.catalog.table_shape import Reshaping
from forklake.errors import Conflict, InvalidInput
from forklake.model.entities import Macro, Schema, Table, View
from forklake.model.ids import SnapshotId, TableId
from forklake.model.kinds import COLUMN, MACRO, SCHEMA, TABLE, VIEW
from forklake.model.options import SNAPSHOT
from forklake.model.plan import CommitPlan, Committed
from forklake.model.predicates import Predicate, question
from forklake.model.reads import ALL_ROWS, Reads, RowRead
from forklake.model.snapshots import CommitInfo
from forklake.model.state import CatalogState
from forklake.store.commit import commit

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog


class TransactionState(Enum):
    """Status of a transaction."""

    OPEN = "open"
    COMMITTED = "committed"
    ROLLED_BACK = "rolled back"


class Transaction(DefinitionChanges, Reshaping, DataChanges, Adopting, FaceChanges):
    """Staged changes on top of one snapshot of a catalog.

    The transaction begins with its first read. One that only appends to tables whose definitions
    are cached reads nothing, so only a change of these definitions can conflict with it.
    """

    def __init__(
        self, catalog: Catalog, known: CatalogState, info: CommitInfo, *, has_begun: bool = False
    ) -> None:
        self._catalog = catalog
        self._info = info
        self._draft = Draft(known)
        self._told = {}
        self.merge = None
        self.isolation_level: str | None = None  # None: as the option of the catalog
        self._reads = Reads()
        self._has_begun = has_begun
        self._start: SnapshotId | None = None
        self._key = info.idempotency_key or uuid.uuid4().hex
        self.status = TransactionState.OPEN
        self.committed: Committed | None = None
        self.changed_faces: tuple[TableId, ...] = ()  # Delta tables with a new version

    def __repr__(self) -> str:
        return f"<Transaction on {self._catalog.name!r}, {self.status.value}>"

    @property
    def state(self) -> CatalogState:
        """Definitions as this transaction sees them, including its own changes."""
        return self._ready().state

    @property
    def start_snapshot(self) -> SnapshotId:
        """Snapshot that this transaction reads."""
        return self._ready().base.snapshot_id

    def table(self, name: str, schema: str = "main") -> Table:
        """Return the table with a name; raise NotFound if there is none."""
        return self.state.table(name, schema)

    def _ready(self) -> Draft:
        """Begin the transaction at the newest snapshot if it has not begun; return its draft."""
        self._require_open()
        if not self._has_begun:
            newest = self._catalog.refresh()
            if self._draft.tables:  # appends staged before are based on the older snapshot
                self._start = self._draft.base.snapshot_id
            self._draft.base = self._draft.state = newest
            self._has_begun = True
        return self._draft

    def _require(self, table: Table) -> None:
        if self._draft.state.get(TABLE, (table.table_id,)) is None:
            self._ready()  # the table may be newer than the cached definitions
        self._draft.require(table)

    def committed_view(self) -> SnapshotReads:
        """Return the catalog at the snapshot that this transaction reads, without its changes."""
        self._ready()
        return self._catalog.seen(self._draft.base)

    def record_read(
        self, table: Table, rows: Predicate | None = None, *, ignores_removals: bool = False
    ) -> None:
        """Record that the result of this transaction depends on rows of a table.

        Args:
            rows: the rows; None for all of them.
            ignores_removals: the transaction ends all of these rows that it finds, so only rows
                added by concurrent commits can change its result.
        """
        if table.table_id < 0:
            return
        self.record_table(table)
        nodes = self._draft.state.beneath(COLUMN, table.table_id)
        types = {one.column_id: one.column_type for one in nodes}
        asked = ALL_ROWS if rows is None else question(rows, types)
        read = RowRead(asked, ignores_removals)
        self._reads.add(table.table_id, self._draft.state.fields(table), read)

    def record_places(self, table: Table) -> None:
        """Record that the result depends on the files that contain the rows of a table."""
        if table.table_id >= 0:
            self._reads.add(table.table_id)
            self._reads.objects[table.table_id].places = True

    def record_table(self, table: Table) -> None:
        """Record that the result depends on the name and the columns of a table."""
        self.record_definition(table.schema_id)
        self.record_definition(table.table_id)

    def record_definition(self, object_id: int) -> None:
        """Record that the result depends on a schema, table, view or macro."""
        if object_id >= 0:
            self._reads.add(object_id)

    def record_definitions(self) -> None:
        """Record that the result depends on which names are in use."""
        self._reads.definitions = True

    def record_everything(self) -> None:
        """Record that the result depends on the history or the files of the catalog.

        The caller may read their newest state, so the transaction has to begin before that.
        """
        self._ready()
        self._reads.everything = True

    def _checked_reads(self) -> Reads:
        """Return the reads that concurrent commits must not have changed."""
        if not self._reads:
            return self._reads
        level = (
            self.isolation_level
            or self._draft.state.option(
                "isolation_level", metastore=self._catalog.metastore_options()
            )[0]
        )
        return Reads() if level == SNAPSHOT else self._reads

    def set_commit_message(
        self, author: str | None, message: str | None, extra_info: str | None = None
    ) -> None:
        """Set the author and the message of the commit."""
        self._require_open()
        self._info = CommitInfo(author, message, extra_info, self._info.idempotency_key)

    def set_default_message(self, message: str) -> None:
        """Set the commit message if there is none."""
        if not self._info.message:
            self._info = replace(self._info, message=message)

    def _require_open(self) -> None:
        if self.status is not TransactionState.OPEN:
            raise InvalidInput(
                f"The transaction is already {self.status.value}.",
                remedy="Begin a new transaction.",
            )

    def commit(self) -> Committed | None:
        """Commit the changes; return None if there are none."""
        self._require_open()
        plan = self._plan()
        if plan.is_empty:
            self.status = TransactionState.COMMITTED
            return None
        # The option as of before this commit, which may be the one that sets or removes it.
        needs_message = self._draft.base.option(
            "require_commit_message", metastore=self._catalog.metastore_options()
        )[0]
        if needs_message == "true" and not self._info.message:
            raise InvalidInput(
                f"The catalog '{self._catalog.name}' requires a commit message.",
                remedy="Set the message first, in SQL with:"
                " CALL <alias>.set_commit_message('<author>', '<message>').",
            )
        try:
            self.committed = self._apply(plan)
            self.changed_faces = tuple(plan.faces)
        except Conflict:
            # Without this, a blind append would retry with the same cached definitions for ever.
            self._catalog.forget()
            raise
        self.status = TransactionState.COMMITTED
        return self.committed

    def _apply(self, plan: CommitPlan) -> Committed:
        committed = commit(self._catalog.database, plan)
        self._catalog.noted(committed, changed=plan.changes_definitions)
        return committed

    def staged_paths(self) -> set[str]:
        """Return the relative paths of the files that the commit will add."""
        found: set[str] = set()
        for work in self._draft.tables.values():
            found.update(file.path for _, file in work.data_files if file.path_is_relative)
            found.update(file.path for _, file in work.delete_files if file.path_is_relative)
        return found

    def rollback(self) -> None:
        """Discard the changes."""
        self._require_open()
        self.status = TransactionState.ROLLED_BACK

    def _plan(self) -> CommitPlan:
        draft = self._draft
        tables, changes = draft.finished_tables(), draft.changes()
        return CommitPlan(
            catalog_id=draft.base.catalog_id,
            start=draft.base.snapshot_id if self._start is None else self._start,
            inherits=self._catalog.inherits,
            changes=changes,
            reads=self._checked_reads(),
            schema_names=self._schema_names,
            schema_of=self._schema_of,
            new_rows=list(draft.new.values()),
            ended_rows=list(draft.ended.values()),
            dropped_tables=list(draft.dropped_tables),
            children=draft.finished_children(),
            tables=tables,
            faces=self._face_commits(changes),
            known_bounds=self._catalog.known_bounds(draft.tables),
            merge=self.merge,
            name_of=self._name_of,
            new_entities=draft.entity_ids.count,
            new_files=draft.file_ids.count,
            info=self._info,
            key=self._key,
        )

    def _schema_names(self) -> dict[int, str]:
        draft = self._draft
        rows = (*draft.base.rows(SCHEMA), *draft.state.rows(SCHEMA))
        return {row.schema_id: row.schema_name for row in rows}

    def _schema_of(self, table_id: int) -> int | None:
        row = self._draft.base.get(TABLE, (table_id,))
        return row.schema_id if isinstance(row, Table) else None

    def _name_of(self, number: int) -> str | None:
        for kind in (TABLE, VIEW, SCHEMA, MACRO):
            match self._draft.base.get(kind, (number,)):
                case Table(table_name=name) | View(view_name=name):
                    return name
                case Schema(schema_name=name) | Macro(macro_name=name):
                    return name
        return None

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.status is not TransactionState.OPEN:
            return
        if kind is None:
            self.commit()
        else:
            self.rollback()
