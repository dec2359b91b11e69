"""Binding: every name in a query becomes a DataFrame, and the query a text of Spark's.

A table, view, table macro or table function is registered in Spark under a name of ours, which
takes its place in the query. Views and table macros are queries of their own, so each is read in
the dialect in which it was written. Spark puts all of it into one plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType
from sqlglot import exp

from forklake.errors import ForklakeError, InvalidInput, NotFound
from forklake.model.entities import View
from forklake.model.names import folded
from forklake.spark.reading.scan import scan, shown_schema
from forklake.sql.dialect.nodes import function_call, time_travel
from forklake.sql.dialect.stored import aliases_of, restored
from forklake.sql.functions import files, information, metadata
from forklake.sql.query import macros, names, scalars
from forklake.sql.query.failures import explained
from forklake.sql.query.moments import NOW, Moment, moment_of
from forklake.sql.query.registering import Rows, columns_of, forget, register
from forklake.sql.query.seen import Seen
from forklake.sql.translate import dispatch, to_spark

if TYPE_CHECKING:
    from forklake.spark.attachments import Attachment
    from forklake.sql.session import Session

_DEEPEST = 32


def schema_of(session: Session, query: exp.Expr) -> StructType:
    """What a query shows. Spark checks it, but no table is read for that."""
    with Binding(session, session.dialect, has_rows=False) as binding:
        return binding.frame(query).schema


class Binding:
    """The DataFrames of a query while it is read; a context, at whose end their names go."""

    def __init__(
        self,
        session: Session,
        dialect: str,
        *,
        seen: Seen | None = None,
        moments: Mapping[str, Moment] | None = None,
        depth: int = 0,
        has_rows: bool = True,
    ) -> None:
        """Moments are of catalogs, by alias: those at which a view is read.

        If it has no rows, tables are nothing but their columns.
        """
        session.guard.dialect(dialect)
        self.session = session
        self.dialect = dialect
        self._seen = seen or Seen(session)
        self._moments = moments or {}
        self._depth = depth
        self._has_rows = has_rows
        self._registered: list[str] = []
        self._relations: dict[object, str] = {}  # their names, by what the query calls them
        self._virtual: dict[str, Sequence[str]] = {}

    def __enter__(self) -> Binding:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._registered:
            forget(self.session.engine, self._registered)
        self._registered.clear()
        self._relations.clear()

    def frame(self, node: exp.Expr) -> DataFrame:
        """The rows of a query."""
        text = self.text(node)
        with explained():
            return self.session.engine.spark.sql(text)

    def text(self, node: exp.Expr, target: names.Written | None = None) -> str:
        """A query or an expression as Spark's text, with names that are there until the end.

        An expression may be about a table, the target, that is not in it.
        """
        node = macros.expanded(node.copy(), self._macro)
        scalars.compute(self.session, node)
        wanted = names.virtual_columns(node)
        for table in names.tables(node):
            self._bind(table, wanted)
        names.shorten_columns(node, target)
        names.hide(node, self._virtual)
        if self.dialect == "spark":
            return node.sql("spark")
        text = to_spark(node, columns_of=self._columns_of)
        if dispatch.is_needed(text):
            dispatch.register(self.session.engine)
        return text

    def _columns_of(self, source: str) -> list[str]:
        with explained():
            return self.session.engine.spark.sql(f"SELECT * FROM {source}").columns

    def _macro(self, parts: Sequence[str], type: str) -> macros.Found | None:
        found = self._seen.macro(parts, type)
        moment = NOW if found is None else self._inherited(found[0])
        return found if moment.is_now else self._seen.macro(parts, type, moment)

    # Tables

    def _bind(self, table: exp.Table, wanted: names.VirtualColumns) -> None:
        """Put a name of ours in the place of a table."""
        written = names.Written.of(table)
        when = time_travel(table)
        moment = None if when is None else moment_of(when)
        if isinstance(table.this, exp.Func):
            rows = self._function(table)
            if rows is None:
                return  # one of the engine's own
            name = self._register(rows)
        else:
            name = self._relation(written, moment, wanted.of(written))
        names.rename(table, name, written)

    def _register(self, rows: Rows) -> str:
        name = register(self.session.engine, rows)
        self._registered.append(name)
        return name

    def _relation(
        self, written: names.Written, moment: Moment | None, virtual: Sequence[str]
    ) -> str:
        key = (written.parts, moment, virtual)
        if key not in self._relations:
            rows = self._rows(written.parts, moment, virtual)
            name = self._relations[key] = self._register(rows)
            last = columns_of(rows)[-len(virtual) :] if virtual else []
            self._virtual[name] = [one for one in virtual if one in last]
        return self._relations[key]

    def _rows(self, parts: tuple[str, ...], moment: Moment | None, virtual: Sequence[str]) -> Rows:
        session = self.session
        if len(parts) == 1 and parts[0] in session.frames:
            return session.frames[parts[0]]
        found = metadata.find_metadata_table(session, parts)
        if found is None:
            found = information.find(session, parts)
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
    ) -> DataFrame | StructType:
        then = moment or self._inherited(self._seen.resolve(parts).attachment)
        place = self._seen.resolve(parts, then)
        view = self._seen.view(place.attachment, then)
        relation = view.state.find_relation(place.table, place.schema)
        if isinstance(relation, View):
            return self._view_rows(relation, place.attachment, then)
        table = self.session.find_table(view, place)
        own = {folded(one.name) for one in view.state.fields(table)}
        asked = [name for name in virtual if name not in own]
        if not self._has_rows:
            return shown_schema(view, table, virtual=asked)
        return scan(self.session.engine, view, table, virtual=asked)

    def _inherited(self, attachment: Attachment) -> Moment:
        return self._moments.get(folded(attachment.alias), NOW)

    # Queries inside of it

    def _view_rows(self, view: View, attachment: Attachment, moment: Moment) -> DataFrame:
        what = f"The view '{view.view_name}'"
        try:
            with self._inner(what, view.dialect, attachment, moment) as inner:
                rows = inner.frame(restored(view.sql, view.dialect, attachment.alias))
        except ForklakeError as reason:
            if self._depth:
                raise
            message = f"{what} cannot be read: {reason.message}"
            raise type(reason)(message, remedy=reason.remedy) from None
        aliases = aliases_of(view.column_aliases)
        return rows.toDF(*aliases, *rows.columns[len(aliases) :]) if aliases else rows

    def _function(self, table: exp.Table) -> DataFrame | pa.Table | None:
        call = function_call(table)
        macro = macros.called(call, "table", self._macro)
        if macro is None:
            return scalars.called(self.session, *call)
        what, home = f"The macro '{call[0][-1]}'", macro.attachment
        with self._inner(what, macro.dialect, home, self._inherited(home)) as inner:
            return inner.frame(macro.body)

    def _inner(self, what: str, dialect: str, attachment: Attachment, moment: Moment) -> Binding:
        if self._depth == _DEEPEST:
            raise InvalidInput(
                f"{what} is nested too deep, or refers to itself.", remedy="Define it anew."
            )
        moments = {**self._moments, folded(attachment.alias): moment}
        return Binding(
            self.session,
            dialect,
            seen=self._seen,
            moments=moments,
            depth=self._depth + 1,
            has_rows=self._has_rows,
        )
