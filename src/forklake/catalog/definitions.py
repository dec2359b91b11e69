"""Changes of definitions: schemas, tables, columns, views, macros, tags, partitions, options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from forklake.catalog.columns import ColumnChanges
from forklake.catalog.draft import Draft, new_uuid
from forklake.errors import AlreadyExists, InvalidInput
from forklake.model.children import MacroImplementation, MacroParameter, PartitionColumn
from forklake.model.entities import (
    ColumnTag,
    Macro,
    Option,
    Partition,
    Schema,
    Table,
    Tag,
    View,
)
from forklake.model.fields import SORTED_BY, checked_tag
from forklake.model.ids import MacroId, PartitionId, SchemaId, ViewId
from forklake.model.kinds import COLUMN_TAG, OPTION, PARTITION, TAG
from forklake.model.names import checked_name, folder_for
from forklake.model.options import CATALOG_SCOPE_ID, Scope, checked_option
from forklake.model.sort_keys import SortKey, to_text
from forklake.model.types import NESTED, ColumnSpec
from forklake.model.values import has_date, has_text

TRANSFORMS = frozenset({"identity", "year", "month", "day", "hour"})
COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class MacroSpec:
    """One overload of a macro: its SQL, its parameters, and their defaults by name."""

    sql: str
    parameters: Sequence[str] = ()
    defaults: dict[str, str] = field(default_factory=dict)
    dialect: str = "duckdb"


class DefinitionChanges(ColumnChanges):
    """The part of a transaction that changes definitions."""

    _draft: Draft

    def record_definitions(self) -> None:
        """Record that the result depends on which names are in use."""
        raise NotImplementedError

    # Schemas

    def create_schema(self, name: str, *, if_not_exists: bool = False) -> Schema:
        """Create a schema."""
        name = checked_name(name, "schema")
        existing = self._ready().state.find_schema(name)
        if existing is not None:
            if if_not_exists:
                self.record_definitions()
                return existing
            raise AlreadyExists(f"Schema '{name}' already exists.", remedy="Choose another name.")
        unique = new_uuid()
        schema = Schema(
            schema_id=SchemaId(self._draft.entity_ids.take()),
            schema_uuid=unique,
            schema_name=name,
            path=folder_for(name, unique),
        )
        self._draft.put(schema)
        return schema

    def rename_schema(self, name: str, new_name: str) -> Schema:
        """Rename a schema. Its folder keeps its name."""
        new_name = checked_name(new_name, "schema")
        state = self._ready().state
        schema = state.schema(name)
        taken = state.find_schema(new_name)
        if taken is not None and taken.schema_id != schema.schema_id:
            raise AlreadyExists(
                f"Schema '{new_name}' already exists.", remedy="Choose another name."
            )
        renamed = replace(schema, schema_name=new_name)
        self._draft.put(renamed)
        return renamed

    def drop_schema(self, name: str, *, cascade: bool = False, if_exists: bool = False) -> None:
        """Drop a schema; with `cascade` also everything in it."""
        state = self._ready().state
        if if_exists and state.find_schema(name) is None:
            self.record_definitions()
            return
        schema = state.schema(name)
        tables, views, macros = state.tables(name), state.views(name), state.macros(name)
        count = len(tables) + len(views) + len(macros)
        if count and not cascade:
            raise InvalidInput(
                f"Schema '{name}' is not empty: it contains {count} objects.",
                remedy="Drop them first, or use CASCADE.",
            )
        for table in tables:
            self._draft.drop_table(table)
        for view in views:
            self._drop_tagged(view, view.view_id)
        for macro in macros:
            self._drop_tagged(macro, macro.macro_id)
        self._drop_tagged(schema, schema.schema_id)

    def _drop_tagged(self, row: Schema | View | Macro, object_id: int) -> None:
        for tag in self._draft.state.beneath(TAG, object_id):
            self._draft.end(tag)
        for option in self._draft.state.beneath(OPTION, object_id):
            self._draft.end(option)
        self._draft.end(row)

    # Tables

    def create_table(
        self,
        name: str,
        columns: Sequence[ColumnSpec],
        *,
        schema: str = "main",
        partition_by: Sequence[tuple[str, str]] = (),
        comment: str | None = None,
        if_not_exists: bool = False,
        or_replace: bool = False,
    ) -> Table:
        """Create a table with its columns."""
        name = checked_name(name, "table")
        existing = self._ready().state.find_relation(name, schema)
        if existing is not None and if_not_exists and isinstance(existing, Table):
            self.record_definitions()
            return existing
        specs = self._checked_columns(columns, name)
        if existing is not None and or_replace and isinstance(existing, Table):
            self._draft.drop_table(existing)
        table = self._draft.new_table(name, schema)
        for spec in specs:
            self._add_nodes(table, spec, parent=None)
        self._name_dotted(table, parent=None)
        if partition_by:
            self.set_partitioning(table, partition_by)
        if comment is not None:
            self.set_tag(table, COMMENT, comment)
        return table

    def rename_table(self, name: str, new_name: str, *, schema: str = "main") -> Table:
        """Rename a table. Its folder keeps its name."""
        new_name = checked_name(new_name, "table")
        table = self._ready().state.table(name, schema)
        taken = self._draft.state.find_relation(new_name, schema)
        if taken is not None and taken != table:
            self._draft.refuse_taken_relation(new_name, schema)
        renamed = replace(table, table_name=new_name)
        self._draft.put(renamed)
        return renamed

    def drop_table(self, name: str, *, schema: str = "main", if_exists: bool = False) -> None:
        """Drop a table with its columns, files and everything else that belongs to it."""
        state = self._ready().state
        is_gone = state.find_schema(schema) is None or state.find_relation(name, schema) is None
        if if_exists and is_gone:
            self.record_definitions()
            return
        self._draft.drop_table(state.table(name, schema))

    def set_partitioning(
        self, table: Table, keys: Sequence[tuple[str, str]], *, by_others: bool = False
    ) -> None:
        """Set the partitioning of files that are written from now on; no keys remove it.

        Args:
            by_others: other systems write the files, which may partition by binary columns.
        """
        state = self._ready().state
        columns = [(state.column(table, name), transform.lower()) for name, transform in keys]
        for column, transform in columns:
            can_be = has_text if transform == "identity" else has_date
            is_theirs = by_others and column.column_type == "blob"
            if transform not in TRANSFORMS or not (can_be(column.column_type) or is_theirs):
                raise InvalidInput(
                    f"Column '{column.column_name}' of type {column.column_type} cannot be"
                    f" partitioned by {transform!r}.",
                    remedy="Use the identity of plain values, or the year, month, day or hour of"
                    " dates and timestamps.",
                )
        current = [(key.column_id, key.transform) for key in state.partitioning(table)]
        if current == [(column.column_id, transform) for column, transform in columns]:
            return
        for row in state.beneath(PARTITION, table.table_id):
            self._draft.end(row)
        if not columns:
            return
        partition_id = PartitionId(self._draft.entity_ids.take())
        self._draft.add_children(
            PartitionColumn(
                partition_id=partition_id,
                table_id=table.table_id,
                partition_key_index=index,
                column_id=column.column_id,
                transform=transform,
            )
            for index, (column, transform) in enumerate(columns)
        )
        self._draft.put(Partition(partition_id=partition_id, table_id=table.table_id))

    def set_sorted_by(self, table: Table, keys: Sequence[tuple[str, bool, bool]]) -> None:
        """Set the sort order of rows in files that are written from now on; no keys remove it.

        Args:
            keys: for each key the column, whether it is descending, and whether NULL comes first.
        """
        state = self._ready().state
        found = []
        for name, is_descending, nulls_first in keys:
            column = state.column(table, name)
            if column.column_type in NESTED:
                raise InvalidInput(
                    f"Column '{column.column_name}' of type {column.column_type} cannot be a sort"
                    " key.",
                    remedy="Sort by columns of plain values.",
                )
            found.append(SortKey(column.column_id, is_descending, nulls_first))
        row = Tag(object_id=table.table_id, key=SORTED_BY, value=to_text(found))
        self._put_or_end(row, is_set=bool(found))

    # Views

    def create_view(
        self,
        name: str,
        sql: str,
        *,
        schema: str = "main",
        dialect: str = "duckdb",
        column_aliases: str | None = None,
        or_replace: bool = False,
        if_not_exists: bool = False,
    ) -> View:
        """Create a view; a replaced view keeps its id."""
        name = checked_name(name, "view")
        existing = self._ready().state.find_relation(name, schema)
        if isinstance(existing, View) and if_not_exists:
            self.record_definitions()
            return existing
        if isinstance(existing, View) and or_replace:
            view = replace(existing, dialect=dialect, sql=sql, column_aliases=column_aliases)
        else:
            self._draft.refuse_taken_relation(name, schema)
            view = View(
                view_id=ViewId(self._draft.entity_ids.take()),
                view_uuid=new_uuid(),
                schema_id=self._draft.state.schema(schema).schema_id,
                view_name=name,
                dialect=dialect,
                sql=sql,
                column_aliases=column_aliases,
            )
        self._draft.put(view)
        return view

    def rename_view(self, name: str, new_name: str, *, schema: str = "main") -> View:
        """Rename a view."""
        new_name = checked_name(new_name, "view")
        view = self._ready().state.view(name, schema)
        taken = self._draft.state.find_relation(new_name, schema)
        if taken is not None and taken != view:
            self._draft.refuse_taken_relation(new_name, schema)
        renamed = replace(view, view_name=new_name)
        self._draft.put(renamed)
        return renamed

    def drop_view(self, name: str, *, schema: str = "main", if_exists: bool = False) -> None:
        """Drop a view."""
        state = self._ready().state
        if if_exists and not isinstance(state.find_relation(name, schema), View):
            self.record_definitions()
            return
        view = state.view(name, schema)
        self._drop_tagged(view, view.view_id)

    # Macros

    def create_macro(
        self,
        name: str,
        overloads: Sequence[MacroSpec],
        *,
        schema: str = "main",
        type: str = "scalar",
        or_replace: bool = False,
    ) -> Macro:
        """Create a scalar or table macro with one or more overloads."""
        name = checked_name(name, "macro")
        if type not in {"scalar", "table"} or not overloads:
            raise InvalidInput(
                f"Macro '{name}' has no overload, or its type is neither 'scalar' nor 'table'.",
                remedy="Define at least one overload, and use the type 'scalar' or 'table'.",
            )
        existing = self._ready().state.find_macro(name, schema, type=type)
        if existing is not None:
            if not or_replace:
                raise AlreadyExists(
                    f"Macro '{schema}.{name}' already exists.", remedy="Choose another name."
                )
            self._drop_tagged(existing, existing.macro_id)
        macro_id = MacroId(self._draft.entity_ids.take())
        for number, overload in enumerate(overloads):
            self._add_overload(macro_id, number, overload, type)
        schema_id = self._draft.state.schema(schema).schema_id
        macro = Macro(macro_id=macro_id, schema_id=schema_id, macro_name=name)
        self._draft.put(macro)
        return macro

    def _add_overload(self, macro_id: MacroId, number: int, spec: MacroSpec, type: str) -> None:
        implementation = MacroImplementation(
            macro_id=macro_id, impl_id=number, dialect=spec.dialect, sql=spec.sql, type=type
        )
        parameters = [
            MacroParameter(
                macro_id=macro_id,
                impl_id=number,
                column_id=position,
                parameter_name=checked_name(parameter, "parameter"),
                default_value=spec.defaults.get(parameter),
                default_value_type="literal" if parameter in spec.defaults else None,
            )
            for position, parameter in enumerate(spec.parameters)
        ]
        self._draft.add_children([implementation, *parameters])

    def drop_macro(
        self, name: str, *, schema: str = "main", type: str = "scalar", if_exists: bool = False
    ) -> None:
        """Drop a macro."""
        state = self._ready().state
        if if_exists and state.find_macro(name, schema, type=type) is None:
            self.record_definitions()
            return
        macro = state.macro(name, schema, type=type)
        self._drop_tagged(macro, macro.macro_id)

    # Tags and options

    def set_tag(self, target: Schema | Table | View, key: str, value: str | None) -> None:
        """Set a tag of an object; None removes it. A comment is the tag `comment`."""
        self._ready()
        key = checked_tag(checked_name(key, "tag"))
        match target:
            case Schema():
                object_id: int = target.schema_id
            case Table():
                self._draft.require(target)
                object_id = target.table_id
            case View():
                object_id = target.view_id
        self._put_or_end(
            Tag(object_id=object_id, key=key, value=value or ""), is_set=value is not None
        )

    def set_column_tag(
        self, table: Table, path: str | Sequence[str], key: str, value: str | None
    ) -> None:
        """Set a tag of a column; None removes it."""
        names = (path,) if isinstance(path, str) else tuple(path)
        column = self._ready().state.column(table, *names)
        row = ColumnTag(
            table_id=table.table_id,
            column_id=column.column_id,
            key=checked_tag(checked_name(key, "tag")),
            value=value or "",
        )
        self._put_or_end(row, is_set=value is not None)

    def set_option(
        self, name: str, value: object, *, schema: str | None = None, table: str | None = None
    ) -> None:
        """Set an option of the catalog, a schema or a table; None removes it."""
        state = self._ready().state
        scope, scope_id = Scope.CATALOG, CATALOG_SCOPE_ID
        if table is not None:
            scope, scope_id = Scope.TABLE, state.table(table, schema or "main").table_id
        elif schema is not None:
            scope, scope_id = Scope.SCHEMA, state.schema(schema).schema_id
        key, text = checked_option(name, value, scope)
        row = Option(key=key, value=text or "", scope=scope.value, scope_id=scope_id)
        self._put_or_end(row, is_set=text is not None)

    def _put_or_end(self, row: Tag | ColumnTag | Option, *, is_set: bool) -> None:
        if is_set:
            self._draft.put(row)
            return
        kind = {Tag: TAG, ColumnTag: COLUMN_TAG, Option: OPTION}[type(row)]
        old = self._draft.state.get(kind, kind.identify(row))
        if old is not None:
            self._draft.end(old)
