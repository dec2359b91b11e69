"""Orphans: files in a catalog's own folder that no row of any catalog knows."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

from tests.maintenance.lakes import Lake, paths, table_of

LATER = timedelta(days=-1)


def age(path: Path, days: int) -> None:
    moment = time.time() - 86400 * days
    os.utime(path, (moment, moment))


def test_only_old_files_that_nobody_knows_are_removed(files: Lake) -> None:
    catalog = files.create()
    files.append(catalog)
    (file,) = catalog.now().data_files(table_of(catalog))
    files.delete_from(catalog, file)
    lost, young = files.write(catalog), files.write(catalog)
    for path in files.on_disk() - {young.path}:
        age(files.folder / path, 3)
    notes = files.folder / catalog.row.path / "notes.txt"
    notes.write_text("not ours")
    age(notes, 3)
    full = str(files.folder / lost.path)

    assert catalog.delete_orphaned_files(dry_run=True) == [full]
    assert lost.path in files.on_disk()
    assert catalog.delete_orphaned_files() == [full]
    assert files.on_disk() == paths(catalog) | {young.path}
    assert notes.exists()
    assert catalog.delete_orphaned_files(older_than=timedelta(hours=1)) == []
    assert catalog.delete_orphaned_files(cleanup_all=True) == [str(files.folder / young.path)]


def test_files_that_wait_to_be_removed_are_no_orphans(files: Lake) -> None:
    catalog = files.create()
    files.append(catalog)
    files.replace(catalog)
    files.append(catalog)
    catalog.expire_snapshots(older_than=LATER)
    assert len(catalog.scheduled_files()) == 1
    assert catalog.delete_orphaned_files(cleanup_all=True) == []


def test_a_scan_never_looks_into_the_folder_of_another_catalog(files: Lake) -> None:
    one, other = files.create("one"), files.create("one-more")
    stray = {name.name: files.write(name).path for name in (one, other)}
    files.append(other)
    assert one.delete_orphaned_files(cleanup_all=True) == [str(files.folder / stray["one"])]
    assert files.on_disk() == paths(other) | {stray["one-more"]}


def test_files_in_a_folder_may_be_known_to_another_catalog_alone(files: Lake) -> None:
    """A copy keeps the files of its parent, which may have let them go, or be gone itself."""
    parent = files.create()
    files.append(parent)
    copy = files.metastore.fork("sales", "copy", mode="copy")
    files.replace(parent)
    files.append(parent)
    parent.expire_snapshots(older_than=LATER)
    assert parent.delete_orphaned_files(cleanup_all=True) == []
    assert paths(copy) <= files.on_disk()


def test_a_fork_with_a_data_path_of_its_own(files: Lake, tmp_path: Path) -> None:
    parent = files.create()
    files.append(parent)
    elsewhere = tmp_path / "elsewhere"
    fork = files.metastore.fork("sales", "fork", data_path=str(elsewhere))
    files.metastore.materialize("fork")
    stray = elsewhere / fork.row.path / "main" / "lost.parquet"
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"x")
    files.replace(parent)
    files.append(parent)
    parent.expire_snapshots(older_than=LATER)
    assert parent.cleanup_old_files(cleanup_all=True) == []
    assert parent.delete_orphaned_files(cleanup_all=True) == []
    again = files.metastore.catalog("fork")
    assert again.delete_orphaned_files(cleanup_all=True) == [str(stray)]
    seen = again.now()
    for file in seen.scan_files(seen.state.table("t")):
        assert Path(file.path).exists()


def test_a_catalog_without_files_has_no_orphans(files: Lake) -> None:
    assert files.create().delete_orphaned_files(cleanup_all=True) == []
