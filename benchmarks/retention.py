"""Benchmarks of expiring very many snapshots, and of planning the clean-up of very many files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import forklake
from benchmarks.figures import Figure, Setting, figure
from benchmarks.forking import seconds_of
from benchmarks.lakes import DATA_PATH, create_table, data_file, postgres_uri
from benchmarks.plans import note_index_use
from forklake import Metastore
from forklake.store.operations import Statement

FILES_OF_A_COMMIT = 10
FORKS = 100
# As if each commit had replaced the files of the previous one.
_END_FILES = """
UPDATE ducklake_data_file SET end_snapshot = (
    SELECT min(h.snapshot_id) FROM ducklake_snapshot_changes h
    WHERE h.catalog_id = ducklake_data_file.catalog_id
      AND h.snapshot_id > ducklake_data_file.begin_snapshot)
"""


def retention(setting: Setting) -> Iterator[Figure]:
    """Measure the same history on each database, with forks of some of its snapshots."""
    snapshots = setting.size(10_000, 300)
    with setting.server.database() as dsn:
        with forklake.open(postgres_uri(dsn), create=True) as metastore:
            yield from _measured(metastore, "", snapshots)
        note_index_use(setting, dsn)
    for kind in ("sqlite", "duckdb"):
        with tempfile.TemporaryDirectory(prefix="forklake-bench-") as folder:
            uri = f"ducklake:{kind}:{Path(folder) / 'metastore'}"
            with forklake.open(uri, create=True) as metastore:
                yield from _measured(metastore, f"{kind}_", snapshots)


def _measured(metastore: Metastore, prefix: str, snapshots: int) -> Iterator[Figure]:
    _prepare(metastore, snapshots)
    catalog = metastore.catalog("lake")
    expiry = seconds_of(lambda: catalog.expire_snapshots(older_than=datetime.now(UTC)))
    yield figure(f"{prefix}expiry", expiry, "s", target="≤ 10 s")
    waiting = len(catalog.scheduled_files())
    planned: list[str] = []
    planning = seconds_of(
        lambda: planned.extend(catalog.cleanup_old_files(cleanup_all=True, dry_run=True))
    )
    assert len(planned) == waiting, "files that no snapshot needs were not planned for deletion"
    yield figure(f"{prefix}cleanup_planning", planning, "s", target="≤ 10 s")


def _prepare(metastore: Metastore, snapshots: int) -> None:
    catalog = metastore.create_catalog("lake", data_path=DATA_PATH)
    table = create_table(catalog)
    for number in range(snapshots):
        first = number * FILES_OF_A_COMMIT
        files = [data_file(one) for one in range(first, first + FILES_OF_A_COMMIT)]
        with catalog.transaction() as transaction:
            transaction.add_data_files(table, files)
    with metastore.database.writing() as connection:
        connection.commit([Statement(_END_FILES)])
    past = [one.snapshot_id for one in catalog.snapshots()]
    for number in range(FORKS):
        metastore.fork("lake", f"fork_{number}", at=past[number * len(past) // FORKS])
