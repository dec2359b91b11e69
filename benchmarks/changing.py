"""Benchmarks of writes of many rows, of single rows, and of deletes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from functools import partial

import forklake
from benchmarks.figures import Figure, figure, median, percentile
from benchmarks.scanning import ROWS
from benchmarks.tables import (
    LAKE,
    SparkSetting,
    compared,
    create_table,
    fastest,
    rows,
)
from benchmarks.tables import write as write_table

FILES = 10
INLINED = 10


def writes(setting: SparkSetting) -> Iterator[Figure]:
    """Write many rows to a new table, against a new folder."""
    data = rows(setting.spark, setting.size(ROWS, 100_000), FILES)
    numbers = itertools.count()
    ways = {
        "table": lambda: write_table(setting, data, f"written_{next(numbers)}"),
        "folder": lambda: data.write.parquet(str(setting.folder / f"written_{next(numbers)}")),
    }
    yield from compared("write", ways, setting.size(4, 2), "≤ 1.15 times the folder")


def deletes(setting: SparkSetting) -> Iterator[Figure]:
    """Delete 1 % of the rows, each time in a new fork, against the scan that finds them."""
    count = setting.size(ROWS, 100_000)
    create_table(setting, "deleted", count, FILES)
    condition = "id % 100 = 7"
    names = (f"deleting_{number}" for number in itertools.count())

    def delete() -> None:
        name = next(names)
        with forklake.open(setting.uri) as metastore:
            metastore.fork(LAKE, name)
        setting.session.attach(setting.uri, name, catalog=name)
        assert setting.session.delete(f"{name}.main.deleted", condition) == count // 100

    ways = {
        "delete": delete,
        "scan": lambda: setting.session.table("deleted").where(condition).count(),
    }
    yield from compared("delete", ways, setting.size(4, 2), "≤ 3 times the scan")


def inserts(setting: SparkSetting) -> Iterator[Figure]:
    """Insert one row, inlined and into a file, with and without Spark."""
    data = rows(setting.spark, 1, 1)
    row = data.collect()[0].asDict()
    for label, limit, target in (("inlined", INLINED, "≤ 20 ms"), ("file", 0, "≤ 1000 ms")):
        name = f"inserted_{label}"
        setting.session.create_table(name, data.schema)
        catalog = setting.session.attachment(LAKE).catalog
        catalog.set_option("data_inlining_row_limit", limit, table=name)
        times = []
        for number in range(setting.size(100, 10) + 5):
            start = time.perf_counter()
            setting.session.insert(name, [row])
            if number >= 5:
                times.append(1e3 * (time.perf_counter() - start))
        yield figure(f"insert_{label}", median(times), "ms", target=target)
        yield figure(f"insert_{label}_p99", percentile(times, 99), "ms")
        write = partial(setting.session.write, data, name)
        (spent,) = fastest({"write": write}, setting.size(10, 3)).values()
        yield figure(f"insert_{label}_dataframe", 1e3 * spent.seconds, "ms")
