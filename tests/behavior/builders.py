"""Short helpers that fill catalogs."""

from __future__ import annotations

from collections.abc import Sequence

from forklake import Catalog, ColumnBounds, ColumnSpec, NewDataFile
from forklake.model.entities import Table
from forklake.model.ids import ColumnId

COLUMNS = (ColumnSpec("id", "int64"), ColumnSpec("name", "varchar"))


def a_file(path: str, *, rows: int = 10, low: int = 0, high: int = 9) -> NewDataFile:
    """Return a data file with bounds for the first column."""
    bounds = ColumnBounds(
        ColumnId(1), value_count=rows, null_count=0, min_value=str(low), max_value=str(high)
    )
    return NewDataFile(path, rows, rows * 10, bounds=(bounds,))


def a_table(catalog: Catalog, name: str = "t", *, files: Sequence[str] = ()) -> Table:
    """Create a table with two columns and the given files."""
    with catalog.transaction() as transaction:
        transaction.create_table(name, COLUMNS)
    table = catalog.now().state.table(name)
    if files:
        append(catalog, table, *files)
    return table


def append(catalog: Catalog, table: Table, *paths: str) -> int:
    """Add files in a transaction, and return the snapshot."""
    transaction = catalog.transaction()
    transaction.add_data_files(table, [a_file(path) for path in paths])
    committed = transaction.commit()
    assert committed is not None
    return committed.snapshot_id


def paths(catalog: Catalog, table: Table, version: int | None = None) -> list[str]:
    """Return the paths of a table's files, sorted."""
    seen = catalog.now() if version is None else catalog.at(version=version)
    return sorted(file.path for file in seen.data_files(table))
