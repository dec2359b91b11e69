"""The table of merge rules: complete, and without silent losses."""

from __future__ import annotations

from itertools import product

from forklake.model.merge_rules import DEFINITIONS, ROWS, Did, Verdict, of_definition, row_pairs

DID = [one for one in Did if one is not Did.NOTHING]


def test_every_pair_of_definitions_has_a_rule() -> None:
    assert DEFINITIONS.keys() == set(product(DID, Did))
    assert {of_definition(Did.NOTHING, theirs) for theirs in Did} == {Verdict.KEEP}


def test_every_pair_of_rows_has_a_rule() -> None:
    known = (Did.CHANGED, Did.REMOVED)
    assert ROWS.keys() == {(Did.ADDED, Did.NOTHING), *product(known, (Did.NOTHING, *known))}


def test_no_rule_overwrites_changes_of_the_target() -> None:
    for table in (DEFINITIONS, ROWS):
        taken = [pair for pair, verdict in table.items() if verdict is Verdict.TAKE]
        assert {theirs for _, theirs in taken} == {Did.NOTHING}
    assert (Did.REMOVED, Did.REMOVED) in row_pairs(Verdict.KEEP)
