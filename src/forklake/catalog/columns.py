"""Changes of columns: add, drop, rename and widen columns and nested fields."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from forklake.catalog.draft import Draft
from forklake.errors import AlreadyExists, InvalidInput, Unsupported
from forklake.model.entities import Column, ColumnTag, Table, Tag
from forklake.model.fields import (
    DROPPED_NAMES,
    HIGHEST_COLUMN,
    PHYSICAL_NAME,
    TYPE_BEFORE,
    checked_tag,
    is_read_apart,
)
from forklake.model.ids import ColumnId
from forklake.model.inlined_values import default_value, initial_value
from forklake.model.kinds import COLUMN, COLUMN_TAG
from forklake.model.names import checked_name, folded
from forklake.model.types import NESTED, ColumnSpec, ColumnType, as_type, is_wider

Path = str | Sequence[str]
_RESERVED = "_ducklake_"


def _names(path: Path) -> tuple[str, ...]:
    return (path,) if isinstance(path, str) else tuple(path)


class ColumnChanges:
    """The part of a transaction that changes columns. Paths of names lead to nested fields."""

    _draft: Draft

    def _ready(self) -> Draft:
        raise NotImplementedError

    def _checked_columns(self, columns: Sequence[ColumnSpec], table: str) -> list[ColumnSpec]:
        specs = [
            replace(
                spec,
                name=_checked_column_name(spec.name),
                type=as_type(spec.type),
                default=_checked_default(
                    spec.name, as_type(spec.type).name, spec.default, spec.default_type
                ),
                tags={checked_tag(checked_name(key, "tag")): spec.tags[key] for key in spec.tags},
            )
            for spec in columns
        ]
        names = [folded(spec.name) for spec in specs]
        if not specs:
            raise InvalidInput(f"Table '{table}' has no columns.", remedy="Add at least one.")
        if len(set(names)) != len(names):
            twice = next(spec.name for spec in specs if names.count(folded(spec.name)) > 1)
            raise InvalidInput(
                f"Table '{table}' has two columns named '{twice}'.",
                remedy="Rename one of them.",
            )
        return specs

    def _next_column_id(self, table: Table) -> ColumnId:
        used = self._draft.used_column_ids
        highest = self._draft.state.highest_column_id(table)
        used[table.table_id] = max(highest, used.get(table.table_id, 0)) + 1
        return ColumnId(used[table.table_id])

    def _add_nodes(self, table: Table, spec: ColumnSpec, parent: ColumnId | None) -> Column:
        kind = as_type(spec.type)
        siblings = self._draft.state.columns(table, parent)
        column = Column(
            table_id=table.table_id,
            column_id=self._next_column_id(table),
            column_order=max((row.column_order for row in siblings), default=-1) + 1,
            column_name=spec.name,
            column_type=kind.name,
            default_value=spec.default,
            nulls_allowed=spec.nulls_allowed,
            parent_column=parent,
            default_value_type=spec.default_type if spec.default is not None else None,
            default_value_dialect="duckdb" if spec.default_type == "expression" else None,
        )
        self._draft.put(column)
        for name, field_type in kind.fields:
            self._add_nodes(table, ColumnSpec(name, field_type), column.column_id)
        self._name_dotted(table, column.column_id)
        tags = dict(spec.tags) | ({"comment": spec.comment} if spec.comment is not None else {})
        for key, value in tags.items():
            self._put_tag(column, key, value)
        return column

    def _put_tag(self, column: Column, key: str, value: str) -> None:
        self._draft.put(
            ColumnTag(table_id=column.table_id, column_id=column.column_id, key=key, value=value)
        )

    def add_column(self, table: Table, spec: ColumnSpec, *, inside: Path = ()) -> Column:
        """Add a column, or a field to the struct at the path `inside`.

        A literal default is also the value of the column in existing rows.
        """
        state = self._ready().state
        (checked,) = self._checked_columns([spec], table.table_name)
        if checked.default is not None and checked.default_type != "literal":
            raise InvalidInput(
                "We cannot add a column with a non-literal default value.",
                remedy="Add the column without a default, then set the default for new rows.",
            )
        parent = state.column(table, *_names(inside)) if _names(inside) else None
        if parent is not None and parent.column_type != "struct":
            raise InvalidInput(
                f"Column '{parent.column_name}' is a {parent.column_type}, not a struct.",
                remedy="Add fields to structs only.",
            )
        parent_id = parent.column_id if parent else None
        self._refuse_taken(table, checked.name, parent_id)
        used = self._used_names(table, parent_id)
        column = self._add_nodes(table, checked, parent_id)
        self._name_physically(column, used)
        if checked.default is not None:
            column = replace(column, initial_default=checked.default)
            self._draft.put(column)
            self._fill_staged_rows(table, column)
        return column

    def _fill_staged_rows(self, table: Table, column: Column) -> None:
        """Set the default of a new column in rows that this transaction has inserted before."""
        work = self._draft.tables.get(table.table_id)
        for field in self._draft.state.fields(table):
            if work is not None and field.column_id == column.column_id:
                for row in work.inlined_rows:
                    row.values[field.column_id] = initial_value(field)

    def _refuse_taken(self, table: Table, name: str, parent: ColumnId | None) -> None:
        siblings = self._draft.state.columns(table, parent)
        if any(folded(row.column_name) == folded(name) for row in siblings):
            raise AlreadyExists(
                f"Column '{name}' already exists in table '{table.table_name}'.",
                remedy="Choose another name.",
            )

    # Names inside data files

    def _physical_name(self, column: Column) -> str:
        tag = self._draft.state.get(COLUMN_TAG, (column.table_id, column.column_id, PHYSICAL_NAME))
        return tag.value if isinstance(tag, ColumnTag) else column.column_name

    def _used_names(self, table: Table, parent: ColumnId | None) -> set[str]:
        """Return the physical names of live and dropped columns with one parent, case-folded."""
        state = self._draft.state
        live = (self._physical_name(row) for row in state.columns(table, parent))
        gone = state.dropped_names(table).get(_parent_key(parent), [])
        return {folded(name) for name in (*live, *gone)}

    def _name_dotted(self, table: Table, parent: ColumnId | None) -> None:
        """Assign physical names to new columns with dots in their names.

        Call it after their siblings have been added, whose physical names they must not take.
        """
        for column in self._draft.state.columns(table, parent):
            if "." in column.column_name:
                self._name_physically(column, self._used_names(table, parent))

    def _name_physically(self, column: Column, used: set[str]) -> None:
        """Assign a unique physical name without dots, which separate names in Parquet paths."""
        name = column.column_name.replace(".", "_")
        while folded(name) in used:
            name = f"{name}_{int(column.column_id)}"
        if name != column.column_name:
            self._put_tag(column, PHYSICAL_NAME, name)

    def _note_dropped(self, table: Table, column: Column) -> None:
        gone = self._draft.state.dropped_names(table)
        names = gone.setdefault(_parent_key(column.parent_column), [])
        names.append(self._physical_name(column))
        highest = self._draft.state.highest_column_id(table)
        for key, value in (
            (DROPPED_NAMES, json.dumps(gone, sort_keys=True)),
            (HIGHEST_COLUMN, str(highest)),
        ):
            self._draft.put(Tag(object_id=table.table_id, key=key, value=value))

    def drop_column(self, table: Table, path: Path) -> None:
        """Drop a column with everything nested in it."""
        state = self._ready().state
        column = state.column(table, *_names(path))
        if len(state.columns(table, column.parent_column)) == 1:
            raise InvalidInput(
                f"Column '{column.column_name}' is the only one left and cannot be dropped.",
                remedy="Drop the table instead.",
            )
        if any(key.column_id == column.column_id for key in state.partitioning(table)):
            raise InvalidInput(
                f"Column '{column.column_name}' is a partition key and cannot be dropped.",
                remedy="Change the partitioning first.",
            )
        if any(key.column_id == column.column_id for key in state.sort_order(table)):
            raise InvalidInput(
                f"Column '{column.column_name}' is a sort key and cannot be dropped.",
                remedy="Change the sort order first.",
            )
        self._refuse_element(column)
        self._refuse_ruled(table, column)
        self._note_dropped(table, column)
        self._drop_nodes(table, column)

    def _refuse_element(self, column: Column) -> None:
        parent = self._parent(column)
        if parent is not None and parent.column_type != "struct":
            raise InvalidInput(
                f"The {column.column_name} of a {parent.column_type} cannot be dropped or renamed.",
                remedy=f"Change the {parent.column_type} column instead.",
            )

    def _refuse_ruled(self, table: Table, column: Column) -> None:
        """Raise InvalidInput if a rule of the table uses the name of the column or its parents."""
        while (parent := self._parent(column)) is not None:
            column = parent
        for rule in self._draft.state.rules(table).naming(column.column_name):
            raise InvalidInput(
                f"Column '{column.column_name}' cannot be dropped or renamed: a rule of table"
                f" '{table.table_name}' uses its name: {rule.expression}.",
                remedy="Add another column and copy the values.",
            )

    def _parent(self, column: Column) -> Column | None:
        if column.parent_column is None:
            return None
        row = self._draft.state.get(COLUMN, (column.table_id, column.parent_column))
        assert isinstance(row, Column)
        return row

    def _drop_nodes(self, table: Table, column: Column) -> None:
        for field in self._draft.state.columns(table, column.column_id):
            self._drop_nodes(table, field)
        for tag in self._draft.state.beneath(COLUMN_TAG, table.table_id):
            if tag.column_id == column.column_id:
                self._draft.end(tag)
        self._draft.end(column)

    def rename_column(self, table: Table, path: Path, new_name: str) -> Column:
        """Rename a column. Its physical name in files does not change."""
        new_name = _checked_column_name(new_name)
        column = self._ready().state.column(table, *_names(path))
        self._refuse_element(column)
        self._refuse_ruled(table, column)
        if folded(new_name) != folded(column.column_name):
            self._refuse_taken(table, new_name, column.parent_column)
        if new_name != column.column_name:
            self._put_tag(column, PHYSICAL_NAME, self._physical_name(column))
        return self._replaced(replace(column, column_name=new_name))

    def set_column_type(self, table: Table, path: Path, new_type: ColumnType | str) -> Column:
        """Change the type of a column to one that can represent all values of the old type."""
        column = self._ready().state.column(table, *_names(path))
        target = as_type(new_type)
        if column.column_type == target.name and target.name not in NESTED:
            return column
        if not is_wider(column.column_type, target.name):
            raise InvalidInput(
                f"Column '{column.column_name}' cannot change from {column.column_type} to"
                f" {target}: only widening is possible.",
                remedy="Add a new column and copy the values.",
            )
        work = self._draft.tables.get(table.table_id)
        if work and work.data_files and is_read_apart(column.column_type, target.name):
            raise InvalidInput(
                f"Column '{column.column_name}' cannot change its type after files were written"
                " in the same transaction.",
                remedy="Commit first, or change the type first.",
            )
        self._put_tag(column, f"{TYPE_BEFORE}{self._promotions(column)}", column.column_type)
        return self._replaced(replace(column, column_type=target.name))

    def _promotions(self, column: Column) -> int:
        """Return how often the type was widened before."""
        tags = self._draft.state.beneath(COLUMN_TAG, column.table_id)
        own = (tag for tag in tags if tag.column_id == column.column_id)
        return sum(tag.key.startswith(TYPE_BEFORE) for tag in own)

    def set_default(
        self, table: Table, path: Path, default: str | None, *, default_type: str = "literal"
    ) -> Column:
        """Set the default of a column for new rows; None removes it. Existing rows keep theirs."""
        column = self._ready().state.column(table, *_names(path))
        checked = _checked_default(column.column_name, column.column_type, default, default_type)
        is_set = checked is not None
        return self._replaced(
            replace(
                column,
                default_value=default,
                default_value_type=default_type if is_set else None,
                default_value_dialect="duckdb" if is_set and default_type == "expression" else None,
            )
        )

    def set_nullable(self, table: Table, path: Path, nulls_allowed: bool) -> Column:
        """Allow or forbid NULL in a column.

        To forbid it, the caller must have verified that no row has NULL. Rows that others add
        meanwhile make the commit conflict.
        """
        column = self._ready().state.column(table, *_names(path))
        if not nulls_allowed and column.nulls_allowed:
            self._draft.constrained.add(table.table_id)
        return self._replaced(replace(column, nulls_allowed=nulls_allowed))

    def _replaced(self, column: Column) -> Column:
        self._draft.put(column)
        return column


def _parent_key(parent: ColumnId | None) -> str:
    return "" if parent is None else str(int(parent))


def _checked_column_name(name: str) -> str:
    checked = checked_name(name, "column")
    if folded(checked).startswith(_RESERVED):
        raise InvalidInput(
            f"The column name '{checked}' is reserved: names cannot begin with {_RESERVED}.",
            remedy="Choose another name.",
        )
    return checked


def _checked_default(
    column: str, column_type: str, default: str | None, default_type: str
) -> str | None:
    """Return a valid default: a literal must be the text of a value of the column type."""
    if default is None:
        return None
    if not isinstance(default, str):
        raise InvalidInput(
            f"The default {default!r} of column '{column}' is not a text.",
            remedy='Write it as text, such as "7".',
        )
    if default_type == "literal":
        try:
            default_value(column_type, default)
        except (InvalidInput, Unsupported) as reason:
            raise type(reason)(
                f"The default of column '{column}' is not valid. {reason.message}",
                remedy=reason.remedy,
            ) from None
    return default
