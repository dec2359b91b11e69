"""The table of conflicts, tested without transactions."""

from __future__ import annotations

from itertools import product

import pytest

from forklake.model.changes import Change
from forklake.model.changes import ChangeKind as K
from forklake.model.conflicts import NAMESPACES, RULES, Mine, Rule, find_conflicts

PAIRS = list(product(K, K))


def rules(mine: Change, theirs: Change, schemas: dict[int, str] | None = None) -> list[Rule]:
    """Return the rules that apply to a pair of changes."""
    found = find_conflicts(Mine(frozenset({mine}), schemas or {}), [theirs])
    return [finding.rule for finding in found]


@pytest.mark.parametrize(("mine", "theirs"), PAIRS, ids=lambda kind: kind.value)
def test_each_pair_on_one_object_follows_the_table(mine: K, theirs: K) -> None:
    wanted = RULES.get(mine, {}).get(theirs)
    assert rules(Change(mine, 7), Change(theirs, 7)) == ([wanted] if wanted else [])


@pytest.mark.parametrize(("mine", "theirs"), PAIRS, ids=lambda kind: kind.value)
def test_no_pair_on_two_objects_conflicts(mine: K, theirs: K) -> None:
    assert rules(Change(mine, 7), Change(theirs, 8)) == []


@pytest.mark.parametrize(("mine", "theirs"), PAIRS, ids=lambda kind: kind.value)
def test_two_creations_of_one_name_conflict(mine: K, theirs: K) -> None:
    shared = any({mine, theirs} <= space for space in NAMESPACES)
    found = rules(Change(mine, name=("main", "T")), Change(theirs, name=("MAIN", "t")))
    assert found == ([Rule.CONFLICT] if shared else [])


def test_appends_never_conflict_with_appends_or_deletes() -> None:
    for mine, theirs in product(
        (K.INSERTED, K.INLINED_INSERT),
        (K.INSERTED, K.INLINED_INSERT, K.DELETED, K.INLINED_DELETE, K.MERGED, K.FLUSHED),
    ):
        assert rules(Change(mine, 1), Change(theirs, 1)) == []


def test_a_new_constraint_conflicts_with_inserted_rows() -> None:
    assert rules(Change(K.ALTERED_TABLE, 1), Change(K.INSERTED, 1)) == []
    constrained = Change(K.ALTERED_TABLE, 1, constrains=True)
    assert rules(constrained, Change(K.INSERTED, 1)) == [Rule.CONFLICT]


def test_creations_conflict_with_the_drop_of_their_schema() -> None:
    schemas = {5: "Sales"}
    new, gone = Change(K.CREATED_TABLE, name=("sales", "t")), Change(K.DROPPED_SCHEMA, 5)
    elsewhere = Change(K.CREATED_TABLE, name=("main", "t"))
    assert rules(new, gone, schemas) == rules(gone, new, schemas) == [Rule.CONFLICT]
    assert rules(elsewhere, gone, schemas) == []
