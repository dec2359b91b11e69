"""How long small statements of SQL take, from the text to the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.figures import Figure, figure, percentile
from benchmarks.tables import LAKE, SparkSetting

INLINED = 100
_WARM = 20


def statements(setting: SparkSetting) -> Iterator[Figure]:
    """Definitions and inserts, which are done when `sql` returns, and queries with their rows."""
    session = setting.session
    session.set_option(LAKE, "data_inlining_row_limit", INLINED)
    session.sql("CREATE TABLE small (id BIGINT, name VARCHAR, price DECIMAL(9, 2))")
    session.sql("CREATE TABLE filed AS SELECT range AS id, 'a' || range AS name FROM range(1000)")
    session.sql("INSERT INTO small VALUES (0, 'zero', 0.5)")
    texts: dict[str, tuple[Callable[[int], str], str]] = {
        "ddl": (lambda number: f"CREATE TABLE made_{number} (id BIGINT, at TIMESTAMP)", "≤ 30 ms"),
        "insert": (lambda number: f"INSERT INTO small VALUES ({number}, 'x', 1.25)", "≤ 30 ms"),
        "select_inlined": (
            lambda number: f"SELECT name, price FROM small WHERE id = {number}",
            "≤ 250 ms",
        ),
        "select_file": (lambda number: f"SELECT name FROM filed WHERE id = {number}", "≤ 250 ms"),
        "group": (
            lambda number: (
                f"SELECT id % 10 AS k, count(*) FROM filed WHERE id > {number} GROUP BY ALL"
            ),
            "≤ 250 ms",
        ),
    }
    for name, (text, target) in texts.items():
        changes = name in ("ddl", "insert")

        def run(number: int, text: Callable[[int], str] = text, changes: bool = changes) -> None:
            rows = session.sql(text(number))
            if not changes:
                rows.collect()

        times = _timed(run, setting)
        yield figure(f"sql_{name}", median(times), "ms", target=target)
        yield figure(f"sql_{name}_p99", percentile(times, 99), "ms")


def _timed(run: Callable[[int], object], setting: SparkSetting) -> list[float]:
    times = []
    for number in range(setting.size(100, 10) + _WARM):
        start = time.perf_counter()
        run(number)
        if number >= _WARM:
            times.append(1e3 * (time.perf_counter() - start))
    return times
