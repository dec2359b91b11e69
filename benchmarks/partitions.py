"""Benchmark of PostgreSQL at scale: the same catalogs with and without partitions.

python -m benchmarks.partitions                     up to 10,000,000 files in 100,000 catalogs
python -m benchmarks.partitions --quick             small and fast, printed only
python -m benchmarks.partitions --partitions 64     another number of partitions

Rows are generated on the server, 100 files per catalog. Each operation is measured alternately on
both metastores, on random catalogs that were not used before.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

import forklake
from benchmarks.figures import Figure, Setting, figure, keep_figures, median, percentile
from benchmarks.forking import stored_bytes
from benchmarks.lakes import DATA_PATH, data_file, postgres_uri
from benchmarks.server import running_server
from forklake import Metastore
from forklake.store.upgrade import upgrade

RESULTS = Path(__file__).parent / "results" / "partitions.jsonl"
FILES = 100  # per catalog
SIZES = (1_000, 10_000, 100_000)  # catalogs
QUICK = (100, 500)
REPEATS = 300
# Adds a table with files to each catalog that has none, in the snapshot that created the catalog.
_LOAD = (
    "DROP INDEX ducklake_data_file_number, ducklake_data_file_path",
    """
CREATE TEMP TABLE fresh AS
SELECT c.catalog_id, c.begin_snapshot, s.schema_id, row_number() OVER (ORDER BY c.catalog_id) - 1
    + (SELECT last_value + 1 FROM ducklake_entity_id_seq) AS table_id,
    (row_number() OVER (ORDER BY c.catalog_id) - 1) * {files}
    + (SELECT last_value + 1 FROM ducklake_file_id_seq) AS first_file
FROM ducklake_catalog c JOIN ducklake_schema s ON s.catalog_id = c.catalog_id
WHERE NOT EXISTS (SELECT 1 FROM ducklake_table t WHERE t.catalog_id = c.catalog_id)""",
    """
INSERT INTO ducklake_table SELECT catalog_id, table_id, gen_random_uuid(), begin_snapshot, NULL,
    schema_id, 'events', 'events/', true FROM fresh""",
    """
INSERT INTO ducklake_column (catalog_id, column_id, begin_snapshot, table_id, column_order,
    column_name, column_type, nulls_allowed)
SELECT catalog_id, 1, begin_snapshot, table_id, 1, 'c0', 'int64', true FROM fresh""",
    """
INSERT INTO ducklake_table_stats (catalog_id, table_id, record_count, next_row_id, file_size_bytes,
    begin_snapshot)
SELECT catalog_id, table_id, 10000 * {files}, 10000 * {files}, 1048576 * {files}, begin_snapshot
FROM fresh""",
    """
INSERT INTO ducklake_table_column_stats (catalog_id, table_id, column_id, contains_null, min_value,
    max_value, begin_snapshot)
SELECT catalog_id, table_id, 1, false, '1000000', '1009999', begin_snapshot FROM fresh""",
    """
INSERT INTO ducklake_data_file (catalog_id, data_file_id, table_id, begin_snapshot, file_order,
    path, path_is_relative, file_format, record_count, file_size_bytes, footer_size, row_id_start)
SELECT catalog_id, first_file + n, table_id, begin_snapshot, n,
    'main/events/ducklake-' || lpad(to_hex(first_file + n), 32, '0') || '.parquet', true,
    'parquet', 10000, 1048576, 1024, 10000 * n
FROM fresh, generate_series(0, {files} - 1) n""",
    """
INSERT INTO ducklake_file_column_stats (catalog_id, data_file_id, table_id, column_id,
    column_size_bytes, value_count, null_count, min_value, max_value)
