"""Protocol and metadata actions of a Delta table at one version.

Metadata of an imported log stays unchanged until the columns of the table change. New protocols
require as little as possible, so that as many readers as possible can read the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from forklake.delta.actions import Metadata, Protocol
from forklake.delta.schema import (
    DeltaColumnMapping,
    DeltaField,
    delta_fields,
    parse_schema,
    schema_string,
)
from forklake.model.delta_tables import FaceMode
from forklake.model.entities import DeltaTable
from forklake.model.fields import Field
from forklake.model.ids import ColumnId
from forklake.model.names import folded

# A writer feature that only Forklake supports: it makes other writers refuse the table, but no
# reader.
GUARD = "sqlCommitOnly"
_MODE, _HIGHEST = "delta.columnMapping.mode", "delta.columnMapping.maxColumnId"
_LISTED_READER, _LISTED_WRITER = 3, 7
_FOR_READERS = frozenset({"columnMapping", "deletionVectors", "timestampNtz"})
# Features implied by writer versions without a feature list. A list must name them explicitly.
_OF_WRITER_VERSIONS = (
    (2, ("appendOnly", "invariants")),
    (3, ("checkConstraints",)),
    (4, ("changeDataFeed", "generatedColumns")),
    (5, ("columnMapping",)),
    (6, ("identityColumns",)),
)


class DescriptionBuilder:
    """Builder of the protocol and metadata of a Delta table at one of its versions."""

    def __init__(
        self,
        fields: tuple[Field, ...],
        delta_table: DeltaTable,
        protocol: Protocol | None,
        metadata: Metadata | None,
    ) -> None:
        self._fields = fields
        self._delta_table = delta_table
        self._protocol = protocol  # the newest one, of an imported log or of our own
        self._metadata = metadata

    def build_metadata(self, name: str, created: int) -> Metadata:
        """Return the metadata. `name` and `created` are used if the table has no earlier one."""
        previous = self._metadata
        base = replace(
            previous or Metadata(id="", name=name, schema_string="", created_time=created),
            id=self._delta_table.delta_id,
        )
        if previous is not None and self._is_current(previous):
            return base
        mapping = self._choose_mapping(base)
        columns = delta_fields(
            self._fields, mapping, self._metadata_of_columns(previous) if previous else None
        )
        configuration = dict(base.configuration)
        if mapping is not DeltaColumnMapping.NONE:
            highest = max(_highest_column_id(self._fields), int(configuration.get(_HIGHEST) or 0))
            configuration |= {_MODE: mapping.value, _HIGHEST: str(highest)}
        return replace(
            base,
            schema_string=schema_string(columns),
            configuration=configuration,
            partition_columns=self._partition_columns(previous) if previous else (),
        )

    def _metadata_of_columns(self, previous: Metadata) -> dict[ColumnId, Mapping[str, Any]]:
        """Return the schema metadata of remaining columns: rules, defaults, comments."""
        mapping = DeltaColumnMapping.of(previous.configuration)
        return dict(_match_metadata(parse_schema(previous.schema_string, mapping), self._fields))

    def _partition_columns(self, previous: Metadata) -> tuple[str, ...]:
        """Return the partition columns of the log under their current names.

        Tables that were created in the lake have none: their files hold all columns, and Delta
        readers expect that files do not hold partition columns.
        """
        mapping = DeltaColumnMapping.of(previous.configuration)
        before = parse_schema(previous.schema_string, mapping)
        in_files = {folded(one.name): one.physical_name for one in before}
        names = {one.physical_name: one.name for one in self._fields}
        return tuple(names[in_files[folded(one)]] for one in previous.partition_columns)

    def _choose_mapping(self, base: Metadata) -> DeltaColumnMapping:
        """Return the mapping mode: a table with a renamed column keeps mapping by name forever."""
        before = DeltaColumnMapping.of(base.configuration)
        if before is DeltaColumnMapping.NONE and _has_other_names(self._fields):
            return DeltaColumnMapping.NAME
        return before

    def _is_current(self, previous: Metadata) -> bool:
        """Return whether the table still has the columns of the last metadata."""
        mapping = DeltaColumnMapping.of(previous.configuration)
        return _have_same_columns(parse_schema(previous.schema_string, mapping), self._fields)

    def build_protocol(self, metadata: Metadata, *, has_vectors: bool) -> Protocol:
        """Return the protocol: all features required before, and those required now.

        A feature is never removed, even if the table no longer uses it.
        """
        previous = self._protocol or Protocol(min_reader_version=1, min_writer_version=1)
        writers = _writer_features(previous) | self._required_features(metadata, has_vectors)
        if self._delta_table.mode == FaceMode.OWN:
            writers |= {GUARD}
        readers = _reader_features(previous) | (writers & _FOR_READERS)
        if readers == _reader_features(previous) and writers == _writer_features(previous):
            return previous
        is_listed = (
            bool(readers - {"columnMapping"}) or previous.min_reader_version >= _LISTED_READER
        )
        needed = _LISTED_READER if is_listed else 2 if readers else 1
        return replace(
            previous,
            min_reader_version=max(previous.min_reader_version, needed),
            min_writer_version=max(previous.min_writer_version, _LISTED_WRITER),
            reader_features=frozenset(readers) if is_listed else None,
            writer_features=frozenset(writers),
        )

    def _required_features(self, metadata: Metadata, has_vectors: bool) -> frozenset[str]:
        found = {"deletionVectors"} if has_vectors else set()
        if _has_type(self._fields, "timestamp"):
            found.add("timestampNtz")
        if DeltaColumnMapping.of(metadata.configuration) is not DeltaColumnMapping.NONE:
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


def _highest_column_id(fields: tuple[Field, ...]) -> int:
    return max(
        (max(int(one.column_id), _highest_column_id(one.fields)) for one in fields), default=0
    )


def _match_metadata(
    previous: Sequence[DeltaField], fields: Sequence[Field]
) -> Iterator[tuple[ColumnId, Mapping[str, Any]]]:
    by_name = {one.physical_name: one for one in previous}
    for current in fields:
        if (one := by_name.get(current.physical_name)) is not None:
            yield current.column_id, one.metadata
            yield from _match_metadata(one.fields, current.fields)


def _have_same_columns(previous: tuple[DeltaField, ...], fields: tuple[Field, ...]) -> bool:
    if len(previous) != len(fields):
        return False
    return all(
        (one.name, one.physical_name, one.type)
        == (current.name, current.physical_name, current.type)
        and one.nullable == current.nulls_allowed
        and _have_same_columns(one.fields, current.fields)
        for one, current in zip(previous, fields, strict=True)
    )
