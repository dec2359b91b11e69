"""Benchmarks of forks: latency, size, and how a million forks affect other operations."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

import psycopg

from benchmarks.crew import Crew
from benchmarks.figures import Figure, Setting, figure, median, percentile
from benchmarks.lakes import (
    DATA_PATH,
    add_files,
    create_table,
    data_file,
    open_postgres,
    postgres_uri,
)
from benchmarks.plans import note_index_use, sequential_scans
from benchmarks.writers import prepare_finder, prepare_writer
from forklake import Metastore

TABLES = 10
COLUMNS = 10


def seconds_of(action: Callable[[], object]) -> float:
    """Return the seconds that an action takes."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def stored_bytes(dsn: str) -> int:
    """Return the size of all tables of a metastore with their indexes."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(
            "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class"
            " WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
        ).fetchall()
    return int(rows[0][0])


def fork_latency(setting: Setting) -> Iterator[Figure]:
    """Measure forks of a parent with many files, and copies of it."""
    files = setting.size(100_000, 5_000)
    count = setting.size(2_000, 100)
    with setting.server.database() as dsn, open_postgres(dsn) as metastore:
        parent = metastore.create_catalog("parent", data_path=DATA_PATH)
        for number in range(TABLES):
            table = create_table(parent, f"events_{number}", columns=COLUMNS)
            add_files(parent, table, files // TABLES, columns=COLUMNS)
        setting.server.checkpoint()
        metastore.fork("parent", "warm")
        before = stored_bytes(dsn)
        forks = [_fork_seconds(metastore, number) for number in range(count)]
        size = (stored_bytes(dsn) - before) / count
        copies = []
        for number in range(setting.size(3, 2)):
            copies.append(
                seconds_of(lambda n=number: metastore.fork("parent", f"copy_{n}", mode="copy"))  # type: ignore[misc]
            )
            forks += [_fork_seconds(metastore, count + 100 * number + one) for one in range(100)]
        full = _full_copy_seconds(dsn, int(parent.catalog_id), setting.size(3, 2))
        scans = sequential_scans(metastore, dsn, _list_and_commit)
        note_index_use(setting, dsn)
    fork, copy = median(forks), median(copies)
    yield figure("fork_latency", 1e3 * fork, "ms", target="≤ 2 ms")
    yield figure("fork_latency_p99", 1e3 * percentile(forks, 99), "ms")
    yield figure("fork_bytes", size, "bytes", target="≤ 2048 bytes")
    yield figure(
        "fork_against_copy",
        1e3 * fork,
        "ms",
        baseline=1e3 * copy,
        ratio=copy / fork,
        target="≥ 1000 times faster",
    )
    yield figure("fork_against_full_copy", 1e3 * fork, "ms", baseline=1e3 * full, ratio=full / fork)
    yield figure("fork_sequential_scans", len(scans), "scans", target="= 0")


def _full_copy_seconds(dsn: str, catalog_id: int, times: int) -> float:
    """Return the seconds of a copy that includes the statistics of files, which forks share."""
    tables = ("data_file", "file_column_stats")
    found = []
    with psycopg.connect(dsn) as connection:
        for name in tables:
            text = f"CREATE TABLE full_{name} (LIKE ducklake_{name} INCLUDING ALL)"
            connection.execute(text.encode())
        connection.commit()
        for _ in range(times):
            begin = time.perf_counter()
            for name in tables:
                text = f"INSERT INTO full_{name} SELECT * FROM ducklake_{name}"
                connection.execute(f"{text} WHERE catalog_id = %s".encode(), (catalog_id,))
            connection.commit()
            found.append(time.perf_counter() - begin)
            for name in tables:
                connection.execute(f"TRUNCATE full_{name}".encode())
            connection.commit()
    return median(found)


def _fork_seconds(metastore: Metastore, number: int) -> float:
    return seconds_of(lambda: metastore.fork("parent", f"fork_{number}"))


def _list_and_commit(metastore: Metastore) -> None:
    """Run frequent operations: look a catalog up, fork it, list files, commit."""
    metastore.fork("parent", "looked_at")
    for name in ("parent", "looked_at"):
        catalog = metastore.catalog(name)
        now = catalog.now()
        table = now.state.table("events_0")
        files = now.data_files(table)
        now.statistics(table)
        now.column_statistics(table)
        now.file_statistics(table, [file.data_file_id for file in files[:10]])
        with catalog.transaction() as transaction:
            transaction.add_data_files(table, [data_file(0)])


def million_forks(setting: Setting) -> Iterator[Figure]:
    """Create a million forks of one catalog, and compare operations with those among few."""
    many, few = setting.size(1_000_000, 20_000), 1_000
    batch = 10_000
    with setting.server.database() as large, setting.server.database() as small:
        with open_postgres(small) as metastore:
            _parent(metastore)
            metastore.fork_many("parent", _names(0, few))
        with open_postgres(large) as metastore:
            _parent(metastore)
            metastore.fork("parent", "warm")
            before = stored_bytes(large)
            rates = []
            for first in range(0, many, batch):
                names = _names(first, batch)
                rates.append(batch / seconds_of(lambda n=names: metastore.fork_many("parent", n)))  # type: ignore[misc]
            size = (stored_bytes(large) - before) / many
            overall = many / sum(batch / rate for rate in rates)
            for dsn in (large, small):
                _analyze(dsn)
            scans = sequential_scans(metastore, large, _use_forks)
        yield figure("million_forks", overall, "forks/s", target="≥ 20000 forks/s")
        yield figure("million_forks_last_batch", median(rates[-5:]), "forks/s")
        yield figure("million_forks_bytes", size, "bytes", target="≤ 2048 bytes")
        yield figure("million_forks_sequential_scans", len(scans), "scans", target="= 0")
        yield from _compared(setting, (large, many), (small, few))
        note_index_use(setting, large)


def _names(first: int, count: int) -> list[str]:
    return [f"fork_{number}" for number in range(first, first + count)]


def _parent(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent", data_path=DATA_PATH)
    table = create_table(parent)
    with parent.transaction() as transaction:
        transaction.add_data_files(table, [data_file(number) for number in range(100)])


def _analyze(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _use_forks(metastore: Metastore) -> None:
    metastore.fork("parent", "looked_at")
    metastore.fork_many("parent", [f"looked_at_{number}" for number in range(10)])
    metastore.catalogs(prefix="fork_7", limit=100)
    for name in ("fork_777", "looked_at"):
        catalog = metastore.catalog(name)
        now = catalog.now()
        table = now.state.table("events")
        now.data_files(table)
        with catalog.transaction() as transaction:
            transaction.add_data_files(table, [data_file(0)])
    metastore.rename_catalog("looked_at", "looked_at_again")
    metastore.drop_catalog("looked_at_again")
    metastore.children("fork_777")
    metastore.fork("fork_777", "looked_at_as_copy", mode="copy")
    metastore.materialize("fork_778")


def _compared(setting: Setting, large: tuple[str, int], small: tuple[str, int]) -> Iterator[Figure]:
    """Compare look-ups and commits among many catalogs with the same among few."""
    chance = random.Random(7)
    processes = 4
    for name, prepare, unit in (
        ("million_forks_lookup", prepare_finder, "lookups/s"),
        ("million_forks_commit", prepare_writer, "commits/s"),
    ):
        crews = []
        for dsn, count in (large, small):
            chosen = _chosen(chance, count, 50 * processes)
            arguments = [
                (postgres_uri(dsn), chosen[number::processes]) for number in range(processes)
            ]
            crews.append(Crew(prepare, arguments))
        rates: list[list[float]] = [[], []]
        for _ in range(setting.size(7, 2)):
            for crew, found in zip(crews, rates, strict=True):
                found.append(crew.run(setting.size(3, 1)).rate)
        for crew in crews:
            crew.close()
        ratio = median(two / one for one, two in zip(*rates, strict=True))
        yield figure(
            name,
            median(rates[0]),
            unit,
            baseline=median(rates[1]),
            ratio=ratio,
            target="≤ 1.3 times as long as among 1,000",
        )


def _chosen(chance: random.Random, count: int, wanted: int) -> list[str]:
    return [f"fork_{number}" for number in chance.sample(range(count), wanted)]
