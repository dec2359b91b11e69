"""Benchmarks of scans, against folders with the same files, and of planning very many files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from benchmarks import lakes
from benchmarks.figures import Figure, figure
from benchmarks.tables import LAKE, SparkSetting, compared, create_table, fastest, plain_folder

ROWS = 10_000_000


def read_all(data: DataFrame) -> object:
    """Run an aggregate that reads all values of all columns."""
    return data.agg(
        F.sum("id"), F.sum("k"), F.max("at"), F.sum("x"), F.max("name"), F.sum("price")
    ).collect()


def scans(files: int, setting: SparkSetting) -> Iterator[Figure]:
    """Scan a whole table, as it was written and after deleting some rows."""
    files, rounds = setting.size(files, min(files, 50)), setting.size(4, 2)
    create_table(setting, "scanned", setting.size(ROWS, 100_000), files)
    folder = plain_folder(setting, "scanned")
    ways = {
        "table": lambda: read_all(setting.session.table("scanned")),
        "folder": lambda: read_all(setting.spark.read.parquet(folder)),
    }
    yield from compared(f"scan_of_{files}_files", ways, rounds, "≤ 1.1 times the folder")
    setting.session.delete("scanned", "id % 100 = 7")
    yield from compared(f"scan_of_{files}_files_deleted", ways, rounds, "≤ 1.4 times the folder")


def planning(setting: SparkSetting) -> Iterator[Figure]:
    """Plan scans, from the name of a table to Spark tasks, of files that exist only as metadata."""
    for files, seconds in ((10_000, 1), (setting.size(100_000, 20_000), 5)):
        name = f"planned_{files}"
        catalog = setting.session.attachment(LAKE).catalog
        table = lakes.create_table(catalog, name, columns=6)
        lakes.add_files(catalog, table, files, columns=6)
        rounds = setting.size(5, 2)
        for label, where, target in (
            ("", "true", f"≤ {seconds} s"),
            ("_selective", f"c0 = {files // 2 * lakes.ROWS_PER_FILE}", ""),
        ):
            plan = partial(_plan, setting, name, where)
            (spent,) = fastest({"plan": plan}, rounds).values()
            yield figure(f"planning_of_{files}_files{label}", spent.seconds, "s", target=target)


def _plan(setting: SparkSetting, name: str, where: str) -> int:
    return planned(setting.session.table(name).where(where))


def planned(data: DataFrame) -> int:
    """Plan a query, and return how many tasks would read the data."""
    frame: Any = data
    tasks: int = frame._jdf.queryExecution().toRdd().getNumPartitions()
    return tasks


def selective(setting: SparkSetting) -> Iterator[Figure]:
    """Read the rows of one file out of very many."""
    files, count = setting.size(10_000, 300), setting.size(1_000_000, 30_000)
    create_table(setting, "many", count, files)
    folder = plain_folder(setting, "many")
    wanted = f"id BETWEEN {count // 2} AND {count // 2 + count // files - 1}"
    found = setting.session.table("many").where(wanted)
    assert len(found.collect()) == count // files
    yield figure("selective_files", _files_read(found), "files", target="= 1")
    ways = {
        "folder": lambda: setting.spark.read.parquet(folder).where(wanted).collect(),
        "table": lambda: setting.session.table("many").where(wanted).collect(),
    }
    theirs, ours = fastest(ways, setting.size(2, 1)).values()
    yield figure(
        "selective_scan",
        ours.seconds,
        "s",
        baseline=theirs.seconds,
        ratio=theirs.seconds / ours.seconds,
        target="≥ 10 times faster than the folder",
    )


def _files_read(data: DataFrame) -> int:
    """Return how many files Spark reads for a plan with one scan."""
    frame: Any = data
    execution = frame._jdf.queryExecution()
    execution.toRdd().count()
    count: int = execution.executedPlan().collectLeaves().head().metrics().apply("numFiles").value()
    return count
