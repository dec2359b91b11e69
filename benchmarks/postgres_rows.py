"""Bare inserts of the rows of small commits into PostgreSQL, as the baseline of commits.

They write the same rows to the same tables with the same driver in one round trip, but take no
locks, read and check nothing, and may use ids in any order.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable

import psycopg
from psycopg.types.numeric import Int8Dumper

from benchmarks.crew import Work
from benchmarks.lakes import FILE_BYTES, ROWS_PER_FILE, data_file

_IDS = "SELECT nextval('ducklake_snapshot_id_seq'), nextval('ducklake_file_id_seq')"
_SNAPSHOT = (
    "INSERT INTO ducklake_snapshot (snapshot_id, snapshot_time, schema_version, next_catalog_id,"
    " next_file_id) VALUES (currval('ducklake_snapshot_id_seq'), clock_timestamp(), %s, %s,"
    " currval('ducklake_file_id_seq') + 1)"
)
_CHANGES = (
    "INSERT INTO ducklake_snapshot_changes (catalog_id, snapshot_id, changes_made, author,"
    " commit_message, commit_extra_info, idempotency_key)"
    " VALUES (%s, currval('ducklake_snapshot_id_seq'), %s, NULL, NULL, NULL, %s)"
)
_DATA_FILE = (
    "INSERT INTO ducklake_data_file (catalog_id, begin_snapshot, table_id, data_file_id,"
    " file_order, path, path_is_relative, file_format, record_count, file_size_bytes, footer_size,"
    " row_id_start) VALUES (%s, currval('ducklake_snapshot_id_seq'), %s,"
    " currval('ducklake_file_id_seq'), 0, %s, true, 'parquet', %s, %s, %s, %s)"
)
_STATISTICS_ROW = "(%s, currval('ducklake_file_id_seq'), %s, %s, %s, %s, %s, %s, %s)"
_STATISTICS = (
    "INSERT INTO ducklake_file_column_stats (catalog_id, data_file_id, table_id, column_id,"
    " column_size_bytes, value_count, null_count, min_value, max_value) VALUES "
)
_END_STATISTICS = (
    "UPDATE ducklake_table_stats SET end_snapshot = currval('ducklake_snapshot_id_seq')"
    " WHERE catalog_id = %s AND table_id = %s AND begin_snapshot = %s"
)
_NEW_STATISTICS = (
    "INSERT INTO ducklake_table_stats (catalog_id, begin_snapshot, table_id, record_count,"
    " next_row_id, file_size_bytes)"
    " VALUES (%s, currval('ducklake_snapshot_id_seq'), %s, %s, %s, %s)"
)
_HEAD = (
    "UPDATE ducklake_catalog_head SET snapshot_id = currval('ducklake_snapshot_id_seq'),"
    " schema_version = %s WHERE catalog_id = %s"
)


def prepare_bare_writer(dsn: str, catalog_id: int, table_id: int) -> Work:
    """Prepare a process that writes the rows of small commits to its own catalog."""
    connection = psycopg.connect(dsn)
    connection.prepare_threshold = 2
    connection.adapters.register_dumper(int, Int8Dumper)
    return Work(_writer(connection, catalog_id, table_id), (psycopg.Error,), connection.close)


def _writer(connection: psycopg.Connection, catalog_id: int, table_id: int) -> Callable[[], object]:
    version, next_entity = 1, 1_000
    (before,) = connection.execute(
        "SELECT begin_snapshot FROM ducklake_table_stats WHERE catalog_id = %s AND table_id = %s"
        " AND end_snapshot IS NULL",
        (catalog_id, table_id),
    ).fetchall()[0]
    connection.commit()
    numbers = itertools.count(1)
    execute = connection.execute

    def write() -> None:
        nonlocal before
        number = next(numbers)
        file = data_file(number)
        statistics = [
            value
            for bound in file.bounds
            for value in (
                catalog_id,
                table_id,
                bound.column_id,
                bound.column_size_bytes,
                bound.value_count,
                bound.null_count,
                bound.min_value,
                bound.max_value,
            )
        ]
        rows = number * ROWS_PER_FILE
        with connection.pipeline():
            ids = execute(_IDS)
            execute(_SNAPSHOT, (version, next_entity))
            changes = f"inserted_into_table:{table_id}"
            execute(_CHANGES, (catalog_id, changes, uuid.uuid4().hex))
            execute(
                _DATA_FILE,
                (
                    catalog_id,
                    table_id,
                    file.path,
                    file.record_count,
                    file.file_size_bytes,
                    file.footer_size,
                    rows,
                ),
            )
            execute(_STATISTICS + ", ".join([_STATISTICS_ROW] * len(file.bounds)), statistics)
            execute(_END_STATISTICS, (catalog_id, table_id, before))
            execute(
                _NEW_STATISTICS,
                (catalog_id, table_id, rows, rows + ROWS_PER_FILE, number * FILE_BYTES),
            )
            execute(_HEAD, (version, catalog_id))
            connection.commit()
        before = ids.fetchall()[0][0]

    return write
