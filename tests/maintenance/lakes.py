"""Catalogs with real, small Parquet files, written without Spark."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from forklake import Catalog, ColumnBounds, ColumnSpec, Metastore, NewDataFile, NewDeleteFile
from forklake.model.entities import DataFile, Table
from forklake.model.ids import ColumnId

COLUMNS = (ColumnSpec("id", "int64"), ColumnSpec("name", "varchar"))
_numbers = itertools.count()


class Lake:
    """A metastore whose catalogs keep their files below one folder."""

    def __init__(self, metastore: Metastore, folder: Path) -> None:
        self.metastore = metastore
        self.folder = folder

    def create(self, name: str = "sales", *tables: str) -> Catalog:
        """Create a catalog with some tables."""
        catalog = self.metastore.create_catalog(name, data_path=str(self.folder))
        with catalog.transaction() as transaction:
            for table in tables or ("t",):
                transaction.create_table(table, COLUMNS)
        return catalog

    def write(self, catalog: Catalog, name: str = "t", rows: int = 3) -> NewDataFile:
        """Write a file below a table's folder, without registering it."""
        state = catalog.refresh()
        folder = catalog.table_folder(state, state.table(name))
        return self.write_at(f"{folder}ducklake-{next(_numbers)}.parquet", rows)

    def write_at(self, path: str, rows: int = 3) -> NewDataFile:
        """Write a file at a path below the data path, without registering it."""
        full = self.folder / path
        full.parent.mkdir(parents=True, exist_ok=True)
        first = next(_numbers)
        ids = list(range(first, first + rows))
        pq.write_table(pa.table({"id": ids, "name": [f"row {one}" for one in ids]}), full)
        low, high = str(ids[0]), str(ids[-1])
        bounds = ColumnBounds(ColumnId(1), 8, rows, 0, low, high)
        return NewDataFile(path, rows, full.stat().st_size, bounds=(bounds,))

    def append(self, catalog: Catalog, name: str = "t", files: int = 1) -> int:
        """Add files in a transaction, and return its snapshot."""
        written = [self.write(catalog, name) for _ in range(files)]
        with catalog.transaction() as transaction:
            transaction.add_data_files(transaction.table(name), written)
        assert transaction.committed is not None
        return transaction.committed.snapshot_id

    def replace(self, catalog: Catalog, name: str = "t") -> int:
        """End all files of a table and add one, as a compaction does; return the snapshot."""
        written = self.write(catalog, name)
        with catalog.transaction() as transaction:
            table = transaction.table(name)
            transaction.end_data_files(table, transaction.data_files(table))
            transaction.add_data_files(table, [written])
        assert transaction.committed is not None
        return transaction.committed.snapshot_id

    def delete_from(self, catalog: Catalog, file: DataFile, name: str = "t") -> int:
        """Write a delete file for a data file, and return the snapshot."""
        new = self.write(catalog, name, 1)
        with catalog.transaction() as transaction:
            deletes = NewDeleteFile(file.data_file_id, new.path, 1, new.file_size_bytes)
            transaction.add_delete_files(transaction.table(name), [deletes])
        assert transaction.committed is not None
        return transaction.committed.snapshot_id

    def on_disk(self) -> set[str]:
        """Return the existing files, relative to the data path."""
        return {str(one.relative_to(self.folder)) for one in self.folder.rglob("*.parquet")}


def table_of(catalog: Catalog, name: str = "t") -> Table:
    """Return a table in its current state."""
    return catalog.now().state.table(name)


def paths(catalog: Catalog, version: int | None = None, name: str = "t") -> set[str]:
    """Return the files of a table, with its delete files."""
    seen = catalog.now() if version is None else catalog.at(version=version)
    table = seen.state.table(name)
    files: Iterable[str] = (file.path for file in seen.data_files(table))
    return {*files, *(file.path for file in seen.delete_files(table))}


def count(metastore: Metastore, table: str, condition: str = "1 = 1") -> int:
    """Return how many rows a table of the metastore has."""
    with metastore.database.reading() as connection:
        return int(connection.fetch(f"SELECT count(*) FROM {table} WHERE {condition}")[0][0])
