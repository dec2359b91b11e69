"""Shapes: files of a table that one query of DuckDB's reads together.

All files of a shape have the same columns of the same types. Most tables have one. Files that are
older than a column lack it, and files that others wrote have names of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forklake.catalog.reading import Snapshotted
from forklake.errors import Unsupported
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.ids import ColumnId, DataFileId, MappingId, SnapshotId
from forklake.model.kinds import COLUMN
from forklake.model.scans import ScanFile, is_partial


@dataclass(frozen=True, slots=True)
class Shape:
    """What files have in common: the leaves they lack, types from before promotions, and what has
    to be left out of them."""

    missing: frozenset[ColumnId] = frozenset()
    types: tuple[tuple[ColumnId, str], ...] = ()
    mapping_id: MappingId | None = None
    has_deletes: bool = False
    is_partial: bool = False


def shaped(seen: Snapshotted, table: Table, fields: Sequence[Field]) -> dict[Shape, list[ScanFile]]:
    """The files of a table by their shapes."""
    files = seen.scan_files(table)
    leaves = list(_leaves(fields))
    missing = _missing(seen, table, files, {leaf.column_id for leaf in leaves})
    found: dict[Shape, list[ScanFile]] = {}
    for file in files:
        if file.file.encryption_key is not None:
            raise Unsupported(
                f"The files of table '{table.table_name}' are encrypted, and DuckDB has no key.",
                remedy="Read the table with Spark.",
            )
        shape = Shape(
            missing.get(file.file.data_file_id, frozenset()),
            _types(leaves, file.file.begin_snapshot),
            file.file.mapping_id,
            file.has_deletes,
            is_partial(file, seen.snapshot_id),
        )
        found.setdefault(shape, []).append(file)
    return found


def _leaves(fields: Sequence[Field]) -> Iterator[Field]:
    for field in fields:
        if field.fields:
            yield from _leaves(field.fields)
        else:
            yield field


def _missing(
    seen: Snapshotted, table: Table, files: Sequence[ScanFile], leaves: set[ColumnId]
) -> dict[DataFileId, frozenset[ColumnId]]:
    """The leaves that files lack: a file has statistics of each one that is in it.

    Only files from before the youngest column can lack one.
    """
    columns = seen.state.beneath(COLUMN, table.table_id)
    youngest = max((column.begin_snapshot for column in columns), default=SnapshotId(0))
    old = [one.file.data_file_id for one in files if one.file.begin_snapshot < youngest]
    having: dict[DataFileId, set[ColumnId]] = {number: set() for number in old}
    for row in seen.file_statistics(table, old) if old else ():
        having[row.data_file_id].add(row.column_id)
    return {number: frozenset(leaves - having[number]) for number in old}


def _types(leaves: Sequence[Field], began: SnapshotId) -> tuple[tuple[ColumnId, str], ...]:
    """The leaves that had another type when a file was written."""
    return tuple(
        (leaf.column_id, was)
        for leaf in leaves
        if leaf.promotions and (was := leaf.type_in(began)) != leaf.type
    )
