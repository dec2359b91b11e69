"""The files of a Delta table at a version, with what is known of their columns, as Arrow.

This is what a reader needs to plan a scan by itself. It comes out of the database column by column,
without an object for any file.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from forklake.catalog.file_columns import BOUNDS
from forklake.catalog.reading import Snapshotted
from forklake.delta.statistics import statistics_leaves
from forklake.model.entities import DataFile, Table
from forklake.model.kinds import DATA_FILE


def files_as_arrow(
    view: Snapshotted, table: Table, columns: Sequence[str] | None = None
) -> pa.Table:
    """The data files of a table, a row each, with the bounds of some columns, by default of all.

    Bounds are texts in the lake's form, in columns such as `id.min_value`; deleted rows are not
    taken into account.
    """
    leaves = {
        ".".join(path): leaf.column_id
        for path, leaf in statistics_leaves(view.state.fields(table)).items()
        if columns is None or path[0] in columns
    }
    known = view.file_columns(table, list(leaves.values()))
    files = known.files
    for path, column_id in leaves.items():
        for name, column in zip(BOUNDS.names, known.bounds[column_id].columns, strict=True):
            files = files.append_column(f"{path}.{name}", column)
    return files


def find_file(view: Snapshotted, table: Table, path: str) -> DataFile | None:
    """The data file of a path, as the metastore has it."""
    with view.reading() as reader:
        found: list[DataFile] = reader.rows(
            DATA_FILE, scope=table.table_id, where="r.path = :path", path=path
        )
    return found[0] if found else None
