"""Benchmarks of small SQL statements, from the text to the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from benchmarks.figures import Figure, figure, percentile
from benchmarks.tables import LAKE, SparkSetting

INLINED = 100
_WARM = 20


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL statement with a placeholder for a changing number, and its target time.

    A change is timed until `sql` returns, a query until its rows are fetched.
    """

    name: str
    text: str
    target: str
    is_query: bool = False


# In this order: later statements use objects that earlier ones create.
_STATEMENTS = (
    Statement("ddl", "CREATE TABLE made_{} (id BIGINT, at TIMESTAMP)", "≤ 30 ms"),
    Statement("alter", "ALTER TABLE made_{} ADD COLUMN name VARCHAR", "≤ 30 ms"),
    Statement("drop", "DROP TABLE made_{}", "≤ 30 ms"),
    Statement(
        "view", "CREATE VIEW seen_{0} AS SELECT id, name FROM filed WHERE id > {0}", "≤ 30 ms"
    ),
    Statement("schema", "CREATE SCHEMA place_{}", "≤ 30 ms"),
    Statement("insert", "INSERT INTO small VALUES ({}, 'x', 1.25)", "≤ 30 ms"),
    Statement("select_inlined", "SELECT name, price FROM small WHERE id = {}", "≤ 250 ms", True),
    Statement("select_file", "SELECT name FROM filed WHERE id = {}", "≤ 250 ms", True),
    Statement(
        "group",
        "SELECT id % 10 AS k, count(*) FROM filed WHERE id > {} GROUP BY ALL",
        "≤ 250 ms",
        True,
    ),
)


def statements(setting: SparkSetting) -> Iterator[Figure]:
    """Measure definitions, inserts and small queries."""
    session = setting.session
    session.set_option(LAKE, "data_inlining_row_limit", INLINED)
    session.sql("CREATE TABLE small (id BIGINT, name VARCHAR, price DECIMAL(9, 2))")
    session.sql("CREATE TABLE filed AS SELECT range AS id, 'a' || range AS name FROM range(1000)")
    session.sql("INSERT INTO small VALUES (0, 'zero', 0.5)")
    for one in _STATEMENTS:
        times = _timed(_runner(setting, one), setting)
        yield figure(f"sql_{one.name}", median(times), "ms", target=one.target)
        yield figure(f"sql_{one.name}_p99", percentile(times, 99), "ms")
    times = _timed(_query_new_node(setting), setting)
    yield figure("node_of_a_fork", median(times), "ms", target="≤ 30 ms")
    yield figure("node_of_a_fork_p99", percentile(times, 99), "ms")


def _query_new_node(setting: SparkSetting) -> Callable[[int], None]:
    """Return a function that opens DuckDB over a fork not read before, and runs one query."""
    metastore = setting.session.attachment(LAKE).metastore
    count = setting.size(100, 10) + _WARM
    metastore.fork_many(LAKE, [f"fork-{number}" for number in range(count)])

    def run(number: int) -> None:
        with metastore.duckdb(f"fork-{number}") as node:
            node.prepare("FROM filed")
            node.connection.sql(f"SELECT name FROM filed WHERE id = {number}").fetchall()

    return run


def _runner(setting: SparkSetting, statement: Statement) -> Callable[[int], None]:
    def run(number: int) -> None:
        rows = setting.session.sql(statement.text.format(number))
        if statement.is_query:
            rows.collect()

    return run


def _timed(run: Callable[[int], object], setting: SparkSetting) -> list[float]:
    times = []
    for number in range(setting.size(100, 10) + _WARM):
        start = time.perf_counter()
        run(number)
        if number >= _WARM:
            times.append(1e3 * (time.perf_counter() - start))
    return times
