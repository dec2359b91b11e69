"""Benchmarks of metastores in a file: commits per second and forks, in SQLite and in DuckDB."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import forklake
from benchmarks.crew import Crew
from benchmarks.figures import Figure, Setting, figure, median
from benchmarks.forking import seconds_of
from benchmarks.lakes import DATA_PATH, create_table, data_file
from benchmarks.writers import prepare_writer

_WRITERS = {"sqlite": (1, 16), "duckdb": (1,)}  # a DuckDB file belongs to one process


def embedded(setting: Setting) -> Iterator[Figure]:
    """Measure each kind of file, with as many processes as it allows."""
    for kind, crews in _WRITERS.items():
        with tempfile.TemporaryDirectory(prefix="forklake-bench-") as folder:
            uri = f"ducklake:{kind}:{Path(folder) / 'metastore'}"
            forks = _prepare(uri, setting.size(200, 20))
            yield figure(f"{kind}_fork_latency", 1e3 * median(forks), "ms")
            for count in crews:
                arguments = [(uri, [f"writer_{number}"]) for number in range(count)]
                with Crew(prepare_writer, arguments) as crew:
                    rounds = [crew.run(setting.size(4, 1)) for _ in range(setting.size(4, 1))]
                rate = median(one.rate for one in rounds)
                yield figure(f"{kind}_commits_of_{count}", rate, "commits/s")
                p99 = 1e3 * median(one.percentile(99) for one in rounds)
                yield figure(f"{kind}_commits_of_{count}_p99", p99, "ms")
                failures = sum(one.failures for one in rounds)
                yield figure(f"{kind}_commits_of_{count}_failures", failures, "failures")


def _prepare(uri: str, forks: int) -> list[float]:
    """Create catalogs for all writers and fork one; return the seconds of each fork."""
    with forklake.open(uri, create=True) as metastore:
        for number in range(max(max(counts) for counts in _WRITERS.values())):
            catalog = metastore.create_catalog(f"writer_{number}", data_path=DATA_PATH)
            table = create_table(catalog)
            with catalog.transaction() as transaction:
                transaction.add_data_files(table, [data_file(0)])
        return [
            seconds_of(lambda n=number: metastore.fork("writer_0", f"fork_{n}"))  # type: ignore[misc]
            for number in range(forks)
        ]
