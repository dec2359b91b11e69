"""Tables of very many files, which exist only in the metadata.

One table also has very many versions: in the metastore, loaded by bulk SQL, and in files, written
as Forklake mirrors them. Each version adds three files and removes one that the previous version
added. The other table is partitioned by day.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import psycopg

from forklake import Catalog, ColumnBounds, ColumnSpec, Metastore, NewDataFile
from forklake.catalog.delta_tables import FaceReading
from forklake.delta.actions import Add, AnyAction, CommitInfo, Remove
from forklake.delta.mirror.commits import commit_path, encode_commit
from forklake.delta.publication import publish_table
from forklake.model.entities import Table
from forklake.model.ids import ColumnId, PartitionId

NAME = "events"
DAILY = "daily"
EACH = 3  # files that each version adds
ROWS = 10_000
BYTES = 1_048_576
DAYS = 365  # days in the rows, each in separate files
_FIRST_DAY = date(2024, 1, 1)
_COLUMNS = [("id", "bigint"), ("name", "varchar"), ("day", "date")]
_SNAPSHOTS = """
INSERT INTO ducklake_snapshot
SELECT {first} + v, now() + v * interval '1 millisecond', {schema}, 0, 0
FROM generate_series(1, {versions}) v
"""
_CHANGES = """
INSERT INTO ducklake_snapshot_changes (catalog_id, snapshot_id, changes_made)
SELECT {catalog}, {first} + v, 'inserted_into_table:{table}' FROM generate_series(1, {versions}) v
"""
_VERSIONS = """
INSERT INTO dl_table_versions
SELECT {catalog}, {table}, {first} + v, NULL, v, {time} + v, 'WRITE', 'key-' || v, NULL
FROM generate_series(1, {versions}) v
"""
_FILES = """
INSERT INTO ducklake_data_file
SELECT {catalog}, {file} + n, {table}, {first} + n / 3 + 1,
       CASE WHEN n % 3 = 0 AND n / 3 + 1 < {versions} THEN {first} + n / 3 + 2 END,
       n, 'main/events/file-' || n || '.parquet', true, 'parquet', {rows}, {bytes}, 1024,
       n * {rows}, NULL, NULL, NULL, NULL
FROM generate_series(0, 3 * {versions} - 1) n
"""
_STATISTICS = """
INSERT INTO ducklake_file_column_stats
SELECT {catalog}, {file} + n, {table}, c.id, 80000, {rows}, 0, c.low, c.high, NULL, NULL
FROM generate_series(0, 3 * {versions} - 1) n,
     LATERAL (VALUES
         (1, (n * {rows}::bigint)::text, (n * {rows}::bigint + {rows} - 1)::text),
         (2, 'name-' || n, 'name-' || n || 'z'),
         (3, (date '2024-01-01' + n % {days})::text, (date '2024-01-01' + n % {days})::text)
     ) AS c (id, low, high)
"""
_HEAD = """
UPDATE ducklake_catalog_head SET snapshot_id = {first} + {versions} WHERE catalog_id = {catalog}
"""
_SEQUENCES = """
SELECT setval('ducklake_snapshot_id_seq', {first} + {versions} + 1),
       setval('ducklake_file_id_seq', {file} + 3 * {versions} + 1)
"""
_LOADING = (_SNAPSHOTS, _CHANGES, _VERSIONS, _FILES, _STATISTICS, _HEAD, _SEQUENCES)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Table in the metastore, with its log in files."""

    catalog: Catalog
    table: Table
    versions: int
    root: Path
    file_count: int

    @property
    def bare(self) -> Path:
        """Root of the same log without a checkpoint."""
        return self.root.with_name("bare")


