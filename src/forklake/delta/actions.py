"""Actions of a Delta log as frozen values.

Parsing and writing an action preserves it: unknown fields are kept in `extra`, unknown actions as
`Unknown`, and JSON text inside an action (the schema, the statistics) as the same text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from forklake.delta.shapes import (
    FLAG,
    NAMES,
    PAIRS,
    PATH,
    TEXT,
    TEXTS,
    WHOLE,
    Body,
    part,
    told,
)
from forklake.errors import Corruption

Value = TypeVar("Value")

# The schema of a table without columns: some writers create the table first, the columns later.
NO_COLUMNS = '{"type":"struct","fields":[]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(Body):
    """One action; `kind` is its name in the log."""

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Return the action as a JSON object."""
        return {self.kind: self.body()}


# Parts of actions


@dataclass(frozen=True, slots=True, kw_only=True)
class Format(Body):
    """The encoding of data files."""

    provider: str = told("provider", TEXT, default="parquet")
    options: Mapping[str, str | None] = told("options", PAIRS, default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionVector(Body):
    """Reference to the deletion vector of a data file: the positions of its deleted rows."""

    storage_type: str = told("storageType", TEXT)
    path_or_inline: str = told("pathOrInlineDv", TEXT)
    offset: int | None = told("offset", WHOLE, default=None)
    size_in_bytes: int = told("sizeInBytes", WHOLE)
    cardinality: int = told("cardinality", WHOLE)

    @property
    def unique_id(self) -> str:
        """The id that distinguishes deletion vectors of one file."""
        place = "" if self.offset is None else f"@{self.offset}"
        return f"{self.storage_type}{self.path_or_inline}{place}"


_FORMAT, _VECTOR = part(Format), part(DeletionVector)


# Actions


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol(Action):
    """Versions and features that readers and writers of the table must support."""

    kind: ClassVar[str] = "protocol"
    min_reader_version: int = told("minReaderVersion", WHOLE)
    min_writer_version: int = told("minWriterVersion", WHOLE)
    reader_features: frozenset[str] | None = told("readerFeatures", NAMES, default=None)
    writer_features: frozenset[str] | None = told("writerFeatures", NAMES, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata(Action):
    """Schema and properties of the table. The newest one replaces all earlier ones."""

    kind: ClassVar[str] = "metaData"
    id: str = told("id", TEXT)
    name: str | None = told("name", TEXT, default=None)
    description: str | None = told("description", TEXT, default=None)
    format: Format = told("format", _FORMAT, default_factory=Format)  # noqa: RUF009
    schema_string: str = told("schemaString", TEXT, default=NO_COLUMNS)
    partition_columns: tuple[str, ...] = told("partitionColumns", TEXTS, default=())
    configuration: Mapping[str, str | None] = told("configuration", PAIRS, default_factory=dict)
    created_time: int | None = told("createdTime", WHOLE, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Add(Action):
    """Adds a data file to the table, or replaces the facts about it."""

    kind: ClassVar[str] = "add"
    path: str = told("path", PATH)
    partition_values: Mapping[str, str | None] = told("partitionValues", PAIRS)
    size: int = told("size", WHOLE)
    modification_time: int = told("modificationTime", WHOLE)
    data_change: bool = told("dataChange", FLAG)
    stats: str | None = told("stats", TEXT, default=None)
    tags: Mapping[str, str | None] | None = told("tags", PAIRS, default=None)
    deletion_vector: DeletionVector | None = told("deletionVector", _VECTOR, default=None)  # noqa: RUF009
    base_row_id: int | None = told("baseRowId", WHOLE, default=None)
    default_row_commit_version: int | None = told("defaultRowCommitVersion", WHOLE, default=None)
    clustering_provider: str | None = told("clusteringProvider", TEXT, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove(Action):
    """Removes a data file from the table."""

    kind: ClassVar[str] = "remove"
    path: str = told("path", PATH)
    deletion_timestamp: int | None = told("deletionTimestamp", WHOLE, default=None)
    data_change: bool = told("dataChange", FLAG)
    extended_file_metadata: bool | None = told("extendedFileMetadata", FLAG, default=None)
    partition_values: Mapping[str, str | None] | None = told("partitionValues", PAIRS, default=None)
    size: int | None = told("size", WHOLE, default=None)
    stats: str | None = told("stats", TEXT, default=None)
    tags: Mapping[str, str | None] | None = told("tags", PAIRS, default=None)
    deletion_vector: DeletionVector | None = told("deletionVector", _VECTOR, default=None)  # noqa: RUF009
    base_row_id: int | None = told("baseRowId", WHOLE, default=None)
    default_row_commit_version: int | None = told("defaultRowCommitVersion", WHOLE, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cdc(Action):
    """A change data file, which belongs to its version only."""

    kind: ClassVar[str] = "cdc"
    path: str = told("path", PATH)
    partition_values: Mapping[str, str | None] = told("partitionValues", PAIRS)
    size: int = told("size", WHOLE)
    data_change: bool = told("dataChange", FLAG, default=False)
    tags: Mapping[str, str | None] | None = told("tags", PAIRS, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Txn(Action):
    """The newest version that an application has written, in its own numbering."""

    kind: ClassVar[str] = "txn"
    app_id: str = told("appId", TEXT)
    version: int = told("version", WHOLE)
    last_updated: int | None = told("lastUpdated", WHOLE, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainMetadata(Action):
    """Settings of a domain, as text. `removed` marks a tombstone."""

    kind: ClassVar[str] = "domainMetadata"
    domain: str = told("domain", TEXT)
    configuration: str = told("configuration", TEXT)
    removed: bool = told("removed", FLAG)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointMetadata(Action):
    """Metadata of a V2 checkpoint."""

    kind: ClassVar[str] = "checkpointMetadata"
    version: int = told("version", WHOLE)
    tags: Mapping[str, str | None] | None = told("tags", PAIRS, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sidecar(Action):
    """A file of a V2 checkpoint that holds a part of its adds and removes."""

    kind: ClassVar[str] = "sidecar"
    path: str = told("path", PATH)
    size_in_bytes: int = told("sizeInBytes", WHOLE)
    modification_time: int = told("modificationTime", WHOLE)
    tags: Mapping[str, str | None] | None = told("tags", PAIRS, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitInfo(Action):
    """Author, time and operation of a commit. All fields are optional, so all are in `extra`."""

    kind: ClassVar[str] = "commitInfo"

    @property
    def timestamp(self) -> int | None:
        """The time of the commit by the clock of the writer, in milliseconds."""
        return _typed(int, self.extra.get("timestamp"))

    @property
    def in_commit_timestamp(self) -> int | None:
        """The monotonic in-commit timestamp of the table, in milliseconds."""
        return _typed(int, self.extra.get("inCommitTimestamp"))

    @property
    def operation(self) -> str | None:
        """The operation, as the writer named it."""
        return _typed(str, self.extra.get("operation"))

    @property
    def txn_id(self) -> str | None:
        """The transaction id by which a writer recognizes its own commit."""
        return _typed(str, self.extra.get("txnId"))


def _typed(kind: type[Value], value: Any) -> Value | None:
    return value if isinstance(value, kind) else None


@dataclass(frozen=True, slots=True)
class Unknown:
    """An action of a kind that this version of Forklake does not support."""

    kind: str
    body: Any

    def to_json(self) -> dict[str, Any]:
        """Return the action as a JSON object."""
        return {self.kind: self.body}


AnyAction = Action | Unknown

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


def parse(kind: str, body: Any) -> AnyAction:
    """Parse an action of a log. Raise Corruption if a field is missing or wrong."""
    known = KINDS.get(kind)
    if known is None:
        return Unknown(kind, body)
    try:
        return known.from_body(body)
    except ValueError:
        wrong = f"It is {str(body)[:100]!r}, which is not an object."
    except Corruption as reason:
        wrong = reason.message
    raise Corruption(
        f"The action '{kind}' cannot be read. {wrong}",
        remedy="The Delta log is damaged or was written incorrectly: restore it from a backup.",
        action=kind,
    )


def to_text(action: AnyAction) -> str:
    """Return the action as a line of a commit file, without the line break."""
    return json.dumps(action.to_json(), separators=(",", ":"), ensure_ascii=False)


def from_text(text: str) -> AnyAction:
    """Parse a line of a commit file; the inverse of `to_text`."""
    ((kind, body),) = json.loads(text).items()
    return parse(kind, body)
