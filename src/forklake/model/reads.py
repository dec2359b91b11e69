"""Reads of a transaction that concurrent commits may invalidate.

A transaction is serializable if no commit since its start has changed what it read. Reads of rows
are recorded as questions, the same as for pruning: a recorded read may cover more rows than were
read, never fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from forklake.model.changes import Change, ChangeKind
from forklake.model.entities import InlinedRow
from forklake.model.fields import Field
from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId
from forklake.model.predicates import Anything, Question, may_match
from forklake.model.values import to_text

K = ChangeKind
_ADDITIONS = frozenset({K.INSERTED, K.INLINED_INSERT})
_REMOVALS = frozenset({K.DELETED, K.INLINED_DELETE})
_COMPACTIONS = frozenset({K.FLUSHED, K.MERGED, K.REWRITTEN})
_DEFINITIONS = (
    frozenset(K) - _ADDITIONS - _REMOVALS - _COMPACTIONS - {K.FORKED, K.MATERIALIZED, K.MERGED_FROM}
)
# Kinds that replace or remove the definition of an existing object.
_REDEFINITIONS = frozenset(
    {
        K.DROPPED_SCHEMA,
        K.ALTERED_SCHEMA,
        K.DROPPED_TABLE,
        K.ALTERED_TABLE,
        K.DROPPED_VIEW,
        K.ALTERED_VIEW,
        K.DROPPED_SCALAR_MACRO,
        K.DROPPED_TABLE_MACRO,
    }
)


ALL_ROWS = Anything()


@dataclass(frozen=True, slots=True)
class RowRead:
    """A read of the rows of a table that fulfill a condition.

    `ignores_removals`: the transaction itself ends all rows that it found. Other rows that
    concurrent commits ended do not affect it; rows that they added do.
    """

    rows: Question = ALL_ROWS
    ignores_removals: bool = False


@dataclass(slots=True)
class ObjectReads:
    """Reads of one schema, table, view or macro.

    Args:
        fields: columns of a table that the conditions refer to.
        places: whether the files or positions of rows were read, which compaction changes.
    """

    fields: tuple[Field, ...] = ()
    rows: set[RowRead] = field(default_factory=set)
    places: bool = False

    def row_changes(self) -> frozenset[ChangeKind]:
        """Return the kinds of changes that may affect the recorded reads of rows."""
        if not self.rows:
            return frozenset()
        if all(read.ignores_removals for read in self.rows):
            return _ADDITIONS
        return _ADDITIONS | _REMOVALS


@dataclass(slots=True)
class Reads:
    """All reads of a transaction, by the id of the object.

    `definitions`: names were listed, or the result depends on whether a name was in use.
    `everything`: the result depends on the history or the files of the catalog, which every commit
    changes.
    """

    objects: dict[int, ObjectReads] = field(default_factory=dict)
    definitions: bool = False
    everything: bool = False

    def __bool__(self) -> bool:
        return self.everything or self.definitions or bool(self.objects)

    def checked_tables(self) -> frozenset[int]:
        """Return the tables whose rows were read."""
        return frozenset(number for number, known in self.objects.items() if known.rows)

    def add(
        self, object_id: int, fields: Iterable[Field] = (), read: RowRead | None = None
    ) -> None:
        """Record that an object was used, and which of its rows were read."""
        known = self.objects.setdefault(object_id, ObjectReads())
        known.fields = tuple(fields) or known.fields
        if read is not None:
            known.rows.add(read)


class Effect(Enum):
    """Effect of a change of an object on a read of it."""

    BREAKS = "the result of the read has changed"
    CHANGES_ROWS = "the result of the read has changed if it covers these rows"


def find_effects(reads: Reads, theirs: Iterable[Change]) -> Iterator[tuple[Change, Effect]]:
    """Yield the changes of other transactions that affect the reads."""
    for change in theirs:
        if reads.everything or (reads.definitions and change.kind in _DEFINITIONS):
            yield change, Effect.BREAKS
            continue
        known = reads.objects.get(change.object_id) if change.object_id is not None else None
        if known is None:
            continue
        if change.kind in _REDEFINITIONS or (known.places and change.kind in _COMPACTIONS):
            yield change, Effect.BREAKS
        elif change.kind in known.row_changes():
            yield change, Effect.CHANGES_ROWS


def is_compacted(table_id: int, theirs: Iterable[Change]) -> bool:
    """Return whether compaction moved rows of a table, which hides when they were added."""
    return any(one.object_id == table_id and one.kind in _COMPACTIONS for one in theirs)


def may_cover(question: Question, row: InlinedRow, fields: Mapping[ColumnId, Field]) -> bool:
    """Return whether an inlined row may match a question."""
    bounds: dict[ColumnId, ColumnBounds] = {}
    for column_id, value in row.values.items():
        if (column := fields.get(column_id)) is None:
            continue
        text = None if value is None else to_text(column.type, value)
        if value is None or text is not None:
            bounds[column_id] = ColumnBounds.of_constant(column_id, text, 1, contains_nan=None)
    return may_match(question, bounds)
