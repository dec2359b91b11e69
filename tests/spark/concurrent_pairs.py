"""Pairs of concurrent transactions, and DuckDB as the oracle of their serial orders."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count
from typing import Any

import duckdb

from forklake import Catalog, Session
from forklake.engines.local.compute.node import Node
from forklake.errors import Conflict, ForklakeError
from forklake.model.children import MacroImplementation
from forklake.model.duckdb_types import duckdb_type

SETUP = (
    "CREATE TABLE t (id INTEGER, v INTEGER)",
    "CREATE TABLE u (id INTEGER, v INTEGER)",
    "INSERT INTO t VALUES (1, 10), (2, 20)",
    "INSERT INTO t VALUES (3, 30)",
    "INSERT INTO u VALUES (1, 1), (2, 2), (6, 6)",
    "CREATE VIEW w AS SELECT id, v FROM t WHERE v >= 20",
    "CREATE MACRO doubled(x) AS 2 * x",
    "CREATE MACRO big(n) AS TABLE SELECT id FROM t WHERE v > n",
)
_UPSERT = (
    "MERGE INTO t USING (SELECT 9 AS id, {} AS v) AS s ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
)
TRANSACTIONS: dict[str, tuple[str, ...]] = {
    "insert": ("INSERT INTO t VALUES (7, 70)",),
    "insert of a key": ("INSERT INTO t VALUES (9, 90)",),
    "insert of null": ("INSERT INTO t VALUES (8, NULL)",),
    "inserts": ("INSERT INTO t VALUES (22, 0)", "INSERT INTO u VALUES (22, 0)"),
    "next id": ("INSERT INTO t SELECT max(id) + 1, 0 FROM t",),
    "next id of the other": ("INSERT INTO u SELECT max(id) + 1, 5 FROM t",),
    "copy": ("INSERT INTO u SELECT id, v FROM t WHERE v > 15",),
    "insert unless exists": (
        "INSERT INTO t SELECT 9, 9 WHERE NOT EXISTS (SELECT 1 FROM t WHERE id = 9)",
    ),
    "insert from with": (
        "INSERT INTO t WITH c AS (SELECT * FROM u WHERE v > 1) SELECT id + 30, v FROM c",
    ),
    "insert from renamed columns": ("INSERT INTO u SELECT a, b FROM t AS x(b, a) WHERE a >= 30",),
    "insert from join": ("INSERT INTO u SELECT t.id + 50, u.v FROM t JOIN u ON t.id = u.id",),
    "update of a row": ("UPDATE t SET v = v + 1 WHERE id = 1",),
    "update of a range": ("UPDATE t SET v = v * 2 WHERE v >= 20",),
    "update from": ("UPDATE t SET v = u.v FROM u WHERE t.id = u.id",),
    "update of a key": ("UPDATE t SET id = 9 WHERE id = 3",),
    "skew": ("UPDATE t SET v = (SELECT sum(v) FROM u) WHERE id = 1",),
    "mirrored skew": ("UPDATE u SET v = (SELECT sum(v) FROM t) WHERE id = 1",),
    "correlated update": ("UPDATE u SET v = (SELECT max(t.v) FROM t WHERE t.id = u.id)",),
    "delete of a row": ("DELETE FROM t WHERE id = 1",),
    "delete of a subquery": ("DELETE FROM t WHERE id IN (SELECT id FROM u)",),
    "delete of nulls": ("DELETE FROM t WHERE v IS NULL",),
    "delete from the other": ("DELETE FROM u WHERE v < 2",),
    "truncate": ("TRUNCATE t",),
    "truncate the other": ("TRUNCATE u",),
    "upsert": (_UPSERT.format(91),),
    "other upsert": (_UPSERT.format(92),),
    "insert missing": (
        "MERGE INTO t USING u AS s ON t.id = s.id"
        " WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)",
    ),
    "delete matched": (
        "MERGE INTO t USING u AS s ON t.id = s.id WHEN MATCHED AND t.v > 15 THEN DELETE",
    ),
    "delete unmatched": (
        "MERGE INTO u USING t AS s ON u.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE",
    ),
    "replace where": ("INSERT INTO t REPLACE WHERE id = 9 SELECT 9, 1",),
    "replace rows": ("INSERT INTO t REPLACE WHERE id >= 2 SELECT id, v + 1 FROM t WHERE id >= 2",),
    "rebuild": ("CREATE OR REPLACE TABLE t AS SELECT * FROM t",),
    "rebuild the other": ("CREATE OR REPLACE TABLE u AS SELECT * FROM t WHERE id < 3",),
    "create as": ("CREATE TABLE n AS SELECT * FROM t",),
    "create if missing": ("CREATE TABLE IF NOT EXISTS n (id INTEGER, v INTEGER)",),
    "swap": (
        "CREATE TABLE n2 AS SELECT * FROM t",
        "DROP TABLE t",
        "ALTER TABLE n2 RENAME TO t",
    ),
    "drop the other": ("DROP TABLE u",),
    "drop if exists, insert": ("DROP TABLE IF EXISTS n", "INSERT INTO u VALUES (12, 0)"),
    "rename the other": ("ALTER TABLE u RENAME TO r",),
    "add column": ("ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 4",),
    "widen column": ("ALTER TABLE t ALTER COLUMN v TYPE BIGINT",),
    "comment": ("COMMENT ON TABLE t IS 'kept'",),
    "read comment, insert": (
        "SELECT comment FROM duckdb_tables() WHERE table_name = 't'",
        "INSERT INTO u VALUES (13, 0)",
    ),
    "create view": ("CREATE VIEW w2 AS SELECT id FROM u",),
    "replace view": ("CREATE OR REPLACE VIEW w AS SELECT id, v FROM t WHERE v >= 25",),
    "insert from view": ("INSERT INTO u SELECT id, v FROM w",),
    "replace macro": ("CREATE OR REPLACE MACRO doubled(x) AS 3 * x",),
    "insert by macro": ("INSERT INTO u SELECT id, doubled(v) FROM t WHERE id = 1",),
    "insert from macro": ("INSERT INTO u SELECT id, 0 FROM big(15)",),
    "list tables, insert": (
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main'",
        "INSERT INTO u VALUES (14, 0)",
    ),
    "show tables, insert": ("SHOW TABLES", "INSERT INTO t VALUES (15, 0)"),
    "describe, insert": ("DESCRIBE t", "INSERT INTO u VALUES (16, 0)"),
    "read, insert": ("SELECT * FROM u", "INSERT INTO t VALUES (17, 17)"),
    "read a row, insert": ("SELECT v FROM t WHERE id = 2", "INSERT INTO u VALUES (18, 18)"),
    "count, insert": ("SELECT count(*) FROM t", "INSERT INTO u VALUES (19, 19)"),
    "sum, delete": ("SELECT sum(v) FROM u", "DELETE FROM t WHERE id = 3"),
    "left join, insert": (
        "SELECT t.id, u.v FROM t LEFT JOIN u ON t.id = u.id",
        "INSERT INTO u VALUES (21, 0)",
    ),
    "insert, read": ("INSERT INTO t VALUES (23, 0)", "SELECT sum(v) FROM u WHERE id < 3"),
}
# DuckDB spellings of statements that it lacks.
_IN_DUCKDB = {
    "INSERT INTO t REPLACE WHERE id = 9 SELECT 9, 1": (
        "DELETE FROM t WHERE id = 9",
        "INSERT INTO t SELECT 9, 1",
    ),
    "INSERT INTO t REPLACE WHERE id >= 2 SELECT id, v + 1 FROM t WHERE id >= 2": (
        "CREATE TEMP TABLE replaced AS SELECT id, v + 1 AS v FROM t WHERE id >= 2",
        "DELETE FROM t WHERE id >= 2",
        "INSERT INTO t SELECT * FROM replaced",
    ),
}
_UNCOUNTED = ("CREATE", "DROP", "ALTER", "COMMENT", "TRUNCATE")

Rows = tuple[Any, ...]
State = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """Results of reads by transaction, and the state afterwards (None after an error)."""

    reads: dict[str, tuple[Rows, ...]]
    state: State | None


def ordered(rows: Sequence[Sequence[Any]]) -> Rows:
    """Return rows in an order that does not depend on how they were read."""
    return tuple(sorted((tuple(row) for row in rows), key=repr))


# The oracle


@cache
def serial(first: str, second: str | None = None) -> Outcome:
    """Return the outcome of running one or two transactions in series in DuckDB."""
    with duckdb.connect() as connection:
        for text in SETUP:
            connection.execute(text)
        reads: dict[str, tuple[Rows, ...]] = {}
        for number, name in enumerate([first] if second is None else [first, second]):
            try:
                found = [_run_in_duckdb(connection, text) for text in TRANSACTIONS[name]]
            except duckdb.Error:
                return Outcome(reads, None)
            reads[f"{number} {name}"] = tuple(found)
        return Outcome(reads, _state_of_duckdb(connection))


def _run_in_duckdb(connection: duckdb.DuckDBPyConnection, text: str) -> Rows:
    *before, last = _IN_DUCKDB.get(text, (text,))
    for one in before:
        connection.execute(one)
    rows = connection.execute(last).fetchall()
    connection.execute("DROP TABLE IF EXISTS replaced")
    return () if text.startswith(_UNCOUNTED) else ordered(rows)


def _state_of_duckdb(connection: duckdb.DuckDBPyConnection) -> State:
    def fetch(text: str) -> list[tuple[Any, ...]]:
        return connection.execute(text).fetchall()

    state: State = {
        "macros": {name for (name,) in fetch(_MACROS)},
        "doubled": fetch("SELECT doubled(5)"),
    }
    for (name,) in fetch("SHOW TABLES"):
        state[name] = _readable(partial(fetch, f"FROM {name}"))
    for name, comment in fetch(
        "SELECT table_name, comment FROM duckdb_tables() WHERE comment > ''"
    ):
        state[f"comment {name}"] = comment
    for name, column, kind in fetch(_COLUMNS):
        state[f"{name}.{column}"] = kind
    return state


_COMMENTS = "SELECT table_name, comment FROM duckdb_tables() WHERE comment > ''"
_MACROS = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE NOT internal"
_COLUMNS = (
    "SELECT table_name, column_name, data_type FROM duckdb_columns()"
    " WHERE table_name IN (SELECT table_name FROM duckdb_tables() WHERE NOT temporary)"
)


def _readable(read: Callable[[], list[tuple[Any, ...]]]) -> Rows | str:
    """Return the rows of a table or view, or "unreadable" if it refers to a dropped object."""
    try:
        return ordered(read())
    except (duckdb.Error, ForklakeError):
        return "unreadable"


# The lake


def run(session: Session, text: str) -> Rows:
    """Run one statement of a transaction, and return its rows as visible to a client."""
    rows = [tuple(row.values()) for row in session.execute(text).arrow().to_pylist()]
    return () if text.startswith(_UNCOUNTED) else ordered(rows)


def state_of(catalog: Catalog) -> State:
    """Return the newest state of a catalog."""
    definitions = catalog.now().state
    body = definitions.children(MacroImplementation, definitions.macro("doubled").macro_id)[0].sql
    state: State = {
        "macros": {macro.macro_name for macro in definitions.macros("main")},
        "doubled": [(5 * int(re.sub(r"\D", "", body)),)],
    }
    tables = definitions.tables("main")
    with Node(catalog) as node:

        def fetch(name: str) -> list[tuple[Any, ...]]:
            found = node.sql(f"FROM {name}")
            assert found is not None
            return found.fetchall()

        for name in [
            *(one.table_name for one in tables),
            *(one.view_name for one in definitions.views("main")),
        ]:
            state[name] = _readable(partial(fetch, name))
    for table in tables:
        if comment := definitions.tags(table.table_id).get("comment"):
            state[f"comment {table.table_name}"] = comment
        for one in definitions.fields(table):
            state[f"{table.table_name}.{one.name}"] = duckdb_type(one)
    return state


def run_pair(base: Session, outer: str, inner: str) -> tuple[Outcome, bool]:
    """Run a transaction on a fork, with another one between its first statement and the rest.

    Every other fork copies its rows instead of inheriting them.
    Return the outcome, and whether the first transaction was refused.
    """
    number = next(_numbers)
    fork, mode = f"pair_{number}", ("inherit", "copy")[number % 2]
    lake = base.attachment("lake")
    catalog = lake.metastore.fork(lake.catalog.name, fork, mode=mode)
    with Session(base.engine.spark) as one:
        one.attach(lake.uri, fork, catalog=fork)
        one.use(fork)
        with one.cursor() as other:
            other.use(fork)
            reads, is_refused = _run(one, other, outer, inner)
            return Outcome(reads, state_of(catalog)), is_refused


def _run(
    one: Session, other: Session, outer: str, inner: str
) -> tuple[dict[str, tuple[Rows, ...]], bool]:
    first, *rest = TRANSACTIONS[outer]
    one.sql("BEGIN")
    before = run(one, first)
    other.sql("BEGIN")
    between = tuple(run(other, text) for text in TRANSACTIONS[inner])
    other.sql("COMMIT")
    after = [run(one, text) for text in rest]
    try:
        one.sql("COMMIT")
    except Conflict:
        return {f"0 {inner}": between}, True
    return {f"0 {inner}": between, f"1 {outer}": (before, *after)}, False


_numbers = count()


def judge(outer: str, inner: str, found: Outcome, *, is_refused: bool) -> str | None:
    """Return why an outcome matches no serial order, or None if it matches one."""
    expected = serial(inner) if is_refused else serial(inner, outer)
    if expected == found:
        return None
    backwards = serial(outer, inner)
    renamed = {f"{1 - int(key[0])}{key[1:]}": rows for key, rows in backwards.reads.items()}
    if not is_refused and Outcome(renamed, backwards.state) == found:
        return None
    return f"{inner!r} within {outer!r}: {found} is not {expected}"


def is_needless(outer: str, inner: str) -> bool:
    """Return whether both orders of two transactions have the same outcome."""
    one, other = serial(inner, outer), serial(outer, inner)
    renamed = {f"{1 - int(key[0])}{key[1:]}": rows for key, rows in other.reads.items()}
    return one.state is not None and one == Outcome(renamed, other.state)


@dataclass
class Counts:
    """Numbers of pairs by how they ended."""

    committed: int = 0
    refused: int = 0
    needless: list[tuple[str, str]] = field(default_factory=list)  # refused, but orders agree

    def add(self, outer: str, inner: str, *, is_refused: bool) -> None:
        """Count a pair."""
        if not is_refused:
            self.committed += 1
            return
        self.refused += 1
        if is_needless(outer, inner):
            self.needless.append((outer, inner))
