"""Comparison of a Delta table at one version: its log against the lake.

The log is read as any Delta reader reads it, and compared with the rows of the lake, not with what
the mirror would write. Each function yields differences as sentences.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from posixpath import basename
from typing import Any, TypeVar

from forklake.catalog.delta_tables import FaceReading
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.delta.actions import Action, Add, Metadata, Protocol
from forklake.delta.log.paths import canonical_path, full_path, is_absolute
from forklake.delta.log.replay import LogState
from forklake.delta.schema import DeltaColumnMapping, parse_schema
from forklake.delta.stored_actions import find_stored_action
from forklake.errors import NotFound
from forklake.files.deletes import read_positions
from forklake.files.systems import exists, for_each_file, list_files
from forklake.files.vectors import read_vector, vector_path
from forklake.model.entities import Table
from forklake.model.scans import ScanFile

A = TypeVar("A", bound=Action)
_MOST_NAMES = 3  # maximum number of names in a message


class TableComparison:
    """A Delta table at one version, as its log and as the lake have it."""

    def __init__(self, log: LogState, seen: SnapshotReads, table: Table, location: str) -> None:
        self.log = log
        self.seen = seen
        self.table = table
        self.location = location
        self.files = seen.scan_files(table)

    def stored_action(self, kind: type[A]) -> A | None:
        """Return the newest table action of a kind that the metastore stores, or None."""
        return find_stored_action(FaceReading(self.seen, self.table), kind)

    @cached_property
    def pairs(self) -> dict[int, tuple[Add, ScanFile]]:
        """The files that both the log and the lake have, by file id."""
        found: dict[int, tuple[Add, ScanFile]] = {}
        for add in self.log.adds.values():
            file = self._find_file(full_path(self.location, add.path))
            if file is not None:
                found[int(file.file.data_file_id)] = add, file
        return found

    def _find_file(self, path: str) -> ScanFile | None:
        return self._files_by_path.get(path) or self._files_by_name.get(basename(path))

    @cached_property
    def _files_by_path(self) -> dict[str, ScanFile]:
        """Files by their current path, and by their path in the log they were imported from."""
        by_number = {one.file.data_file_id: one for one in self.files}
        found = {one.path: one for one in self.files}
        for row in self.seen.file_actions(self.table, sorted(by_number)):
            path = json.loads(row.body)["path"]
            if not is_absolute(path):
                file = by_number[row.data_file_id]
                found.setdefault(f"{self.location}/{canonical_path(path)}", file)
        return found

    @cached_property
    def _files_by_name(self) -> dict[str, ScanFile]:
        """Files by the name of their link in the mirror, which begins with the file id."""
        return {f"{int(one.file.data_file_id)}-{basename(one.path)}": one for one in self.files}


# Files


def find_file_drift(comparison: TableComparison) -> Iterator[str]:
    """Yield files that only one side has, or that have different deleted rows."""
    at, pairs = f"At version {comparison.log.version}", comparison.pairs
    matched = {id(add) for add, _ in pairs.values()}
    unmatched = [add.path for add in comparison.log.adds.values() if id(add) not in matched]
    if unmatched:
        yield f"{at} the log has files that the table does not have: {_format_names(unmatched)}."
    lost = [one.path for one in comparison.files if int(one.file.data_file_id) not in pairs]
    if lost:
        yield f"{at} the log lacks files of the table: {_format_names(lost)}."
    other = [
        add.path
        for add, file in pairs.values()
        if _have_different_deletes(add, file, comparison.location)
    ]
    if other:
        files = _format_names(other)
        yield f"{at} the log and the table delete different rows of these files: {files}."


def _have_different_deletes(add: Add, file: ScanFile, location: str) -> bool:
    """Return whether different rows are deleted. Missing files are not compared."""
    with suppress(NotFound):
        return _log_deletes(add, location) != _lake_deletes(file)
    return False


def _log_deletes(add: Add, location: str) -> set[int]:
    vector = add.deletion_vector
    if vector is None:
        return set()
    place = (vector.storage_type, vector.path_or_inline, vector.offset)
    size = (vector.size_in_bytes, vector.cardinality)
    return set(read_vector(*place, *size, location).to_pylist())


def _lake_deletes(file: ScanFile) -> set[int]:
    found = set(file.deleted_positions)
    if file.delete_path is not None:
        found |= set(read_positions(file.delete_path, file.path).to_pylist())
    return found


def find_missing_files(comparison: TableComparison) -> Iterator[str]:
    """Yield files that the log references and that do not exist."""
    named = {full_path(comparison.location, one.path) for one in comparison.log.adds.values()}
    for add in comparison.log.adds.values():
        if vector := add.deletion_vector:
            path = vector_path(vector.storage_type, vector.path_or_inline, comparison.location)
            named |= {path} if path is not None else set()
    elsewhere = sorted(named - {one.path for one in list_files(comparison.location)})
    found = for_each_file(exists, elsewhere)
    missing = [path for path, is_there in zip(elsewhere, found, strict=True) if not is_there]
    if missing:
        yield f"The log references files that do not exist: {_format_names(missing)}."


# Table definition


def find_column_drift(comparison: TableComparison) -> Iterator[str]:
    """Yield differences of columns, partition columns and properties."""
    logged, stored = comparison.log.metadata, comparison.stored_action(Metadata)
    assert logged is not None  # `replay` requires it
    mapping = DeltaColumnMapping.of(logged.configuration)
    in_log = _outline(parse_schema(logged.schema_string, mapping))
    in_lake = _outline(comparison.seen.state.fields(comparison.table))
    if in_log != in_lake:
        differing = sorted({one[0] for one in {*in_log} ^ {*in_lake}}) or ["their order"]
        yield f"The columns of the log and of the table differ: {_format_names(differing)}."
    if stored is not None and logged.partition_columns != stored.partition_columns:
        yield f"The log has different partition columns: {_format_names(logged.partition_columns)}."
    if stored is not None and logged.configuration != stored.configuration:
        differing_items = {*logged.configuration.items()} ^ {*stored.configuration.items()}
        other = {name for name, _ in differing_items}
        yield f"The log has different properties: {_format_names(sorted(other))}."


def _outline(fields: Iterable[Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple((one.name, one.physical_name, one.type, _outline(one.fields)) for one in fields)


def find_protocol_drift(comparison: TableComparison) -> Iterator[str]:
    """Yield requirements that the protocol of the log lacks; additional ones are allowed."""
    logged, stored = comparison.log.protocol, comparison.stored_action(Protocol)
    if logged is None or stored is None:
        return
    lost = {*(stored.reader_features or ())} - {*(logged.reader_features or ())}
    lost |= {*(stored.writer_features or ())} - {*(logged.writer_features or ())}
    if logged.min_reader_version < stored.min_reader_version:
        lost.add(f"reader version {stored.min_reader_version}")
    if logged.min_writer_version < stored.min_writer_version:
        lost.add(f"writer version {stored.min_writer_version}")
    if lost:
        yield f"The protocol of the log does not require {_format_names(sorted(lost))}."


def _format_names(names: Sequence[str]) -> str:
    """Return the first names of a list as text."""
    shown = ", ".join(repr(one) for one in names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES} more"
