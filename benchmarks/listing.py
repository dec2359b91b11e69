"""Benchmark of listing the files of a table in nested forks, against an unforked catalog."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator

from benchmarks.figures import Figure, Setting, figure, median
from benchmarks.forking import seconds_of
from benchmarks.lakes import DATA_PATH, add_files, create_table, data_files, open_postgres
from benchmarks.plans import note_index_use
from forklake import Catalog, Metastore
from forklake.model.entities import Table

DEPTHS = (1, 5, 20)
COLUMNS = 3
CHURN = 5  # files that each fork adds, and inherited files that it ends
GROWTH = 0.2  # growth of the root after it was forked


def listing_depth(setting: Setting) -> Iterator[Figure]:
    """Measure listings at several depths and sizes, in random order."""
    chance = random.Random(7)
    for count in (10_000, setting.size(100_000, 20_000)):
        with setting.server.database() as dsn, open_postgres(dsn) as metastore:
            plain = _loaded(metastore, "plain", count)
            line = _line(metastore, count)
            setting.server.checkpoint()
            listings = {0: _listing(plain)} | {depth: _listing(line[depth]) for depth in DEPTHS}
            lengths = {depth: len(list_files()) for depth, list_files in listings.items()}
            assert set(lengths.values()) == {count}, lengths
            times: dict[int, list[float]] = {depth: [] for depth in listings}
            for _ in range(setting.size(21 if count <= 10_000 else 11, 3)):
                for depth in chance.sample(sorted(listings), len(listings)):
                    gc.collect()
                    times[depth].append(seconds_of(listings[depth]))
            note_index_use(setting, dsn)
        plain_time = median(times[0])
        for depth in DEPTHS:
            yield figure(
                f"listing_depth_{depth}_of_{count}_files",
                1e3 * median(times[depth]),
                "ms",
                baseline=1e3 * plain_time,
                ratio=median(times[depth]) / plain_time,
                target="≤ 1.25 times as long",
            )


def _loaded(metastore: Metastore, name: str, count: int) -> tuple[Catalog, Table]:
    catalog = metastore.create_catalog(name, data_path=DATA_PATH)
    table = create_table(catalog, columns=COLUMNS)
    add_files(catalog, table, count, columns=COLUMNS)
    return catalog, table


def _line(metastore: Metastore, count: int) -> list[tuple[Catalog, Table]]:
    """Create a catalog and nested forks of it, each with some inherited files replaced by its own.

    All but the last grow after they were forked.
    """
    line = [_loaded(metastore, "fork_0", count)]
    number = count
    for depth in range(1, max(DEPTHS) + 1):
        fork = metastore.fork(f"fork_{depth - 1}", f"fork_{depth}")
        table = fork.refresh().table("events")
        with fork.transaction() as transaction:
            inherited = transaction.data_files(table)
            chosen = inherited[depth :: max(1, len(inherited) // CHURN)][:CHURN]
            transaction.end_data_files(table, chosen)
            transaction.add_data_files(table, data_files(number, len(chosen), columns=COLUMNS))
        number += CHURN
        line.append((fork, table))
    for depth, (catalog, table) in enumerate(line[:-1]):
        growth = int(GROWTH * count) if depth == 0 else CHURN
        seen = catalog.now()
        assert len(seen.data_files(table)) == count
        add_files(catalog, table, growth, columns=COLUMNS, first=number)
        number += growth
        if depth:
            files = catalog.now().data_files(table)
            with catalog.transaction() as transaction:
                transaction.end_data_files(table, files[-growth:])
    return line


def _listing(target: tuple[Catalog, Table]) -> Callable[[], list[object]]:
    catalog, table = target
    now = catalog.now()
    return lambda: list(now.data_files(table))
