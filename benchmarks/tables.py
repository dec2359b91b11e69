"""Tables with data in them, and what they are compared with: folders of the same Parquet files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
from pyspark.sql import DataFrame, SparkSession

from benchmarks.figures import Figure, Sizes, figure
from forklake import Session

LAKE = "lake"
_WARM_UP = 2  # rounds that do not count


@dataclass(frozen=True, slots=True)
class SparkSetting(Sizes):
    """A session with a new catalog attached, and a folder for everything else."""

    session: Session
    uri: str
    folder: Path

    @property
    def spark(self) -> SparkSession:
        """The Spark that everything runs on."""
        return self.session.engine.spark


def rows(spark: SparkSession, count: int, tasks: int) -> DataFrame:
    """Rows of six columns, in order of the first, made by so many tasks."""
    return spark.range(0, count, 1, tasks).selectExpr(
        "id",
        "CAST(id % 1000 AS INT) AS k",
        "timestamp_micros(1704067200000000 + id * 1000000) AS at",
        "id * 0.37D AS x",
        "concat('name-', id % 9973) AS name",
        "CAST(id % 100000 / 100 AS DECIMAL(12, 2)) AS price",
    )


def create_table(setting: SparkSetting, name: str, count: int, files: int) -> None:
    """A table with so many rows in so many files."""
    write(setting, rows(setting.spark, count, files), name)


def write(setting: SparkSetting, data: DataFrame, name: str) -> None:
    """Write a new table, a file for each task."""
    setting.session.create_table(name, data.schema)
    catalog = setting.session.attachment(LAKE).catalog
    catalog.set_option("per_thread_output", True, table=name)
    setting.session.write(data, name)


def plain_folder(setting: SparkSetting, name: str) -> str:
    """A folder with the data files of a table and nothing else."""
    folder = setting.folder / "plain" / name
    folder.mkdir(parents=True)
    view = setting.session.viewing(setting.session.attachment(LAKE))
    for number, file in enumerate(view.scan_files(view.state.table(name))):
        os.link(file.path, folder / f"{number}.parquet")
    return str(folder)


Way = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Spent:
    """What something took: time on the clock, and of processors, in seconds."""

    seconds: float
    cpu: float


def fastest(ways: Mapping[str, Way], rounds: int) -> dict[str, Spent]:
    """The least that each way took, in turn, each time in the other order, after two to warm up."""
    taken: dict[str, list[Spent]] = {name: [] for name in ways}
    for number in range(rounds + _WARM_UP):
        for name in list(ways)[:: 1 if number % 2 else -1]:
            cpu, start = _cpu_seconds(), time.perf_counter()
            ways[name]()
            taken[name].append(Spent(time.perf_counter() - start, _cpu_seconds() - cpu))
    return {
        name: Spent(
            min(one.seconds for one in spent[_WARM_UP:]), min(one.cpu for one in spent[_WARM_UP:])
        )
        for name, spent in taken.items()
    }


def _cpu_seconds() -> float:
    """The processor time of this process and all below it, Spark's among them."""
    process = psutil.Process()
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return float(sum(one.user + one.system for one in times))


def compared(name: str, ways: Mapping[str, Way], rounds: int, target: str) -> Iterator[Figure]:
    """The first of two ways against the second, by the clock and by processor time."""
    best = fastest(ways, rounds)
    ours, theirs = (best[one] for one in ways)
    yield figure(
        name,
        ours.seconds,
        "s",
        baseline=theirs.seconds,
        ratio=ours.seconds / theirs.seconds,
        target=target,
    )
    yield figure(f"{name}_cpu", ours.cpu, "s", baseline=theirs.cpu, ratio=ours.cpu / theirs.cpu)
