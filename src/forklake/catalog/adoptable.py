"""Files of one catalog in the form in which another catalog can adopt them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import TypeVar

from forklake.catalog.catalog import Catalog
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.model.entities import DataFile, DeleteFile, Table
from forklake.model.files import ColumnBounds
from forklake.model.ids import DataFileId
from forklake.model.merges import AdoptedFile
from forklake.model.scans import ScanFile

F = TypeVar("F", DataFile, DeleteFile)
_bounds = attrgetter(*(one.name for one in fields(ColumnBounds)))


def adoptable_files(
    view: SnapshotReads, table: Table, files: Sequence[ScanFile], target: Catalog
) -> list[AdoptedFile]:
    """Return files of a table with their statistics and the paths that the target will store."""
    known = _bounds_of(view, table, [one.file.data_file_id for one in files])
    return [
        AdoptedFile(
            _kept(one.file, one.path, target),
            tuple(known.get(one.file.data_file_id, ())),
            _kept(one.delete_file, one.delete_path, target)
            if one.delete_file is not None and one.delete_path is not None
            else None,
            one.deleted_positions,
        )
        for one in files
    ]


def _bounds_of(
    view: SnapshotReads, table: Table, numbers: Iterable[DataFileId]
) -> dict[DataFileId, list[ColumnBounds]]:
    found: dict[DataFileId, list[ColumnBounds]] = {}
    for row in view.file_statistics(table, list(numbers)):
        found.setdefault(row.data_file_id, []).append(ColumnBounds(*_bounds(row)))
    return found


def _kept(file: F, path: str, target: Catalog) -> F:
    """Return a file with its path relative to the data path of the target if it is below it."""
    base = target.data_path().rstrip("/") + "/"
    if not file.path_is_relative:
        return file
    if path.startswith(base):
        return replace(file, path=path.removeprefix(base))
    return replace(file, path=path, path_is_relative=False)
