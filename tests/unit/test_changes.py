"""The text in which a snapshot records its changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake.errors import Corruption
from forklake.model.changes import Change, ChangeKind, format_changes, parse_changes

names = st.text(min_size=1, max_size=20)
by_id = st.builds(Change, st.sampled_from(ChangeKind), st.integers(0, 2**63 - 1))
by_name = st.builds(
    Change,
    st.sampled_from(ChangeKind),
    st.none(),
    st.one_of(st.tuples(names), st.tuples(names, names)),
)


@given(st.sets(st.one_of(by_id, by_name), max_size=8))
def test_changes_round_trip(changes: set[Change]) -> None:
    assert set(parse_changes(format_changes(changes))) == changes


def test_changes_are_ordered_as_in_the_grammar() -> None:
    changes = [
        Change(ChangeKind.ALTERED_TABLE, 3),
        Change(ChangeKind.INSERTED, 3),
        Change(ChangeKind.CREATED_TABLE, name=("main", 'a"b')),
        Change(ChangeKind.DROPPED_SCHEMA, 2),
        Change(ChangeKind.ALTERED_TABLE, 3, constrains=True),
    ]
    assert format_changes(changes) == (
        'dropped_schema:2,created_table:"main"."a""b",inserted_into_table:3,altered_table:3'
    )


def test_older_spellings_are_accepted() -> None:
    kinds = [change.kind for change in parse_changes("compacted_table:1,flushed_inlined:2")]
    assert kinds == [ChangeKind.MERGED, ChangeKind.FLUSHED]


@pytest.mark.parametrize("text", ["nonsense", "grew_wings:1", "dropped_table:", 'x:"open'])
def test_unreadable_texts_are_corruption(text: str) -> None:
    with pytest.raises(Corruption, match="cannot be read at position 0"):
        parse_changes(text)


@pytest.mark.parametrize("text", [None, ""])
def test_empty_texts_are_an_empty_list(text: str | None) -> None:
    assert parse_changes(text) == ()
