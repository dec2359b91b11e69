"""The table of merge rules: complete, and without silent losses."""

from __future__ import annotations

from itertools import product

from forklake.model.merge_rules import (
    DEFINITIONS,
    ROWS,
    ChangeStatus,
    Verdict,
    definition_verdict,
    row_pairs,
)

DID = [one for one in ChangeStatus if one is not ChangeStatus.UNCHANGED]


def test_every_pair_of_definitions_has_a_rule() -> None:
    assert DEFINITIONS.keys() == set(product(DID, ChangeStatus))
    assert {definition_verdict(ChangeStatus.UNCHANGED, theirs) for theirs in ChangeStatus} == {
        Verdict.KEEP
    }


def test_every_pair_of_rows_has_a_rule() -> None:
    known = (ChangeStatus.CHANGED, ChangeStatus.REMOVED)
    assert ROWS.keys() == {
        (ChangeStatus.ADDED, ChangeStatus.UNCHANGED),
        *product(known, (ChangeStatus.UNCHANGED, *known)),
    }


def test_no_rule_overwrites_changes_of_the_target() -> None:
    for table in (DEFINITIONS, ROWS):
        taken = [pair for pair, verdict in table.items() if verdict is Verdict.TAKE]
        assert {theirs for _, theirs in taken} == {ChangeStatus.UNCHANGED}
    assert (ChangeStatus.REMOVED, ChangeStatus.REMOVED) in row_pairs(Verdict.KEEP)
