"""Definitions by name: schemas, tables, columns and options, each statement a separate change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from forklake.catalog.transaction import Transaction
from forklake.engines.arrow_types import require_supported
from forklake.errors import InvalidInput, NotFound
from forklake.model.entities import Column, Table
from forklake.model.predicates import IsNull
from forklake.model.types import ColumnSpec, ColumnType, as_type
from forklake.session.names import split_name

if TYPE_CHECKING:
    from forklake.catalog.catalog_view import CatalogView
    from forklake.engines.interface import DataEngine
    from forklake.engines.spark.public_types import DataType, StructType
    from forklake.session.attachments import Attachment
    from forklake.session.name_resolution import TableName
    from forklake.session.unit_of_work import UnitOfWork

_TRANSFORM = re.compile(r"\s*(\w+)\s*\((.+)\)\s*")
_SORT_KEY = re.compile(
    r"\s*(?P<column>.+?)(\s+(?P<direction>ASC|DESC))?(\s+NULLS\s+(?P<nulls>FIRST|LAST))?\s*",
    re.IGNORECASE,
)


class Definitions:
    """Part of a session that changes definitions. Paths lead into nested columns: `s.x`."""

    if TYPE_CHECKING:

        @property
        def engine(self) -> DataEngine: ...
        def attachment(self, alias: str) -> Attachment: ...
        @property
        def in_transaction(self) -> bool: ...
        def changing(self, attachment: Attachment) -> AbstractContextManager[UnitOfWork]: ...
        def resolve(self, name: str | Sequence[str]) -> TableName: ...
        def find_table(self, view: CatalogView, name: TableName) -> Table: ...
        def record_definitions(self) -> None: ...
        def _current_attachment(self, looking_for: str) -> Attachment: ...

    # Schemas

    def create_schema(self, name: str, *, if_not_exists: bool = False) -> None:
        """Create a schema: `schema` in the current catalog, or `catalog.schema`."""
        attachment, schema = self.schema_place(name)
        with self.changing(attachment) as change:
            change.transaction.create_schema(schema, if_not_exists=if_not_exists)

    def drop_schema(self, name: str, *, cascade: bool = False, if_exists: bool = False) -> None:
        """Drop a schema; with `cascade`, everything in it too."""
        attachment, schema = self.schema_place(name)
        with self.changing(attachment) as change:
            change.transaction.drop_schema(schema, cascade=cascade, if_exists=if_exists)

    def rename_schema(self, name: str, new_name: str) -> None:
        """Rename a schema within its catalog."""
        attachment, schema = self.schema_place(name)
        with self.changing(attachment) as change:
            change.transaction.rename_schema(schema, new_name)

    def schema_place(self, name: str) -> tuple[Attachment, str]:
        """Return the catalog and the schema for a name; the schema need not exist."""
        match split_name(name):
            case (schema,):
                return self._current_attachment(schema), schema
            case (alias, schema):
                return self.attachment(alias), schema
        raise InvalidInput(
            f"{name!r} is not a schema name.", remedy="Write schema or catalog.schema."
        )

    # Tables

    def create_table(
        self,
        name: str | Sequence[str],
        columns: StructType | Sequence[ColumnSpec],
        *,
        partition_by: Sequence[str | tuple[str, str]] = (),
        comment: str | None = None,
        if_not_exists: bool = False,
        or_replace: bool = False,
    ) -> None:
        """Create a table, with columns in the types of Spark or of Forklake.

        Args:
            partition_by: columns, or `year(column)`, `month(…)`, `day(…)`, `hour(…)`.
        """
        place = self.resolve(name)
        specs = as_column_specs(columns)
        with self.changing(place.attachment) as change:
            change.transaction.create_table(
                place.table,
                specs,
                schema=place.schema,
                partition_by=partition_keys(partition_by),
                comment=comment,
                if_not_exists=if_not_exists,
                or_replace=or_replace,
            )

    def drop_table(self, name: str | Sequence[str], *, if_exists: bool = False) -> None:
        """Drop a table; its rows stay visible at older snapshots."""
        place = self.place_to_drop(name, if_exists=if_exists)
        if place is None:
            return
        with self.changing(place.attachment) as change:
            if not if_exists:
                self.find_table(change.transaction, place)
            change.transaction.drop_table(place.table, schema=place.schema, if_exists=if_exists)

    def place_to_drop(self, name: str | Sequence[str], *, if_exists: bool) -> TableName | None:
        """Resolve a name to drop; None if its schema does not exist and `if_exists` allows that."""
        try:
            return self.resolve(name)
        except NotFound:
            if if_exists:
                self.record_definitions()
                return None
            raise

    def rename_table(self, name: str | Sequence[str], new_name: str) -> None:
        """Rename a table within its schema."""
        place = self.resolve(name)
        with self.changing(place.attachment) as change:
            self.find_table(change.transaction, place)
            change.transaction.rename_table(place.table, new_name, schema=place.schema)

    def set_partitioning(
        self, name: str | Sequence[str], partition_by: Sequence[str | tuple[str, str]]
    ) -> None:
        """Set the partition keys for files written from now on; an empty list removes them."""
        with self._altering(name) as (transaction, table):
            transaction.set_partitioning(table, partition_keys(partition_by))

    def set_sorted_by(
        self, name: str | Sequence[str], keys: Sequence[str | tuple[str, bool, bool]]
    ) -> None:
        """Set the order of rows in files written from now on; an empty list removes it.

        Args:
            keys: columns, as in `price DESC NULLS FIRST`; the default is NULLS LAST.
        """
        with self._altering(name) as (transaction, table):
            transaction.set_sorted_by(table, sort_keys(keys))

    @contextmanager
    def _altering(self, name: str | Sequence[str]) -> Iterator[tuple[Transaction, Table]]:
        place = self.resolve(name)
        with self.changing(place.attachment) as change:
            yield change.transaction, self.find_table(change.transaction, place)

    # Columns

    def add_column(
        self,
        name: str | Sequence[str],
        column: str,
        type: ColumnType | DataType | str,
        *,
        default: str | None = None,
    ) -> None:
        """Add a column, or a field of a struct. Existing rows show the default."""
        *inside, own_name = split_name(column)
        spec = ColumnSpec(own_name, as_column_type(type), default=default)
        with self._altering(name) as (transaction, table):
            transaction.add_column(table, spec, inside=inside)

    def drop_column(self, name: str | Sequence[str], column: str) -> None:
        """Drop a column, or a field of a struct."""
        with self._altering(name) as (transaction, table):
            transaction.drop_column(table, split_name(column))

    def rename_column(self, name: str | Sequence[str], column: str, new_name: str) -> None:
        """Rename a column, or a field of a struct."""
        with self._altering(name) as (transaction, table):
            transaction.rename_column(table, split_name(column), new_name)

    def set_column_type(
        self, name: str | Sequence[str], column: str, type: ColumnType | DataType | str
    ) -> None:
        """Change the type of a column to one that holds all values of the old one."""
        target = as_column_type(type)
        with self._altering(name) as (transaction, table):
            transaction.set_column_type(table, split_name(column), target)

    def set_default(
        self,
        name: str | Sequence[str],
        column: str,
        default: str | None,
        *,
        default_type: str = "literal",
    ) -> None:
        """Set the value of a column that new rows do not specify; None removes the default."""
        with self._altering(name) as (transaction, table):
            path = split_name(column)
            transaction.set_default(table, path, default, default_type=default_type)

    def set_not_null(self, name: str | Sequence[str], column: str, not_null: bool = True) -> None:
        """Forbid NULL in a column, which must not contain any, or allow it again."""
        with self._altering(name) as (transaction, table):
            path = split_name(column)
            found = transaction.state.column(table, *path)
            if not_null and found.nulls_allowed:
                self._require_no_nulls(transaction, table, path, found)
            transaction.set_nullable(table, path, not not_null)

    def _require_no_nulls(
        self, transaction: Transaction, table: Table, path: Sequence[str], column: Column
    ) -> None:
        """Raise InvalidInput if a column has NULLs; statistics spare most files from the check."""
        may_have = transaction.inlined_rows(table) or transaction.scan_files(
            table, IsNull(column.column_id)
        )
        if may_have and self.engine.tables.has_nulls(transaction, table, path):
            raise InvalidInput(
                f"Column '{'.'.join(path)}' of table '{table.table_name}' has NULL values:"
                " a NOT NULL constraint cannot be set.",
                remedy="Update or delete these rows first.",
            )

    # Options

    def set_option(
        self,
        alias: str,
        option: str,
        value: object,
        *,
        schema: str | None = None,
        table: str | None = None,
    ) -> None:
        """Set an option of a catalog, a schema or a table; None removes it."""
        with self.changing(self.attachment(alias)) as change:
            change.transaction.set_option(option, value, schema=schema, table=table)
            if not self.in_transaction:
                change.transaction.set_default_message(f"set options: {option}")


def partition_keys(keys: Sequence[str | tuple[str, str]]) -> list[tuple[str, str]]:
    """Return columns with transforms: `d` has the transform identity, `year(d)` has year."""
    found: list[tuple[str, str]] = []
    for key in keys:
        if not isinstance(key, str):
            found.append(key)
            continue
        match = _TRANSFORM.fullmatch(key)
        column = split_name(match[2] if match else key)
        if len(column) != 1:
            raise InvalidInput(
                f"A table cannot be partitioned by {key!r}.", remedy="Use a top-level column."
            )
        found.append((column[0], match[1].lower() if match else "identity"))
    return found


def sort_keys(keys: Sequence[str | tuple[str, bool, bool]]) -> list[tuple[str, bool, bool]]:
    """Return columns, each with whether the order is descending and whether nulls come first."""
    found: list[tuple[str, bool, bool]] = []
    for key in keys:
        if not isinstance(key, str):
            found.append(key)
            continue
        match = _SORT_KEY.fullmatch(key)
        column = split_name(match["column"] if match else key)
        if match is None or len(column) != 1:
            raise InvalidInput(
                f"A table cannot be sorted by {key!r}.", remedy="Use a top-level column."
            )
        direction, nulls = match["direction"] or "ASC", match["nulls"] or "LAST"
        found.append((column[0], direction.upper() == "DESC", nulls.upper() == "FIRST"))
    return found


def as_column_specs(columns: StructType | Sequence[ColumnSpec]) -> list[ColumnSpec]:
    """Return columns as Forklake describes them.

    Raises Unsupported for types that files cannot store.
    """
    if isinstance(columns, Sequence):
        specs = list(columns)
    else:
        from forklake.engines.spark.types import column_specs

        specs = column_specs(columns)
    for spec in specs:
        require_supported(as_type(spec.type))
    return specs


def as_column_type(type: Any) -> ColumnType:
    """Return a type as Forklake describes it; raise Unsupported if files cannot store it."""
    if not isinstance(type, str | ColumnType):
        from forklake.engines.spark.types import column_type

        type = column_type(type)
    found = as_type(type)
    require_supported(found)
    return found
