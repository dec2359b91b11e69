"""Actions: what the files of a Delta log say, one frozen value for each.

Reading an action and writing it again changes nothing: fields of an action that are not known
are kept in `extra`, actions that are not known are kept as `Unknown`, and what is text inside the
action (the schema, the statistics) stays the text it was.
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

# The schema of a table that has none yet: some writers make the table first, the columns later.
NO_COLUMNS = '{"type":"struct","fields":[]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(Body):
    """One action; `kind` is its name in the log."""

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """The action as an object of JSON."""
        return {self.kind: self.body()}


# Parts of actions


@dataclass(frozen=True, slots=True, kw_only=True)
class Format(Body):
    """How data files are encoded."""

    provider: str = told("provider", TEXT, default="parquet")
    options: Mapping[str, str | None] = told("options", PAIRS, default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionVector(Body):
    """Where the deleted rows of a data file are listed."""

    storage_type: str = told("storageType", TEXT)
    path_or_inline: str = told("pathOrInlineDv", TEXT)
    offset: int | None = told("offset", WHOLE, default=None)
    size_in_bytes: int = told("sizeInBytes", WHOLE)
    cardinality: int = told("cardinality", WHOLE)

    @property
    def unique_id(self) -> str:
        """What tells one deletion vector of a file from another."""
        place = "" if self.offset is None else f"@{self.offset}"
        return f"{self.storage_type}{self.path_or_inline}{place}"


_FORMAT, _VECTOR = part(Format), part(DeletionVector)


# Actions


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol(Action):
    """Who may read and write the table."""

    kind: ClassVar[str] = "protocol"
    min_reader_version: int = told("minReaderVersion", WHOLE)
    min_writer_version: int = told("minWriterVersion", WHOLE)
    reader_features: frozenset[str] | None = told("readerFeatures", NAMES, default=None)
    writer_features: frozenset[str] | None = told("writerFeatures", NAMES, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata(Action):
    """What the table is: the newest one replaces all that was said before."""

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
    """A data file is in the table from here on, with these facts about it."""

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
    """A data file is in the table no longer."""

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
    """A file of changed rows, which belongs to its version alone."""

    kind: ClassVar[str] = "cdc"
    path: str = told("path", PATH)
    partition_values: Mapping[str, str | None] = told("partitionValues", PAIRS)
    size: int = told("size", WHOLE)
    data_change: bool = told("dataChange", FLAG, default=False)
    tags: Mapping[str, str | None] | None = told("tags", PAIRS, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Txn(Action):
    """How far an application has got with its own work."""

    kind: ClassVar[str] = "txn"
    app_id: str = told("appId", TEXT)
    version: int = told("version", WHOLE)
    last_updated: int | None = told("lastUpdated", WHOLE, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainMetadata(Action):
    """Settings of a domain, kept as text; a removed one is a tombstone."""

    kind: ClassVar[str] = "domainMetadata"
    domain: str = told("domain", TEXT)
    configuration: str = told("configuration", TEXT)
    removed: bool = told("removed", FLAG)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointMetadata(Action):
    """What a V2 checkpoint says about itself."""

    kind: ClassVar[str] = "checkpointMetadata"
    version: int = told("version", WHOLE)
    tags: Mapping[str, str | None] | None = told("tags", PAIRS, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sidecar(Action):
    """A file beside a V2 checkpoint that holds a part of its adds and removes."""

    kind: ClassVar[str] = "sidecar"
    path: str = told("path", PATH)
    size_in_bytes: int = told("sizeInBytes", WHOLE)
    modification_time: int = told("modificationTime", WHOLE)
    tags: Mapping[str, str | None] | None = told("tags", PAIRS, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitInfo(Action):
    """Who made the commit, when and how. Writers say what they like, so all of it is `extra`."""

    kind: ClassVar[str] = "commitInfo"

    @property
    def timestamp(self) -> int | None:
        """When the writer made the commit, in milliseconds."""
        return _typed(int, self.extra.get("timestamp"))

    @property
    def in_commit_timestamp(self) -> int | None:
        """When the commit was made as the table counts time, in milliseconds."""
        return _typed(int, self.extra.get("inCommitTimestamp"))

    @property
    def operation(self) -> str | None:
        """What was done, in the writer's word."""
        return _typed(str, self.extra.get("operation"))

    @property
    def txn_id(self) -> str | None:
        """The writer's own mark, by which it knows its commit again."""
        return _typed(str, self.extra.get("txnId"))


def _typed(kind: type[Value], value: Any) -> Value | None:
    return value if isinstance(value, kind) else None


@dataclass(frozen=True, slots=True)
class Unknown:
    """An action that this version does not know."""

    kind: str
    body: Any

    def to_json(self) -> dict[str, Any]:
        """The action as an object of JSON."""
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
    """The action that a log holds; Corruption says what is wrong with it."""
    known = KINDS.get(kind)
    if known is None:
        return Unknown(kind, body)
    try:
        return known.from_body(body)
    except ValueError:
        wrong = f"It is {str(body)[:100]!r} and no object."
    except Corruption as reason:
        wrong = reason.message
    raise Corruption(
        f"The action '{kind}' cannot be read. {wrong}",
        remedy="The Delta log was written wrongly or damaged.",
        action=kind,
    )


def to_text(action: AnyAction) -> str:
    """The action as a line of a commit has it, without the end of the line."""
    return json.dumps(action.to_json(), separators=(",", ":"), ensure_ascii=False)


def from_text(text: str) -> AnyAction:
    """The action of a line; `to_text` of it is the line again."""
    ((kind, body),) = json.loads(text).items()
    return parse(kind, body)
