"""Definitions of a catalog at one snapshot: schemas, tables, columns, views, macros, options.

Data files and statistics are not included: they may be many, and are read on demand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from copy import copy
from typing import Any, TypeVar

from forklake.errors import NotFound, Unsupported
from forklake.model import kinds, rules, sort_keys
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
from forklake.model.fields import (
    DROPPED_NAMES,
    HIGHEST_COLUMN,
    PHYSICAL_NAME,
    RULES,
    SORTED_BY,
    TYPE_BEFORE,
    UNREADABLE,
    Field,
    is_internal_tag,
)
from forklake.model.ids import CatalogId, ColumnId, SnapshotId
from forklake.model.kinds import DEFINITIONS, KIND_OF, Kind
from forklake.model.names import folded
from forklake.model.options import CATALOG_SCOPE_ID, OPTIONS, Scope
from forklake.model.rules import NO_RULES, Rules
from forklake.model.sort_keys import SortKey

R = TypeVar("R", bound=Row)
C = TypeVar("C", bound=Child)
NameKey = tuple[str, int, str]


class CatalogState:
    """All definitions that are visible at a snapshot, indexed by id, by owner and by name."""

    def __init__(self, catalog_id: CatalogId, snapshot_id: SnapshotId, schema_version: int) -> None:
        self.catalog_id = catalog_id
        self.snapshot_id = snapshot_id
        self.schema_version = schema_version
        self._rows: dict[Kind, dict[tuple[Any, ...], Row]] = {kind: {} for kind in DEFINITIONS}
        self._beneath: dict[tuple[Kind, int], dict[tuple[Any, ...], Row]] = {}
        self._names: dict[NameKey, Row] = {}
        self._children: dict[tuple[type[Child], int], list[Child]] = {}

    def copy(self) -> CatalogState:
        """Return an independent copy."""
        twin = CatalogState(self.catalog_id, self.snapshot_id, self.schema_version)
        twin._rows = {kind: dict(rows) for kind, rows in self._rows.items()}
        twin._beneath = {key: dict(rows) for key, rows in self._beneath.items()}
        twin._names = dict(self._names)
        twin._children = dict(self._children)
        return twin

    def seen_at(self, snapshot_id: SnapshotId) -> CatalogState:
        """Return the same definitions for another snapshot, at which they are also valid.

        The result shares its rows with this state: use `copy` for one that is to be changed.
        """
        if snapshot_id == self.snapshot_id:
            return self
        twin = copy(self)
        twin.snapshot_id = snapshot_id
        return twin

    # Changes

    def add_children(self, children: Iterable[Child]) -> None:
        """Add rows that belong to a parent; for macros, before the macro itself."""
        for child in children:
            key = (type(child), getattr(child, child.PARENT))
            self._children[key] = [*self._children.get(key, []), child]

    def put(self, row: Row) -> None:
        """Add a row, or replace the row with the same identity."""
        kind = KIND_OF[type(row)]
        identity = kind.identify(row)
        old = self._rows[kind].get(identity)
        if old is not None:
            self.remove(old)
        self._rows[kind][identity] = row
        if kind.scope:
            self._beneath.setdefault((kind, getattr(row, kind.scope)), {})[identity] = row
        if key := self.name_key(row):
            self._names[key] = row

    def remove(self, row: Row) -> None:
        """Remove a row."""
        kind = KIND_OF[type(row)]
        identity = kind.identify(row)
        del self._rows[kind][identity]
        if kind.scope:
            self._beneath[kind, getattr(row, kind.scope)].pop(identity)
        key = self.name_key(row)
        if key and self._names.get(key) is row:
            del self._names[key]

    def name_key(self, row: Row) -> NameKey | None:
        """Return the namespace, schema and name that a row occupies; None if it has no name."""
        match row:
            case Schema():
                return ("schema", 0, folded(row.schema_name))
            case Table():
                return ("relation", row.schema_id, folded(row.table_name))
            case View():
                return ("relation", row.schema_id, folded(row.view_name))
            case Macro():
                space = f"{self.macro_type(row)}_macro"
                return (space, row.schema_id, folded(row.macro_name))
        return None

    # Rows by kind

    def get(self, kind: Kind, identity: tuple[Any, ...]) -> Row | None:
        """Return the row with an identity; None if there is none."""
        return self._rows[kind].get(identity)

    def rows(self, kind: Kind) -> list[Any]:
        """Return all rows of a kind."""
        return list(self._rows[kind].values())

    def beneath(self, kind: Kind, owner: int) -> list[Any]:
        """Return the rows of a kind that belong to a table or object."""
        return list(self._beneath.get((kind, owner), {}).values())

    def children(self, child: type[C], parent: int) -> list[C]:
        """Return the children of a parent."""
        return list(self._children.get((child, parent), []))  # type: ignore[arg-type]

    # By name

    def schemas(self) -> list[Schema]:
        """Return all schemas, sorted by name."""
        return sorted(self.rows(kinds.SCHEMA), key=lambda row: folded(row.schema_name))

    def find_schema(self, name: str) -> Schema | None:
        """Return the schema with a name; None if there is none."""
        return self._names.get(("schema", 0, folded(name)))  # type: ignore[return-value]

    def schema(self, name: str = "main") -> Schema:
        """Return the schema with a name; raise NotFound if there is none."""
        found = self.find_schema(name)
        if found is None:
            raise NotFound(
                f"Schema '{name}' does not exist.",
                remedy=f'Create it first: CREATE SCHEMA "{name}".',
                schema=name,
            )
        return found

    def find_relation(self, name: str, schema: str = "main") -> Table | View | None:
        """Return the table or view with a name (they share one namespace), or None."""
        key = ("relation", self.schema(schema).schema_id, folded(name))
        return self._names.get(key)  # type: ignore[return-value]

    def table(self, name: str, schema: str = "main") -> Table:
        """Return the table with a name; raise NotFound if there is none."""
        found = self.find_relation(name, schema)
        if not isinstance(found, Table):
            raise NotFound(
                f"Table '{schema}.{name}' does not exist"
                + (": it is a view." if isinstance(found, View) else "."),
                remedy="List the tables: SHOW ALL TABLES.",
                table=name,
            )
        return found

    def view(self, name: str, schema: str = "main") -> View:
        """Return the view with a name; raise NotFound if there is none."""
        found = self.find_relation(name, schema)
        if not isinstance(found, View):
            raise NotFound(
                f"View '{schema}.{name}' does not exist.",
                remedy="List the views to see the existing ones.",
                view=name,
            )
        return found

    def find_macro(self, name: str, schema: str = "main", *, type: str = "scalar") -> Macro | None:
        """Return the scalar or table macro with a name; None if there is none."""
        key = (f"{type}_macro", self.schema(schema).schema_id, folded(name))
        return self._names.get(key)  # type: ignore[return-value]

    def macro(self, name: str, schema: str = "main", *, type: str = "scalar") -> Macro:
        """Return the scalar or table macro with a name; raise NotFound if there is none."""
        found = self.find_macro(name, schema, type=type)
        if found is None:
            raise NotFound(
                f"Macro '{schema}.{name}' does not exist.",
                remedy="Create it first: CREATE MACRO.",
                macro=name,
            )
        return found

    def tables(self, schema: str | None = None) -> list[Table]:
        """Return all tables, or those of one schema, sorted by name."""
        return sorted(self._of_schema(kinds.TABLE, schema), key=lambda row: folded(row.table_name))

    def views(self, schema: str | None = None) -> list[View]:
        """Return all views, or those of one schema, sorted by name."""
        return sorted(self._of_schema(kinds.VIEW, schema), key=lambda row: folded(row.view_name))

    def macros(self, schema: str | None = None) -> list[Macro]:
        """Return all macros, or those of one schema, sorted by name."""
        return sorted(self._of_schema(kinds.MACRO, schema), key=lambda row: folded(row.macro_name))

    def _of_schema(self, kind: Kind, schema: str | None) -> list[Any]:
        if schema is None:
            return self.rows(kind)
        schema_id = self.schema(schema).schema_id
        return [row for row in self.rows(kind) if row.schema_id == schema_id]

    # Parts of objects

    def schema_of(self, row: Table | View | Macro) -> Schema:
        """Return the schema that contains a table, view or macro."""
        return self._rows[kinds.SCHEMA][(row.schema_id,)]  # type: ignore[return-value]

    def columns(self, table: Table, parent: ColumnId | None = None) -> list[Column]:
        """Return the columns of a table, or the fields of one of its columns, in their order."""
        rows = self.beneath(kinds.COLUMN, table.table_id)
        return sorted(
            (row for row in rows if row.parent_column == parent), key=lambda row: row.column_order
        )

    def column(self, table: Table, *path: str) -> Column:
        """Return the column or nested field at a path of names; raise NotFound if there is none."""
        found: Column | None = None
        for name in path:
            parent = found.column_id if found else None
            fields = {folded(row.column_name): row for row in self.columns(table, parent)}
            found = fields.get(folded(name))
            if found is None:
                raise NotFound(
                    f"Column '{'.'.join(path)}' does not exist in table '{table.table_name}'.",
                    remedy="Columns are: "
                    + ", ".join(row.column_name for row in fields.values())
                    + ".",
                )
        if found is None:
            raise NotFound(f"No column of table '{table.table_name}' was given.")
        return found

    def fields(self, table: Table) -> tuple[Field, ...]:
        """Return the columns of a table as trees, in their order."""
        nodes: dict[ColumnId | None, list[Column]] = {}
        tags: dict[ColumnId, dict[str, ColumnTag]] = {}
        for column in self.beneath(kinds.COLUMN, table.table_id):
            nodes.setdefault(column.parent_column, []).append(column)
        for tag in self.beneath(kinds.COLUMN_TAG, table.table_id):
            tags.setdefault(tag.column_id, {})[tag.key] = tag

        def beneath(parent: ColumnId | None) -> tuple[Field, ...]:
            siblings = sorted(nodes.get(parent, ()), key=lambda node: node.column_order)
            return tuple(
                _field(node, tags.get(node.column_id, {}), beneath(node.column_id))
                for node in siblings
            )

        return beneath(None)

    def dropped_names(self, table: Table) -> dict[str, list[str]]:
        """Return the physical names of dropped columns, by parent id ('' for top-level columns)."""
        row = self.get(kinds.TAG, (table.table_id, DROPPED_NAMES))
        return json.loads(row.value) if isinstance(row, Tag) else {}

    def highest_column_id(self, table: Table) -> int:
        """Return the highest column id that a table ever used, including dropped columns."""
        tag = self.get(kinds.TAG, (table.table_id, HIGHEST_COLUMN))
        rows: list[Column] = self.beneath(kinds.COLUMN, table.table_id)
        noted = int(tag.value) if isinstance(tag, Tag) else 0
        return max((noted, *(row.column_id for row in rows)))

    def require_readable(self, table: Table) -> None:
        """Raise Unsupported if rows of the table cannot be read by Forklake."""
        tag = self.get(kinds.TAG, (table.table_id, UNREADABLE))
        if isinstance(tag, Tag):
            raise Unsupported(
                f"Rows of table '{table.table_name}' cannot be read. {tag.value}",
                remedy="Use an engine that supports this, or rewrite the table without it.",
            )

    def tags(self, object_id: int) -> dict[str, str]:
        """Return the tags that users set on a schema, table, view or macro."""
        rows: list[Tag] = self.beneath(kinds.TAG, object_id)
        return {row.key: row.value for row in rows if not is_internal_tag(row.key)}

    def column_tags(self, column: Column) -> dict[str, str]:
        """Return the tags that users set on a column."""
        rows: list[ColumnTag] = self.beneath(kinds.COLUMN_TAG, column.table_id)
        return {
            row.key: row.value
            for row in rows
            if row.column_id == column.column_id and not is_internal_tag(row.key)
        }

    def partitioning(self, table: Table) -> list[PartitionColumn]:
        """Return the partition keys of new files of a table."""
        rows: list[Partition] = self.beneath(kinds.PARTITION, table.table_id)
        return self.children(PartitionColumn, rows[0].partition_id) if rows else []

    def sort_order(self, table: Table) -> tuple[SortKey, ...]:
        """Return the sort keys of rows in new files of a table."""
        row = self.get(kinds.TAG, (table.table_id, SORTED_BY))
        return sort_keys.from_text(row.value) if isinstance(row, Tag) else ()

    def rules(self, table: Table) -> Rules:
        """Return the rules of a table: conditions on rows, and operations that are refused."""
        row = self.get(kinds.TAG, (table.table_id, RULES))
        return rules.from_text(row.value) if isinstance(row, Tag) else NO_RULES

    def macro_type(self, macro: Macro) -> str:
        """Return `scalar` or `table`."""
        implementations = self.children(MacroImplementation, macro.macro_id)
        return implementations[0].type if implementations else "scalar"

    def macro_parameters(self, macro: Macro, implementation: int) -> list[MacroParameter]:
        """Return the parameters of one overload."""
        rows = self.children(MacroParameter, macro.macro_id)
        return [row for row in rows if row.impl_id == implementation]

    def own_options(self, scope_id: int) -> dict[str, str]:
        """Return the options set on the catalog, a schema or a table itself, without inherited."""
        rows: list[Option] = self.beneath(kinds.OPTION, scope_id)
        return {row.key: row.value for row in rows}

    def option(
        self,
        name: str,
        table: Table | None = None,
        schema: Schema | None = None,
        metastore: dict[str, str] | None = None,
    ) -> tuple[str | None, Scope | None]:
        """Return the value of an option and the scope that sets it; no scope for the default.

        The value of the table comes first, then those of its schema, the catalog and the metastore.
        """
        if table is not None:
            schema = self.schema_of(table)
        for scope, owner in (
            (Scope.TABLE, table.table_id if table else None),
            (Scope.SCHEMA, schema.schema_id if schema else None),
            (Scope.CATALOG, CATALOG_SCOPE_ID),
        ):
            value = self.own_options(owner).get(name) if owner is not None else None
            if value is not None:
                return value, scope
        if metastore and name in metastore:
            return metastore[name], Scope.GLOBAL
        return OPTIONS[name].default, None


def _field(column: Column, tags: dict[str, ColumnTag], fields: tuple[Field, ...]) -> Field:
    named = tags.get(PHYSICAL_NAME)
    steps = sorted(
        (tag for key, tag in tags.items() if key.startswith(TYPE_BEFORE)),
        key=lambda tag: int(tag.key.removeprefix(TYPE_BEFORE)),
    )
    return Field(
        column_id=column.column_id,
        name=column.column_name,
        physical_name=named.value if named else column.column_name,
        type=column.column_type,
        nulls_allowed=column.nulls_allowed,
        initial_default=column.initial_default,
        default_value=column.default_value,
        default_value_type=column.default_value_type,
        fields=fields,
        promotions=tuple((tag.begin_snapshot, tag.value) for tag in steps),
    )
