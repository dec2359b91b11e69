"""Benchmarks of Delta tables: the log in the metastore, against deltalake with the log in files.

Both have the same versions of the same files, and are measured alternately in the same run.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.compute as pc
from deltalake.transaction import AddAction, create_table_with_add_actions

from benchmarks.committing import Contest
from benchmarks.crew import Crew, Work
from benchmarks.delta_tables import (
    BYTES,
    DAYS,
    EACH,
    NAME,
    ROWS,
    Loaded,
    add_daily,
    load,
    load_daily,
)
from benchmarks.figures import Figure, Setting, figure, median, percentile
from benchmarks.forking import seconds_of
from benchmarks.lakes import create_table, open_postgres, postgres_uri
from benchmarks.plans import note_index_use
from benchmarks.writers import prepare_writer
from forklake import Catalog
from forklake.catalog.delta_tables import FaceReading
from forklake.catalog.file_listings import keep_listing
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.delta.commit_actions import CommitBuilder, ProtocolAndMetadata
from forklake.delta.mirror.checkpoints import checkpoint_path, write_checkpoint
from forklake.delta.publication import publish_table
from forklake.delta.snapshots import files_as_arrow, find_file
from forklake.delta.version_batch import VersionBatch
from forklake.model.entities import Table
from forklake.model.ids import ColumnId
from forklake.model.predicates import Compare

WRITERS = 4
_SCHEMA = deltalake.Schema.from_arrow(pa.schema({f"c{one}": pa.int64() for one in range(3)}))
_DAY = "2024-03-01"
_LATER = 50  # one in this many files was added after the listing


def delta(setting: Setting) -> Iterator[Figure]:
    """Query a table of many versions, and commit to a table of few."""
    versions = setting.size(50_000, 1_000)
    with (
        setting.server.database() as dsn,
        open_postgres(dsn) as metastore,
        tempfile.TemporaryDirectory(prefix="forklake-bench-") as folder,
    ):
        table = load(metastore, dsn, Path(folder), versions)
        daily = load_daily(table.catalog, table.file_count)
        setting.server.checkpoint()
        yield from _unlisted(setting, table, daily)
        yield _listing(table, daily)
        add_daily(table.catalog, range(table.file_count, table.file_count * _LATER // (_LATER - 1)))
        setting.server.checkpoint()
        yield from _questions(setting, table, daily)
        yield from _against_files(setting, table)
        note_index_use(setting, dsn)
    yield from _commits(setting)


# The log in the metastore


def _unlisted(setting: Setting, table: Loaded, daily: Table) -> Iterator[Figure]:
    """Measure queries before there are listings of the files."""
    now = table.catalog.now()
    (wanted, _, *_) = _wanted(table)
    one, day = Compare(ColumnId(1), "=", str(wanted)), Compare(ColumnId(3), "=", _DAY)
    questions: dict[str, Callable[[], object]] = {
        "delta_plan_unlisted": lambda: now.scan_files(table.table, one),
        "delta_one_day_unlisted": lambda: now.scan_files(daily, day),
        "delta_load_unlisted": lambda: files_as_arrow(now, table.table),
    }
    for name, query in questions.items():
        query()
        times = [1e3 * seconds_of(query) for _ in range(setting.size(7, 3))]
        yield figure(name, median(times), "ms")


def _listing(table: Loaded, daily: Table) -> Figure:
    """Measure the creation of listings, as maintenance and checkpoints do it."""
    seconds = seconds_of(lambda: keep_listing(table.catalog, table.table, least=1))
    assert keep_listing(table.catalog, daily, least=1)
    return figure("delta_listing", seconds, "s")


def _wanted(table: Loaded) -> list[int]:
    """Return ids spread over the table, each of which is in one live file."""
    numbers = (EACH * (table.versions * part // 100) + 1 for part in (1, 25, 50, 75, 99))
    return [number * ROWS + ROWS // 2 for number in numbers]


def _questions(setting: Setting, table: Loaded, daily: Table) -> Iterator[Figure]:
    catalog, row = table.catalog, table.table
    now = catalog.now()
    log = FaceReading(now, row)
    half = log.version(table.versions // 2)
    past = catalog.at(version=half.begin_snapshot)
    path = f"main/{NAME}/file-{EACH * table.versions // 2 + 1}.parquet"
    day = Compare(ColumnId(3), "=", _DAY)
    assert log.latest().version == table.versions
    assert log.version_at(half.timestamp) == half
    assert files_as_arrow(now, row).num_rows == table.file_count
    assert files_as_arrow(past, row).num_rows == (EACH - 1) * half.version + 1
    assert find_file(now, row, path) is not None
    of_day = [one.file.path for one in now.scan_files(daily, day)]
    assert all(f"day={_DAY}" in one for one in of_day)
    assert len(of_day) >= table.file_count // DAYS
    questions: dict[str, tuple[Callable[[], object], str]] = {
        "delta_latest_version": (log.latest, "≤ 1 ms"),
        "delta_version_at_time": (lambda: log.version_at(half.timestamp), "≤ 5 ms"),
        "delta_snapshot": (lambda: files_as_arrow(now, row), "≤ 800 ms"),
        "delta_time_travel": (lambda: files_as_arrow(past, row), "≤ 500 ms"),
        "delta_path_lookup": (lambda: find_file(now, row, path), "≤ 10 ms"),
        "delta_one_day": (lambda: now.scan_files(daily, day), "≤ 100 ms"),
    }
    for name, (query, target) in questions.items():
        query()
        times = [1e3 * seconds_of(query) for _ in range(setting.size(40, 10))]
        value = percentile(times, 95) if name == "delta_snapshot" else median(times)
        yield figure(name, value, "ms", target=target)
        yield figure(f"{name}_p95", percentile(times, 95), "ms")


# Against the log in files


def _against_files(setting: Setting, table: Loaded) -> Iterator[Figure]:
    yield from _checkpoints(table)
    wanted = _wanted(table)
    ours, theirs, plans, peers = [], [], [], []
    for number in range(setting.size(10, 5)):
        one = wanted[number % len(wanted)]
        ours.append(seconds_of(lambda: files_as_arrow(table.catalog.now(), table.table)))
        theirs.append(seconds_of(lambda: _load(table.root, table.file_count)))
        plans.append(seconds_of(lambda w=one: _plan(table.catalog, table, w)))  # type: ignore[misc]
        peers.append(seconds_of(lambda w=one: _plan_files(table.root, w)))  # type: ignore[misc]
    bare = seconds_of(lambda: _load(table.bare, table.file_count))
    yield _compared("delta_plan", plans, peers, "≥ 20 times faster")
    yield _compared("delta_load", ours, theirs, "≥ 2 times faster")
    yield _compared("delta_load_without_checkpoint", ours, [bare] * len(ours), "≥ 10 times faster")


def _checkpoints(table: Loaded) -> Iterator[Figure]:
    """Write the checkpoint of the newest version: ours from SQL, that of deltalake from commits."""
    ours = seconds_of(lambda: _write_checkpoint(table))
    copy = table.bare.with_name("theirs")
    (copy / "_delta_log").mkdir(parents=True)
    for commit in (table.bare / "_delta_log").glob("*.json"):
        os.link(commit, copy / "_delta_log" / commit.name)
    opened = deltalake.DeltaTable(copy)
    theirs = seconds_of(opened.create_checkpoint)
    assert os.path.exists(checkpoint_path(str(copy), table.versions))
    yield figure(
        "delta_checkpoint",
        ours,
        "s",
        baseline=theirs,
        ratio=theirs / ours,
        target="≥ 10 times faster",
    )


def _write_checkpoint(table: Loaded) -> None:
    log = FaceReading(table.catalog.now(), table.table)
    newest = log.latest()
    chapter = VersionBatch(table.catalog, table.table, log.face, [newest])
    actions = CommitBuilder(chapter, newest, ProtocolAndMetadata(), str(table.root))
    write_checkpoint(str(table.root), newest.version, actions.build_checkpoint())


def _plan(catalog: Catalog, table: Loaded, wanted: int) -> None:
    now: SnapshotReads = catalog.now()
    assert len(now.scan_files(table.table, Compare(ColumnId(1), "=", str(wanted)))) == 1


def _load(root: Path, count: int) -> pa.RecordBatch:
    found = deltalake.DeltaTable(root).get_add_actions(flatten=True)
    assert found.num_rows == count
    return found


def _plan_files(root: Path, wanted: int) -> None:
    files = pa.table(deltalake.DeltaTable(root).get_add_actions(flatten=True))
    inside = pc.and_(
        pc.less_equal(files["min.id"], wanted), pc.greater_equal(files["max.id"], wanted)
    )
    assert files.filter(inside).num_rows == 1


def _compared(name: str, ours: list[float], theirs: list[float], target: str) -> Figure:
    pairs = zip(theirs, ours, strict=True)
    return figure(
        name,
        1e3 * median(ours),
        "ms",
        baseline=1e3 * median(theirs),
        ratio=median(one / two for one, two in pairs),
        target=target,
    )


# Commits


def _commits(setting: Setting) -> Iterator[Figure]:
    """Measure writers that append an existing file, all to one table."""
    with (
        setting.server.database() as dsn,
        tempfile.TemporaryDirectory(prefix="forklake-bench-") as folder,
    ):
        with open_postgres(dsn) as metastore:
            catalog = metastore.create_catalog("lake", data_path=folder)
            create_table(catalog, NAME)
            publish_table(catalog, NAME, "main", f"{folder}/main/{NAME}")
        peer = f"{folder}/peer"
        create_table_with_add_actions(peer, _SCHEMA, [])
        with (
            Crew(prepare_writer, [(postgres_uri(dsn), ["lake"])] * WRITERS) as ours,
            Crew(prepare_delta_writer, [(peer, one) for one in range(WRITERS)]) as theirs,
        ):
            contest = Contest(setting, {"ours": ours, "theirs": theirs})
    yield figure(
        "delta_commits",
        contest.rate("ours"),
        "commits/s",
        baseline=contest.rate("theirs"),
        ratio=contest.ratio("ours", "theirs"),
        target="≥ 10 times as many",
    )
    yield figure("delta_commits_failures", contest.failures("ours"), "commits", target="= 0")
    yield figure("delta_commits_p95", contest.percentile("ours", 95), "ms")
    yield figure("delta_commits_peer_p95", contest.percentile("theirs", 95), "ms")


def prepare_delta_writer(root: str, writer: int) -> Work:
    """Prepare a process that adds one small file per commit with deltalake."""
    numbers = itertools.count(writer * 10**9)
    opened = deltalake.DeltaTable(root)

    def commit() -> None:
        opened.create_write_transaction([_added(next(numbers))], "append", _SCHEMA)

    return Work(commit, (deltalake.exceptions.DeltaError,))


def _added(number: int) -> AddAction:
    now = int(datetime.now(UTC).timestamp() * 1000)
    statistics = f'{{"numRecords":{ROWS}}}'
    return AddAction(f"file-{number}.parquet", BYTES, {}, now, True, statistics)
