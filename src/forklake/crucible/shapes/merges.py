"""Models of differences between catalogs, and of fork merges."""

from __future__ import annotations

from typing import Any

from forklake import merging
from forklake.crucible.shapes.base import RequestBody, ResponseBody
from forklake.model.requests import Choice, MergeRequest


class RowDifference(ResponseBody):
    """Row that was added, removed or changed. `before` and `after` are JSON objects."""

    did: str
    row_id: int | None
    before: str | None
    after: str | None


class TableDifference(ResponseBody):
    """Differences of a table: its columns, and the numbers of rows that differ."""

    table: str
    did: str
    columns: list[str]
    added: int
    removed: int
    changed: int
    rows: list[RowDifference]


class Differences(ResponseBody):
    """Differences of catalog `second` from catalog `first`.

    If `is_by_row_id`, the catalogs share a lineage and rows are matched by row id. Otherwise rows
    are compared by all columns, and none counts as changed.
    """

    first: str
    second: str
    is_by_row_id: bool
    tables: list[TableDifference]
    definitions: list[str]

    @classmethod
    def of(cls, found: merging.Diff) -> Differences:
        """Return the model of computed differences."""
        return cls.model_validate(_to_lists(found.as_dict()))


class NewMerge(RequestBody):
    """Source and parameters of a fork merge.

    `on_conflict` defines what happens to rows changed in both catalogs: `fail`, keep the version of
    the target (`ours`), or take that of the source (`theirs`). It is one choice for all tables, or
    one for each table by name. Requests with the same `idempotency_key` are merged once.
    """

    source: str
    tables: list[str] | None = None
    on_conflict: Choice | dict[str, Choice] = "fail"
    dry_run: bool = False
    message: str | None = None
    extra_info: str | None = None
    idempotency_key: str | None = None

    def request(self, source: str, target: str) -> MergeRequest:
        """Return the request for a merge of `source` into `target`."""
        return MergeRequest(
            source,
            target,
            self.tables,
            self.on_conflict,
            self.dry_run,
            self.message,
            self.extra_info,
            self.idempotency_key,
        )


class RowConflict(ResponseBody):
    """Row that was changed in both source and target."""

    row_id: int
    source_did: str
    target_did: str
    source_row: str | None
    target_row: str | None


class DefinitionConflict(ResponseBody):
    """Definition that conflicts with the target."""

    what: str
    reason: str


class TableMerge(ResponseBody):
    """Merged rows of a table, and its conflicts."""

    table: str
    appended_rows: int
    appended_files: int
    updated: int
    deleted: int
    conflict_count: int
    conflicts: list[RowConflict]


class MergeResult(ResponseBody):
    """Result of a merge or of its dry run. `snapshot_id` is null if nothing was changed.

    `left_out` lists tables changed in the source that the request did not select.
    """

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
    def of(cls, result: merging.Merged) -> MergeResult:
        """Return the model of a merge result."""
        return cls.model_validate(_to_lists(result.as_dict()))


def _to_lists(value: Any) -> Any:
    """Replace tuples by lists, in nested values too."""
    match value:
        case dict():
            return {name: _to_lists(one) for name, one in value.items()}
        case tuple() | list():
            return [_to_lists(one) for one in value]
    return value
