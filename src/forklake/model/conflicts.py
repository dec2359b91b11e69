"""Conflict rules: the pairs of changes to one catalog that exclude each other, as one table.

A transaction reads the catalog as of its start. If other transactions have committed since, `RULES`
defines for each pair (mine, theirs) *on the same table, view, schema or macro* whether mine may
still be committed. Pairs that are not listed do not conflict. The result must always equal running
the two transactions one after the other; if a pair cannot guarantee that, the second is aborted.

An append reads nothing, so it conflicts only with changes of the definition of its table. Reads of
a transaction are recorded and checked separately, see `forklake.model.reads`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from forklake.model.changes import Change, ChangeKind
from forklake.model.names import folded


class Rule(Enum):
    """Outcome of a pair of changes to one object."""

    CONFLICT = "conflict"
    SAME_FILE = "conflict if both touched the same data file"


K = ChangeKind
_DEFINITION = {K.DROPPED_TABLE: Rule.CONFLICT, K.ALTERED_TABLE: Rule.CONFLICT}
_APPENDS = {K.INSERTED: Rule.CONFLICT, K.INLINED_INSERT: Rule.CONFLICT}
_DELETES = frozenset({K.DELETED, K.INLINED_DELETE})
_ROW_CHANGES = _APPENDS | {K.DELETED: Rule.CONFLICT, K.INLINED_DELETE: Rule.CONFLICT}
_FILE_CHANGES = {
    K.DELETED: Rule.SAME_FILE,
    K.INLINED_DELETE: Rule.SAME_FILE,
    K.FLUSHED: Rule.SAME_FILE,
    K.MERGED: Rule.SAME_FILE,
    K.REWRITTEN: Rule.SAME_FILE,
}

# mine -> theirs -> rule
RULES: dict[ChangeKind, dict[ChangeKind, Rule]] = {
    K.INSERTED: _DEFINITION,
    K.INLINED_INSERT: _DEFINITION,
    K.DELETED: _DEFINITION | _APPENDS | _FILE_CHANGES,
    K.INLINED_DELETE: _DEFINITION | _APPENDS | _FILE_CHANGES | {K.FLUSHED: Rule.CONFLICT},
    # Compaction writes rows with the column types as of its start.
    K.FLUSHED: _DEFINITION
    | _FILE_CHANGES
    | {K.INLINED_DELETE: Rule.CONFLICT, K.FLUSHED: Rule.CONFLICT},
    K.MERGED: _DEFINITION | _FILE_CHANGES,
    K.REWRITTEN: _DEFINITION | _FILE_CHANGES,
    K.ALTERED_TABLE: _DEFINITION,
    # A replacement was computed from the rows of the table at the start of the transaction.
    K.DROPPED_TABLE: _DEFINITION | _ROW_CHANGES,
    K.ALTERED_VIEW: {K.DROPPED_VIEW: Rule.CONFLICT, K.ALTERED_VIEW: Rule.CONFLICT},
    K.DROPPED_VIEW: {K.DROPPED_VIEW: Rule.CONFLICT, K.ALTERED_VIEW: Rule.CONFLICT},
    K.DROPPED_SCALAR_MACRO: {K.DROPPED_SCALAR_MACRO: Rule.CONFLICT},
    K.DROPPED_TABLE_MACRO: {K.DROPPED_TABLE_MACRO: Rule.CONFLICT},
    K.ALTERED_SCHEMA: {K.DROPPED_SCHEMA: Rule.CONFLICT, K.ALTERED_SCHEMA: Rule.CONFLICT},
    K.DROPPED_SCHEMA: {K.DROPPED_SCHEMA: Rule.CONFLICT, K.ALTERED_SCHEMA: Rule.CONFLICT},
    K.MERGED_FROM: {K.MERGED_FROM: Rule.CONFLICT},
}

# Kinds of changes that create names in one namespace: a name can be created only once per group.
NAMESPACES: tuple[frozenset[ChangeKind], ...] = (
    frozenset({K.CREATED_SCHEMA}),
    frozenset({K.CREATED_TABLE, K.CREATED_VIEW}),
    frozenset({K.CREATED_SCALAR_MACRO}),
    frozenset({K.CREATED_TABLE_MACRO}),
)
# Kinds that create an object in a schema, which must still exist under the same name.
_IN_SCHEMA = NAMESPACES[1] | NAMESPACES[2] | NAMESPACES[3]
_SCHEMA_CHANGES = frozenset({K.DROPPED_SCHEMA, K.ALTERED_SCHEMA})


@dataclass(frozen=True, slots=True)
class Mine:
    """Changes that this transaction is about to commit, and the schemas that they refer to.

    Args:
        schema_names: names of schemas by id, as of the start of the transaction.
        schema_of: returns the id of the schema of a table.
        checked: tables whose reads are checked row by row, so appends to them need no rule.
    """

    changes: frozenset[Change]
    schema_names: dict[int, str] = field(default_factory=dict)
    schema_of: Callable[[int], int | None] = lambda _: None
    checked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Finding:
    """A pair of changes that exclude each other, and the rule for them."""

    mine: Change
    theirs: Change
    rule: Rule


def find_conflicts(mine: Mine, theirs: Iterable[Change]) -> Iterator[Finding]:
    """Yield the pairs that conflict, or that conflict if both changed the same data file."""
    theirs = list(theirs)
    has_renamed = any(one.kind is K.CREATED_SCHEMA for one in theirs)
    for their in theirs:
        for my in mine.changes:
            rule = _rule(my, their, mine)
            if has_renamed and rule is None and _is_moved(my, their, mine):
                rule = Rule.CONFLICT
            if rule is not None:
                yield Finding(my, their, rule)


def _is_moved(my: Change, their: Change, mine: Mine) -> bool:
    """Return whether `their` renamed the schema through which my transaction found its table."""
    if their.kind is not K.ALTERED_SCHEMA or my.object_id is None:
        return False
    return mine.schema_of(my.object_id) == their.object_id


def _rule(my: Change, their: Change, mine: Mine) -> Rule | None:
    schema_names = mine.schema_names
    if my.object_id is not None and my.object_id == their.object_id:
        if my.constrains and their.kind in _APPENDS:
            return Rule.CONFLICT
        if my.kind in _DELETES and their.kind in _APPENDS and my.object_id in mine.checked:
            return None
        return RULES.get(my.kind, {}).get(their.kind)
    if my.name and their.name:
        shared = any(my.kind in space and their.kind in space for space in NAMESPACES)
        return Rule.CONFLICT if shared and _same(my.name, their.name) else None
    if _is_in_changed_schema(my, their, schema_names) or _is_in_changed_schema(
        their, my, schema_names
    ):
        return Rule.CONFLICT
    return None


def _is_in_changed_schema(new: Change, gone: Change, schema_names: dict[int, str]) -> bool:
    if new.kind not in _IN_SCHEMA or gone.kind not in _SCHEMA_CHANGES:
        return False
    name = schema_names.get(gone.object_id or 0)
    return name is not None and folded(name) == folded(new.name[0])


def _same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return tuple(map(folded, one)) == tuple(map(folded, other))
