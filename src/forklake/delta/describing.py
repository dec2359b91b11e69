"""What a Delta log says of a table itself: its protocol and its metadata, at one version.

What an imported log said stays as it was until the table's columns change. What is told anew is as
little as is true, so that as many readers as possible can read the table.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TypeVar

from forklake.catalog.faces import FaceReading
from forklake.catalog.reading import Snapshotted
from forklake.delta.actions import Action, Metadata, Protocol
from forklake.delta.schema import (
    DeltaColumnMapping,
    DeltaField,
    delta_fields,
    parse_schema,
    schema_string,
)
from forklake.model.entities import DeltaVersion, Table
from forklake.model.faces import FaceMode
from forklake.model.fields import Field

# A feature that only writers must know, and none but us does: it keeps other writers away, and
# every reader still reads.
GUARD = "sqlCommitOnly"
_MODE, _HIGHEST = "delta.columnMapping.mode", "delta.columnMapping.maxColumnId"
_LISTED_READER, _LISTED_WRITER = 3, 7
_FOR_READERS = frozenset({"columnMapping", "deletionVectors", "timestampNtz"})
# What the versions of before the lists stood for, which a list must name.
_OF_WRITER_VERSIONS = (
    (2, ("appendOnly", "invariants")),
    (3, ("checkConstraints",)),
    (4, ("changeDataFeed", "generatedColumns")),
    (5, ("columnMapping",)),
    (6, ("identityColumns",)),
)
A = TypeVar("A", bound=Action)


class Description:
    """The protocol and metadata of a Delta table at one of its versions."""

    def __init__(self, seen: Snapshotted, table: Table, version: DeltaVersion) -> None:
        self._seen = seen
        self._table = table
        self._version = version
        self._face = FaceReading(seen, table)
        self.fields = seen.state.fields(table)
        self.stated_metadata = self._stated(Metadata)
        self.stated_protocol = self._stated(Protocol)

    def _stated(self, kind: type[A]) -> A | None:
        """The newest one that was told, by another log or by ours."""
        row = self._face.newest_action(kind.kind)
        return None if row is None else kind.from_body(json.loads(row.body))

    def metadata(self) -> Metadata:
        """What the table is."""
        stated = self.stated_metadata
        base = stated or Metadata(
            id=self._face.face.delta_id,
            name=self._table.table_name,
            schema_string="",
            created_time=self._version.timestamp,
        )
        if stated is not None and self._is_still_true(stated):
            return stated
        mapping = self._mapping(base)
        told = delta_fields(self.fields, mapping)
        configuration = dict(base.configuration)
        if mapping is not DeltaColumnMapping.NONE:
            configuration |= {_MODE: mapping.value, _HIGHEST: str(_highest(self.fields))}
        return replace(base, schema_string=schema_string(told), configuration=configuration)

    def _mapping(self, base: Metadata) -> DeltaColumnMapping:
        """Columns need names of their own in files as soon as one was renamed, and from then on."""
        before = DeltaColumnMapping.of(base.configuration)
        if before is DeltaColumnMapping.NONE and _has_other_names(self.fields):
            return DeltaColumnMapping.NAME
        return before

    def _is_still_true(self, stated: Metadata) -> bool:
        """Whether the table has the columns that were told."""
        mapping = DeltaColumnMapping.of(stated.configuration)
        return _same(parse_schema(stated.schema_string, mapping), self.fields)

    def protocol(self, *, has_vectors: bool) -> Protocol:
        """Who may read and write the table: what was told, and what has become true since."""
        stated = self.stated_protocol or Protocol(min_reader_version=1, min_writer_version=1)
        writers = _writer_features(stated) | self._features(has_vectors)
        if self._face.face.mode == FaceMode.OWN:
            writers |= {GUARD}
        readers = _reader_features(stated) | (writers & _FOR_READERS)
        if readers == _reader_features(stated) and writers == _writer_features(stated):
            return self.stated_protocol or stated
        is_listed = bool(readers - {"columnMapping"}) or stated.min_reader_version == _LISTED_READER
        return replace(
            stated,
            min_reader_version=_LISTED_READER if is_listed else 2 if readers else 1,
            min_writer_version=_LISTED_WRITER,
            reader_features=frozenset(readers) if is_listed else None,
            writer_features=frozenset(writers),
        )

    def _features(self, has_vectors: bool) -> frozenset[str]:
        found = {"deletionVectors"} if has_vectors else set()
        if _has_type(self.fields, "timestamp"):
            found.add("timestampNtz")
        if DeltaColumnMapping.of(self.metadata().configuration) is not DeltaColumnMapping.NONE:
            found.add("columnMapping")
        return frozenset(found)


def _writer_features(protocol: Protocol) -> frozenset[str]:
    if protocol.writer_features is not None:
        return protocol.writer_features
    named = (those for since, those in _OF_WRITER_VERSIONS if since <= protocol.min_writer_version)
    return frozenset(one for those in named for one in those)


def _reader_features(protocol: Protocol) -> frozenset[str]:
    if protocol.reader_features is not None:
        return protocol.reader_features
    return frozenset({"columnMapping"} if protocol.min_reader_version > 1 else ())


def _has_other_names(fields: tuple[Field, ...]) -> bool:
    return any(one.physical_name != one.name or _has_other_names(one.fields) for one in fields)


def _has_type(fields: tuple[Field, ...], kind: str) -> bool:
    return any(one.type.startswith(kind) and one.type != "timestamptz" for one in fields) or any(
        _has_type(one.fields, kind) for one in fields
    )


def _highest(fields: tuple[Field, ...]) -> int:
    return max((max(int(one.column_id), _highest(one.fields)) for one in fields), default=0)


def _same(told: tuple[DeltaField, ...], fields: tuple[Field, ...]) -> bool:
    if len(told) != len(fields):
        return False
    return all(
        (one.name, one.physical_name, one.type) == (own.name, own.physical_name, own.type)
        and one.nullable == own.nulls_allowed
        and _same(one.fields, own.fields)
        for one, own in zip(told, fields, strict=True)
    )
