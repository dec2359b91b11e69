"""A user program on a Spark cluster that the user started, run by `test_cluster`.

While executors run, the metastore is moved away, which proves that they do not need it. They find
no Python either.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import forklake
from forklake import Session
from forklake.engines.merge_clauses import MergeCounts
from forklake.engines.spark import java
from forklake.errors import InvalidInput
from forklake.session.changing.merge_into import when_matched, when_not_matched
from forklake.session.insert import insert_rows
from forklake.store import phases

EXECUTORS = 2


# A cluster


def users_spark(master: str) -> SparkSession:
    """Return the session of a user without Forklake settings, once all executors are registered."""
    os.environ["PYSPARK_PYTHON"] = "/nowhere/python"
    settings = {
        "spark.master": master,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.cores.max": str(EXECUTORS),
        "spark.executor.cores": "1",
        "spark.executor.memory": "700m",
        "spark.executor.extraJavaOptions": "-XX:+UseSerialGC",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.sql.shuffle.partitions": "2",
    }
    with java.running_machine("1g", ["-XX:+UseSerialGC"]):
        return SparkSession.builder.config(map=dict(settings)).getOrCreate()


def executors() -> list[psutil.Process]:
    """Return the executor processes, each a child of a worker."""
    return [
        process
        for process in psutil.process_iter()
        if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in _command(process)
        and f"spark://CoarseGrainedScheduler@127.0.0.1:{_driver_port()}" in _command(process)
    ]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _driver_port() -> str:
    context: Any = SparkSession.active().sparkContext
    return str(context.getConf().get("spark.driver.port"))


# A lake


class Lake:
    """A session, and the folder of its metastore, which can be moved away."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.metastore = folder / "metastore"
        self.metastore.mkdir(parents=True)
        self.session: Session = forklake.connect(spark)
        for alias, encrypted in (("lake", False), ("secret", True)):
            self.session.attach(
                f"ducklake:sqlite:{self.metastore / 'metastore.db'}",
                alias,
                catalog=alias,
                data_path=str(folder / "data"),
                encrypted=encrypted,
                data_inlining_row_limit=0,
                create_if_not_exists=True,
            )
            self.session.set_option(alias, "per_thread_output", True)
        self.session.use("lake")
        self.spark = self.session.engine.spark
        self.absences = 0

    @contextmanager
    def away(self) -> Iterator[None]:
        """Move the metastore away for the duration of the block."""
        elsewhere = self.metastore.with_name("elsewhere")
        self.metastore.rename(elsewhere)
        self.absences += 1
        try:
            yield
        finally:
            elsewhere.rename(self.metastore)

    @contextmanager
    def away_while_writing(self) -> Iterator[None]:
        """Move the metastore away from the start of a write until its files exist."""
        absence = self.away()

        def observe(phase: str) -> None:
            if phase == "write.started":
                absence.__enter__()
            elif phase == "write.files":
                absence.__exit__(None, None, None)

        before, phases.observer = self.absences, observe
        try:
            yield
        finally:
            phases.observer = None
        assert self.absences == before + 1

    def write(self, rows: DataFrame | str, name: str, **options: Any) -> int:
        """Write a DataFrame, or the result of a query."""
        frame = self.spark.sql(rows) if isinstance(rows, str) else rows
        with self.away_while_writing():
            return self.session.write(frame, name, **options)

    def rows(self, name: str, where: str = "true", **options: Any) -> list[tuple[Any, ...]]:
        """Return rows that executors read while the metastore is away."""
        return self.read(self.session.table(name, **options).where(where))

    def read(self, frame: DataFrame) -> list[tuple[Any, ...]]:
        """Plan a query, listing its files, and then return its rows with the metastore away."""
        java_frame: Any = frame._jdf
        java_frame.queryExecution().toRdd()
        with self.away():
            return sorted(tuple(row) for row in frame.collect())

    def paths(self, name: str) -> list[str]:
        """Return the paths of a table's data files."""
        place = self.session.resolve(name)
        view = self.session.viewing(place.attachment)
        return [one.path for one in view.scan_files(self.session.find_table(view, place))]

    def on_disk(self, name: str) -> list[str]:
        """Return the paths of all files in a table's folder."""
        place = self.session.resolve(name)
        view = self.session.viewing(place.attachment)
        table = self.session.find_table(view, place)
        folder = place.attachment.located(place.attachment.folder(view.state, table))
        return sorted(str(path) for path in Path(folder).rglob("*"))

    def version(self) -> int:
        """Return the newest snapshot."""
        return self.session.attachment("lake").catalog.current_snapshot()


