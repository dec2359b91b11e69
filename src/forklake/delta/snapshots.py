"""The files of a Delta table at a version, with the bounds of their columns, as Arrow tables.

This is what a reader needs to plan a scan itself. The database returns it column by column, and no
object is created for each file.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from forklake.catalog.file_columns import BOUNDS
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.delta.statistics import statistics_leaves
from forklake.model.entities import DataFile, Table
from forklake.model.kinds import DATA_FILE


def files_as_arrow(
    view: SnapshotReads, table: Table, columns: Sequence[str] | None = None
) -> pa.Table:
    """Return one row for each data file, with the bounds of `columns`, by default of all columns.

    Bounds are texts in the form of the lake, in columns such as `id.min_value`. They include
    deleted rows.
    """
    leaves = {
        ".".join(path): leaf.column_id
        for path, leaf in statistics_leaves(view.state.fields(table)).items()
        if columns is None or path[0] in columns
    }
    found = view.file_columns(table, list(leaves.values()))
    files = found.files
    for path, column_id in leaves.items():
        for name, column in zip(BOUNDS.names, found.bounds[column_id].columns, strict=True):
            files = files.append_column(f"{path}.{name}", column)
    return files


def find_file(view: SnapshotReads, table: Table, path: str) -> DataFile | None:
    """Return the data file with a stored path, or None."""
    with view.reading() as reader:
        found: list[DataFile] = reader.rows(
            DATA_FILE, scope=table.table_id, where="r.path = :path", path=path
        )
    return found[0] if found else None
