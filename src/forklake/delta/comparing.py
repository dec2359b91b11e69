"""Comparing the two sides of a Delta table at one version: what its log says, what the lake has.

The log is read as anybody else would read it, and compared with the rows of the lake themselves,
not with what the mirror would write. Each function says in sentences what differs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from posixpath import basename
from typing import Any, TypeVar

from forklake.catalog.faces import FaceReading
from forklake.catalog.reading import Snapshotted
from forklake.delta.actions import Action, Add, Metadata, Protocol
from forklake.delta.log.paths import canonical, full_path, is_absolute
from forklake.delta.log.replay import State
from forklake.delta.schema import DeltaColumnMapping, parse_schema
from forklake.delta.stating import stated
from forklake.errors import NotFound
from forklake.files.deletes import read_positions
from forklake.files.systems import exists, for_each_file, list_files
from forklake.files.vectors import read_vector, vector_path
from forklake.model.entities import Table
from forklake.model.scans import ScanFile

A = TypeVar("A", bound=Action)
_NAMED = 3  # of many, this many are named


class Sides:
    """A Delta table at one version, from both sides."""

    def __init__(self, log: State, seen: Snapshotted, table: Table, location: str) -> None:
        self.log = log
        self.seen = seen
        self.table = table
        self.location = location
        self.files = seen.scan_files(table)

    def kept(self, kind: type[A]) -> A | None:
        """What the metastore has kept of what was said of the table itself."""
        return stated(FaceReading(self.seen, self.table), kind)

    @cached_property
    def pairs(self) -> dict[int, tuple[Add, ScanFile]]:
        """The files of the log that are files of the lake, by their number."""
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
        """Files under the paths that they have, or had in the log that they came from."""
        by_number = {one.file.data_file_id: one for one in self.files}
        found = {one.path: one for one in self.files}
        for row in self.seen.file_actions(self.table, sorted(by_number)):
            told = json.loads(row.body)["path"]
            if not is_absolute(told):
                file = by_number[row.data_file_id]
                found.setdefault(f"{self.location}/{canonical(told)}", file)
        return found

    @cached_property
    def _by_name(self) -> dict[str, ScanFile]:
        """Files under their second names, which begin with their numbers."""
        return {f"{int(one.file.data_file_id)}-{basename(one.path)}": one for one in self.files}


# Files


def file_drift(sides: Sides) -> Iterator[str]:
    """Files that only one side has, or with other rows deleted."""
    at, pairs = f"At version {sides.log.version}", sides.pairs
    known = {id(add) for add, _ in pairs.values()}
    strange = [add.path for add in sides.log.adds.values() if id(add) not in known]
    if strange:
        yield f"{at} the log has files that the table has not: {_some(strange)}."
    lost = [one.path for one in sides.files if int(one.file.data_file_id) not in pairs]
    if lost:
        yield f"{at} the log lacks files of the table: {_some(lost)}."
    other = [add.path for add, file in pairs.values() if _differ(add, file, sides.location)]
    if other:
        yield f"{at} other rows are deleted in the log than in the table, of: {_some(other)}."


def _differ(add: Add, file: ScanFile, location: str) -> bool:
    """Whether other rows are deleted; of files that are missing nothing can be said."""
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
    """Files that the log names and nobody finds."""
    named = {full_path(sides.location, one.path) for one in sides.log.adds.values()}
    for add in sides.log.adds.values():
        if vector := add.deletion_vector:
            path = vector_path(vector.storage_type, vector.path_or_inline, sides.location)
            named |= {path} if path is not None else set()
    elsewhere = sorted(named - {one.path for one in list_files(sides.location)})
    there = for_each_file(exists, elsewhere)
    missing = [path for path, is_there in zip(elsewhere, there, strict=True) if not is_there]
    if missing:
        yield f"The log names files that do not exist: {_some(missing)}."


# The table itself


def column_drift(sides: Sides) -> Iterator[str]:
    """Other columns, partition columns or properties."""
    told, kept = sides.log.metadata, sides.kept(Metadata)
    assert told is not None  # or it could not have been replayed
    mapping = DeltaColumnMapping.of(told.configuration)
    in_log = _outline(parse_schema(told.schema_string, mapping))
    in_lake = _outline(sides.seen.state.fields(sides.table))
    if in_log != in_lake:
        differing = sorted({one[0] for one in {*in_log} ^ {*in_lake}}) or ["their order"]
        yield f"The columns differ in the log and in the table: {_some(differing)}."
    if kept is not None and told.partition_columns != kept.partition_columns:
        yield f"The log says other partition columns: {_some(told.partition_columns)}."
    if kept is not None and told.configuration != kept.configuration:
        other = {name for name, _ in {*told.configuration.items()} ^ {*kept.configuration.items()}}
        yield f"The log says other properties: {_some(sorted(other))}."


def _outline(fields: Iterable[Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple((one.name, one.physical_name, one.type, _outline(one.fields)) for one in fields)


def protocol_drift(sides: Sides) -> Iterator[str]:
    """The log may demand more than was kept of another log, and never less."""
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
        yield f"The protocol in the log does not demand {_some(sorted(lost))}."


def _some(names: Sequence[str]) -> str:
    """A few of many names."""
    shown = ", ".join(repr(one) for one in names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"
