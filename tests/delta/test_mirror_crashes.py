"""Crashes and races of mirrors and writers: no version is lost, duplicated or incomplete."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import deltalake
import pytest

from forklake import Catalog
from forklake.store import phases
from tests.concurrency.processes import CONTEXT, TIMEOUT_SECONDS, in_processes
from tests.delta.mirrored import (
    append,
    append_many,
    append_to_both,
    commit_info,
    end_oldest,
    logged_versions,
    make_catalog,
    mirror,
    mirror_all,
    mirror_until,
    run_and_die_at,
    status_of,
    versions_of,
)
from tests.delta.readers import read_everywhere
from tests.fix_metastore import Place

# Commits of each of four writers, and the time limit for all of them.
COMMITS = int(os.environ.get("FORKLAKE_DELTA_COMMITS", "50"))
SECONDS = 2 * TIMEOUT_SECONDS * max(1, COMMITS // 50)
COMMIT_PHASES = [one for one in phases.PHASES if one.startswith("commit.")]
MIRROR_PHASES = [one for one in phases.PHASES if one.startswith("mirror.")]
TABLES = ("orders", "items")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at(phase: str, place: Place, work: Callable[[Catalog], None]) -> None:
    """Run work in another process, which is killed when it reaches a phase."""
    process = CONTEXT.Process(target=run_and_die_at, args=(phase, die, place, work))
    process.start()
    process.join(TIMEOUT_SECONDS)
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_a_killed_commit_of_two_tables_is_in_both_logs_or_in_none(
    place: Place, tmp_path: Path
) -> None:
    newest = 0
    with place.open() as metastore:
        catalog = make_catalog(metastore, tmp_path, *TABLES)
        for phase in COMMIT_PHASES:
            kill_at(phase, place, append_to_both)
            newest += phase == "commit.committed"
            mirror_all(catalog)
            for name in TABLES:
                found = logged_versions(tmp_path / "delta" / name)
                assert found == versions_of(catalog, name), phase
                assert found[-1][0] == newest, phase
    orders, items = (commit_info(tmp_path / "delta" / name, 1) for name in TABLES)
    assert orders["transactionGroup"] == items["transactionGroup"]
    assert [one["version"] for one in orders["transactionGroup"]["participants"]] == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["sqlite"])
def test_a_killed_mirror_can_be_run_again(place: Place, tmp_path: Path) -> None:
    root = tmp_path / "delta" / "orders"
    with place.open() as metastore:
        catalog = make_catalog(metastore, tmp_path, "orders")
        for turn, phase in enumerate(MIRROR_PHASES):
            for number in range(9):
                append(catalog, ["orders"], 10 * turn + number)
            end_oldest(catalog, "orders")
            kill_at(phase, place, mirror_all)
            mirror(catalog, "orders")
            assert logged_versions(root) == versions_of(catalog, "orders"), phase
            status = status_of(catalog, "orders")
            assert (status.state, status.mirrored_version) == ("CURRENT", 10 * turn + 10)
            assert status.checkpoint_version == status.mirrored_version
    turns = range(len(MIRROR_PHASES))
    numbers = [10 * turn + number for turn in turns for number in range(9)][len(turns) :]
    for name, rows in read_everywhere(str(root)).items():
        assert rows == Counter((number, f"n{number}") for number in numbers), name


@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("backend", ["postgresql"])
def test_many_writers_and_two_mirrors_produce_one_log_without_gaps(
    place: Place, tmp_path: Path
) -> None:
    root = tmp_path / "delta" / "orders"
    with place.open() as metastore:
        catalog = make_catalog(metastore, tmp_path, "orders")
        writers = [
            partial(append_many, place, "orders", writer * COMMITS, COMMITS) for writer in range(4)
        ]
        mirrors = [partial(mirror_until, place, "orders", 4 * COMMITS, SECONDS) for _ in range(2)]
        assert in_processes([*writers, *mirrors], seconds=SECONDS)[:4] == [COMMITS] * 4
        assert logged_versions(root) == versions_of(catalog, "orders")
        assert [number for number, _ in logged_versions(root)] == list(range(4 * COMMITS + 1))
        assert status_of(catalog, "orders").state == "CURRENT"
    table = deltalake.DeltaTable(root)
    assert (table.version(), len(table.file_uris())) == (4 * COMMITS, 4 * COMMITS)
    assert sorted(table.to_pyarrow_table()["id"].to_pylist()) == list(range(4 * COMMITS))
