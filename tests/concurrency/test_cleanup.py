"""Writers, forks, readers, expiry and clean-up at once: no visible file is ever removed."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.concurrency.cleaning import CATALOGS, ROLES
from tests.concurrency.processes import in_processes
from tests.concurrency.raw import RawMetastore
from tests.fix_metastore import Place
from tests.maintenance.lakes import Lake
from tests.properties.retention import RawFiles

# Run for minutes with: FORKLAKE_SECONDS=300
SECONDS = int(os.environ.get("FORKLAKE_SECONDS", "5"))
SECONDS_OF_A_ROUND = 20


@pytest.mark.slow
@pytest.mark.timeout(3 * SECONDS + 240)
@pytest.mark.parametrize("backend", ["sqlite", "postgresql", "mysql"])
def test_no_visible_file_is_removed(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    with place.open() as metastore:
        files = Lake(metastore, folder)
        for name in CATALOGS:
            files.append(files.create(name))
        reported: Counter[str] = Counter()
        for first in range(0, SECONDS, SECONDS_OF_A_ROUND):
            seconds = min(SECONDS - first, SECONDS_OF_A_ROUND)
            jobs = [
                role(place, folder, seconds, 100 * first + number)
                for number, role in enumerate(ROLES)
            ]
            reported += sum(in_processes(jobs), Counter())
        assert not [what for what in reported if what.startswith("LOST")], reported
        assert (
            min(reported["read"], reported["expired"], reported["removed"], reported["reclaimed"])
            > 0
        ), reported

        raw = RawFiles(RawMetastore(place))
        needed = {
            path
            for row in metastore.catalogs()
            for at in raw.history(row.catalog_id)
            for path, _ in raw.needed(row.catalog_id, at)
        }
        assert needed
        assert needed <= files.on_disk()
