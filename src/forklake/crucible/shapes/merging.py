"""Differences and merges, as requests and answers."""

from __future__ import annotations

from typing import Any, Literal

from forklake import merging
from forklake.crucible.shapes.base import Answer, Body


class RowDifference(Answer):
    """A row that only one has, or that is another there; rows are JSON."""

    did: str
    row_id: int | None
    before: str | None
    after: str | None


class TableDifference(Answer):
    """What the second catalog has otherwise of a table."""

    table: str
    did: str
    columns: list[str]
    added: int
    removed: int
    changed: int
    rows: list[RowDifference]


class Differences(Answer):
    """What a second catalog has otherwise than a first one."""

    first: str
    second: str
    is_by_row_id: bool
    tables: list[TableDifference]
    definitions: list[str]

    @classmethod
    def of(cls, found: merging.Diff) -> Differences:
        """What was found out."""
        return cls.model_validate(_plain(found.as_dict()))


class Merge(Body):
    """Which fork is merged, and how: rows that both changed stop it, or one side's are used.

    A merge that is asked for again under the same key is done once.
    """

    source: str
    tables: list[str] | None = None
    on_conflict: Literal["fail", "ours", "theirs"] = "fail"
    dry_run: bool = False
    message: str | None = None
    extra_info: str | None = None
    idempotency_key: str | None = None


class RowConflict(Answer):
    """A row that both sides touched."""

    row_id: int
    source_did: str
    target_did: str
    source_row: str | None
    target_row: str | None


class DefinitionConflict(Answer):
    """A definition that does not go together with the target's."""

    what: str
    reason: str


class TableMerge(Answer):
    """What a merge did to the rows of a table."""

    table: str
    appended_rows: int
    appended_files: int
    updated: int
    deleted: int
    conflict_count: int
    conflicts: list[RowConflict]


class Merged(Answer):
    """What a merge did, or would do; no snapshot if nothing was changed."""

    source: str
    target: str
    snapshot_id: int | None
    tables: list[TableMerge]
    definitions: list[str]
    conflicts: list[DefinitionConflict]
    left_out: list[str]
    is_dry_run: bool
    is_partial: bool

    @classmethod
    def of(cls, merged: merging.Merged) -> Merged:
        """What was done."""
        return cls.model_validate(_plain(merged.as_dict()))


def _plain(value: Any) -> Any:
    """Lists where there are tuples."""
    match value:
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case tuple() | list():
            return [_plain(one) for one in value]
    return value