def files_read(frame: DataFrame) -> int:
    """Return the number of files that Spark reads for a query."""
    java_frame: Any = frame._jdf
    execution = java_frame.queryExecution()
    execution.toRdd()
    leaves = execution.executedPlan().collectLeaves()
    return sum(
        int(leaves.apply(at).metrics().apply("numFiles").value()) for at in range(leaves.size())
    )


# Scenarios


def plain_tables(lake: Lake) -> None:
    """Read rows, pruned by the filters that Spark pushes down."""
    count = lake.write("select id, id * 2 as twice from range(0, 1000, 1, 4)", "t", mode="error")
    assert count == 1000
    assert len(lake.paths("t")) == 4
    assert lake.on_disk("t") == sorted(lake.paths("t"))  # nothing else, such as checksums
    assert lake.rows("t") == [(n, 2 * n) for n in range(1000)]
    assert lake.rows("t", "id between 498 and 501") == [(n, 2 * n) for n in range(498, 502)]
    table = lake.session.table("t")
    assert files_read(table) == 4
    assert files_read(table.where("id = 600")) == 1
    assert files_read(table.where("id = 5000")) == 0


def deletes(lake: Lake) -> None:
    """Delete rows with delete files, and by positions in the metastore."""
    before = lake.version()
    assert lake.session.delete("t", "id % 10 = 3") == 100
    lake.session.set_option("lake", "data_inlining_row_limit", 10, table="t")
    assert lake.session.delete("t", "id in (0, 500, 999)") == 3
    view = lake.session.viewing(lake.session.attachment("lake"))
    files = view.scan_files(view.state.table("t"))
    assert all(one.delete_path is not None for one in files)
    assert sum(len(one.deleted_positions) for one in files) == 3
    gone = {0, 500, 999}
    assert lake.rows("t") == [(n, 2 * n) for n in range(1000) if n % 10 != 3 and n not in gone]
    assert len(lake.rows("t", version=before)) == 1000


def inlined_rows(lake: Lake) -> None:
    """Read inlined rows together with those of files."""
    assert insert_rows(lake.session, "t", [(5000, 1), (5001, None)]) == 2
    assert lake.rows("t", "id > 997") == [(998, 1996), (5000, 1), (5001, None)]


def updates(lake: Lake) -> None:
    """Run UPDATE and MERGE INTO on all executors."""
    assert lake.session.update("t", {"twice": "twice + 1"}, "id between 100 and 199") == 90
    source = lake.spark.sql("select id, -id as twice from range(190, 10190, 1000)")
    counts = lake.session.merge(
        "t", source, "target.id = source.id", [when_matched().update(), when_not_matched().insert()]
    )
    assert counts == MergeCounts(inserted=9, updated=1)
    expected = [(189, 379), (190, -190), (191, 383)]
    assert lake.rows("t", "id between 189 and 191") == expected
    ids = lake.session.table("t", virtual=["rowid"])
    assert lake.read(ids.where("id between 189 and 191").select("rowid")) == [
        (189,),
        (190,),
        (191,),
    ]
    assert lake.read(ids.where("id > 9000").select("twice")) == [(-9190,)]


def changed_schemas(lake: Lake) -> None:
    """Add, rename and widen columns over files that were written before."""
    before = lake.version()
    lake.session.add_column("t", "kind", "varchar", default="old")
    lake.session.rename_column("t", "twice", "double")
    lake.write("select 20000 + id, id, 'new' from range(0, 20, 1, 2)", "t")
    assert lake.rows("t", "id in (189, 20001)") == [(189, 379, "old"), (20001, 1, "new")]
    assert lake.session.table("t", version=before).columns == ["id", "twice"]
    assert lake.rows("t", "id > 9000", version=before) == [(9190, -9190)]


def partitions(lake: Lake) -> None:
    """Write partitioned tables whose files keep the partition columns."""
    query = """
        select id, make_date(int(2020 + id % 3), 5, 1) as d, 'k' || id % 2 as k
        from range(0, 60, 1, 3)
    """
    lake.write(query, "p", mode="error", partition_by=["year(d)", "k"])
    assert {Path(path).parent.name for path in lake.paths("p")} == {"k=k0", "k=k1"}
    some = lake.session.table("p").where("d = '2021-05-01' and k = 'k1'")
    assert files_read(some) < len(lake.paths("p"))
    expected = [(n, date(2021, 5, 1), "k1") for n in range(60) if n % 3 == 1 and n % 2 == 1]
    assert lake.read(some) == expected


