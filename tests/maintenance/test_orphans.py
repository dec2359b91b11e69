"""Orphans: files in a catalog's own folder that no row of any catalog refers to."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from forklake import Catalog, NewDataFile
from forklake.catalog.known_files import find_known_files
from forklake.model.files import MappedName
from forklake.model.ids import ColumnId
from tests.maintenance.lakes import Lake, paths, table_of

LATER = timedelta(days=-1)


def age(path: Path, days: int) -> None:
    moment = time.time() - 86400 * days
    os.utime(path, (moment, moment))


def test_only_old_unreferenced_files_are_removed(files: Lake) -> None:
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


def test_files_scheduled_for_deletion_are_not_orphans(files: Lake) -> None:
    catalog = files.create()
    files.append(catalog)
    files.replace(catalog)
    files.append(catalog)
    catalog.expire_snapshots(older_than=LATER)
    assert len(catalog.scheduled_files()) == 1
    assert catalog.delete_orphaned_files(cleanup_all=True) == []


def test_a_scan_skips_folders_of_other_catalogs(files: Lake) -> None:
    one, other = files.create("one"), files.create("one-more")
    stray = {name.name: files.write(name).path for name in (one, other)}
    files.append(other)
    assert one.delete_orphaned_files(cleanup_all=True) == [str(files.folder / stray["one"])]
    assert files.on_disk() == paths(other) | {stray["one-more"]}


def test_files_referenced_only_by_another_catalog_are_kept(files: Lake) -> None:
    """A copy keeps the files of its parent, which may have expired them or been dropped."""
    parent = files.create()
    files.append(parent)
    copy = files.metastore.fork("sales", "copy", mode="copy")
    files.replace(parent)
    files.append(parent)
    parent.expire_snapshots(older_than=LATER)
    assert parent.delete_orphaned_files(cleanup_all=True) == []
    assert paths(copy) <= files.on_disk()


def test_orphans_are_found_in_the_own_data_path_of_a_fork(files: Lake, tmp_path: Path) -> None:
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


def place_of_another(files: Lake, catalog: Catalog, data_path: str) -> None:
    """Give a catalog a data path that the current checks would refuse."""
    with files.metastore.database.writing() as connection:
        connection.fetch(
            "UPDATE ducklake_catalog SET data_path = :path WHERE catalog_id = :catalog",
            path=data_path,
            catalog=catalog.catalog_id,
        )
        connection.commit()


@pytest.mark.parametrize("spelling", ["{}/", "file://{}/", "file:{}/", "{}/../sales/", "{}//"])
def test_live_files_of_a_nested_catalog_are_kept(files: Lake, spelling: str) -> None:
    sales, other = files.create("sales"), files.create("other")
    inside = files.folder / "sales"
    inside.mkdir(parents=True)
    place_of_another(files, other, spelling.format(inside))
    nested = Lake(files.metastore, inside)
    nested.append(files.metastore.catalog("other"))
    lost = files.write(sales)
    full = str(files.folder / lost.path)
    assert sales.delete_orphaned_files(cleanup_all=True) == [full]
    assert paths(files.metastore.catalog("other")) == nested.on_disk()


def test_live_files_reached_over_a_symbolic_link_are_kept(files: Lake, tmp_path: Path) -> None:
    sales, other = files.create("sales"), files.create("other")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place_of_another(files, other, f"{elsewhere}/")
    Lake(files.metastore, elsewhere).append(files.metastore.catalog("other"))
    files.append(sales)
    (files.folder / "sales" / "linked").symlink_to(elsewhere)
    assert sales.delete_orphaned_files(cleanup_all=True) == []


@pytest.mark.parametrize("spelling", ["{}", "file://{}", "file:{}"])
def test_files_added_by_another_catalog_are_kept_for_all_spellings(
    files: Lake, spelling: str
) -> None:
    sales, other = files.create("sales"), files.create("other")
    files.append(sales)
    (own,) = sales.now().data_files(table_of(sales))
    added = NewDataFile(
        spelling.format(files.folder / own.path), 3, own.file_size_bytes, path_is_relative=False
    )
    with other.transaction() as transaction:
        table = transaction.table("t")
        mapping = transaction.add_name_mapping(table, [MappedName("id", ColumnId(1))])
        transaction.add_data_files(table, [replace(added, mapping_id=mapping)])
    files.replace(sales)
    sales.expire_snapshots(older_than=LATER)
    assert sales.cleanup_old_files(cleanup_all=True) == []
    assert sales.delete_orphaned_files(cleanup_all=True) == []
    assert own.path in files.on_disk()


def test_folders_are_compared_without_case(files: Lake) -> None:
    upper = files.create("Sales")
    files.append(upper)
    (path,) = paths(upper)
    # As the scan of a catalog `sales` finds it where the file system ignores case.
    found = str(files.folder / path.replace("Sales", "sales", 1))
    with upper.database.reading() as connection:
        assert find_known_files(connection, [found]) == {found}


def test_files_owned_by_another_catalog_stay_while_they_are_live_in_their_own(files: Lake) -> None:
    sales, other = files.create("sales"), files.create("other")
    files.append(sales)
    (own,) = sales.now().data_files(table_of(sales))
    full = str(files.folder / own.path)
    added = NewDataFile(full, 3, own.file_size_bytes, path_is_relative=False)
    with other.transaction() as transaction:
        table = transaction.table("t")
        mapping = transaction.add_name_mapping(
            table, [MappedName("id", ColumnId(1))], is_owned=True
        )
        transaction.add_data_files(table, [replace(added, mapping_id=mapping)])
    files.replace(other)
    other.expire_snapshots(older_than=LATER)
    assert [one.path for one in other.scheduled_files()] == [full]
    assert other.cleanup_old_files(cleanup_all=True) == []
    assert own.path in files.on_disk()


def test_files_of_a_delta_table_inside_the_folder_are_kept(files: Lake) -> None:
    catalog = files.create()
    files.append(catalog)
    root = files.folder / "sales" / "published"
    (root / "_delta_log").mkdir(parents=True)
    (root / "_delta_log" / f"{0:020d}.json").write_text("{}")
    shared = root / "part-0.parquet"
    shared.write_bytes(b"x")
    assert catalog.delete_orphaned_files(cleanup_all=True) == []
    assert shared.exists()
