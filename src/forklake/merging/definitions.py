"""Three-way merge of definitions: schemas, tables, columns, views, macros, tags, options.

Definitions are compared one by one, by what identifies them, with the rules of `rules`. Independent
changes of the two sides are combined, unless they collide on a name or on a column id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from forklake.merging.faults import find_faults
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
from forklake.model.merge_rules import ChangeStatus, Verdict, definition_verdict
from forklake.model.names import folded
from forklake.model.state import CatalogState

Key = tuple[int, tuple[Any, ...]]
# The definition of a Delta table belongs to one catalog: two catalogs cannot share its folder.
_KINDS = tuple(kind for kind in DEFINITIONS if kind is not DELTA_TABLE)


def _higher(one: str, other: str) -> str:
    return str(max(int(one), int(other)))


def _unite(one: str, other: str) -> str:
    names: dict[str, list[str]] = json.loads(other)
    for parent, dropped in json.loads(one).items():
        known = names.setdefault(parent, [])
        known += [name for name in dropped if name not in known]
    return json.dumps(names, sort_keys=True)


# Internal tags whose values are combined from both sides instead of compared.
_COMBINED_TAGS: dict[str, Callable[[str, str], str]] = {
    HIGHEST_COLUMN: _higher,
    DROPPED_NAMES: _unite,
}


@dataclass(slots=True)
class DefinitionMerge:
    """The definitions that a merge adds and ends in the target, and the conflicts."""

    taken: list[Row] = field(default_factory=list)
    ended: list[Row] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    descriptions: list[str] = field(default_factory=list)
    conflicts: list[DefinitionConflict] = field(default_factory=list)
    new_tables: list[Table] = field(default_factory=list)  # those that only the source has


class DefinitionComparison:
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
        self._result = DefinitionMerge()
        common = (row for kind in _KINDS for row in common_rows(source, target, kind))
        self._base = {_key(row): row for row in common}
        self._source_rows = _by_key(source.now.state)
        self._target_rows = _by_key(target.now.state)

    def merge(self) -> DefinitionMerge:
        """Return the definitions that the target takes over, and the conflicts."""
        dropped = self._merge_dropped_tables()
        for key in {**self._source_rows, **self._base}:
            row = self._source_rows.get(key) or self._base[key]
            if self._is_selected(row) and not (_key_of_owner(row) in dropped or key in dropped):
                self._merge_definition(key)
        self._check_names()
        self._check_columns()
        self._check_constraints()
        if not self._result.conflicts:
            self._check_outcome()
        return self._result

    def _is_selected(self, row: Row) -> bool:
        return self._chosen is None or owner_of(row) in self._chosen

    # What each side did

    def _source_status(self, key: Key) -> ChangeStatus:
        before, current = self._base.get(key), self._source_rows.get(key)
        if current is None:
            return ChangeStatus.UNCHANGED if before is None else ChangeStatus.REMOVED
        if _is_from_merge(self._source, current) or (
            before is not None and _have_same_content(before, current)
        ):
            return ChangeStatus.UNCHANGED
        return ChangeStatus.ADDED if before is None else ChangeStatus.CHANGED

    def _target_status(self, key: Key) -> ChangeStatus:
        before, current = self._base.get(key), self._target_rows.get(key)
        if current is None:
            return ChangeStatus.UNCHANGED if before is None else ChangeStatus.REMOVED
        if before is None:
            return ChangeStatus.ADDED
        table_id = TableId(owner_of(current) or 0)
        is_old = current.begin_snapshot <= self._target.since(table_id)
        unchanged = (
            is_old or _is_from_merge(self._target, current) or _have_same_content(before, current)
        )
        return ChangeStatus.UNCHANGED if unchanged else ChangeStatus.CHANGED

    def _merge_definition(self, key: Key) -> None:
        source_status, target_status = self._source_status(key), self._target_status(key)
        source_row, target_row = self._source_rows.get(key), self._target_rows.get(key)
        if source_row is not None and target_row is not None:
            source_row = _combine_tags(source_row, target_row) or source_row
            if _have_same_content(source_row, target_row):
                return
            if source_row is not self._source_rows[key]:  # a combined tag: it is never a conflict
                self._result.taken.append(source_row)
                return
        verdict = definition_verdict(source_status, target_status)
        if verdict is Verdict.KEEP:
            return
        if verdict is Verdict.TAKE:
            self._take_over(source_status, source_row, target_row)
        else:
            self._refuse(
                source_row or self._base[key], _describe_statuses(source_status, target_status)
            )

    def _take_over(
        self, status: ChangeStatus, source_row: Row | None, target_row: Row | None
    ) -> None:
        if target_row is not None and (
            source_row is None or _identity(source_row) != _identity(target_row)
        ):
            self._result.ended.append(target_row)
        if source_row is not None:
            self._result.taken.append(source_row)
            self._result.children += _children(self._source.now.state, source_row)
        row = source_row or target_row
        if row is not None and _is_reported(row) and not self._is_of_new_table(row):
            self._result.descriptions.append(f"{self._describe(row)} {status.value}")
        if isinstance(source_row, Table) and status is ChangeStatus.ADDED:
            self._result.new_tables.append(source_row)

    def _is_of_new_table(self, row: Row) -> bool:
        return any(table.table_id == owner_of(row) for table in self._result.new_tables)

    def _refuse(self, row: Row, reason: str) -> None:
        self._result.conflicts.append(DefinitionConflict(self._describe(row), reason))

    # Dropped tables

    def _merge_dropped_tables(self) -> set[Key]:
        """Decide tables that one side dropped, and return their keys: their children follow."""
        found: set[Key] = set()
        for key, row in {**self._base, **self._source_rows}.items():
            if not isinstance(row, Table) or not self._is_selected(row):
                continue
            source_status, target_status = self._source_status(key), self._target_status(key)
            if ChangeStatus.REMOVED not in (source_status, target_status):
                continue
            found.add(key)
            if source_status is target_status:
                continue
            if source_status is ChangeStatus.REMOVED:
                self._drop_table(row, key)
            elif self._is_changed(self._source, row):
                self._refuse(row, _describe_statuses(ChangeStatus.CHANGED, ChangeStatus.REMOVED))
        return found

    def _drop_table(self, row: Table, key: Key) -> None:
        target_row = self._target_rows[key]
        if self._is_changed(self._target, row):
            self._refuse(row, _describe_statuses(ChangeStatus.REMOVED, ChangeStatus.CHANGED))
            return
        self._result.ended.append(target_row)
        self._result.descriptions.append(f"{self._describe(row)} {ChangeStatus.REMOVED.value}")

    def _is_changed(self, side: Side, table: Table) -> bool:
        """Return whether a side changed the data or any definition of a table."""
        status_of = self._source_status if side is self._source else self._target_status
        keys = {_key(table)}
        keys |= {
            key
            for key in {**self._source_rows, **self._target_rows}
            if _is_beneath(key, table.table_id)
        }
        if any(status_of(key) is not ChangeStatus.UNCHANGED for key in keys):
            return True
        return self._has_data_changes(side, table.table_id)

    # Changes of the two sides that exclude each other

    def _check_names(self) -> None:
        """Refuse duplicate names, and definitions whose schema the target does not have."""
        taken = {_identity(row): row for row in self._result.taken}
        gone = {_identity(row) for row in self._result.ended} | taken.keys()
        # What the target keeps unchanged: names that it loses in this merge are free.
        kept = [row for row in self._target_rows.values() if _identity(row) not in gone]
        names = {_name_of(self._target.now.state, row) for row in kept} - {None}
        schemas = {row.schema_id for row in (*kept, *taken.values()) if isinstance(row, Schema)}
        for row in taken.values():
            if _name_of(self._source.now.state, row) in names:
                self._refuse(row, "the target has another object with this name")
            if isinstance(row, Table | View | Macro) and row.schema_id not in schemas:
                self._refuse(row, "its schema does not exist in the target")
        used = {row.schema_id for row in kept if isinstance(row, Table | View | Macro)}
        for row in self._result.ended:
            if isinstance(row, Schema) and row.schema_id in used:
                self._refuse(row, "dropped in the source, but not empty in the target")

    def _check_columns(self) -> None:
        """Refuse column ids that both sides assigned, where one side dropped its column again."""
        reason = "both sides assigned its column id to different columns"
        for row in self._result.taken:
            if _key(row) not in self._target_rows and self._has_reused_id(
                row, self._target.now.state
            ):
                self._refuse(row, reason)
        # Files of the source may hold values of the dropped column under the same column id.
        used = (
            row
            for row in self._target_rows.values()
            if self._has_reused_id(row, self._source.now.state)
        )
        for row in used:
            is_own = _key(row) not in self._source_rows and self._is_selected(row)
            if is_own and self._has_data_changes(self._source, row.table_id):
                self._refuse(row, reason)

    def _has_reused_id(self, row: Row, state: CatalogState) -> TypeGuard[Column]:
        """Return whether `row` is a new column of one side whose id the other side also assigned.

        Args:
            row: a definition of one side.
            state: the state of the other side.
        """
        if not isinstance(row, Column) or _key(row) in self._base:
            return False
        table = state.get(TABLE, (row.table_id,))
        return isinstance(table, Table) and row.column_id <= state.highest_column_id(table)

    def _check_constraints(self) -> None:
        """Refuse constraints that one side added while the other side wrote unchecked rows."""
        for table_id in sorted({int(owner_of(row) or 0) for row in self._new_constraints()}):
            table = self._target.now.state.get(TABLE, (table_id,))
            if not isinstance(table, Table) or (self._chosen and table_id not in self._chosen):
                continue
            ours = any(
                owner_of(row) == table_id for row in self._new_constraints(self._result.taken)
            )
            other = self._target if ours else self._source
            if self._has_data_changes(other, TableId(table_id)):
                self._refuse(
                    table, "one side added constraints, and the other wrote rows without them"
                )

    def _new_constraints(self, rows: Iterable[Row] | None = None) -> Iterator[Row]:
        """Yield new constraints among `rows`: by default, those of the source and the target."""
        for row in [*self._result.taken, *self._changed_by_target()] if rows is None else rows:
            before = self._base.get(_key(row))
            was_open = isinstance(before, Column) and before.nulls_allowed
            if isinstance(row, Column) and not row.nulls_allowed and was_open:
                yield row
            if isinstance(row, Tag) and row.key == RULES:
                yield row

    def _changed_by_target(self) -> Iterator[Row]:
        return (
            row
            for key, row in self._target_rows.items()
            if isinstance(row, Column | Tag)
            and self._target_status(key) in (ChangeStatus.ADDED, ChangeStatus.CHANGED)
        )

    def _check_outcome(self) -> None:
        """Refuse tables that are invalid with the changes of both sides, each valid by itself."""
        state = self._target.now.state.copy()
        state.add_children(self._result.children)
        for row in self._result.ended:
            state.remove(row)
        for row in self._result.taken:
            state.put(row)
        changed = (*self._result.taken, *self._result.ended)
        owners = {owner_of(row) for row in changed if isinstance(row, Column | Partition | Tag)}
        for row in state.tables():
            if row.table_id in owners:
                for reason in find_faults(state, row, self._names_of(row)):
                    self._refuse(row, reason)

    def _names_of(self, table: Table) -> set[str]:
        """Return the names that columns of a table have on either side."""
        return {
            folded(row.column_name)
            for row in (*self._source_rows.values(), *self._target_rows.values())
            if isinstance(row, Column) and row.table_id == table.table_id
        }

    # Descriptions

    def _describe(self, row: Row) -> str:
        return describe_definition(row, self._source.now.state, self._source.origin().state)


def describe_definition(row: Row, *states: CatalogState) -> str:
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


def _is_reported(row: Row) -> bool:
    """Return whether the outcome lists a change of `row`: tags are mostly internal."""
    return isinstance(row, Schema | Table | View | Macro | Column | Partition | Option)


def _describe_statuses(source: ChangeStatus, target: ChangeStatus) -> str:
    return f"{source.value} in the source, {target.value} in the target"


def _key(row: Row) -> Key:
    """Return what identifies a definition on both sides; a table has one partitioning."""
    kind = KIND_OF[type(row)]
    return kind.code, (row.table_id,) if isinstance(row, Partition) else kind.identify(row)


def _identity(row: Row) -> Key:
    kind = KIND_OF[type(row)]
    return kind.code, kind.identify(row)


def _name_of(state: CatalogState, row: Row) -> tuple[Any, ...] | None:
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


def _have_same_content(one: Row, other: Row) -> bool:
    return replace(one, catalog_id=other.catalog_id, begin_snapshot=other.begin_snapshot) == other


def _is_from_merge(side: Side, row: Row) -> bool:
    """Return whether a side got this version of a definition by a merge from the other side."""
    return row.begin_snapshot in side.arrived_snapshots(TableId(owner_of(row) or 0))


def _combine_tags(source_row: Row, target_row: Row) -> Row | None:
    """Return the combined value of an internal tag that both sides set, or None."""
    if (
        isinstance(source_row, Tag)
        and isinstance(target_row, Tag)
        and source_row.key in _COMBINED_TAGS
    ):
        return replace(
            source_row, value=_COMBINED_TAGS[source_row.key](source_row.value, target_row.value)
        )
    return None


def _children(state: CatalogState, row: Row) -> Iterator[Child]:
    if isinstance(row, Partition):
        yield from state.children(PartitionColumn, row.partition_id)
    if isinstance(row, Macro):
        yield from state.children(MacroImplementation, row.macro_id)
        yield from state.children(MacroParameter, row.macro_id)
