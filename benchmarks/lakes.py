"""Catalogs, tables and data files for benchmarks. The files exist only in the metadata."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import forklake
from forklake import Catalog, ColumnBounds, ColumnSpec, Metastore, NewDataFile
from forklake.model.entities import Table
from forklake.model.ids import ColumnId

DATA_PATH = "/lake"
ROWS_PER_FILE = 10_000
FILE_BYTES = 1_048_576
FOOTER_BYTES = 1_024


def open_postgres(dsn: str) -> Metastore:
    """Open the metastore in a database; create it if it does not exist."""
    return forklake.open(postgres_uri(dsn), create=True)


def postgres_uri(dsn: str) -> str:
    """Return the attach string of a metastore in a database."""
    return f"ducklake:postgres:{dsn}"


def create_table(catalog: Catalog, name: str = "events", *, columns: int = 3) -> Table:
    """Create a table of integer columns."""
    with catalog.transaction() as transaction:
        transaction.create_table(
            name, [ColumnSpec(f"c{number}", "bigint") for number in range(columns)]
        )
    return catalog.refresh().table(name)


@lru_cache
def bounds(columns: int) -> tuple[ColumnBounds, ...]:
    """Return bounds that all files share, so that commits do not have to widen those of a table."""
    return tuple(
        ColumnBounds(ColumnId(number), 80_000, ROWS_PER_FILE, 0, "1000000", "1009999")
        for number in range(1, columns + 1)
    )


def data_file(number: int, *, columns: int = 3) -> NewDataFile:
    """Return a data file with bounds of its columns."""
    return NewDataFile(
        path=f"main/events/ducklake-{number:032x}.parquet",
        record_count=ROWS_PER_FILE,
        file_size_bytes=FILE_BYTES,
        footer_size=FOOTER_BYTES,
        bounds=bounds(columns),
    )


def data_files(first: int, count: int, *, columns: int) -> Iterator[NewDataFile]:
    """Yield data files whose bounds of the first column are consecutive, as if sorted by it."""
    fixed = bounds(columns)[1:]
    for number in range(first, first + count):
        low = number * ROWS_PER_FILE
        key = ColumnBounds(
            ColumnId(1), 80_000, ROWS_PER_FILE, 0, str(low), str(low + ROWS_PER_FILE - 1)
        )
        yield NewDataFile(
            path=f"main/events/ducklake-{number:032x}.parquet",
            record_count=ROWS_PER_FILE,
            file_size_bytes=FILE_BYTES,
            footer_size=FOOTER_BYTES,
            bounds=(key, *fixed),
        )


def add_files(
    catalog: Catalog, table: Table, count: int, *, columns: int, first: int = 0, batch: int = 10_000
) -> None:
    """Add files to a table, `batch` files per commit."""
    for start in range(0, count, batch):
        with catalog.transaction() as transaction:
            wanted = min(batch, count - start)
            transaction.add_data_files(table, data_files(first + start, wanted, columns=columns))
