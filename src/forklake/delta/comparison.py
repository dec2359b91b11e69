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
from forklake.catalog.snapshot_reads import Snapshotted
from forklake.delta.actions import Action, Add, Metadata, Protocol
from forklake.delta.log.paths import canonical, full_path, is_absolute
from forklake.delta.log.replay import State
from forklake.delta.schema import DeltaColumnMapping, parse_schema
from forklake.delta.stored_actions import stated
from forklake.errors import NotFound
from forklake.files.deletes import read_positions
from forklake.files.systems import exists, for_each_file, list_files
from forklake.files.vectors import read_vector, vector_path
from forklake.model.entities import Table
from forklake.model.scans import ScanFile

A = TypeVar("A", bound=Action)
_NAMED = 3  # maximum number of names in a message


class Sides:
    """A Delta table at one version, as its log and as the lake have it."""

    def __init__(self, log: State, seen: Snapshotted, table: Table, location: str) -> None:
        self.log = log
        self.seen = seen
        self.table = table
        self.location = location
        self.files = seen.scan_files(table)

    def kept(self, kind: type[A]) -> A | None:
        """Return the newest table action of a kind that the metastore stores, or None."""
        return stated(FaceReading(self.seen, self.table), kind)

    @cached_property
    def pairs(self) -> dict[int, tuple[Add, ScanFile]]:
        """The files that both the log and the lake have, by file id."""
        found: dict[int, tuple[Add, ScanFile]] = {}
        for add in self.log.adds.values():
            file = self._file_at(full_path(self.location, add.path))
            if file is not None:
                found[int(file.file.data_file_id)] = add, file
        return found

    def _file_at(self, path: str) -> ScanFile | None:
        return self._by_path.get(path) or self._by_name.get(basename(path))

    @cached_property
    def _by_path(self) -> dict[str, ScanFile]:
        """Files by their current path, and by their path in the log they were imported from."""
        by_number = {one.file.data_file_id: one for one in self.files}
        found = {one.path: one for one in self.files}
        for row in self.seen.file_actions(self.table, sorted(by_number)):
            path = json.loads(row.body)["path"]
            if not is_absolute(path):
                file = by_number[row.data_file_id]
                found.setdefault(f"{self.location}/{canonical(path)}", file)
        return found

    @cached_property
    def _by_name(self) -> dict[str, ScanFile]:
        """Files by the name of their link in the mirror, which begins with the file id."""
        return {f"{int(one.file.data_file_id)}-{basename(one.path)}": one for one in self.files}


# Files


def file_drift(sides: Sides) -> Iterator[str]:
    """Yield files that only one side has, or that have different deleted rows."""
    at, pairs = f"At version {sides.log.version}", sides.pairs
    known = {id(add) for add, _ in pairs.values()}
    strange = [add.path for add in sides.log.adds.values() if id(add) not in known]
    if strange:
        yield f"{at} the log has files that the table does not have: {_some(strange)}."
    lost = [one.path for one in sides.files if int(one.file.data_file_id) not in pairs]
    if lost:
        yield f"{at} the log lacks files of the table: {_some(lost)}."
    other = [add.path for add, file in pairs.values() if _differ(add, file, sides.location)]
    if other:
        yield f"{at} the log and the table delete different rows of these files: {_some(other)}."


def _differ(add: Add, file: ScanFile, location: str) -> bool:
    """Return whether different rows are deleted. Missing files are not compared."""
    with suppress(NotFound):
        return _told(add, location) != _deleted(file)
    return False


def _told(add: Add, location: str) -> set[int]:
    vector = add.deletion_vector
    if vector is None:
        return set()
    place = (vector.storage_type, vector.path_or_inline, vector.offset)
    size = (vector.size_in_bytes, vector.cardinality)
    return set(read_vector(*place, *size, location).to_pylist())


def _deleted(file: ScanFile) -> set[int]:
    found = set(file.deleted_positions)
    if file.delete_path is not None:
        found |= set(read_positions(file.delete_path, file.path).to_pylist())
    return found


def missing_files(sides: Sides) -> Iterator[str]:
    """Yield files that the log references and that do not exist."""
    named = {full_path(sides.location, one.path) for one in sides.log.adds.values()}
    for add in sides.log.adds.values():
        if vector := add.deletion_vector:
            path = vector_path(vector.storage_type, vector.path_or_inline, sides.location)
            named |= {path} if path is not None else set()
    elsewhere = sorted(named - {one.path for one in list_files(sides.location)})
    there = for_each_file(exists, elsewhere)
    missing = [path for path, is_there in zip(elsewhere, there, strict=True) if not is_there]
    if missing:
        yield f"The log references files that do not exist: {_some(missing)}."


# Table definition


def column_drift(sides: Sides) -> Iterator[str]:
    """Yield differences of columns, partition columns and properties."""
    logged, kept = sides.log.metadata, sides.kept(Metadata)
    assert logged is not None  # `replay` requires it
    mapping = DeltaColumnMapping.of(logged.configuration)
    in_log = _outline(parse_schema(logged.schema_string, mapping))
    in_lake = _outline(sides.seen.state.fields(sides.table))
    if in_log != in_lake:
        differing = sorted({one[0] for one in {*in_log} ^ {*in_lake}}) or ["their order"]
        yield f"The columns of the log and of the table differ: {_some(differing)}."
    if kept is not None and logged.partition_columns != kept.partition_columns:
        yield f"The log has different partition columns: {_some(logged.partition_columns)}."
    if kept is not None and logged.configuration != kept.configuration:
        differing_items = {*logged.configuration.items()} ^ {*kept.configuration.items()}
        other = {name for name, _ in differing_items}
        yield f"The log has different properties: {_some(sorted(other))}."


def _outline(fields: Iterable[Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple((one.name, one.physical_name, one.type, _outline(one.fields)) for one in fields)


def protocol_drift(sides: Sides) -> Iterator[str]:
    """Yield requirements that the protocol of the log lacks; additional ones are allowed."""
    told, kept = sides.log.protocol, sides.kept(Protocol)
    if told is None or kept is None:
        return
    lost = {*(kept.reader_features or ())} - {*(told.reader_features or ())}
    lost |= {*(kept.writer_features or ())} - {*(told.writer_features or ())}
    if told.min_reader_version < kept.min_reader_version:
        lost.add(f"reader version {kept.min_reader_version}")
    if told.min_writer_version < kept.min_writer_version:
        lost.add(f"writer version {kept.min_writer_version}")
    if lost:
        yield f"The protocol of the log does not require {_some(sorted(lost))}."


def _some(names: Sequence[str]) -> str:
    """Return the first names of a list as text."""
    shown = ", ".join(repr(one) for one in names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"
