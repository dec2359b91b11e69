"""Commits and forks per second on every kind of metastore, one after another.

    python -m benchmarks.backends

Servers are started by the benchmark with their default settings. Without MariaDB on the machine,
its line is missing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fix_mariadb import SERVER, MariadbServer
from tests.fix_postgres import PostgresServer

import forklake
from benchmarks.crew import Crew
from benchmarks.figures import median
from benchmarks.forking import seconds_of
from benchmarks.lakes import DATA_PATH, create_table
from benchmarks.writers import prepare_writer

_WRITERS = 8
_ROUNDS, _SECONDS, _FORKS = 3, 2, 100


@contextmanager
def places() -> Iterator[dict[str, str]]:
    """Start servers, and yield addresses of empty metastores by the name of the database."""
    with tempfile.TemporaryDirectory(prefix="forklake-bench-") as folder, PostgresServer() as one:
        found = {
            "PostgreSQL": f"ducklake:postgres:{one.dsn()}",
            "SQLite": f"ducklake:sqlite:{Path(folder) / 'lake.db'}",
            "DuckDB": f"ducklake:duckdb:{Path(folder) / 'lake.duckdb'}",
        }
        if SERVER is None:
            yield found
            return
        with MariadbServer() as other:
            yield found | {"MariaDB": f"ducklake:mysql:{other.address()} database=lake"}


def forks(uri: str) -> float:
    """Create a catalog for each writer, and fork one; return the milliseconds of a fork."""
    with forklake.open(uri, create=True) as metastore:
        for number in range(_WRITERS):
            create_table(metastore.create_catalog(f"writer_{number}", data_path=DATA_PATH))
        return 1e3 * median(
            seconds_of(lambda n=number: metastore.fork("writer_0", f"fork_{n}"))  # type: ignore[misc]
            for number in range(_FORKS)
        )


def commits(uri: str, names: list[str]) -> float:
    """Return the commits per second of one process for each name of a catalog."""
    with Crew(prepare_writer, [(uri, [name]) for name in names]) as crew:
        rounds = [crew.run(_SECONDS) for _ in range(_ROUNDS)]
    assert not any(one.failures for one in rounds)
    return median(one.rate for one in rounds)


def main() -> None:
    """Measure and print a table."""
    print("| metastore | a fork | one writer | 8 writers, a catalog each | 8 writers, one table |")
    print("|---|---|---|---|---|")
    with places() as found:
        for name, uri in found.items():
            fork = forks(uri)
            crews = [["writer_0"], [f"writer_{number}" for number in range(_WRITERS)]]
            crews.append(["writer_0"] * _WRITERS)
            rates = [
                f"{commits(uri, crew):,.0f} commits/s" if len(crew) == 1 or name != "DuckDB" else ""
                for crew in crews  # a DuckDB file belongs to one process
            ]
            print(f"| {name} | {fork:.2f} ms | {' | '.join(rates)} |", flush=True)


if __name__ == "__main__":
    main()
