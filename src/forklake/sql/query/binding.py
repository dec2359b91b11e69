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
from forklake.sql.query.snapshot_reads import Seen
from forklake.sql.query.timestamps import NOW, Moment, moment_of
from forklake.sql.translate import dispatch, to_spark
from forklake.sql.translate.relations import unique_names

if TYPE_CHECKING:
    from forklake.catalog.catalog_view import CatalogView
    from forklake.engines.interface import DataEngine
    from forklake.engines.spark.public_types import StructType
    from forklake.session.attachments import Attachment
    from forklake.session.name_resolution import TableName
    from forklake.sql.session import Session

_DEEPEST = 32


def schema_of(session: Session, query: exp.Expr) -> StructType:
    """Return the columns of a query, checked by Spark without reading a table."""
    with Binding(session, session.dialect, has_rows=False) as binding:
        found: StructType = binding.frame(query).schema
        return found


class Binding:
    """Registered relations of a query. A context manager: its end removes their names."""

    def __init__(
        self,
        session: Session,
        dialect: str,
        *,
        seen: Seen | None = None,
        moments: Mapping[str, Moment] | None = None,
        depth: int = 0,
        has_rows: bool = True,
        stored: tuple[str, Attachment] | None = None,
    ) -> None:
        """Prepare the binding of a query.

        Args:
            moments: snapshots at which a view reads catalogs, by their alias.
            has_rows: if false, tables have their columns but no rows.
            stored: for a stored query, its name in errors and the catalog that stores it.
        """
        session.guard.dialect(dialect)
        self.session = session
        self.dialect = dialect
        self._seen = seen or Seen(session)
        self._moments = moments or {}
        self._depth = depth
        self._has_rows = has_rows
        self._stored = stored
        self._registered: list[str] = []
        self._relations: dict[object, str] = {}  # registered names, by name and snapshot
        self._virtual: dict[str, Sequence[str]] = {}
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

    def frame(self, node: exp.Expr, *, may_change: bool = False) -> Relation:
        """Return the rows of a query.

        Args:
            may_change: whether its outermost call may be a function that changes data.
        """
        text = self.text(node, may_change=may_change)
        return self.session.engine.queries.rows(text)

    def text(
        self, node: exp.Expr, target: names.Written | None = None, *, may_change: bool = False
    ) -> str:
        """Return a query or an expression as Spark SQL, valid until the binding ends.

        Args:
            target: a table that an expression refers to without containing it.
        """
        self._refuse_changes(node, may_change)
        limits.check_nodes(sum(1 for _ in node.walk()))
        node = macros.expanded(node.copy(), self._macro, self._check_macro)
        # Check again: a macro argument can become the catalog of a call, as in `x.merge(…)`.
        self._refuse_changes(node, may_change)
        if self._stored is not None:
            self._check_body(node, *self._stored, self.dialect)
        limits.check_groupings(node)
        scalars.compute(self.session, node)
        wanted = names.virtual_columns(node)
        for table in names.tables(node):
            self._bind(table, wanted)
        self.sources = limits.count_sources(node, self._weights)
        limits.check_sources(self.sources)
        names.shorten_columns(node, target)
        names.hide(node, self._virtual)
        if self.dialect == "spark":
            return cast_long_numbers(node.sql("spark"))
        text = to_spark(node, columns_of=self._columns_of, has_types=self._has_types)
        if not self._has_types():
            text = dispatch.without_types(text)
        if dispatch.is_needed(text):
            dispatch.register(self.session.engine)
        return text

    def _refuse_changes(self, node: exp.Expr, may_change: bool) -> None:
        allowed = stored_sql.outermost_call(node) if may_change else None
        stored_sql.refuse_changes(self.session, node, "The query", allowed=allowed)

    def _has_types(self) -> bool:
        return self.session.engine.is_native

    def _columns_of(self, source: str) -> list[str]:
        if dispatch.is_needed(source):
            dispatch.register(self.session.engine)
        engine = self.session.engine
        return engine.relations.column_names(engine.queries.rows(f"SELECT * FROM {source}"))

    def _macro(self, parts: Sequence[str], type: str) -> macros.Found | None:
        if stored_sql.is_built_in(parts[-1]):
            return None  # a stored macro never replaces a built-in function
        found = self._seen.macro(parts, type)
        if found is None:
            return None
        moment = self._inherited(found[0])
        if not moment.is_now:
            return self._seen.macro(parts, type, moment)
        view = self._seen.view(found[0], NOW)
        if isinstance(view, Transaction):
            view.record_definition(found[2].schema_id)
            view.record_definition(found[2].macro_id)
        return found

    def _check_macro(self, overload: macros.Overload, name: str) -> None:
        what, dialect = f"The macro '{name}'", overload.dialect
        self._check_body(overload.body, what, overload.attachment, dialect)

    def _check_body(self, body: exp.Expr, what: str, home: Attachment, dialect: str) -> None:
        self.session.guard.proceed()
        stored_sql.check_body(self.session, body, what, home)
        if dialect == "spark":
            stored_sql.check_spark_calls(body, what, self._is_ours)

    def _is_ours(self, parts: Sequence[str]) -> bool:
        """Return whether a function is a macro or one of the lake."""
        is_macro = any(self._macro(parts, kind) for kind in ("scalar", "table"))
        return is_macro or registry.find(self.session, parts) is not None

    # Tables

    def _bind(self, table: exp.Table, wanted: names.VirtualColumns) -> None:
        """Register a table and replace it by its registered name."""
        written = names.Written.of(table)
        when = pop_time_travel(table)
        moment = None if when is None else moment_of(when)
        if isinstance(table.this, exp.Func):
            rows = self._function(table)
            if rows is None:
                return  # a function of the engine
            name = self._register_function(table, rows, wanted.of(written))
        else:
            name = self._relation(written, moment, wanted.of(written))
            if known := self._tables.get((written.parts, moment)):
                record_read(*known, find_conditions(table))
        names.rename(table, name, written)

    def _register_function(self, table: exp.Table, rows: Relation, virtual: Sequence[str]) -> str:
        """Register the rows of a function without unused hidden columns; return their name."""
        hidden = registry.hidden_columns(self.session, split_call(table)[0])
        if hidden:
            unused = [one for one in hidden if one not in virtual]
            rows = self.session.engine.relations.drop_columns(rows, unused)
        name = self._register(rows)
        self._virtual[name] = [one for one in hidden if one in virtual]
        return name

    def _register(self, rows: Relation) -> str:
        name = self.session.engine.queries.register(rows)
        self._registered.append(name)
        self._weights[name], self._inner_sources = max(1, self._inner_sources), 0
        return name

    def _relation(
        self, written: names.Written, moment: Moment | None, virtual: Sequence[str]
    ) -> str:
        key = (written.parts, moment, virtual)
        if key not in self._relations:
            rows = self._rows(written.parts, moment, virtual)
            name = self._relations[key] = self._register(rows)
            last = (
                self.session.engine.relations.column_names(rows)[-len(virtual) :] if virtual else []
            )
            self._virtual[name] = [one for one in virtual if one in last]
        return self._relations[key]

    def _rows(
        self, parts: tuple[str, ...], moment: Moment | None, virtual: Sequence[str]
    ) -> Relation:
        session = self.session
        if len(parts) == 1 and parts[0] in session.frames and not self._depth:
            return session.frames[parts[0]]
        found = metadata.find_metadata_table(session, parts)
        if found is None:
            found = information.find(session, parts, has_rows=self._has_rows)
        if found is not None:
            return found
        try:
            return self._lake_rows(parts, moment, virtual)
        except NotFound:
            if len(parts) == 1 and files.is_path(parts[0]):
                return files.read_path(session, parts[0])
            raise

    def _lake_rows(
        self, parts: tuple[str, ...], moment: Moment | None, virtual: Sequence[str]
    ) -> Relation:
        then = moment or self._inherited(self._seen.resolve(parts).attachment)
        place = self._seen.resolve(parts, then)
        view = self._seen.view(place.attachment, then)
        relation = view.state.find_relation(place.table, place.schema)
        if isinstance(relation, View):
            if isinstance(view, Transaction):
                view.record_definition(relation.schema_id)
                view.record_definition(relation.view_id)
            return self._view_rows(relation, place, then)
        table = self.session.find_table(view, place)
        if isinstance(view, Transaction):
            view.record_table(table)
        if self._has_rows:
            self._tables[(parts, moment)] = view, table
        own = {folded(one.name) for one in view.state.fields(table)}
        asked = [name for name in virtual if name not in own]
        record_virtual(view, table, asked)
        if not self._has_rows:
            return self.session.engine.tables.schema(view, table, virtual=asked)
        return self.session.engine.tables.scan(view, table, virtual=asked)

    def _inherited(self, attachment: Attachment) -> Moment:
        return self._moments.get(folded(attachment.alias), NOW)

    # Views and table macros inside of the query

    def _view_rows(self, view: View, place: TableName, moment: Moment) -> Relation:
        what, attachment = f"The view '{view.view_name}'", place.attachment
        try:
            with (
                self.session.in_home(attachment, place.schema),
                self._inner(what, view.dialect, attachment, moment, (what, attachment)) as inner,
            ):
                body = parse_stored_text(view.sql, view.dialect, attachment.alias)
                self._check_body(body, what, attachment, view.dialect)
                rows = inner.frame(body)
                self._inner_sources = inner.sources
        except ForklakeError as reason:
            if self._depth:
                raise
            message = f"{what} cannot be read: {reason.message}"
            raise type(reason)(message, remedy=reason.remedy) from None
        return _make_names_unique(self.session.engine, rows, parse_aliases(view.column_aliases))

    def _function(self, table: exp.Table) -> Relation | None:
        call = split_call(table)
        macro = macros.called(call, "table", self._macro, self._check_macro)
        if macro is None:
            return scalars.called(self.session, *call, has_rows=self._has_rows)
        what, home = f"The macro '{call[0][-1]}'", macro.attachment
        # Arguments of a macro belong to the view that calls it, or to the text that the user sent.
        stored = self._stored and (what, home)
        with self._inner(what, macro.dialect, home, self._inherited(home), stored) as inner:
            rows = _make_names_unique(self.session.engine, inner.frame(macro.body))
            self._inner_sources = inner.sources
            return rows

    def _inner(
        self,
        what: str,
        dialect: str,
        attachment: Attachment,
        moment: Moment,
        stored: tuple[str, Attachment] | None,
    ) -> Binding:
        if self._depth == _DEEPEST:
            raise InvalidInput(
                f"{what} is nested too deeply, or refers to itself.",
                remedy="Define it again with fewer levels, and without a reference to itself.",
            )
        moments = {**self._moments, folded(attachment.alias): moment}
        return Binding(
            self.session,
            dialect,
            seen=self._seen,
            moments=moments,
            depth=self._depth + 1,
            has_rows=self._has_rows,
            stored=stored,
        )


def _make_names_unique(engine: DataEngine, rows: Relation, aliases: Sequence[str] = ()) -> Relation:
    """Return rows with `aliases` as the first column names, and all names made unique."""
    known = engine.relations.column_names(rows)
    names = unique_names([*aliases, *known[len(aliases) :]])
    return rows if names == known else engine.relations.rename_columns(rows, names)
