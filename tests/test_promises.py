"""Promises of the catalog in their own words, each with its tests.

The tests are in the folders of their subjects; this table lists them. Besides, snapshot numbers
must not be computed from one another: the sequence assigns them inside the commit.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import forklake

BASICS, CONCURRENCY = "tests/behavior", "tests/concurrency"
FORKS = f"{BASICS}/test_forks.py::"
PROMISES = f"{BASICS}/test_promises.py::"
WRITERS = f"{CONCURRENCY}/test_many_writers.py::"
READERS = f"{CONCURRENCY}/test_readers_among_writers.py::"
PARALLEL = "tests/crucible/test_parallel.py::"
STRESS = "tests/stress/test_short_form.py::"
THOUSAND = "tests/stress/test_thousand_forks.py::"

TESTS: dict[str, dict[str, str]] = {
    "alone": {
        "Global snapshot creation on commit": PROMISES
        + "test_a_commit_creates_a_snapshot_of_the_whole_metastore",
        "Counter allocation is globally unique": f"{BASICS}/test_catalogs.py::"
        + "test_ids_are_unique_across_catalogs",
        "Fork creates all metadata correctly": FORKS + "test_a_fork_sees_what_its_parent_had",
        "Forked catalog can read parent's files": FORKS
        + "test_a_fork_with_its_own_data_path_reads_its_parents_files",
        "Fork's new files get globally unique IDs": PROMISES
        + "test_new_files_of_parents_and_forks_never_share_an_id",
        "Cross-catalog file check prevents deletion of shared files": (
            "tests/maintenance/test_cleanup.py::"
            "test_forks_keep_visible_files_after_all_changes_of_their_parent"
        ),
    },
    "together": {
        "Multiple catalogs committing concurrently get unique snapshot IDs": WRITERS
        + "test_writers_of_different_catalogs_do_not_affect_each_other",
        "Fork can read parent's data": "tests/spark/test_forks.py::"
        + "test_eight_forks_are_written_at_once_and_their_parent_is_unchanged",
        "Fork writes don't affect parent": FORKS
        + "test_forks_and_parents_are_isolated_from_each_others_later_commits",
        "Parent writes don't affect fork": FORKS
        + "test_forks_and_parents_are_isolated_from_each_others_later_commits",
        "Cleanup in fork doesn't delete parent's files": PROMISES
        + "test_clean_up_in_a_fork_leaves_the_files_of_its_parent",
        "DROP TABLE in fork doesn't delete shared files": PROMISES
        + "test_dropping_a_table_in_a_fork_leaves_shared_files",
        "Time travel works at global level": f"{BASICS}/test_snapshots.py::"
        + "test_a_snapshot_id_of_another_catalog_selects_the_state_at_that_moment",
        "Concurrent forks from same parent work correctly": READERS
        + "test_forks_show_the_state_of_their_parent_when_they_were_forked",
    },
    "under stress": {
        "Create 1000 forks from single parent": THOUSAND
        + "test_a_thousand_forks_are_created_while_their_parent_changes",
        "Concurrent commits from many catalogs (snapshot sequencing)": THOUSAND
        + "test_concurrent_commits_to_many_forks_get_distinct_snapshots",
        "Concurrent reads across all forks": THOUSAND
        + "test_forks_read_concurrently_show_the_same",
        "Memory and connection handling at scale": THOUSAND
        + "test_reading_more_forks_needs_no_more_memory_and_connections",
    },
    "snapshot numbers": {
        "Concurrent commits do not fail with snapshot PK violations": WRITERS
        + "test_one_table_accepts_concurrent_appends",
        "Catalog creation/fork under contention does not duplicate snapshot IDs": (
            f"{CONCURRENCY}/test_races.py::test_concurrent_batches_with_different_names_all_succeed"
        ),
        "Snapshot IDs are unique; gaps allowed": PROMISES
        + "test_snapshot_ids_are_unique_and_may_have_gaps",
    },
    "the service": {
        "Parallel create_catalog requests produce unique snapshots": PARALLEL
        + "test_parallel_creations_get_unique_snapshots",
        "Parallel create_schema requests behave similarly": PARALLEL
        + "test_parallel_creations_get_unique_snapshots",
        "Retry behavior resolves transient conflicts": "tests/crucible/test_retries.py::"
        + "test_a_lost_connection_is_hidden_from_clients",
    },
    "worktasks": {
        "Multiple concurrent worktasks against one workbook catalog": STRESS
        + "test_a_round_with_faults_leaves_no_problems",
        "No duplicate snapshot-key failures and stable completion": STRESS
        + "test_sixty_four_worktasks_finish_in_one_history",
    },
    "acceptance": {
        "No client-side snapshot allocation remains in active write paths": (
            "tests/test_promises.py::test_no_snapshot_number_is_computed_from_another"
        ),
        "Sequence exists and is initialized in the schema": f"{BASICS}/test_schema.py::"
        + "test_a_fresh_metastore_is_snapshot_zero",
        "… when a metastore is opened for the first time": f"{CONCURRENCY}/test_races.py::"
        + "test_many_may_open_a_new_metastore_at_once",
        "… when the service makes one": PROMISES
        + "test_the_first_catalog_of_a_new_service_begins_at_snapshot_one",
        "Tests pass, including new concurrency tests": STRESS
        + "test_a_round_with_faults_leaves_no_problems",
        "Reagent-style concurrency run shows no duplicate snapshot-key failures": STRESS
        + "test_sixty_four_worktasks_finish_in_one_history",
    },
}


@pytest.mark.parametrize(
    ("promise", "test"), [pair for group in TESTS.values() for pair in group.items()]
)
def test_every_promise_has_a_test(promise: str, test: str) -> None:
    file, _, name = test.partition("::")
    module = import_module(file.removesuffix(".py").replace("/", "."))
    found = getattr(module, name)
    assert inspect.isfunction(found)
    marks = {mark.name for mark in getattr(found, "pytestmark", [])}
    assert not marks & {"skip", "xfail"}, promise


PACKAGE = Path(forklake.__file__).parent
SOURCES = [path for kind in ("py", "sql", "java") for path in sorted(PACKAGE.rglob(f"*.{kind}"))]
# Arithmetic on a snapshot number, however it is written.
ARITHMETIC = re.compile(
    r"snapshot\w*\)*\s*(\+\+|\+=\s*1|\+\s*1\b)|1\s*\+\s*[\w.]*snapshot", re.IGNORECASE
)


@pytest.mark.parametrize(
    "text",
    [
        "commit_snapshot.snapshot_id++;",
        "new = latest_snapshot.snapshot_id + 1",
        "head.snapshot_id += 1",
        "SELECT max(snapshot_id) + 1 FROM ducklake_snapshot",
        "SELECT coalesce(max(s.snapshot_id), 0)+1",
        "SnapshotId(1 + head.snapshot_id)",
    ],
)
def test_arithmetic_is_recognized(text: str) -> None:
    # A default within coalesce may stand between the number and what is added to it.
    assert ARITHMETIC.search(re.sub(r",\s*0\)", ")", text))


def test_no_snapshot_number_is_computed_from_another() -> None:
    assert len(SOURCES) > 100
    for path in SOURCES:
        text = re.sub(r",\s*0\)", ")", path.read_text())
        found = ARITHMETIC.search(text)
        assert found is None, f"{path.relative_to(PACKAGE)}: {found.group()}"


def test_only_the_store_takes_snapshot_numbers_from_the_sequence() -> None:
    takers = {path.parent.name for path in SOURCES if "snapshot_id_seq" in path.read_text()}
    assert takers == {"store", "schema"}
