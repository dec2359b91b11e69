"""Changes of a table to a schema that another system defines, by physical column names.

Definitions from another log are not changed step by step: the new columns are compared with the old
ones. A column is the same as before if it has the same physical name, and a type that can represent
the old values; otherwise it is a new column, even if its name is that of an old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from forklake.catalog.columns import ColumnChanges
from forklake.catalog.definitions import COMMENT
from forklake.model.entities import Column, ColumnTag, Table, Tag
from forklake.model.fields import PHYSICAL_NAME, RULES, TYPE_BEFORE, UNREADABLE, UNWRITABLE
from forklake.model.ids import ColumnId
from forklake.model.kinds import COLUMN_TAG, TAG
from forklake.model.names import checked_name
from forklake.model.rules import NO_RULES, Rules, to_text
from forklake.model.types import is_wider
from forklake.model.values import INTEGER_RANGES, decimal_digits


@dataclass(frozen=True, slots=True)
class Shape:
    """Target definition of a column, with its nested fields; `type` is a stored type name."""

    name: str
    physical_name: str
    type: str
    nulls_allowed: bool = True
    comment: str | None = None
    fields: tuple[Shape, ...] = ()


class Reshaping(ColumnChanges):
    """The part of a transaction that replaces all columns of a table."""

    def create_foreign_table(self, name: str, *, schema: str = "main") -> Table:
        """Create a table without columns, which `reshape` adds."""
        return self._ready().new_table(checked_name(name, "table"), schema)

    def set_unreadable(self, table: Table, reason: str | None) -> None:
        """Set why rows of a table cannot be read by Forklake; None if they can."""
        self._set_tag(table, UNREADABLE, reason)

    def set_unwritable(self, table: Table, reason: str | None) -> None:
        """Set why rows of a table cannot be changed by Forklake; None if they can."""
        self._set_tag(table, UNWRITABLE, reason)

    def set_rules(self, table: Table, rules: Rules) -> None:
        """Set the rules of a table: conditions on rows, and operations that are refused."""
        self._set_tag(table, RULES, None if rules == NO_RULES else to_text(rules))

    def _set_tag(self, table: Table, key: str, value: str | None) -> None:
        old = self._ready().state.get(TAG, (table.table_id, key))
        if value is not None:
            self._draft.put(Tag(object_id=table.table_id, key=key, value=value))
        elif old is not None:
            self._draft.end(old)

    def reshape(self, table: Table, shapes: Sequence[Shape]) -> None:
        """Give a table these columns in this order; other columns are dropped."""
        self._ready()
        self._reshape(table, shapes, None)

    def _reshape(self, table: Table, shapes: Sequence[Shape], parent: ColumnId | None) -> None:
        there = {
            self._physical_name(column): column
            for column in self._draft.state.columns(table, parent)
        }
        kept = {
            shape.physical_name
            for shape in shapes
            if shape.physical_name in there and _goes_on(there[shape.physical_name], shape)
        }
        for name in there.keys() - kept:
            self._note_dropped(table, there[name])
            self._drop_nodes(table, there[name])
        for order, shape in enumerate(shapes):
            old = there[shape.physical_name] if shape.physical_name in kept else None
            self._place(table, shape, parent, order, old)

    def _place(
        self,
        table: Table,
        shape: Shape,
        parent: ColumnId | None,
        order: int,
        old: Column | None,
    ) -> None:
        if old is not None and old.column_type != shape.type:
            self._put_tag(old, f"{TYPE_BEFORE}{self._promotions(old)}", old.column_type)
        column = Column(
            table_id=table.table_id,
            column_id=old.column_id if old else self._next_column_id(table),
            column_order=order,
            column_name=shape.name,
            column_type=shape.type,
            parent_column=parent,
        )
        if old is not None:
            column = replace(
                old, column_order=order, column_name=shape.name, column_type=shape.type
            )
        column = replace(column, nulls_allowed=shape.nulls_allowed)
        self._draft.put(column)
        is_named = shape.physical_name != shape.name
        self._tag(column, PHYSICAL_NAME, shape.physical_name if is_named else None)
        self._tag(column, COMMENT, shape.comment)
        self._reshape(table, shape.fields, column.column_id)

    def _tag(self, column: Column, key: str, value: str | None) -> None:
        old = self._draft.state.get(COLUMN_TAG, (column.table_id, column.column_id, key))
        if value is not None:
            self._put_tag(column, key, value)
        elif isinstance(old, ColumnTag):
            self._draft.end(old)


def _goes_on(column: Column, shape: Shape) -> bool:
    old, new = column.column_type, shape.type
    return old == new or is_wider(old, new) or _is_widened_elsewhere(old, new)


def _is_widened_elsewhere(old: str, new: str) -> bool:
    """Return whether other engines allow this widening, which ALTER TABLE here does not."""
    if new.startswith("decimal") and old in INTEGER_RANGES:
        precision, scale = decimal_digits(new)
        return len(str(INTEGER_RANGES[old][1])) <= precision - scale
    return (old, new) == ("date", "timestamp")
