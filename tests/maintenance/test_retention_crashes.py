"""Processes killed during expiry and clean-up: nothing is lost, and the next run finishes."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import pytest

from forklake import Metastore
from forklake.store import phases
from tests.concurrency.processes import CONTEXT, TIMEOUT_SECONDS
from tests.concurrency.raw import RawMetastore
from tests.fix_metastore import Place
from tests.maintenance.lakes import Lake, paths
from tests.properties.retention import RawFiles

PHASES = [
    phase
    for phase in phases.PHASES
    if phase.startswith(("expire.", "sweep.", "cleanup.", "orphans.", "reclaim."))
]


def prepare(files: Lake) -> None:
    """Create a catalog with a past, a fork that needs part of it, and a dropped catalog."""
    sales = files.create()
    for _ in range(3):
        files.append(sales)
    files.metastore.fork("sales", "fork")
    gone = files.metastore.fork("sales", "gone")
    files.append(gone)
    with gone.transaction() as transaction:
        transaction.insert_rows(transaction.table("t"), [{"id": 1}])
    files.metastore.drop_catalog("gone")
    files.replace(sales)
    files.replace(sales)
    files.append(sales)
    files.write(sales)  # a write that never finished


def expire_and_clean_up(metastore: Metastore) -> None:
    """Expire and clean up everything possible."""
    sales = metastore.catalog("sales")
    sales.expire_snapshots(older_than=datetime.now(UTC))
    sales.cleanup_old_files(cleanup_all=True)
    metastore.reclaim_dropped(cleanup_all=True)
    sales.delete_orphaned_files(cleanup_all=True)


def _expire_and_die(place: Place, phase: str) -> None:
    def observe(reached: str) -> None:
        if reached == phase:
            _die()

    phases.observer = observe
    with place.open() as metastore:
        expire_and_clean_up(metastore)


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a killed process goes on")


def _seen(metastore: Metastore, names: list[str]) -> dict[tuple[str, int], set[str]]:
    """Return the files of every snapshot of the catalogs."""
    found: dict[tuple[str, int], set[str]] = {}
    for catalog in map(metastore.catalog, names):
        for one in catalog.snapshots():
            if catalog.at(version=one.snapshot_id).state.tables():
                found[catalog.name, one.snapshot_id] = paths(catalog, one.snapshot_id)
    return found


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
@pytest.mark.parametrize("phase", PHASES)
def test_a_killed_process_loses_nothing_and_the_next_one_finishes(
    place: Place, phase: str, tmp_path: Path
) -> None:
    with place.open() as metastore:
        files = Lake(metastore, tmp_path / "files")
        prepare(files)
        before = _seen(metastore, ["sales", "fork"])
        process = CONTEXT.Process(target=_expire_and_die, args=(place, phase))
        process.start()
        process.join(TIMEOUT_SECONDS)
        assert process.exitcode == -signal.SIGKILL

        after = _seen(metastore, ["sales", "fork"])
        assert after.items() <= before.items()
        needed = set().union(*after.values())
        assert needed <= files.on_disk()

        expire_and_clean_up(metastore)
        final = _seen(metastore, ["sales", "fork"])
        assert final.items() <= after.items()
        raw = RawFiles(RawMetastore(place))
        assert list(raw.leftovers()) == []
        assert files.on_disk() == raw.known() == set().union(*final.values())
