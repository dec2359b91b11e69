"""Compute node: an in-process DuckDB database that shows a catalog.

A table becomes a view when a statement first names it, so that opening a node costs the same for a
catalog with a thousand tables. Views follow the catalog; a node of a snapshot stays at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from forklake.catalog.catalog import Catalog
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.engines.local.compute.relations import INSIDE, Relation
from forklake.errors import (
    AlreadyExists,
    Forbidden,
    ForklakeError,
    InvalidInput,
    NotFound,
    Unsupported,
)
from forklake.model.closeable import Closing
from forklake.model.entities import Table, View
from forklake.model.ids import SnapshotId
from forklake.model.names import PLACEHOLDER, folded, quoted

_MAIN = "main"
_CHANGES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter)
# What may precede a statement: sqlglot reads nothing after it.
_PREFIX = re.compile(
    r"(^|;)\s*(explain(\s+analyze|\s*\([^)]*\))?|prepare\s+\w+\s+as)(?=\W)", re.IGNORECASE
)
_RESERVED = re.compile(r"\bat\b", re.IGNORECASE)
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
Name = tuple[str, str]  # of a schema and of a table or view in it, both case-folded


class Node(Closing):
    """DuckDB over one catalog; reads only. Not to be shared between threads."""

    def __init__(
        self, catalog: Catalog, *, version: int | None = None, timestamp: datetime | None = None
    ) -> None:
        self._catalog = catalog
        is_pinned = version is not None or timestamp is not None
        self._pinned = catalog.at(version=version, timestamp=timestamp) if is_pinned else None
        self.connection = duckdb.connect()
        self.connection.execute(f"SET TimeZone = 'UTC'; CREATE SCHEMA {INSIDE}")
        self._at: SnapshotId | None = None
        self._made: set[Name] = set()
        self._shown: dict[Name, str] = {}  # name in the catalog -> full name of the DuckDB view

    def __repr__(self) -> str:
        return f"<Node of {self._catalog.name!r}>"

    def close(self) -> None:
        """Close the DuckDB database and release its memory."""
        self.connection.close()

    def sql(self, text: str, parameters: Any = None) -> duckdb.DuckDBPyRelation | None:
        """Run statements over the current catalog; return the rows of the last one, if any."""
        self.prepare(text)
        with explaining():
            return self.connection.sql(_with_quotes(text), params=parameters)

    def prepare(self, text: str) -> None:
        """Create or update the views that statements need, for callers that use `connection`."""
        seen = self._pinned or self._catalog.now()
        with explaining():
            if seen.snapshot_id != self._at:
                self._follow(seen)
            for statement in _parsed(text):
                _require_reading(seen, statement)
                for name in _names(statement):
                    self._make(seen, name)

    def _follow(self, seen: SnapshotReads) -> None:
        """Recreate all views for another snapshot, since views of the user may read them.

        Views of dropped tables are removed. A view that cannot be recreated is created again by
        the next statement that names it, which then reports the error.
        """
        shown, self._shown = self._shown, {}
        self._made.clear()
        self._at = seen.snapshot_id
        for place in shown.values():
            self.connection.execute(f"DROP VIEW IF EXISTS {place}")
        for name in shown:
            with suppress(ForklakeError, duckdb.Error):
                self._make(seen, name)

    def _make(self, seen: SnapshotReads, name: Name) -> None:
        if name in self._made:
            return
        try:
            found = seen.state.find_relation(name[1], name[0])
        except NotFound:
            return  # the schema does not exist: DuckDB reports that
        self._made.add(name)
        try:
            if isinstance(found, Table):
                query = Relation(self.connection, seen, found).query()
                self._show(seen, name, found.table_name, query)
            elif isinstance(found, View):
                self._make_view(seen, name, found)
        except BaseException:
            self._made.discard(name)
            raise

    def _make_view(self, seen: SnapshotReads, name: Name, view: View) -> None:
        if view.dialect != "duckdb":
            raise Unsupported(
                f"The view '{view.view_name}' is written in the SQL dialect of {view.dialect}.",
                remedy="Read the view with Spark.",
            )
        query = _with_quotes(view.sql.replace(f"{PLACEHOLDER}.", ""))
        for statement in _parsed(query):
            for one in _names(statement, name[0]):
                self._make(seen, one)
        aliases = ", ".join(_QUOTED.findall(view.column_aliases or ""))
        self._show(seen, name, view.view_name, query, f" ({aliases})" if aliases else "")

    def _show(
        self, seen: SnapshotReads, name: Name, shown: str, query: str, aliases: str = ""
    ) -> None:
        # The catalog name is needed: temp and system are further databases in DuckDB.
        schema = f"memory.{quoted(seen.state.schema(name[0]).schema_name)}"
        place = f"{schema}.{quoted(shown)}"
        self.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        try:
            self.connection.execute(f"CREATE OR REPLACE VIEW {place}{aliases} AS {query}")
        except duckdb.CatalogException as reason:
            if self._is_own_table(name):
                raise AlreadyExists(
                    f"The name '{shown}' is taken by a table that was created in DuckDB.",
                    remedy=f"Rename or drop the DuckDB table '{shown}'.",
                ) from reason
            raise
        self._shown[name] = place

    def _is_own_table(self, name: Name) -> bool:
        tables = self.connection.execute("SELECT schema_name, table_name FROM duckdb_tables()")
        return name in {(folded(schema), folded(table)) for schema, table in tables.fetchall()}


def _parsed(text: str) -> list[exp.Expr]:
    # Spaces instead of the prefix, because the places of names count.
    text = _PREFIX.sub(lambda found: f"{found[1]:<{len(found[0])}}", text)
    try:
        return [one for one in sqlglot.parse(text, read="duckdb") if one is not None]
    except sqlglot.ParseError as reason:
        raise InvalidInput(
            f"The statement cannot be parsed: {reason}.", remedy="Correct the statement."
        ) from None


def _with_quotes(text: str) -> str:
    """Return the text with quotes around names that only DuckDB reserves, such as `at`."""
    if not _RESERVED.search(text):
        return text
    spans = {
        (one.meta["start"], one.meta["end"] + 1)
        for statement in _parsed(text)
        for one in statement.find_all(exp.Identifier)
        if not one.quoted and _RESERVED.fullmatch(one.name) and "start" in one.meta
    }
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]}{quoted(text[start:end])}{text[end:]}"
    return text


def _names(statement: exp.Expr, schema: str = _MAIN) -> Iterator[Name]:
    """Yield the names in a statement that may be tables or views."""
    for table in statement.find_all(exp.Table):
        if table.name:
            yield folded(table.db or schema), folded(table.name)


def _require_reading(seen: SnapshotReads, statement: exp.Expr) -> None:
    """Raise Forbidden if a statement changes a table of the catalog, not of DuckDB itself."""
    if not isinstance(statement, _CHANGES):
        return
    target = statement.this if isinstance(statement.this, exp.Expr) else statement
    table = target.find(exp.Table)
    if table is None:
        return
    schema, name = folded(table.db or _MAIN), folded(table.name)
    with suppress(NotFound):
        if seen.state.find_relation(name, schema) is not None:
            raise Forbidden(
                f"'{table.name}' belongs to the catalog, which DuckDB can only read.",
                remedy="Change it in a session: forklake.connect().",
            )


@contextmanager
def explaining() -> Iterator[None]:
    """Translate DuckDB errors into Forklake errors."""
    try:
        yield
    except duckdb.Error as reason:
        raise _explained(reason) from reason


def _explained(reason: duckdb.Error) -> ForklakeError:
    text = str(reason).strip()
    if isinstance(reason, duckdb.CatalogException):
        return NotFound(text, remedy="Check the names of tables and columns.")
    if isinstance(reason, duckdb.IOException):
        return NotFound(text, remedy="Check that this machine can read the files.")
    return InvalidInput(text, remedy="Correct the statement.")
