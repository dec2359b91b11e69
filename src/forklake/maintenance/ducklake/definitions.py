"""Definitions of a DuckLake: schemas, tables, columns, views, macros, tags, keys and options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forklake.errors import InvalidInput, Unsupported
from forklake.maintenance.ducklake.id_map import IdMap, Interval
from forklake.maintenance.ducklake.imported_rows import ImportedRows
from forklake.maintenance.ducklake.source import DuckLakeSource, Row
from forklake.model import entities as e
from forklake.model.children import MacroImplementation, MacroParameter, PartitionColumn
from forklake.model.fields import HIGHEST_COLUMN, PHYSICAL_NAME, SORTED_BY, Field
from forklake.model.ids import ColumnId, SnapshotId
from forklake.model.names import folder_for
from forklake.model.options import CATALOG_SCOPE_ID, OPTIONS, Scope, checked_option
from forklake.model.sort_keys import SortKey, to_text
from forklake.model.types import NESTED, scalar

_TRANSFORMS = frozenset({"identity", "year", "month", "day", "hour"})
_NOT_OPTIONS = frozenset({"encrypted"})
_SCOPES = {None: Scope.CATALOG, "schema": Scope.SCHEMA, "table": Scope.TABLE}


@dataclass(slots=True)
class TableHistory:
    """A table over all its snapshots: its folder, and all columns that it ever had."""

    old_id: int
    table_id: Any
    name: str
    folder: str
    interval: Interval
    columns: list[Row] = field(default_factory=list)

    def fields_at(self, snapshot: int) -> tuple[Field, ...]:
        """Return the columns at a snapshot of the DuckLake, as trees."""
        rows = [
            row
            for row in self.columns
            if row["begin_snapshot"] <= snapshot
            and (row["end_snapshot"] is None or snapshot < row["end_snapshot"])
        ]
        return _build_trees(sorted(rows, key=lambda row: row["column_order"]), None)

    def newest_fields(self) -> dict[int, Field]:
        """Return the last version of every column that ever existed, by id."""
        newest = {row["column_id"]: row for row in sorted(self.columns, key=_begin)}
        return {number: _build_field(row, ()) for number, row in newest.items()}

    def types_of(self, column_id: int) -> set[str]:
        """Return all types that a column ever had."""
        return {row["column_type"] for row in self.columns if row["column_id"] == column_id}

    def parts_of(self, column_id: int) -> dict[int, str]:
        """Return all fields that a nested column ever had, by id, with their last names."""
        rows = (row for row in sorted(self.columns, key=_begin))
        return {
            row["column_id"]: row["column_name"]
            for row in rows
            if row["parent_column"] == column_id
        }


def _begin(row: Row) -> int:
    return int(row["begin_snapshot"])


def _build_trees(rows: list[Row], parent: int | None) -> tuple[Field, ...]:
    return tuple(
        _build_field(row, _build_trees(rows, row["column_id"]))
        for row in rows
        if row["parent_column"] == parent
    )


def _build_field(row: Row, fields: tuple[Field, ...]) -> Field:
    return Field(
        column_id=ColumnId(row["column_id"]),
        name=row["column_name"],
        physical_name=row["column_name"],
        type=row["column_type"],
        nulls_allowed=row["nulls_allowed"],
        initial_default=row["initial_default"],
        default_value=None,
        default_value_type=None,
        fields=fields,
    )


@dataclass(slots=True)
class DefinitionReader:
    """Reader of all definitions; `tables` holds those that are visible at some snapshot."""

    source: DuckLakeSource
    ids: IdMap
    imported: ImportedRows
    data_path: str
    tables: dict[int, TableHistory] = field(default_factory=dict)
    partitionings: set[int] = field(default_factory=set)

    def gather(self) -> None:
        """Read all definitions into `imported`."""
        folders = self._gather_schemas()
        self._gather_tables(folders)
        self._gather_columns()
        self._gather_views()
        self._gather_macros()
        self._gather_partitionings()
        self._gather_sort_orders()
        self._gather_tags()
        self._gather_options()

    def _visible_rows(self, table: str) -> Iterable[tuple[Row, SnapshotId, int | None]]:
        """Yield the rows of a table that are visible at some snapshot, with begin and end."""
        for row in self.source.rows(table):
            seen = self.ids.interval_of(row)
            if seen is not None:
                yield row, SnapshotId(seen[0]), seen[1]

    def _gather_schemas(self) -> dict[int, str]:
        folders = {}
        for row, begin, end in self._visible_rows("ducklake_schema"):
            name, unique = row["schema_name"], str(row["schema_uuid"])
            folders[row["schema_id"]] = _resolve_path(self.data_path, row)
            schema = e.Schema(
                begin_snapshot=begin,
                schema_id=self.ids.entity(row["schema_id"]),
                schema_uuid=unique,
                schema_name=name,
                path=folder_for(name, unique),
            )
            self.imported.add(schema, end)
        return folders

    def _gather_tables(self, schemas: dict[int, str]) -> None:
        for row, begin, end in self._visible_rows("ducklake_table"):
            old, name, unique = row["table_id"], row["table_name"], str(row["table_uuid"])
            number = self.ids.entity(old)
            table = e.Table(
                begin_snapshot=begin,
                table_id=number,
                table_uuid=unique,
                schema_id=self.ids.entity(row["schema_id"]),
                table_name=name,
                # The folder of a renamed table in the DuckLake has its old name.
                path=f"{unique}/",
            )
            self.imported.add(table, end)
            known = self.tables.get(old)
            interval = (begin, end) if known is None else _span(known.interval, (begin, end))
            folder = _resolve_path(schemas[row["schema_id"]], row)
            self.tables[old] = TableHistory(old, number, name, folder, interval)

    def _gather_columns(self) -> None:
        for row in self.source.rows("ducklake_column"):
            if row["table_id"] in self.tables:
                self.tables[row["table_id"]].columns.append(row)
        for row, begin, end in self._visible_rows("ducklake_column"):
            table = self.tables.get(row["table_id"])
            if table is None:
                continue
            _require_type(table, row)
            default, kind = _read_default(row)
            column = e.Column(
                begin_snapshot=begin,
                table_id=table.table_id,
                column_id=row["column_id"],
                column_order=row["column_order"],
                column_name=row["column_name"],
                column_type=row["column_type"],
                initial_default=row["initial_default"],
                default_value=default,
                nulls_allowed=row["nulls_allowed"],
                parent_column=row["parent_column"],
                default_value_type=kind,
                default_value_dialect="duckdb" if kind == "expression" else None,
            )
            self.imported.add(column, end)
            if "." in row["column_name"]:
                name = f"{row['column_name'].replace('.', '_')}_{row['column_id']}"
                tag = _column_tag(table, row["column_id"], begin, PHYSICAL_NAME, name)
                self.imported.add(tag, end)
        for table in self.tables.values():
            # Never reuse the id of a dropped column: files still hold its values.
            highest = max((row["column_id"] for row in table.columns), default=0)
            self._add_tag(table.table_id, table.interval, HIGHEST_COLUMN, str(highest))

    def _add_tag(self, object_id: int, interval: Interval, key: str, value: str) -> None:
        begin, end = interval
        tag = e.Tag(begin_snapshot=SnapshotId(begin), object_id=object_id, key=key, value=value)
        self.imported.add(tag, end)

    def _gather_views(self) -> None:
        for row, begin, end in self._visible_rows("ducklake_view"):
            view = e.View(
                begin_snapshot=begin,
                view_id=self.ids.entity(row["view_id"]),
                view_uuid=str(row["view_uuid"]),
                schema_id=self.ids.entity(row["schema_id"]),
                view_name=row["view_name"],
                dialect=row["dialect"],
                sql=row["sql"],
                column_aliases=row["column_aliases"] or None,
            )
            self.imported.add(view, end)

    def _gather_macros(self) -> None:
        seen = set()
        for row, begin, end in self._visible_rows("ducklake_macro"):
            seen.add(row["macro_id"])
            macro = e.Macro(
                begin_snapshot=begin,
                macro_id=self.ids.entity(row["macro_id"]),
                schema_id=self.ids.entity(row["schema_id"]),
                macro_name=row["macro_name"],
            )
            self.imported.add(macro, end)
        for kind in (MacroImplementation, MacroParameter):
            for row in self.source.rows(kind.NAME):
                if row["macro_id"] in seen:
                    self.imported.add_child(kind(**_macro_row(row, self.ids)))

    def _gather_partitionings(self) -> None:
        keys: dict[int, list[Row]] = {}
        for row in self.source.rows("ducklake_partition_column"):
            keys.setdefault(row["partition_id"], []).append(row)
        for row, begin, end in self._visible_rows("ducklake_partition_info"):
            old, table = row["partition_id"], self.tables.get(row["table_id"])
            used = keys.get(old, [])
            if (
                table is None
                or not used
                or any(key["transform"] not in _TRANSFORMS for key in used)
            ):
                continue
            self.partitionings.add(old)
            number = self.ids.entity(old)
            partition = e.Partition(
                begin_snapshot=begin, partition_id=number, table_id=table.table_id
            )
            self.imported.add(partition, end)
            for key in used:
                self.imported.add_child(
                    PartitionColumn(
                        partition_id=number,
                        table_id=table.table_id,
                        partition_key_index=key["partition_key_index"],
                        column_id=key["column_id"],
                        transform=key["transform"],
                    )
                )

    def _gather_sort_orders(self) -> None:
        keys: dict[int, list[Row]] = {}
        for row in self.source.rows("ducklake_sort_expression"):
            keys.setdefault(row["sort_id"], []).append(row)
        for row, begin, end in self._visible_rows("ducklake_sort_info"):
            table = self.tables.get(row["table_id"])
            if table is None:
                continue
            names = {one.name: one for one in table.fields_at(row["begin_snapshot"])}
            ordered = sorted(keys.get(row["sort_id"], []), key=lambda key: key["sort_key_index"])
            found = [_sort_key(key, names) for key in ordered]
            if found and None not in found:
                text = to_text(key for key in found if key is not None)
                self._add_tag(table.table_id, (begin, end), SORTED_BY, text)

    def _gather_tags(self) -> None:
        for row, begin, end in self._visible_rows("ducklake_tag"):
            if self.ids.has_entity(row["object_id"]):
                number = self.ids.entity(row["object_id"])
                self._add_tag(number, (begin, end), row["key"], row["value"])
        for row, begin, end in self._visible_rows("ducklake_column_tag"):
            if row["table_id"] in self.tables:
                table = self.tables[row["table_id"]]
                tag = _column_tag(table, row["column_id"], begin, row["key"], row["value"])
                self.imported.add(tag, end)

    def _gather_options(self) -> None:
        for row in self.source.rows("ducklake_metadata"):
            key, scope, owner = row["key"], row.get("scope"), row.get("scope_id", 0)
            if key not in OPTIONS or key in _NOT_OPTIONS or scope not in _SCOPES:
                continue
            if scope is not None and not self.ids.has_entity(int(owner)):
                continue
            try:
                _, value = checked_option(key, row["value"], _SCOPES[scope])
            except InvalidInput:  # a value that is not valid in Forklake
                continue
            option = e.Option(
                begin_snapshot=SnapshotId(0),
                key=key,
                value=value or "",
                scope=_SCOPES[scope].value,
                scope_id=CATALOG_SCOPE_ID if scope is None else self.ids.entity(int(owner)),
            )
            self.imported.add(option, None)


def _span(one: Interval, other: Interval) -> Interval:
    end = None if one[1] is None or other[1] is None else max(one[1], other[1])
    return min(one[0], other[0]), end


def _resolve_path(folder: str, row: Row) -> str:
    """Return the path of a row, resolved against a folder if it is relative."""
    path = str(row["path"]) if row["path"] is not None else ""
    return f"{folder.rstrip('/')}/{path}" if row["path_is_relative"] else path


def full_path(folder: str, row: Row) -> str:
    """Return the absolute path of a file."""
    path = _resolve_path(folder, row)
    return path if "://" in path else str(Path(path).absolute())


def _read_default(row: Row) -> tuple[str | None, str | None]:
    """Return the default of a column and its kind. DuckLake stores NULL as the text `NULL`."""
    value, kind = row["default_value"], row.get("default_value_type") or "literal"
    if value is None or (value == "NULL" and row["column_type"] != "varchar"):
        return None, None
    if value == "NULL" and row["initial_default"] is None:
        return None, None
    return value, kind


def _require_type(table: TableHistory, row: Row) -> None:
    try:
        if row["column_type"] not in NESTED:
            scalar(row["column_type"])
    except Unsupported as reason:
        raise Unsupported(
            f"Column '{row['column_name']}' of table '{table.name}' has an unsupported type:"
            f" {row['column_type']}.",
            remedy="Drop the column in the DuckLake, expire the snapshots that have it, and import"
            " again.",
            column=row["column_name"],
        ) from reason


def _column_tag(
    table: TableHistory, column_id: int, begin: SnapshotId, key: str, value: str
) -> e.ColumnTag:
    return e.ColumnTag(
        begin_snapshot=begin,
        table_id=table.table_id,
        column_id=ColumnId(column_id),
        key=key,
        value=value,
    )


def _macro_row(row: Row, ids: IdMap) -> dict[str, Any]:
    part = dict(row) | {"macro_id": ids.entity(row["macro_id"])}
    if part.get("default_value_type") == "unknown":
        part |= {"default_value": None, "default_value_type": None}
    return part


def _sort_key(key: Row, names: dict[str, Field]) -> SortKey | None:
    """Return a sort key, or None if it is an expression and not a column."""
    column = names.get(key["expression"].strip('"'))
    if column is None:
        return None
    return SortKey(
        column.column_id,
        str(key["sort_direction"]).upper() == "DESC",
        str(key["null_order"]).upper() == "NULLS_FIRST",
    )
