"""Benchmark of a workbook over very many rows on a Spark cluster: duration and memory.

    python -m benchmarks.pipeline --rows 50000000

Several worktasks load rows from files into a table in parallel. The rows are then transformed,
aggregated in two ways and checked, and the fork in which this happens is merged. A standalone
master, two workers and their executors run on this machine; the driver is this process and its JVM.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
from pyspark.sql import SparkSession
from tests.spark.cluster_job import executors, users_spark
from tests.spark.test_cluster import cluster

import forklake
from forklake.model.figures import size
from forklake.reagent import LocalPlace, RunReport, Workbook, make_workbook, run_workbook

PARTS = 4
RESULTS = Path(__file__).with_name("results") / "pipeline.json"
_DRIVER = "org.apache.spark.deploy.SparkSubmit"
_INTERVAL = 0.5  # seconds between two samples of memory
_SOURCE = f"""
    SELECT id, CAST(pmod(hash(id), 1000000) AS INT) AS user,
      timestamp_ntz'2026-01-01' + make_dt_interval(0, 0, 0, pmod(id * 7919, 31536000)) AS at,
      CAST(pmod(id * 31, 100000) / 100.0 - 5 AS DOUBLE) AS amount,
      element_at(array('view', 'cart', 'sale'), CAST(pmod(id, 3) + 1 AS INT)) AS kind,
      CAST(pmod(id, {PARTS}) AS INT) AS part
    FROM range(0, {{rows}}, 1, {{tasks}})
