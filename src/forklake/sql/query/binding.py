"""Binding: each name in a query is bound to a relation, and the query translated to Spark SQL.

A table, view, table macro or table function is registered in the engine under a generated name,
which replaces it in the query. Views and table macros are bound as separate queries, so each is
parsed in the dialect in which it was written. The engine puts all of it into one plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from sqlglot import exp

from forklake.catalog.transaction import Transaction
from forklake.engines.relations import Relation
from forklake.engines.spark.long_numbers import cast_long_numbers
from forklake.errors import ForklakeError, InvalidInput, NotFound
from forklake.model.entities import Table, View
from forklake.model.names import folded
from forklake.session.read_records import record_read, record_virtual
from forklake.sql import limits
from forklake.sql.dialect.nodes import pop_time_travel, split_call
from forklake.sql.dialect.stored import parse_aliases, parse_stored_text
from forklake.sql.functions import files, information, metadata, registry
from forklake.sql.query import macros, names, scalars, stored_sql
from forklake.sql.query.read_conditions import find_conditions
from forklake.sql.query.snapshot_reads import StateCache
from forklake.sql.query.timestamps import CURRENT, ReadPoint, evaluate_read_point
from forklake.sql.translate import dispatch, to_spark
from forklake.sql.translate.relations import make_names_unique

if TYPE_CHECKING:
    from forklake.catalog.catalog_view import CatalogView
    from forklake.engines.interface import DataEngine
    from forklake.engines.spark.public_types import StructType
    from forklake.session.attachments import Attachment
    from forklake.session.name_resolution import TableName
    from forklake.sql.session import Session

_MAX_DEPTH = 32


def analyze_schema(session: Session, query: exp.Expr) -> StructType:
    """Return the columns of a query, checked by Spark without reading a table."""
    with Binding(session, session.dialect, has_rows=False) as binding:
        found: StructType = binding.to_relation(query).schema
        return found


class Binding:
    """Registered relations of a query. A context manager: its end removes their names."""

    def __init__(
        self,
        session: Session,
        dialect: str,
        *,
        states: StateCache | None = None,
        read_points: Mapping[str, ReadPoint] | None = None,
        depth: int = 0,
        has_rows: bool = True,
        stored_in: tuple[str, Attachment] | None = None,
    ) -> None:
        """Prepare the binding of a query.

        Args:
            moments: snapshots at which a view reads catalogs, by their alias.
            has_rows: if false, tables have their columns but no rows.
            stored: for a stored query, its name in errors and the catalog that stores it.
        """
        session.guard.check_dialect(dialect)
        self.session = session
        self.dialect = dialect
        self._states = states or StateCache(session)
        self._read_points = read_points or {}
        self._depth = depth
        self._has_rows = has_rows
        self._stored_in = stored_in
        self._registered: list[str] = []
        self._relations: dict[object, str] = {}  # registered names, by name and snapshot
        self._virtual_columns: dict[str, Sequence[str]] = {}
        self.sources = 0  # tables that the query reads, including those of views
        self._inner_sources = 0  # tables of the view or macro that was bound last
        self._weights: dict[str, int] = {}  # tables of each relation, by registered name
        self._tables: dict[object, tuple[CatalogView, Table]] = {}  # of lakes, by name and snapshot

    def __enter__(self) -> Binding:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._registered:
            self.session.engine.queries.forget(self._registered)
        self._registered.clear()
        self._relations.clear()

    def to_relation(self, node: exp.Expr, *, may_change: bool = False) -> Relation:
        """Return the rows of a query.

        Args:
            may_change: whether its outermost call may be a function that changes data.
        """
        text = self.to_spark_sql(node, may_change=may_change)
        return self.session.engine.queries.rows(text)

    def to_spark_sql(
        self,
        node: exp.Expr,
        target: names.TableReference | None = None,
        *,
        may_change: bool = False,
    ) -> str:
        """Return a query or an expression as Spark SQL, valid until the binding ends.

        Args:
            target: a table that an expression refers to without containing it.
        """
        self._refuse_changes(node, may_change)
        limits.check_nodes(sum(1 for _ in node.walk()))
        node = macros.expand_macros(node.copy(), self._find_macro, self._check_macro)
        # Check again: a macro argument can become the catalog of a call, as in `x.merge(…)`.
        self._refuse_changes(node, may_change)
        if self._stored_in is not None:
            self._check_body(node, *self._stored_in, self.dialect)
        limits.check_groupings(node)
        scalars.evaluate_calls(self.session, node)
        virtual = names.find_virtual_columns(node)
        for table in names.find_tables_and_functions(node):
            self._bind_table(table, virtual)
        self.sources = limits.count_sources(node, self._weights)
        limits.check_sources(self.sources)
        names.shorten_columns(node, target)
        names.hide_virtual_columns(node, self._virtual_columns)
        if self.dialect == "spark":
            return cast_long_numbers(node.sql("spark"))
        text = to_spark(node, columns_of=self._list_columns, has_types=self._has_types)
        if not self._has_types():
            text = dispatch.remove_typed_functions(text)
        if dispatch.is_needed(text):
            dispatch.register_functions(self.session.engine)
        return text

    def _refuse_changes(self, node: exp.Expr, may_change: bool) -> None:
        allowed = stored_sql.find_outermost_call(node) if may_change else None
        stored_sql.refuse_changes(self.session, node, "The query", allowed=allowed)

    def _has_types(self) -> bool:
        return self.session.engine.is_native

    def _list_columns(self, source: str) -> list[str]:
        if dispatch.is_needed(source):
            dispatch.register_functions(self.session.engine)
        engine = self.session.engine
        return engine.relations.column_names(engine.queries.rows(f"SELECT * FROM {source}"))

    def _find_macro(self, parts: Sequence[str], type: str) -> macros.FoundMacro | None:
        if stored_sql.is_built_in(parts[-1]):
            return None  # a stored macro never replaces a built-in function
        found = self._states.find_macro(parts, type)
        if found is None:
            return None
        read_point = self._inherited_read_point(found[0])
        if not read_point.is_current:
            return self._states.find_macro(parts, type, read_point)
        view = self._states.view(found[0], CURRENT)
        if isinstance(view, Transaction):
            view.record_definition(found[2].schema_id)
            view.record_definition(found[2].macro_id)
        return found

    def _check_macro(self, overload: macros.MacroBody, name: str) -> None:
        what, dialect = f"The macro '{name}'", overload.dialect
        self._check_body(overload.body, what, overload.attachment, dialect)

    def _check_body(self, body: exp.Expr, what: str, home: Attachment, dialect: str) -> None:
        self.session.guard.proceed()
        stored_sql.check_body(self.session, body, what, home)
        if dialect == "spark":
            stored_sql.check_spark_calls(body, what, self._is_lake_function)

    def _is_lake_function(self, parts: Sequence[str]) -> bool:
        """Return whether a function is a macro or one of the lake."""
        is_macro = any(self._find_macro(parts, kind) for kind in ("scalar", "table"))
        return is_macro or registry.find_function(self.session, parts) is not None

    # Tables

    def _bind_table(self, table: exp.Table, virtual: names.VirtualColumns) -> None:
        """Register a table and replace it by its registered name."""
        reference = names.TableReference.from_table(table)
        when = pop_time_travel(table)
        read_point = None if when is None else evaluate_read_point(when)
        if isinstance(table.this, exp.Func):
            rows = self._call_function(table)
            if rows is None:
                return  # a function of the engine
            name = self._register_function(table, rows, virtual.of_table(reference))
        else:
            name = self._register_relation(reference, read_point, virtual.of_table(reference))
            if known_table := self._tables.get((reference.parts, read_point)):
                record_read(*known_table, find_conditions(table))
        names.replace_table(table, name, reference)

    def _register_function(self, table: exp.Table, rows: Relation, virtual: Sequence[str]) -> str:
        """Register the rows of a function without unused hidden columns; return their name."""
        hidden = registry.find_hidden_columns(self.session, split_call(table)[0])
        if hidden:
            unused = [one for one in hidden if one not in virtual]
            rows = self.session.engine.relations.drop_columns(rows, unused)
        name = self._register(rows)
        self._virtual_columns[name] = [one for one in hidden if one in virtual]
        return name

    def _register(self, rows: Relation) -> str:
        name = self.session.engine.queries.register(rows)
        self._registered.append(name)
        self._weights[name], self._inner_sources = max(1, self._inner_sources), 0
        return name

    def _register_relation(
        self, reference: names.TableReference, read_point: ReadPoint | None, virtual: Sequence[str]
    ) -> str:
        key = (reference.parts, read_point, virtual)
        if key not in self._relations:
            rows = self._read_relation(reference.parts, read_point, virtual)
            name = self._relations[key] = self._register(rows)
            last = (
                self.session.engine.relations.column_names(rows)[-len(virtual) :] if virtual else []
            )
            self._virtual_columns[name] = [one for one in virtual if one in last]
        return self._relations[key]

    def _read_relation(
        self, parts: tuple[str, ...], read_point: ReadPoint | None, virtual: Sequence[str]
    ) -> Relation:
        session = self.session
        if len(parts) == 1 and parts[0] in session.frames and not self._depth:
            return session.frames[parts[0]]
        found = metadata.find_metadata_table(session, parts)
        if found is None:
            found = information.find_information_table(session, parts, has_rows=self._has_rows)
        if found is not None:
            return found
        try:
            return self._read_lake_relation(parts, read_point, virtual)
        except NotFound:
            if len(parts) == 1 and files.has_file_extension(parts[0]):
                return files.read_file(session, parts[0])
            raise

    def _read_lake_relation(
        self, parts: tuple[str, ...], read_point: ReadPoint | None, virtual: Sequence[str]
    ) -> Relation:
        effective = read_point or self._inherited_read_point(self._states.resolve(parts).attachment)
        place = self._states.resolve(parts, effective)
        view = self._states.view(place.attachment, effective)
        relation = view.state.find_relation(place.table, place.schema)
        if isinstance(relation, View):
            if isinstance(view, Transaction):
                view.record_definition(relation.schema_id)
                view.record_definition(relation.view_id)
            return self._read_view(relation, place, effective)
        table = self.session.find_table(view, place)
        if isinstance(view, Transaction):
            view.record_table(table)
        if self._has_rows:
            self._tables[(parts, read_point)] = view, table
        own = {folded(one.name) for one in view.state.fields(table)}
        requested = [name for name in virtual if name not in own]
        record_virtual(view, table, requested)
        if not self._has_rows:
            return self.session.engine.tables.schema(view, table, virtual=requested)
        return self.session.engine.tables.scan(view, table, virtual=requested)

    def _inherited_read_point(self, attachment: Attachment) -> ReadPoint:
        return self._read_points.get(folded(attachment.alias), CURRENT)

    # Views and table macros inside of the query

    def _read_view(self, view: View, place: TableName, read_point: ReadPoint) -> Relation:
        what, attachment = f"The view '{view.view_name}'", place.attachment
        try:
            with (
                self.session.in_home(attachment, place.schema),
                self._create_inner_binding(
                    what, view.dialect, attachment, read_point, (what, attachment)
                ) as inner,
            ):
                body = parse_stored_text(view.sql, view.dialect, attachment.alias)
                self._check_body(body, what, attachment, view.dialect)
                rows = inner.to_relation(body)
                self._inner_sources = inner.sources
        except ForklakeError as reason:
            if self._depth:
                raise
            message = f"{what} cannot be read: {reason.message}"
            raise type(reason)(message, remedy=reason.remedy) from None
        return _make_columns_unique(self.session.engine, rows, parse_aliases(view.column_aliases))

    def _call_function(self, table: exp.Table) -> Relation | None:
        call = split_call(table)
        macro = macros.expand_call(call, "table", self._find_macro, self._check_macro)
        if macro is None:
            return scalars.call_table_function(self.session, *call, has_rows=self._has_rows)
        what, home = f"The macro '{call[0][-1]}'", macro.attachment
        # Arguments of a macro belong to the view that calls it, or to the text that the user sent.
        stored_in = self._stored_in and (what, home)
        with self._create_inner_binding(
            what, macro.dialect, home, self._inherited_read_point(home), stored_in
        ) as inner:
            rows = inner.to_relation(macro.body)
            self._inner_sources = inner.sources
            return _make_columns_unique(self.session.engine, rows)

    def _create_inner_binding(
        self,
        what: str,
        dialect: str,
        attachment: Attachment,
        read_point: ReadPoint,
        stored_in: tuple[str, Attachment] | None,
    ) -> Binding:
        if self._depth == _MAX_DEPTH:
            raise InvalidInput(
                f"{what} is nested too deeply, or refers to itself.",
                remedy="Define it again with fewer levels, and without a reference to itself.",
            )
        read_points = {**self._read_points, folded(attachment.alias): read_point}
        return Binding(
            self.session,
            dialect,
            states=self._states,
            read_points=read_points,
            depth=self._depth + 1,
            has_rows=self._has_rows,
            stored_in=stored_in,
        )


def _make_columns_unique(
    engine: DataEngine, rows: Relation, aliases: Sequence[str] = ()
) -> Relation:
    """Return rows with `aliases` as the first column names, and all names made unique."""
    known = engine.relations.column_names(rows)
    names = make_names_unique([*aliases, *known[len(aliases) :]])
    return rows if names == known else engine.relations.rename_columns(rows, names)
