"""Benchmark of one commit of very many files, against COPY of the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg

from benchmarks.figures import Figure, Setting, figure, median
from benchmarks.forking import seconds_of
from benchmarks.lakes import DATA_PATH, create_table, data_files, open_postgres
from benchmarks.plans import note_index_use
from forklake import Catalog, NewDataFile
from forklake.model.entities import Table

COLUMNS = 10
_FILES = (
    "catalog_id begin_snapshot table_id data_file_id file_order path path_is_relative file_format"
    " record_count file_size_bytes footer_size row_id_start partition_id encryption_key"
    " partial_file_info mapping_id"
).split()
_STATISTICS = (
    "catalog_id data_file_id table_id column_id column_size_bytes value_count null_count min_value"
    " max_value contains_nan extra_stats"
).split()


def bulk_commit(setting: Setting) -> Iterator[Figure]:
    """Yield the time of a commit of many files with statistics of all columns."""
    count = setting.size(100_000, 5_000)
    files = list(data_files(0, count, columns=COLUMNS))
    commits, copies = [], []
    with setting.server.database() as dsn, open_postgres(dsn) as metastore:
        with psycopg.connect(dsn) as connection:
            for name in ("data_file", "file_column_stats"):
                connection.execute(
                    f"CREATE TABLE bare_{name} (LIKE ducklake_{name} INCLUDING ALL)".encode()
                )
        for number in range(setting.size(5, 2)):
            catalog = metastore.create_catalog(f"bulk_{number}", data_path=DATA_PATH)
            table = create_table(catalog, columns=COLUMNS)
            rows = _rows(number, files)
            setting.server.checkpoint()
            copies.append(seconds_of(lambda r=rows: _copy(dsn, *r)))  # type: ignore[misc]
            setting.server.checkpoint()
            commits.append(seconds_of(lambda c=catalog, t=table: _commit(c, t, files)))  # type: ignore[misc]
        note_index_use(setting, dsn)
    pairs = zip(commits, copies, strict=True)
    yield figure(
        "bulk_commit",
        median(commits),
        "s",
        baseline=median(copies),
        ratio=median(one / two for one, two in pairs),
        target="≤ 3 times COPY",
    )


def _commit(catalog: Catalog, table: Table, files: Sequence[NewDataFile]) -> None:
    with catalog.transaction() as transaction:
        transaction.add_data_files(table, files)


Rows = list[tuple[Any, ...]]


def _rows(catalog_id: int, files: Sequence[NewDataFile]) -> tuple[Rows, Rows]:
    """Return the rows that a commit of the files writes."""
    rows: Rows = []
    statistics: Rows = []
    for number, file in enumerate(files):
        rows.append(
            (
                catalog_id,
                catalog_id + 1,
                catalog_id,
                number,
                number,
                file.path,
                True,
                file.file_format,
                file.record_count,
                file.file_size_bytes,
                file.footer_size,
                number * file.record_count,
                None,
                None,
                None,
                None,
            )
        )
        statistics.extend(
            (
                catalog_id,
                number,
                catalog_id,
                bound.column_id,
                bound.column_size_bytes,
                bound.value_count,
                bound.null_count,
                bound.min_value,
                bound.max_value,
                None,
                None,
            )
            for bound in file.bounds
        )
    return rows, statistics


def _copy(dsn: str, files: Rows, statistics: Rows) -> None:
    with psycopg.connect(dsn) as connection:
        for table, columns, rows in (
            ("bare_data_file", _FILES, files),
            ("bare_file_column_stats", _STATISTICS, statistics),
        ):
            text = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
            with connection.cursor() as cursor, cursor.copy(text.encode()) as copy:
                for row in rows:
                    copy.write_row(row)
