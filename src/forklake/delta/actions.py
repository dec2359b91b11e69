"""Actions of a Delta log as frozen values.

Parsing and writing an action preserves it: unknown fields are kept in `extra`, unknown actions as
`UnknownAction`, and JSON text inside an action (the schema, the statistics) as the same text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from forklake.delta.json_fields import (
    FLAG,
    NAMES,
    PAIRS,
    PATH,
    TEXT,
    TEXTS,
    WHOLE,
    JsonObject,
    json_field,
    object_type,
)
from forklake.errors import Corruption

Value = TypeVar("Value")

# The schema of a table without columns: some writers create the table first, the columns later.
NO_COLUMNS = '{"type":"struct","fields":[]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(JsonObject):
    """One action; `kind` is its name in the log."""

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Return the action as a JSON object."""
        return {self.kind: self.to_body()}


# Parts of actions


@dataclass(frozen=True, slots=True, kw_only=True)
class Format(JsonObject):
    """The encoding of data files."""

    provider: str = json_field("provider", TEXT, default="parquet")
    options: Mapping[str, str | None] = json_field("options", PAIRS, default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionVector(JsonObject):
    """Reference to the deletion vector of a data file: the positions of its deleted rows."""

    storage_type: str = json_field("storageType", TEXT)
    path_or_inline: str = json_field("pathOrInlineDv", TEXT)
    offset: int | None = json_field("offset", WHOLE, default=None)
    size_in_bytes: int = json_field("sizeInBytes", WHOLE)
    cardinality: int = json_field("cardinality", WHOLE)

    @property
    def unique_id(self) -> str:
        """The id that distinguishes deletion vectors of one file."""
        place = "" if self.offset is None else f"@{self.offset}"
        return f"{self.storage_type}{self.path_or_inline}{place}"


_FORMAT_TYPE, _VECTOR_TYPE = object_type(Format), object_type(DeletionVector)


# Actions


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol(Action):
    """Versions and features that readers and writers of the table must support."""

    kind: ClassVar[str] = "protocol"
    min_reader_version: int = json_field("minReaderVersion", WHOLE)
    min_writer_version: int = json_field("minWriterVersion", WHOLE)
    reader_features: frozenset[str] | None = json_field("readerFeatures", NAMES, default=None)
    writer_features: frozenset[str] | None = json_field("writerFeatures", NAMES, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata(Action):
    """Schema and properties of the table. The newest one replaces all earlier ones."""

    kind: ClassVar[str] = "metaData"
    id: str = json_field("id", TEXT)
    name: str | None = json_field("name", TEXT, default=None)
    description: str | None = json_field("description", TEXT, default=None)
    format: Format = json_field("format", _FORMAT_TYPE, default_factory=Format)  # noqa: RUF009
    schema_string: str = json_field("schemaString", TEXT, default=NO_COLUMNS)
    partition_columns: tuple[str, ...] = json_field("partitionColumns", TEXTS, default=())
    configuration: Mapping[str, str | None] = json_field(
        "configuration", PAIRS, default_factory=dict
    )
    created_time: int | None = json_field("createdTime", WHOLE, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Add(Action):
    """Adds a data file to the table, or replaces the facts about it."""

    kind: ClassVar[str] = "add"
    path: str = json_field("path", PATH)
    partition_values: Mapping[str, str | None] = json_field("partitionValues", PAIRS)
    size: int = json_field("size", WHOLE)
    modification_time: int = json_field("modificationTime", WHOLE)
    data_change: bool = json_field("dataChange", FLAG)
    stats: str | None = json_field("stats", TEXT, default=None)
    tags: Mapping[str, str | None] | None = json_field("tags", PAIRS, default=None)
    deletion_vector: DeletionVector | None = json_field(  # noqa: RUF009
        "deletionVector", _VECTOR_TYPE, default=None
    )
    base_row_id: int | None = json_field("baseRowId", WHOLE, default=None)
    default_row_commit_version: int | None = json_field(
        "defaultRowCommitVersion", WHOLE, default=None
    )
    clustering_provider: str | None = json_field("clusteringProvider", TEXT, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove(Action):
    """Removes a data file from the table."""

    kind: ClassVar[str] = "remove"
    path: str = json_field("path", PATH)
    deletion_timestamp: int | None = json_field("deletionTimestamp", WHOLE, default=None)
    data_change: bool = json_field("dataChange", FLAG)
    extended_file_metadata: bool | None = json_field("extendedFileMetadata", FLAG, default=None)
    partition_values: Mapping[str, str | None] | None = json_field(
        "partitionValues", PAIRS, default=None
    )
    size: int | None = json_field("size", WHOLE, default=None)
    stats: str | None = json_field("stats", TEXT, default=None)
    tags: Mapping[str, str | None] | None = json_field("tags", PAIRS, default=None)
    deletion_vector: DeletionVector | None = json_field(  # noqa: RUF009
        "deletionVector", _VECTOR_TYPE, default=None
    )
    base_row_id: int | None = json_field("baseRowId", WHOLE, default=None)
    default_row_commit_version: int | None = json_field(
        "defaultRowCommitVersion", WHOLE, default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cdc(Action):
    """A change data file, which belongs to its version only."""

    kind: ClassVar[str] = "cdc"
    path: str = json_field("path", PATH)
    partition_values: Mapping[str, str | None] = json_field("partitionValues", PAIRS)
    size: int = json_field("size", WHOLE)
    data_change: bool = json_field("dataChange", FLAG, default=False)
    tags: Mapping[str, str | None] | None = json_field("tags", PAIRS, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Txn(Action):
    """The newest version that an application has written, in its own numbering."""

    kind: ClassVar[str] = "txn"
    app_id: str = json_field("appId", TEXT)
    version: int = json_field("version", WHOLE)
    last_updated: int | None = json_field("lastUpdated", WHOLE, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainMetadata(Action):
    """Settings of a domain, as text. `removed` marks a tombstone."""

    kind: ClassVar[str] = "domainMetadata"
    domain: str = json_field("domain", TEXT)
    configuration: str = json_field("configuration", TEXT)
    removed: bool = json_field("removed", FLAG)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointMetadata(Action):
    """Metadata of a V2 checkpoint."""

    kind: ClassVar[str] = "checkpointMetadata"
    version: int = json_field("version", WHOLE)
    tags: Mapping[str, str | None] | None = json_field("tags", PAIRS, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sidecar(Action):
    """A file of a V2 checkpoint that holds a part of its adds and removes."""

    kind: ClassVar[str] = "sidecar"
    path: str = json_field("path", PATH)
    size_in_bytes: int = json_field("sizeInBytes", WHOLE)
    modification_time: int = json_field("modificationTime", WHOLE)
    tags: Mapping[str, str | None] | None = json_field("tags", PAIRS, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitInfo(Action):
    """Author, time and operation of a commit. All fields are optional, so all are in `extra`."""

    kind: ClassVar[str] = "commitInfo"

    @property
    def timestamp(self) -> int | None:
        """The time of the commit by the clock of the writer, in milliseconds."""
        return _value_of_type(int, self.extra.get("timestamp"))

    @property
    def in_commit_timestamp(self) -> int | None:
        """The monotonic in-commit timestamp of the table, in milliseconds."""
        return _value_of_type(int, self.extra.get("inCommitTimestamp"))

    @property
    def operation(self) -> str | None:
        """The operation, as the writer named it."""
        return _value_of_type(str, self.extra.get("operation"))

    @property
    def txn_id(self) -> str | None:
        """The transaction id by which a writer recognizes its own commit."""
        return _value_of_type(str, self.extra.get("txnId"))


def _value_of_type(kind: type[Value], value: Any) -> Value | None:
    return value if isinstance(value, kind) else None


@dataclass(frozen=True, slots=True)
class UnknownAction:
    """An action of a kind that this version of Forklake does not support."""

    kind: str
    body: Any

    def to_json(self) -> dict[str, Any]:
        """Return the action as a JSON object."""
        return {self.kind: self.body}


AnyAction = Action | UnknownAction

KINDS: dict[str, type[Action]] = {
    one.kind: one
    for one in (
        Protocol,
        Metadata,
        Add,
        Remove,
        Cdc,
        Txn,
        DomainMetadata,
        CommitInfo,
        CheckpointMetadata,
        Sidecar,
    )
}


def parse_action(kind: str, body: Any) -> AnyAction:
    """Parse an action of a log. Raise Corruption if a field is missing or wrong."""
    action_type = KINDS.get(kind)
    if action_type is None:
        return UnknownAction(kind, body)
    try:
        return action_type.from_body(body)
    except ValueError:
        problem = f"It is {str(body)[:100]!r}, which is not an object."
    except Corruption as reason:
        problem = reason.message
    raise Corruption(
        f"The action '{kind}' cannot be read. {problem}",
        remedy="The Delta log is damaged or was written incorrectly: restore it from a backup.",
        action=kind,
    )


def format_action(action: AnyAction) -> str:
    """Return the action as a line of a commit file, without the line break."""
    return json.dumps(action.to_json(), separators=(",", ":"), ensure_ascii=False)


def parse_action_line(text: str) -> AnyAction:
    """Parse a line of a commit file; the inverse of `format_action`."""
    ((kind, body),) = json.loads(text).items()
    return parse_action(kind, body)
