"""Imports that are killed: batches stay atomic, and the next import continues."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from forklake import Catalog
from forklake.delta import log_loader, parts
from forklake.delta.table_import import import_delta
from forklake.store import commit, phases
from tests.concurrency.processes import CONTEXT, TIMEOUT_SECONDS
from tests.delta.hand_written import FIRST, HandWrittenLog, add, remove
from tests.delta.imported import TEN, history, load, versions
from tests.delta.mirrored import NAME
from tests.fix_metastore import Place

VERSIONS = 8
# How often a phase is reached before the process dies there. A batch has three versions, a part has
# four files, and rows are sent a few at a time: so deaths occur between batches and within them.
DEATHS = [("series.sent", 2), ("commit.prepared", 2), ("series.sent", 3), ("commit.committed", 1)]


def import_and_die(phase: str, times: int, place: Place, root: str) -> None:
    """Import in another process, and die when the phase is reached."""
    log_loader.MOST_VERSIONS, parts.MOST_FILES, commit.MOST_ROWS = 3, 4, 12
    left = times

    def observe(reached: str) -> None:
        nonlocal left
        left -= reached == phase
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    phases.observer = observe
    with place.open() as metastore:
        import_delta(metastore.catalog(NAME), root, "t")


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_a_repeatedly_killed_import_completes(
    place: Place, written: HandWrittenLog, tmp_path: Path
) -> None:
    names = [[f"{number}-{one}" for one in range(6)] for number in range(VERSIONS)]
    written.commit(0, *FIRST, *(add(name, **TEN) for name in names[0]))
    for number in range(1, VERSIONS):
        gone, new = (names[number - step] for step in (1, 0))
        written.commit(number, *map(remove, gone), *(add(name, **TEN) for name in new))
    with place.open() as metastore:
        catalog = metastore.create_catalog(NAME, data_path=str(tmp_path / "data"))
        reached = [_after_death(phase, times, place, written, catalog) for phase, times in DEATHS]
        assert reached == [0, 3, 3, 6]
        assert load(catalog, written).version == VERSIONS - 1
        assert history(catalog) == {
            number: dict.fromkeys(names[number], (10, 0)) for number in range(VERSIONS)
        }
        view = catalog.now()
        assert view.statistics(view.state.table("t")).record_count == 60


def _after_death(
    phase: str, times: int, place: Place, written: HandWrittenLog, catalog: Catalog
) -> int:
    """Return the number of existing versions after a process was killed."""
    job = partial(import_and_die, phase, times, place, str(written.root))
    process = CONTEXT.Process(target=job)
    process.start()
    process.join(TIMEOUT_SECONDS)
    assert process.exitcode == -signal.SIGKILL
    is_there = catalog.now().state.find_relation("t", "main") is not None
    return len(versions(catalog)) if is_there else 0
