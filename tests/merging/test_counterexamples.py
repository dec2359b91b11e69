"""Four ways in which branches of a lake can go wrong, and how merges prevent them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest

from forklake import Session
from forklake.errors import Conflict, Forbidden
from forklake.merging import (
    Merged,
    create_held_fork,
    fork_merge,
    holder_of,
    merge_fork,
    release_fork,
)
from forklake.merging import sides as kin
from forklake.model.merges import Merge
from forklake.model.requests import MergeRequest
from forklake.store import adoption
from tests.merging.fix_sides import Sides


def test_a_merge_does_not_overwrite_concurrent_changes_of_the_parent(lake: Session) -> None:
    sides = Sides.of(lake, tables={"t": 1000}, rows=2)
    lake.update("fork.t", {"v": "'theirs'"}, "k = 0")
    lake.update("lake.t", {"v": "'ours'"}, "k = 0")
    with pytest.raises(Conflict):
        sides.merge()
    assert sides.rows("lake", "t")[0] == "ours"


def test_a_parent_that_changes_during_a_merge_is_not_overwritten(
    lake: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = Sides.of(lake, tables={"t": 1000, "u": 1000}, rows=2)
    lake.update("fork.t", {"v": "'theirs'"}, "k = 0")
    late: Iterator[Callable[[], object]] = iter(
        [
            lambda: lake.update("lake.t", {"v": "'ours'"}, "k = 1"),
            lambda: sides.insert("lake", "u", [7], "elsewhere"),
        ]
    )
    attempts, committed = [], fork_merge._MergePlan.commit

    def outrun(plan: fork_merge._MergePlan, *arguments: Any) -> Merged:
        attempts.append(plan)
        for act in islice(late, 1):
            act()
        return committed(plan, *arguments)

    monkeypatch.setattr(fork_merge._MergePlan, "commit", outrun)
    sides.merge()
    # A change of the same table restarts the merge; a change of another table does not.
    assert len(attempts) == 2
    assert sides.rows("lake", "t") == {0: "theirs", 1: "ours"}
    assert 7 in sides.rows("lake", "u")


def test_crossing_merges_overwrite_nothing(lake: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = Sides.of(lake, tables={"t": 1000}, rows=2)
    lake.update("fork.t", {"v": "'theirs'"}, "k = 0")
    lake.update("lake.t", {"v": "'ours'"}, "k = 0")
    read = adoption.merges_between

    def outrun(*arguments: Any) -> list[Merge]:
        monkeypatch.setattr(kin, "merges_between", read)
        sides.merge(back=True, on_conflict="theirs")
        return read(*arguments)

    # After both sides have been read, the fork takes over the rows of its parent.
    monkeypatch.setattr(kin, "merges_between", outrun)
    with pytest.raises(Conflict):
        sides.merge()
    sides.merge()
    assert sides.rows("lake", "t")[0] == sides.rows("fork", "t")[0] == "ours"


def test_a_run_that_fails_midway_leaves_the_parent_untouched(lake: Session) -> None:
    sides = Sides.of(lake, tables={"t": 1000, "u": 1000}, rows=2)
    before = lake.attachment("lake").catalog.current_snapshot()
    sides.insert("fork", "t", [10], "half of it")
    with pytest.raises(ZeroDivisionError):
        sides.insert("fork", "u", [1 // 0], "never")
    sides.metastore.drop_catalog("agent")
    assert lake.attachment("lake").catalog.current_snapshot() == before
    assert sides.rows("lake", "t") == sides.rows("lake", "u") == {0: "base", 1: "base"}


def test_the_fork_of_an_aborted_run_cannot_be_forked_or_merged_by_others(
    lake: Session,
) -> None:
    sides = Sides.of(lake, tables={"t": 1000}, rows=2)
    metastore = sides.metastore
    fork = create_held_fork(metastore, "sales", "run-1", holder="run 1")
    with fork.transaction() as transaction:
        transaction.insert_rows(transaction.table("t"), [{"k": 10, "v": "half of it"}])
    assert holder_of(metastore, "run-1") == "run 1"
    before = lake.attachment("lake").catalog.current_snapshot()
    for attempt in (
        lambda: metastore.fork("run-1", "stolen"),
        lambda: metastore.fork("run-1", "stolen", mode="copy"),
        lambda: merge_fork(lake, metastore, MergeRequest("run-1")),
        lambda: merge_fork(lake, metastore, MergeRequest("run-1", dry_run=True)),
        lambda: merge_fork(lake, metastore, MergeRequest("run-1"), holder="run 2"),
    ):
        with pytest.raises(Forbidden, match="belongs to a run"):
            attempt()
    assert metastore.find("stolen") is None
    assert lake.attachment("lake").catalog.current_snapshot() == before
    # The run itself merges the fork, or releases it for others.
    assert (
        merge_fork(lake, metastore, MergeRequest("run-1"), holder="run 1").snapshot_id is not None
    )
    release_fork(metastore, "run-1")
    metastore.fork("run-1", "shared")


def test_merging_some_tables_lists_the_rest_for_a_later_merge(lake: Session) -> None:
    sides = Sides.of(lake, tables={"t": 1000, "u": 1000}, rows=2)
    with lake.transaction():
        sides.insert("fork", "t", [10], "both")
        sides.insert("fork", "u", [10], "both")
    merged = merge_fork(lake, sides.metastore, MergeRequest("agent", tables=["t"]))
    assert merged.is_partial
    assert merged.left_out == ("main.u",)
    assert 10 in sides.rows("lake", "t")
    assert 10 not in sides.rows("lake", "u")
    sides.insert("fork", "t", [11], "later")
    rest = sides.merge()
    assert not rest.is_partial
    assert {one.table: one.appended_rows for one in rest.tables} == {"main.t": 1, "main.u": 1}
    assert sides.rows("lake", "t").keys() == {0, 1, 10, 11}
    assert sides.rows("lake", "u").keys() == {0, 1, 10}
    assert sides.merge().snapshot_id is None
