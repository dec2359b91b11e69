"""Query plans of PostgreSQL for statements of Forklake, and which indexes they use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, cast

import psycopg

from benchmarks.figures import Setting
from forklake import Metastore
from forklake.model.ids import CatalogId
from forklake.store.database import Connection, Database, Dialect, Rows
from forklake.store.operations import Operation, Statement, with_parameters
from forklake.store.reservations import Turn

Recorded = dict[str, Mapping[str, Any]]


class _RecordingConnection:
    """Connection that records statements and forwards all calls."""

    def __init__(self, inner: Connection, recorded: Recorded) -> None:
        self._inner = inner
        self._recorded = recorded

    def fetch(self, sql: str, **parameters: Any) -> Rows:
        self._recorded[sql] = parameters
        return self._inner.fetch(sql, **parameters)

    def run(self, operations: Sequence[Operation]) -> list[Rows]:
        self._remember(operations)
        return self._inner.run(operations)

    def commit(self, operations: Sequence[Operation] = ()) -> None:
        self._remember(operations)
        self._inner.commit(operations)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _remember(self, operations: Sequence[Operation]) -> None:
        for operation in operations:
            if isinstance(operation, Statement):
                self._recorded[operation.sql] = operation.parameters


class RecordingDatabase:
    """Database that records each statement with its latest parameters."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.dialect: Dialect = inner.dialect
        self.address = inner.address
        self.recorded: Recorded = {}

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._inner.reading() as connection:
            yield cast("Connection", _RecordingConnection(connection, self.recorded))

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._inner.writing() as connection:
            yield cast("Connection", _RecordingConnection(connection, self.recorded))

    def turn(self, catalog_id: CatalogId) -> AbstractContextManager[Turn]:
        return self._inner.turn(catalog_id)

    def committing(self, catalog_id: CatalogId) -> AbstractContextManager[None]:
        return self._inner.committing(catalog_id)

    def upkeep(self, catalog_id: CatalogId) -> AbstractContextManager[bool]:
        return self._inner.upkeep(catalog_id)

    def is_initialised(self) -> bool:
        return self._inner.is_initialised()

    def load_schema(self) -> None:
        self._inner.load_schema()

    def close(self) -> None:
        self._inner.close()


@dataclass(frozen=True, slots=True)
class Scan:
    """Sequential scan of a table by a statement."""

    table: str
    rows: int
    statement: str


def sequential_scans(
    metastore: Metastore, dsn: str, action: Callable[[Metastore], object], *, least_rows: int = 1000
) -> list[Scan]:
    """Return the sequential scans of large tables that an action causes."""
    recording = RecordingDatabase(metastore.database)
    action(Metastore(recording))
    found = []
    with psycopg.connect(dsn) as connection:
        # Generic plans: prepared statements use them after a few executions.
        connection.execute("SET plan_cache_mode = force_generic_plan")
        for sql, parameters in recording.recorded.items():
            if "advisory" in sql:
                continue
            text = with_parameters(sql, _style)
            answer = connection.execute(
                f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {text}".encode(), dict(parameters)
            )
            plan = answer.fetchall()[0][0][0]["Plan"]
            found += [
                Scan(node["Relation Name"], read, sql)
                for node in _nodes(plan)
                if node["Node Type"] == "Seq Scan" and (read := _rows_read(node)) >= least_rows
            ]
            connection.rollback()
            connection.execute("SET plan_cache_mode = force_generic_plan")
    return found


def _style(name: str) -> str:
    return f"%({name})s"


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)


def _rows_read(node: dict[str, Any]) -> int:
    read = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    return int(read * node["Actual Loops"])


def note_index_use(setting: Setting, dsn: str) -> None:
    """Add the number of scans of each index of a metastore to the setting."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(
            "SELECT indexrelname, idx_scan FROM pg_stat_user_indexes"
            " WHERE schemaname = 'public' AND indexrelname LIKE 'ducklake%'"
        ).fetchall()
    for name, scans in rows:
        setting.index_scans[name] = setting.index_scans.get(name, 0) + scans
