"""Three-way merge of definitions: schemas, tables, columns, views, macros, tags, options.

Definitions are compared one by one, by what identifies them, with the rules of `rules`. Independent
changes of the two sides are combined, unless they collide on a name or on a column id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from forklake.merging.faults import faults
from forklake.merging.sides import Side, common_rows, owner_of
from forklake.model.children import Child, MacroImplementation, MacroParameter, PartitionColumn
from forklake.model.entities import (
    Column,
    ColumnTag,
    Macro,
    Option,
    Partition,
    Row,
    Schema,
    Table,
    Tag,
    View,
)
from forklake.model.fields import DROPPED_NAMES, HIGHEST_COLUMN, RULES
from forklake.model.ids import TableId
from forklake.model.kinds import (
    DEFINITIONS,
    DELTA_TABLE,
    KIND_OF,
    SCHEMA,
    TABLE,
)
from forklake.model.merge_outcomes import DefinitionConflict
from forklake.model.merge_rules import Did, Verdict, of_definition
from forklake.model.names import folded
from forklake.model.state import CatalogState

Key = tuple[int, tuple[Any, ...]]
# The definition of a Delta table belongs to one catalog: two catalogs cannot share its folder.
_KINDS = tuple(kind for kind in DEFINITIONS if kind is not DELTA_TABLE)


def _highest(one: str, other: str) -> str:
    return str(max(int(one), int(other)))


def _united(one: str, other: str) -> str:
    names: dict[str, list[str]] = json.loads(other)
    for parent, dropped in json.loads(one).items():
        known = names.setdefault(parent, [])
        known += [name for name in dropped if name not in known]
    return json.dumps(names, sort_keys=True)


# Internal tags whose values are combined from both sides instead of compared.
_JOINED: dict[str, Callable[[str, str], str]] = {HIGHEST_COLUMN: _highest, DROPPED_NAMES: _united}


@dataclass(slots=True)
class DefinitionMerge:
    """The definitions that a merge adds and ends in the target, and the conflicts."""

    taken: list[Row] = field(default_factory=list)
    ended: list[Row] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    conflicts: list[DefinitionConflict] = field(default_factory=list)
    new_tables: list[Table] = field(default_factory=list)  # those that only the source has


class Comparison:
    """Comparison of the definitions of two sides.

    Args:
        has_data_changes: whether a side changed the data of a table.
        chosen: the tables to merge; None for everything.
    """

    def __init__(
        self,
        source: Side,
        target: Side,
        has_data_changes: Callable[[Side, TableId], bool],
        chosen: set[TableId] | None = None,
    ) -> None:
        self._source = source
        self._target = target
        self._has_data_changes = has_data_changes
        self._chosen = chosen
        self._found = DefinitionMerge()
        common = (row for kind in _KINDS for row in common_rows(source, target, kind))
        self._before = {_key(row): row for row in common}
        self._now = _by_key(source.now.state)
        self._theirs = _by_key(target.now.state)

    def merge(self) -> DefinitionMerge:
        """Return the definitions that the target takes over, and the conflicts."""
        gone = self._dropped_tables()
        for key in {**self._now, **self._before}:
            row = self._now.get(key) or self._before[key]
            if self._is_asked_for(row) and not (_key_of_owner(row) in gone or key in gone):
                self._decide(key)
        self._check_names()
        self._check_columns()
        self._check_constraints()
        if not self._found.conflicts:
            self._check_outcome()
        return self._found

    def _is_asked_for(self, row: Row) -> bool:
        return self._chosen is None or owner_of(row) in self._chosen

    # What each side did

    def _source_did(self, key: Key) -> Did:
        before, now = self._before.get(key), self._now.get(key)
        if now is None:
            return Did.NOTHING if before is None else Did.REMOVED
        if _has_come(self._source, now) or (before is not None and _same(before, now)):
            return Did.NOTHING
        return Did.ADDED if before is None else Did.CHANGED

    def _target_did(self, key: Key) -> Did:
        before, theirs = self._before.get(key), self._theirs.get(key)
        if theirs is None:
            return Did.NOTHING if before is None else Did.REMOVED
        if before is None:
            return Did.ADDED
        table_id = TableId(owner_of(theirs) or 0)
        is_old = theirs.begin_snapshot <= self._target.since(table_id)
        unchanged = is_old or _has_come(self._target, theirs) or _same(before, theirs)
        return Did.NOTHING if unchanged else Did.CHANGED

    def _decide(self, key: Key) -> None:
        did, theirs_did = self._source_did(key), self._target_did(key)
        now, theirs = self._now.get(key), self._theirs.get(key)
        if now is not None and theirs is not None:
            now = _joined(now, theirs) or now
            if _same(now, theirs):
                return
            if now is not self._now[key]:  # a combined tag: it is never a conflict
                self._found.taken.append(now)
                return
        verdict = of_definition(did, theirs_did)
        if verdict is Verdict.KEEP:
            return
        if verdict is Verdict.TAKE:
            self._take(did, now, theirs)
        else:
            self._refuse(now or self._before[key], _both(did, theirs_did))

    def _take(self, did: Did, now: Row | None, theirs: Row | None) -> None:
        if theirs is not None and (now is None or _identity(now) != _identity(theirs)):
            self._found.ended.append(theirs)
        if now is not None:
            self._found.taken.append(now)
            self._found.children += _children(self._source.now.state, now)
        row = now or theirs
        if row is not None and _is_told(row) and not self._is_of_new_table(row):
            self._found.words.append(f"{self._called(row)} {did.value}")
        if isinstance(now, Table) and did is Did.ADDED:
            self._found.new_tables.append(now)

    def _is_of_new_table(self, row: Row) -> bool:
        return any(table.table_id == owner_of(row) for table in self._found.new_tables)

    def _refuse(self, row: Row, reason: str) -> None:
        self._found.conflicts.append(DefinitionConflict(self._called(row), reason))

    # Dropped tables

    def _dropped_tables(self) -> set[Key]:
        """Decide tables that one side dropped, and return their keys: their children follow."""
        found: set[Key] = set()
        for key, row in {**self._before, **self._now}.items():
            if not isinstance(row, Table) or not self._is_asked_for(row):
                continue
            did, theirs_did = self._source_did(key), self._target_did(key)
            if Did.REMOVED not in (did, theirs_did):
                continue
            found.add(key)
            if did is theirs_did:
                continue
            if did is Did.REMOVED:
                self._drop(row, key)
            elif self._is_changed(self._source, row):
                self._refuse(row, _both(Did.CHANGED, Did.REMOVED))
        return found

    def _drop(self, row: Table, key: Key) -> None:
        theirs = self._theirs[key]
        if self._is_changed(self._target, row):
            self._refuse(row, _both(Did.REMOVED, Did.CHANGED))
            return
        self._found.ended.append(theirs)
        self._found.words.append(f"{self._called(row)} {Did.REMOVED.value}")

    def _is_changed(self, side: Side, table: Table) -> bool:
        """Return whether a side changed the data or any definition of a table."""
        did = self._source_did if side is self._source else self._target_did
        own = {_key(table)}
        own |= {key for key in {**self._now, **self._theirs} if _is_beneath(key, table.table_id)}
        if any(did(key) is not Did.NOTHING for key in own):
            return True
        return self._has_data_changes(side, table.table_id)

    # Changes of the two sides that exclude each other

    def _check_names(self) -> None:
        """Refuse duplicate names, and definitions whose schema the target does not have."""
        taken = {_identity(row): row for row in self._found.taken}
        gone = {_identity(row) for row in self._found.ended} | taken.keys()
        # What the target keeps unchanged: names that it loses in this merge are free.
        kept = [row for row in self._theirs.values() if _identity(row) not in gone]
        names = {_name(self._target.now.state, row) for row in kept} - {None}
        schemas = {row.schema_id for row in (*kept, *taken.values()) if isinstance(row, Schema)}
        for row in taken.values():
            if _name(self._source.now.state, row) in names:
                self._refuse(row, "the target has another object with this name")
            if isinstance(row, Table | View | Macro) and row.schema_id not in schemas:
                self._refuse(row, "its schema does not exist in the target")
        used = {row.schema_id for row in kept if isinstance(row, Table | View | Macro)}
        for row in self._found.ended:
            if isinstance(row, Schema) and row.schema_id in used:
                self._refuse(row, "dropped in the source, but not empty in the target")

    def _check_columns(self) -> None:
        """Refuse column ids that both sides assigned, where one side dropped its column again."""
        reason = "both sides assigned its column id to different columns"
        for row in self._found.taken:
            if _key(row) not in self._theirs and self._is_used(row, self._target.now.state):
                self._refuse(row, reason)
        # Files of the source may hold values of the dropped column under the same column id.
        used = (row for row in self._theirs.values() if self._is_used(row, self._source.now.state))
        for row in used:
            is_own = _key(row) not in self._now and self._is_asked_for(row)
            if is_own and self._has_data_changes(self._source, row.table_id):
                self._refuse(row, reason)

    def _is_used(self, row: Row, state: CatalogState) -> TypeGuard[Column]:
        """Return whether `row` is a new column of one side whose id the other side also assigned.

        Args:
            row: a definition of one side.
            state: the state of the other side.
        """
        if not isinstance(row, Column) or _key(row) in self._before:
            return False
        table = state.get(TABLE, (row.table_id,))
        return isinstance(table, Table) and row.column_id <= state.highest_column_id(table)

    def _check_constraints(self) -> None:
        """Refuse constraints that one side added while the other side wrote unchecked rows."""
        for table_id in sorted({int(owner_of(row) or 0) for row in self._constraints()}):
            table = self._target.now.state.get(TABLE, (table_id,))
            if not isinstance(table, Table) or (self._chosen and table_id not in self._chosen):
                continue
            ours = any(owner_of(row) == table_id for row in self._constraints(self._found.taken))
            other = self._target if ours else self._source
            if self._has_data_changes(other, TableId(table_id)):
                self._refuse(
                    table, "one side added constraints, and the other wrote rows without them"
                )

    def _constraints(self, rows: Iterable[Row] | None = None) -> Iterator[Row]:
        """Yield new constraints among `rows`: by default, those of the source and the target."""
        for row in [*self._found.taken, *self._set_by_target()] if rows is None else rows:
            before = self._before.get(_key(row))
            was_open = isinstance(before, Column) and before.nulls_allowed
            if isinstance(row, Column) and not row.nulls_allowed and was_open:
                yield row
            if isinstance(row, Tag) and row.key == RULES:
                yield row

    def _set_by_target(self) -> Iterator[Row]:
        return (
            row
            for key, row in self._theirs.items()
            if isinstance(row, Column | Tag) and self._target_did(key) in (Did.ADDED, Did.CHANGED)
        )

    def _check_outcome(self) -> None:
        """Refuse tables that are invalid with the changes of both sides, each valid by itself."""
        state = self._target.now.state.copy()
        state.add_children(self._found.children)
        for row in self._found.ended:
            state.remove(row)
        for row in self._found.taken:
            state.put(row)
        changed = (*self._found.taken, *self._found.ended)
        owners = {owner_of(row) for row in changed if isinstance(row, Column | Partition | Tag)}
        for row in state.tables():
            if row.table_id in owners:
                for reason in faults(state, row, self._names_of(row)):
                    self._refuse(row, reason)

    def _names_of(self, table: Table) -> set[str]:
        """Return the names that columns of a table have on either side."""
        return {
            folded(row.column_name)
            for row in (*self._now.values(), *self._theirs.values())
            if isinstance(row, Column) and row.table_id == table.table_id
        }

    # Descriptions

    def _called(self, row: Row) -> str:
        return called(row, self._source.now.state, self._source.origin().state)


def called(row: Row, *states: CatalogState) -> str:
    """Return the description of a definition for people; `states` resolve its schema and table."""

    def within(schema_id: int, name: str) -> str:
        schemas = (state.get(SCHEMA, (schema_id,)) for state in states)
        schema = next((one.schema_name for one in schemas if isinstance(one, Schema)), "?")
        return f"{schema}.{name}"

    def owner(number: int) -> str:
        tables = (state.get(TABLE, (number,)) for state in states)
        found = next((one for one in tables if isinstance(one, Table)), None)
        return within(found.schema_id, found.table_name) if found is not None else str(number)

    match row:
        case Schema():
            return f"schema {row.schema_name}"
        case Table():
            return f"table {within(row.schema_id, row.table_name)}"
        case View():
            return f"view {within(row.schema_id, row.view_name)}"
        case Macro():
            return f"macro {within(row.schema_id, row.macro_name)}"
        case Column():
            return f"column {row.column_name} of table {owner(row.table_id)}"
        case ColumnTag():
            return f"tag {row.key} of a column of table {owner(row.table_id)}"
        case Tag():
            return f"tag {row.key} of {owner(row.object_id)}"
        case Partition():
            return f"partitioning of table {owner(row.table_id)}"
        case Option():
            return f"option {row.key}"
    raise AssertionError(row)


def _is_told(row: Row) -> bool:
    """Return whether the outcome lists a change of `row`: tags are mostly internal."""
    return isinstance(row, Schema | Table | View | Macro | Column | Partition | Option)


def _both(source: Did, target: Did) -> str:
    return f"{source.value} in the source, {target.value} in the target"


def _key(row: Row) -> Key:
    """Return what identifies a definition on both sides; a table has one partitioning."""
    kind = KIND_OF[type(row)]
    return kind.code, (row.table_id,) if isinstance(row, Partition) else kind.identify(row)


def _identity(row: Row) -> Key:
    kind = KIND_OF[type(row)]
    return kind.code, kind.identify(row)


def _name(state: CatalogState, row: Row) -> tuple[Any, ...] | None:
    """Return the namespace and name that a definition occupies, or None if it has no name."""
    if isinstance(row, Column):
        return row.table_id, row.parent_column, folded(row.column_name)
    return state.name_key(row)


def _key_of_owner(row: Row) -> Key | None:
    kind = KIND_OF[type(row)]
    return (TABLE.code, (getattr(row, kind.scope),)) if kind.scope else None


def _is_beneath(key: Key, table_id: int) -> bool:
    return key[0] in _BENEATH and key[1][0] == table_id


_BENEATH = frozenset(kind.code for kind in _KINDS if kind.scope)


def _by_key(state: CatalogState) -> dict[Key, Row]:
    return {_key(row): row for kind in _KINDS for row in state.rows(kind)}


def _same(one: Row, other: Row) -> bool:
    return replace(one, catalog_id=other.catalog_id, begin_snapshot=other.begin_snapshot) == other


def _has_come(side: Side, row: Row) -> bool:
    """Return whether a side got this version of a definition by a merge from the other side."""
    return row.begin_snapshot in side.arrived(TableId(owner_of(row) or 0))


def _joined(now: Row, theirs: Row) -> Row | None:
    """Return the combined value of an internal tag that both sides set, or None."""
    if isinstance(now, Tag) and isinstance(theirs, Tag) and now.key in _JOINED:
        return replace(now, value=_JOINED[now.key](now.value, theirs.value))
    return None


def _children(state: CatalogState, row: Row) -> Iterator[Child]:
    if isinstance(row, Partition):
        yield from state.children(PartitionColumn, row.partition_id)
    if isinstance(row, Macro):
        yield from state.children(MacroImplementation, row.macro_id)
        yield from state.children(MacroParameter, row.macro_id)