def load(metastore: Metastore, dsn: str, folder: Path, versions: int) -> Loaded:
    """Create the table with all its versions, in the metastore and as commits in files."""
    catalog = metastore.create_catalog("lake", data_path=str(folder))
    with catalog.transaction() as transaction:
        transaction.create_table(NAME, [ColumnSpec(*one) for one in _COLUMNS])
    root = folder / "main" / NAME
    publish_table(catalog, NAME, "main", str(root))
    seen = catalog.now()
    table = seen.state.table(NAME)
    first = FaceReading(seen, table).latest()
    _fill(dsn, catalog, table, first.begin_snapshot, first.timestamp, versions)
    catalog.forget()
    loaded = Loaded(catalog, table, versions, root, (EACH - 1) * versions + 1)
    for version in range(1, versions + 1):
        Path(commit_path(str(root), version)).write_bytes(
            encode_commit(_actions(version, first.timestamp + version))
        )
    shutil.copytree(root / "_delta_log", loaded.bare / "_delta_log", copy_function=os.link)
    return loaded


def _fill(dsn: str, catalog: Catalog, table: Table, first: int, time: int, versions: int) -> None:
    given = {
        "catalog": int(catalog.catalog_id),
        "table": int(table.table_id),
        "first": int(first),
        "schema": catalog.head().schema_version,
        "time": time,
        "versions": versions,
        "file": 1000,
        "rows": ROWS,
        "bytes": BYTES,
        "days": DAYS,
    }
    with psycopg.connect(dsn) as connection:
        for text in _LOADING:
            connection.execute(text.format(**given).encode())
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM ANALYZE")


# The partitioned table


def load_daily(catalog: Catalog, count: int) -> Table:
    """Create a table that is partitioned by day, with an equal number of files for each day."""
    with catalog.transaction() as transaction:
        columns = [ColumnSpec(*one) for one in _COLUMNS]
        transaction.create_table(DAILY, columns, partition_by=[("day", "identity")])
    add_daily(catalog, range(count))
    return catalog.now().state.table(DAILY)


def add_daily(catalog: Catalog, numbers: range) -> None:
    """Add files, one for each day in turn."""
    state = catalog.now().state
    table = state.table(DAILY)
    partition_id = state.partitioning(table)[0].partition_id
    with catalog.transaction() as transaction:
        transaction.add_data_files(table, (_daily(one, partition_id) for one in numbers))


def _daily(number: int, partition_id: PartitionId) -> NewDataFile:
    low, high, day = number * ROWS, number * ROWS + ROWS - 1, _day(number)
    texts = [(str(low), str(high)), (f"name-{number}", f"name-{number}z"), (day, day)]
    bounds = tuple(
        ColumnBounds(ColumnId(column), 80_000, ROWS, 0, *pair)
        for column, pair in enumerate(texts, 1)
    )
    return NewDataFile(
        f"main/{DAILY}/day={day}/file-{number}.parquet",
        ROWS,
        BYTES,
        1024,
        bounds=bounds,
        partition_id=partition_id,
        partition_values=(day,),
    )


def _day(number: int) -> str:
    return str(_FIRST_DAY + timedelta(days=number % DAYS))


# The commits


def _actions(version: int, time: int) -> list[AnyAction]:
    info = {"timestamp": time, "operation": "WRITE", "txnId": f"key-{version}"}
    numbers = range(EACH * (version - 1), EACH * version)
    actions: list[AnyAction] = [CommitInfo(extra=info)]
    if version > 1:
        actions.append(_remove(EACH * (version - 2), time))
    return [*actions, *(_add(number, time) for number in numbers)]


def _add(number: int, time: int) -> Add:
    day = _day(number)
    low, high = number * ROWS, number * ROWS + ROWS - 1
    statistics = {
        "numRecords": ROWS,
        "minValues": {"id": low, "name": f"name-{number}", "day": day},
        "maxValues": {"id": high, "name": f"name-{number}z", "day": day},
        "nullCount": {"id": 0, "name": 0, "day": 0},
    }
    return Add(
        path=f"file-{number}.parquet",
        partition_values={},
        size=BYTES,
        modification_time=time,
        data_change=True,
        stats=json.dumps(statistics, separators=(",", ":")),
    )


def _remove(number: int, time: int) -> Remove:
    return Remove(
        path=f"file-{number}.parquet",
        deletion_timestamp=time,
        data_change=True,
        extended_file_metadata=True,
        partition_values={},
        size=BYTES,
    )
