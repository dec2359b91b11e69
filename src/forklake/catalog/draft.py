"""Draft of a commit: the catalog as a transaction sees it, and the changes to commit."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import replace

from forklake.errors import AlreadyExists, NotFound
from forklake.model.changes import Change, ChangeKind
from forklake.model.children import Child
from forklake.model.entities import Macro, Row, Schema, Table, View
from forklake.model.ids import UNCOMMITTED, LocalIds, TableId
from forklake.model.kinds import (
    BENEATH_TABLE,
    COLUMN,
    DEFINITIONS,
    KIND_OF,
    MACRO,
    OPTION,
    PARTITION,
    SCHEMA,
    TABLE,
    VIEW,
    Kind,
)
from forklake.model.names import folder_for
from forklake.model.plan import TableWork
from forklake.model.state import CatalogState

Key = tuple[int, tuple[object, ...]]
_BENEATH = tuple(kind for kind in BENEATH_TABLE if kind in DEFINITIONS)


class Draft:
    """Staged changes on top of a state; reads of the state include them immediately."""

    def __init__(self, state: CatalogState) -> None:
        self.base = state
        self.state = state
        self.entity_ids = LocalIds()
        self.file_ids = LocalIds()
        self.new: dict[Key, Row] = {}
        self.ended: dict[Key, Row] = {}
        self.dropped_tables: dict[TableId, Table] = {}
        self.children: list[Child] = []
        self.tables: dict[TableId, TableWork] = {}
        self.data_changes: set[Change] = set()
        self.constrained: set[TableId] = set()
        # Highest column id used per table in this draft, including columns dropped again.
        self.used_column_ids: dict[int, int] = {}

    def _own_state(self) -> CatalogState:
        if self.state is self.base:
            self.state = self.base.copy()
        return self.state

    def put(self, row: Row) -> None:
        """Stage a new row, or a new version of a row with the same identity."""
        kind = KIND_OF[type(row)]
        key = (kind.code, kind.identify(row))
        old = self.state.get(kind, kind.identify(row))
        if old is not None:
            same = replace(row, catalog_id=old.catalog_id, begin_snapshot=old.begin_snapshot)
            if same == old:
                return
            self._retire(key, old)
        fresh = replace(row, begin_snapshot=UNCOMMITTED)
        self.new[key] = fresh
        self._own_state().put(fresh)

    def end(self, row: Row) -> None:
        """Stage the end of a row."""
        kind = KIND_OF[type(row)]
        self._retire((kind.code, kind.identify(row)), row)
        self._own_state().remove(row)

    def _retire(self, key: Key, row: Row) -> None:
        if row.begin_snapshot == UNCOMMITTED:
            self.new.pop(key)
        else:
            self.ended[key] = row

    def add_children(self, children: Iterable[Child]) -> None:
        """Stage rows that belong to a parent."""
        listed = list(children)
        self.children += listed
        self._own_state().add_children(listed)

    def know(self, children: Iterable[Child]) -> None:
        """Add rows to the state that belong to a parent and are stored already."""
        self._own_state().add_children(children)

    def drop_table(self, table: Table) -> None:
        """Stage the end of a table and everything that belongs to it."""
        for kind in _BENEATH:
            for row in self.state.beneath(kind, table.table_id):
                if row.begin_snapshot == UNCOMMITTED:
                    self.new.pop((kind.code, kind.identify(row)), None)
                self.ended.pop((kind.code, kind.identify(row)), None)
                self._own_state().remove(row)
        # One tombstone or update ends all committed rows of the table, including those staged.
        self.ended = {
            key: row
            for key, row in self.ended.items()
            if getattr(row, KIND_OF[type(row)].scope or "", None) != table.table_id
        }
        self.tables.pop(table.table_id, None)
        self.data_changes = {
            change for change in self.data_changes if change.object_id != table.table_id
        }
        if table.table_id >= 0:
            self.dropped_tables[table.table_id] = table
        self.end(table)

    def require(self, table: Table) -> None:
        """Raise NotFound if the table has been dropped."""
        if self.state.get(TABLE, (table.table_id,)) is None:
            raise NotFound(
                f"Table '{table.table_name}' does not exist any more.",
                remedy="Look up the table by its name again.",
                table=table.table_name,
            )

    def work_on(self, table: Table) -> TableWork:
        """Return the data changes of a table, which can be added to."""
        work = self.tables.get(table.table_id)
        if work is None:
            work = TableWork(columns=())
            self.tables[table.table_id] = work
        return work

    def new_table(self, name: str, schema: str) -> Table:
        """Stage a table without columns; raise AlreadyExists if the name is taken."""
        self.refuse_taken_relation(name, schema)
        unique = new_uuid()
        table = Table(
            table_id=TableId(self.entity_ids.take()),
            table_uuid=unique,
            schema_id=self.state.schema(schema).schema_id,
            table_name=name,
            path=folder_for(name, unique),
        )
        self.put(table)
        return table

    def refuse_taken_relation(self, name: str, schema: str) -> None:
        """Raise AlreadyExists if a table or view has this name."""
        if self.state.find_relation(name, schema) is not None:
            raise AlreadyExists(
                f"Table or view '{schema}.{name}' already exists.",
                remedy="Choose another name, or drop it first.",
            )

    def finished_tables(self) -> dict[TableId, TableWork]:
        """Return the data changes, with the columns as of the end of the transaction."""
        for row in self.new.values():
            if isinstance(row, Table) and row.table_id < 0:
                self.work_on(row)  # a new table gets its first statistics
        for table_id, work in self.tables.items():
            work.columns = tuple(self.state.beneath(COLUMN, table_id))
        return self.tables

    def finished_children(self) -> list[Child]:
        """Return the staged children whose parents are still staged, and all column mappings."""
        parents = {"macro_id": MACRO.code, "partition_id": PARTITION.code}
        return [
            child
            for child in self.children
            if child.PARENT not in parents
            or (parents[child.PARENT], (getattr(child, child.PARENT),)) in self.new
        ]

    def changes(self) -> set[Change]:
        """Return the changes that the commit records for its snapshot."""
        found = set(self.data_changes)
        for key in self.new.keys() | self.ended.keys():
            found.update(self._change(self.ended.get(key), self.new.get(key)))
        return {
            replace(change, constrains=change.object_id in self.constrained)
            if change.kind is ChangeKind.ALTERED_TABLE
            else change
            for change in found
        }

    def _change(self, old: Row | None, new: Row | None) -> Iterable[Change]:
        row = new or old
        if row is None:
            return
        kind = KIND_OF[type(row)]
        if kind in _CHANGES:
            yield from self._named_change(kind, old, new)
        elif kind is not OPTION and kind.scope is not None:  # options: the last commit wins
            yield from self._altered(getattr(row, kind.scope))

    def _named_change(self, kind: Kind, old: Row | None, new: Row | None) -> Iterable[Change]:
        created, altered, dropped = _CHANGES[kind]
        row = new or old
        assert row is not None
        number = int(kind.identify(row)[0])
        if isinstance(row, Macro):
            is_table = self.state.macro_type(row) == "table"
            created = ChangeKind.CREATED_TABLE_MACRO if is_table else created
            dropped = ChangeKind.DROPPED_TABLE_MACRO if is_table else dropped
        if new is None:
            yield Change(dropped, number)
            return
        if old is not None and altered is not None:
            yield Change(altered, number)
        if old is None or self._name(old) != self._name(new):
            yield Change(created, name=self._name(new))

    def _altered(self, owner: int) -> Iterable[Change]:
        if owner < 0 or self._is_new(owner):
            return
        for kind, change in (
            (TABLE, ChangeKind.ALTERED_TABLE),
            (VIEW, ChangeKind.ALTERED_VIEW),
            (SCHEMA, ChangeKind.ALTERED_SCHEMA),
        ):
            if self.state.get(kind, (owner,)) is not None:
                yield Change(change, owner)

    def _is_new(self, owner: int) -> bool:
        """Return whether a table, view or schema is new here, such as one that a merge adopts."""
        keys = [(kind.code, (owner,)) for kind in (TABLE, VIEW, SCHEMA)]
        return any(key in self.new and key not in self.ended for key in keys)

    def _name(self, row: Row) -> tuple[str, ...]:
        match row:
            case Schema():
                return (row.schema_name,)
            case Table():
                return (self._schema_name(row.schema_id), row.table_name)
            case View():
                return (self._schema_name(row.schema_id), row.view_name)
            case Macro():
                return (self._schema_name(row.schema_id), row.macro_name)
        raise AssertionError(row)

    def _schema_name(self, schema_id: int) -> str:
        schema = self.state.get(SCHEMA, (schema_id,)) or self.base.get(SCHEMA, (schema_id,))
        assert isinstance(schema, Schema)
        return schema.schema_name


K = ChangeKind
# kind -> created, altered, dropped
_CHANGES: dict[Kind, tuple[ChangeKind, ChangeKind | None, ChangeKind]] = {
    SCHEMA: (K.CREATED_SCHEMA, K.ALTERED_SCHEMA, K.DROPPED_SCHEMA),
    TABLE: (K.CREATED_TABLE, K.ALTERED_TABLE, K.DROPPED_TABLE),
    VIEW: (K.CREATED_VIEW, K.ALTERED_VIEW, K.DROPPED_VIEW),
    MACRO: (K.CREATED_SCALAR_MACRO, None, K.DROPPED_SCALAR_MACRO),
}


def new_uuid() -> str:
    """Return a random UUID as text."""
    return str(uuid.uuid4())