"""


# The workbook


def workbook(folder: Path, rows: int) -> Workbook:
    """Return the workbook: ingest, transform, aggregate and check, in a fork."""
    columns = 'id BIGINT, "user" INTEGER, at TIMESTAMP, amount DOUBLE, kind VARCHAR'
    tasks: dict[str, Any] = {"table": {"sql": f"CREATE TABLE events ({columns})"}}
    for part in range(PARTS):
        tasks[f"ingest-{part}"] = {
            "after": ["table"],
            "inputs": {"source": {"parquet": f"source/part={part}/*.parquet"}},
            "sql": 'SELECT id, "user", at, amount, kind FROM source',
            "output": {"table": "events"},
        }
    tasks["transform"] = {
        "inputs": {"events": {"table": "events"}},
        "sql": 'SELECT id, "user", at, CAST(at AS DATE) AS day, kind, round(amount * 1.19, 2) AS'
        " gross FROM events WHERE amount > 0",
        "output": {"table": "clean", "partition_by": ["month(at)"]},
        "checks": [
            {"row_count": {"min": rows * 9 // 10, "max": rows}},
            {"not_null": ["id", "day", "gross"]},
            {"unique": ["id"]},
            {"accepted": {"kind": ["view", "cart", "sale"]}},
        ],
    }
    sums = "count(*) AS n, sum(gross) AS gross"
    for name, key in (("days", ["day", "kind"]), ("users", ["user"])):
        keys = ", ".join(f'"{one}"' for one in key)
        tasks[name] = {
            "inputs": {"clean": {"table": "clean"}},
            "sql": f"SELECT {keys}, {sums} FROM clean GROUP BY ALL",
            "output": {"table": name, "mode": "merge", "key": key},
            "checks": [{"unique": key}],
        }
    return make_workbook(
        {"name": "pipeline", "catalog": "lake", "isolation": "fork", "folder": str(folder)}
        | {"workers": PARTS, "tasks": tasks}
    )


def make_source(spark: SparkSession, folder: Path, rows: int) -> float:
    """Write the rows to ingest; return the seconds."""
    began = time.monotonic()
    tasks = max(PARTS, rows // 2_000_000)
    data = spark.sql(_SOURCE.format(rows=rows, tasks=tasks))
    data.write.partitionBy("part").parquet(str(folder / "source"))
    return time.monotonic() - began


# Memory


class Memory:
    """Resident bytes of each process of the run, sampled at intervals."""

    def __init__(self) -> None:
        this = psutil.Process()
        (machine,) = (one for one in this.children() if _DRIVER in one.cmdline())
        self._processes = {"driver python": this, "driver JVM": machine}
        self._processes |= {f"executor {n}": one for n, one in enumerate(executors(), 1)}
        self._is_over = threading.Event()
        self.series: list[dict[str, float]] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Take samples while the block runs."""
        watcher = threading.Thread(target=self._watch, name="memory", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            self._is_over.set()
            watcher.join()

    def _watch(self) -> None:
        began = time.monotonic()
        while not self._is_over.wait(_INTERVAL):
            moment = {"seconds": round(time.monotonic() - began, 2)}
            for name, process in self._processes.items():
                with suppress(psutil.Error):  # the executor has died
                    moment[name] = process.memory_info().rss
            self.series.append(moment)

    def peaks(self) -> dict[str, float]:
        """Return the maximum memory of each process."""
        return {
            name: max((one.get(name, 0.0) for one in self.series), default=0.0)
            for name in self._processes
        }


# The run


def run(folder: Path, rows: int) -> tuple[RunReport, Memory, float]:
    """Run the benchmark; return the report, the memory, and the seconds for the source."""
    with ExitStack() as stack:
        master = stack.enter_context(cluster(folder / "cluster"))
        spark = users_spark(master)
        stack.callback(spark.stop)
        source = make_source(spark, folder, rows)
        uri = f"ducklake:{folder / 'metastore.db'}"
        with forklake.open(uri, create=True) as metastore:
            metastore.create_catalog("lake", data_path=str(folder / "data"))
        memory = Memory()
        with memory.watched(), LocalPlace(uri, spark=spark) as place:
            report = run_workbook(workbook(folder, rows), place)
    return report, memory, source


def results(report: RunReport, memory: Memory, rows: int, source: float) -> dict[str, Any]:
    """Return the results as a document."""
    return {
        "rows": rows,
        "succeeded": report.succeeded,
        "seconds": round(report.seconds, 1),
        "source_seconds": round(source, 1),
        "rows_per_second": round(rows / report.seconds),
        "peak_rss": memory.peaks(),
        "tasks": report.document()["tasks"],
        "publication": report.document()["publication"],
        "memory": memory.series,  # resident bytes
    }


def print_results(found: dict[str, Any]) -> None:
    """Print a summary of the results."""
    print(f"{found['rows']:,} rows in {found['seconds']} s: {found['rows_per_second']:,} rows/s")
    for task in found["tasks"]:
        rows = "" if task["rows"] is None else f"{task['rows']:,} rows"
        print(f"  {task['name']:<12} {task['state']:<8} {task['seconds']:>8.1f} s  {rows}")
        if task["error"] is not None:
            print(f"    {task['error']['message']}")
    for name, peak in found["peak_rss"].items():
        print(f"  peak of {name:<14} {size(peak)}")


def plot(found: dict[str, Any], path: str) -> None:
    """Plot memory over time, above the times of the worktasks."""
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(9, 6))
    for name in found["peak_rss"]:
        moments = [one for one in found["memory"] if name in one]
        above.plot(
            [one["seconds"] for one in moments], [one[name] / 1e9 for one in moments], label=name
        )
    above.set_ylabel("resident GB")
    above.set_ylim(bottom=0)
    above.legend()
    ran = [one for one in reversed(found["tasks"]) if one["began"]]
    start = min(datetime.fromisoformat(one["began"]) for one in ran)
    for at, task in enumerate(ran):
        left = (datetime.fromisoformat(task["began"]) - start).total_seconds()
        below.barh(at, task["seconds"], left=left)
    below.set_yticks(range(len(ran)), [one["name"] for one in ran])
    below.set_xlabel("seconds")
    figure.suptitle(f"{found['rows']:,} rows: ingest, transform, merge")
    figure.tight_layout()
    figure.savefig(path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark, print the results and write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000_000, help="number of rows")
    parser.add_argument(
        "--folder", help="folder of source, lake and cluster; defaults to a temporary folder"
    )
    parser.add_argument("--results", default=str(RESULTS), help="file of the results")
    parser.add_argument("--plot", help="plot memory over time to this file")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        report, memory, source = run(Path(folder), given.rows)
        found = results(report, memory, given.rows, source)
    print_results(found)
    Path(given.results).write_text(json.dumps(found, indent=1) + "\n")
    if given.plot:
        plot(found, given.plot)
    if not report.succeeded:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
