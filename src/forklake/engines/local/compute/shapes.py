"""Shapes: groups of files of a table that one DuckDB query can read together.

All files of a shape have the same columns with the same types. Most tables have one shape. Files
that are older than a column lack it, and files from other writers have their own column names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow.parquet as pq

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.errors import Unsupported
from forklake.files.footers import leaf_fields, node_paths
from forklake.files.systems import for_each_file, open_input
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.ids import ColumnId, DataFileId, MappingId, SnapshotId
from forklake.model.kinds import COLUMN
from forklake.model.scans import ScanFile, is_partial


@dataclass(frozen=True, slots=True)
class Shape:
    """Common properties of files: missing fields, types before promotions, and rows to filter."""

    missing: frozenset[ColumnId] = frozenset()
    types: tuple[tuple[ColumnId, str], ...] = ()
    mapping_id: MappingId | None = None
    has_deletes: bool = False
    is_partial: bool = False


def shaped(
    seen: SnapshotReads, table: Table, fields: Sequence[Field]
) -> dict[Shape, list[ScanFile]]:
    """Return the files of a table, grouped by shape."""
    files = seen.scan_files(table)
    if any(file.file.encryption_key is not None for file in files):
        raise Unsupported(
            f"The files of table '{table.table_name}' are encrypted, which DuckDB cannot read.",
            remedy="Read the table with Spark.",
        )
    leaves = [one for _, one in node_paths(fields) if not one.fields]
    missing = _missing(seen, table, files, fields)
    found: dict[Shape, list[ScanFile]] = {}
    for file in files:
        shape = Shape(
            missing.get(file.file.data_file_id, frozenset()),
            _types(leaves, file.file.begin_snapshot),
            file.file.mapping_id,
            file.has_deletes,
            is_partial(file, seen.snapshot_id),
        )
        found.setdefault(shape, []).append(file)
    return found


def _missing(
    seen: SnapshotReads, table: Table, files: Sequence[ScanFile], fields: Sequence[Field]
) -> dict[DataFileId, frozenset[ColumnId]]:
    """Return the fields that files lack. Only files older than the newest column can lack any."""
    columns = seen.state.beneath(COLUMN, table.table_id)
    youngest = max((column.begin_snapshot for column in columns), default=SnapshotId(0))
    old = [one for one in files if one.file.begin_snapshot < youngest]
    if not old:
        return {}
    having: dict[DataFileId, set[ColumnId]] = {one.file.data_file_id: set() for one in old}
    for row in seen.file_statistics(table, list(having)):
        having[row.data_file_id].add(row.column_id)
    found = {
        number: frozenset(one.column_id for _, one in node_paths(fields) if _lacks(one, had))
        for number, had in having.items()
    }
    ours = [one for one in old if one.file.mapping_id is None]  # others are defined by mappings
    doubtful = [one for one in ours if _is_doubtful(fields, having[one.file.data_file_id])]
    held = for_each_file(_paths_in, [one.path for one in doubtful])
    for one, inside in zip(doubtful, held, strict=True):
        found[one.file.data_file_id] = _absent(fields, inside)
    return found


def _is_doubtful(fields: Sequence[Field], having: set[ColumnId]) -> bool:
    """Return whether statistics cannot decide which fields a file has, so that it must be read.

    A file has statistics of each of its leaves, unless it has none at all or two paths are equal.
    Statistics of dropped leaves may belong to a nested column whose current leaves are all new.
    """
    leaves = {one.column_id for _, one in node_paths(fields) if not one.fields}
    nested = [one for _, one in node_paths(fields) if one.fields]
    return (
        not having
        or len(leaf_fields(fields)) < len(leaves)
        or (not having <= leaves and any(_lacks(one, having) for one in nested))
    )


def _absent(fields: Sequence[Field], held: set[str]) -> frozenset[ColumnId]:
    """Return the fields without any leaf among the paths in a file."""
    known = {path[:end] for path in held for end in _ends(path)}
    return frozenset(one.column_id for path, one in node_paths(fields) if path not in known)


def _ends(path: str) -> list[int]:
    """Return the positions at which a path and the paths of its parents end."""
    return [*(place for place, letter in enumerate(path) if letter == "."), len(path)]


def _lacks(field: Field, having: set[ColumnId]) -> bool:
    """Return whether a file has no leaf of a field."""
    if field.fields:
        return all(_lacks(one, having) for one in field.fields)
    return field.column_id not in having


def _paths_in(path: str) -> set[str]:
    """Return the paths of the leaves in a file."""
    with open_input(path) as file:
        metadata = pq.ParquetFile(file).metadata
    return {metadata.schema.column(number).path for number in range(metadata.num_columns)}


def _types(leaves: Sequence[Field], began: SnapshotId) -> tuple[tuple[ColumnId, str], ...]:
    """Return the leaves that had another type when a file was written, with that type."""
    return tuple(
        (leaf.column_id, was)
        for leaf in leaves
        if leaf.promotions and (was := leaf.type_in(began)) != leaf.type
    )