def nested_types(lake: Lake) -> None:
    """Write nested types, each node of the files with its field id."""
    query = """
        select id, array(named_struct('x', id)) as l, map('k', array(id)) as m
        from range(0, 8, 1, 2)
    """
    lake.write(query, "n", mode="error")
    for path in lake.paths("n"):
        schema = pq.read_schema(path)
        nodes = [*schema, schema.field("l").type.value_field, *schema.field("l").type.value_type]
        kind = schema.field("m").type
        nodes += [kind.key_field, kind.item_field, kind.item_type.value_field]
        ids = [int((node.metadata or {})[b"PARQUET:field_id"]) for node in nodes]
        assert len(set(ids)) == len(nodes) == 8
    found = lake.read(lake.session.table("n").selectExpr("id", "l[0].x", "m['k'][0]"))
    assert found == [(n, n, n) for n in range(8)]


def encryption(lake: Lake) -> None:
    """Read encrypted files and delete files, whose keys are passed to executors."""
    lake.write("select id from range(0, 100, 1, 2)", "secret.main.e", mode="error")
    for path in lake.paths("secret.main.e"):
        assert Path(path).read_bytes()[:4] == b"PARE"
    assert lake.session.delete("secret.main.e", "id < 5 or id = 99") == 6
    assert lake.rows("secret.main.e") == [(n,) for n in range(5, 99)]


def failures(lake: Lake) -> None:
    """Report a value that does not fit, found by an executor, as invalid input."""
    lake.session.create_table("f", lake.spark.sql("select 1 as n").schema, partition_by=["n"])
    rows = lake.spark.sql("select if(id = 399, 3000000000, id % 4) from range(0, 400, 1, 4)")
    with pytest.raises(InvalidInput, match="3000000000"):
        lake.session.write(rows, "f")
    assert lake.on_disk("f") == []
    assert lake.rows("f") == []


def lost_executors(lake: Lake) -> None:
    """Kill an executor amid its task: another one repeats the task, and every row exists once."""
    slowly = """
        select id, reflect('java.lang.Thread', 'sleep', bigint(if(id % 50 = 49, 3000, 0))) as s
        from range(0, 100, 1, 2)
    """
    victim = executors()[0]
    folder = Path(lake.metastore.parent, "data")

    def kill_when(is_time: Callable[[], bool]) -> None:
        while not is_time():
            threading.Event().wait(0.02)
        victim.send_signal(signal.SIGKILL)

    before = len(list(folder.rglob("*.parquet")))
    killer = threading.Thread(
        target=kill_when, args=(lambda: len(list(folder.rglob("*.parquet"))) >= before + 2,)
    )
    killer.start()
    assert lake.write(slowly, "again", mode="error") == 100
    killer.join()
    assert not victim.is_running()
    assert [row[0] for row in lake.rows("again")] == list(range(100))
    # The file that the killed executor had begun belongs to no table.
    assert len(set(lake.on_disk("again")) - set(lake.paths("again"))) == 1
    tables = pa.concat_tables([pq.read_table(path, columns=["id"]) for path in lake.paths("again")])
    assert sorted(tables["id"].to_pylist()) == list(range(100))


def check_executors_did_the_work(lake: Lake) -> None:
    """Check that every executor ran tasks without our class path and without an open metastore."""
    context: Any = lake.spark.sparkContext
    summaries = context._jsc.sc().statusStore().executorList(False)
    tasks = {
        summaries.apply(n).id(): summaries.apply(n).totalTasks() for n in range(summaries.size())
    }
    assert len(tasks) == EXECUTORS + 1
    assert tasks.pop("driver") == 0
    assert min(tasks.values()) > 5, tasks
    found = executors()
    assert len(found) == EXECUTORS
    for process in found:
        assert not any("forklake" in part for part in process.cmdline())
        opened = [file.path for file in process.open_files()]
        assert [path for path in opened if path.endswith(".jar")]
        assert not [path for path in opened if str(lake.metastore.parent) in path]


def main(master: str, folder: Path) -> None:
    """Run all scenarios in order."""
    began = time.monotonic()
    spark = users_spark(master)
    lake = Lake(spark, folder)
    assert lake.session.engine.is_native
    for check in (
        plain_tables,
        deletes,
        inlined_rows,
        updates,
        changed_schemas,
        partitions,
        nested_types,
        encryption,
        failures,
        check_executors_did_the_work,
        lost_executors,
    ):
        check(lake)
        print(f"{time.monotonic() - began:.1f}", check.__name__, flush=True)
    lake.session.close()
    assert spark.range(3).count() == 3  # the user owns it
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