SELECT catalog_id, first_file + n, table_id, 1, 80000, 10000, 0, '1000000', '1009999'
FROM fresh, generate_series(0, {files} - 1) n""",
    "SELECT setval('ducklake_entity_id_seq', max(table_id)),"
    " setval('ducklake_file_id_seq', max(first_file) + {files} - 1) FROM fresh",
    "DROP TABLE fresh",
)


class Side:
    """One of the two metastores that are compared."""

    def __init__(self, dsn: str, partitions: int) -> None:
        self.dsn = dsn
        self.metastore: Metastore = forklake.open(
            postgres_uri(dsn), create=True, partitions=partitions
        )
        self.count = 0
        self.used = 0

    def grow(self, count: int) -> float:
        """Create catalogs with files until there are `count`; return the seconds."""
        begin = time.perf_counter()
        names = [f"lake_{number:06}" for number in range(self.count, count)]
        self.metastore.create_catalogs(names, data_path=DATA_PATH)
        with psycopg.connect(self.dsn) as connection:
            for text in _LOAD:
                connection.execute(text.format(files=FILES).encode())
        upgrade(self.metastore.database)  # rebuilds the indexes, which is faster than updating
        self.count = count
        return time.perf_counter() - begin

    def vacuum(self) -> float:
        """Vacuum and analyze all tables; return the seconds."""
        begin = time.perf_counter()
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        return time.perf_counter() - begin


def _look_up(side: Side, name: str) -> None:
    side.metastore.catalog(name)


def _list(side: Side, name: str) -> None:
    now = side.metastore.catalog(name).now()
    assert len(now.data_files(now.state.table("events"))) >= FILES


def _commit(side: Side, name: str) -> None:
    catalog = side.metastore.catalog(name)
    with catalog.transaction() as transaction:
        transaction.add_data_files(transaction.table("events"), [data_file(1, columns=1)])


def _fork(side: Side, name: str) -> None:
    side.metastore.fork(name, f"fork_of_{name}")


def _list_fork(side: Side, name: str) -> None:
    _list(side, f"fork_of_{name}")


def _drop_fork(side: Side, name: str) -> None:
    side.metastore.drop_catalog(f"fork_of_{name}")


# Operations in order; each runs on the same catalogs.
OPERATIONS: dict[str, Callable[[Side, str], None]] = {
    "lookup": _look_up,
    "open_and_list": _list,
    "commit": _commit,
    "fork": _fork,
    "open_and_list_fork": _list_fork,
    "drop": _drop_fork,
}


def measure(setting: Setting, partitions: int) -> Iterator[Figure]:
    """Yield all figures, at increasing sizes."""
    with setting.server.database() as plain_dsn, setting.server.database() as parts_dsn:
        sides = (Side(plain_dsn, 0), Side(parts_dsn, partitions))
        for count in QUICK if setting.quick else SIZES:
            with ThreadPoolExecutor() as pool:
                seconds = list(pool.map(lambda side, n=count: side.grow(n), sides))
            yield from _compared(f"load_{count}", "s", seconds)
            yield from _compared(f"vacuum_{count}", "s", [side.vacuum() for side in sides])
            setting.server.checkpoint()
            yield from _operations(sides, count, setting.size(REPEATS, 30))
            sizes = [stored_bytes(side.dsn) / 1e6 for side in sides]
            yield from _compared(f"size_{count}", "MB", sizes)
        yield from _bulk(sides, setting.size(2_000, 100))
        for side in sides:
            side.metastore.close()


def _operations(sides: tuple[Side, Side], count: int, repeats: int) -> Iterator[Figure]:
    chance = random.Random(count)
    names = [f"lake_{number:06}" for number in chance.sample(range(2, count), repeats)]
    for operation, run in OPERATIONS.items():
        times: tuple[list[float], list[float]] = ([], [])
        for name in ["lake_000000", "lake_000001", *names]:
            for side, found in zip(sides, times, strict=True):
                begin = time.perf_counter()
                run(side, name)
                found.append(1e3 * (time.perf_counter() - begin))
        kept = [found[2:] for found in times]  # the first statements include their planning
        # The fast times are disturbed least by other work on the machine.
        best = [percentile(one, 10) for one in kept]
        yield from _compared(f"{operation}_p10_{count}", "ms", best)
        yield from _compared(f"{operation}_{count}", "ms", [median(one) for one in kept])
        p95 = [percentile(one, 95) for one in kept]
        yield from _compared(f"{operation}_p95_{count}", "ms", p95)


def _bulk(sides: tuple[Side, Side], count: int) -> Iterator[Figure]:
    """Drop very many catalogs, and delete all their rows."""
    steps: dict[str, Callable[[Side], object]] = {
        "drop_all": lambda side: side.metastore.drop_catalogs(
            [row.catalog_name for row in side.metastore.all_catalogs(prefix="lake_")]
        ),
        "reclaim": lambda side: _reclaim(side, count),
        "vacuum_after": Side.vacuum,
    }
    for name, run in steps.items():
        seconds = []
        for side in sides:
            begin = time.perf_counter()
            run(side)
            seconds.append(time.perf_counter() - begin)
        yield from _compared(name, "s", seconds)


def _reclaim(side: Side, count: int) -> None:
    done = 0
    while done < count:
        done += len(side.metastore.reclaim_dropped(1_000).catalogs)
        assert done


def _compared(name: str, unit: str, values: list[float]) -> Iterator[Figure]:
    plain, parts = values
    yield figure(name, parts, unit, baseline=plain, ratio=parts / plain)


def main() -> None:
    """Measure, print and keep the figures."""
    parser = argparse.ArgumentParser(description="Measure PostgreSQL at scale.")
    parser.add_argument("--quick", action="store_true", help="use small sizes and write no results")
    parser.add_argument(
        "--partitions", type=int, default=16, help="number of partitions of the large tables"
    )
    arguments = parser.parse_args()
    with running_server() as server:
        found = []
        for one in measure(Setting(server, quick=arguments.quick), arguments.partitions):
            print(one.line(), flush=True)
            found.append(one)
        if not arguments.quick:
            keep_figures(RESULTS, found)


if __name__ == "__main__":
    main()
