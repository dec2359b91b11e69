"""Outcome of a merge of forks: its changes and its conflicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self, TypeVar

from forklake.model.ids import SnapshotId

LISTED = 100  # maximum number of conflicting rows listed for each table
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RowConflict:
    """A row that both sides changed: its id in the target, and the change and value on each."""

    row_id: int
    source_did: str
    target_did: str
    source_row: str | None = None  # as JSON; None if the source deleted the row
    target_row: str | None = None


@dataclass(frozen=True, slots=True)
class DefinitionConflict:
    """A definition of the source that conflicts with the target."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class TableMerge:
    """The changes of a merge to the rows of one table.

    `appended_files` became part of the target without being rewritten. `conflicts` are the first of
    `conflict_count` rows, whether they stopped the merge or were decided by `on_conflict`.
    """

    table: str
    appended_rows: int = 0
    appended_files: int = 0
    updated: int = 0
    deleted: int = 0
    conflict_count: int = 0
    conflicts: tuple[RowConflict, ...] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """The outcome of a merge.

    Args:
        snapshot_id: the snapshot of the target that the merge committed; None if there was nothing
            to merge, or for a dry run.
        definitions: descriptions of the changed definitions.
        left_out: tables that the source changed and that were not selected. The target then has a
            state that the source never had.
    """

    source: str
    target: str
    snapshot_id: SnapshotId | None
    tables: tuple[TableMerge, ...] = ()
    definitions: tuple[str, ...] = ()
    conflicts: tuple[DefinitionConflict, ...] = ()
    left_out: tuple[str, ...] = ()
    is_dry_run: bool = False

    @property
    def is_partial(self) -> bool:
        """Whether some changes of the source were not selected."""
        return bool(self.left_out)

    @property
    def has_conflicts(self) -> bool:
        """Whether both sides changed the same rows or definitions."""
        return bool(self.conflicts) or any(one.conflict_count for one in self.tables)

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values."""
        return asdict(self) | {"is_partial": self.is_partial}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Return the outcome of which `as_dict` returned these values."""
        tables = [
            one | {"conflicts": _tuple(RowConflict, one["conflicts"])} for one in document["tables"]
        ]
        return cls(
            document["source"],
            document["target"],
            document["snapshot_id"],
            _tuple(TableMerge, tables),
            tuple(document["definitions"]),
            _tuple(DefinitionConflict, document["conflicts"]),
            tuple(document["left_out"]),
            document["is_dry_run"],
        )


def _tuple(kind: type[T], documents: Iterable[Mapping[str, Any]]) -> tuple[T, ...]:
    return tuple(kind(**one) for one in documents)
