"""Clean-up: invisible files are removed after their grace period, and no others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from forklake import Catalog, NewDataFile
from forklake.errors import InvalidInput
from forklake.model.ids import ColumnId
from forklake.store.scheduled import ScheduledFile
from tests.maintenance.lakes import Lake, count, paths, table_of

LATER = timedelta(days=-1)


def expire_all(*catalogs: Catalog) -> None:
    for catalog in catalogs:
        catalog.expire_snapshots(older_than=datetime.now(UTC))


def test_files_are_kept_during_their_grace_period(files: Lake) -> None:
    catalog = files.create()
    files.append(catalog)
    gone = files.on_disk()
    files.replace(catalog)
    files.append(catalog)
    expire_all(catalog)

    assert catalog.cleanup_old_files() == []  # two days
    assert catalog.cleanup_old_files(older_than=timedelta(hours=1)) == []
    assert catalog.cleanup_old_files(older_than=datetime.now(UTC) - timedelta(hours=1)) == []
    assert gone <= files.on_disk()
    full = [str(files.folder / path) for path in gone]
    assert catalog.cleanup_old_files(older_than=LATER, dry_run=True) == full
    assert gone <= files.on_disk()
    catalog.set_option("delete_older_than", "0 seconds")
    assert catalog.cleanup_old_files() == full
    assert not gone & files.on_disk()
    assert paths(catalog) <= files.on_disk()
    assert catalog.scheduled_files() == []
    assert catalog.cleanup_old_files(cleanup_all=True) == []


def test_delete_files_are_removed_with_their_data_files(files: Lake) -> None:
    catalog = files.create()
    files.append(catalog)
    (file,) = catalog.now().data_files(table_of(catalog))
    files.delete_from(catalog, file)
    files.delete_from(catalog, file)
    expire_all(catalog)
    assert len(catalog.cleanup_old_files(cleanup_all=True)) == 1  # the first delete file
    assert files.on_disk() == paths(catalog)
    files.replace(catalog)
    expire_all(catalog)
    assert len(catalog.cleanup_old_files(cleanup_all=True)) == 2
    assert files.on_disk() == paths(catalog)


def test_contradictory_arguments_are_refused(files: Lake) -> None:
    catalog = files.create()
    for run in (catalog.cleanup_old_files, catalog.delete_orphaned_files):
        with pytest.raises(InvalidInput, match="cleanup_all and older_than exclude each other"):
            run(cleanup_all=True, older_than=timedelta(0))
        with pytest.raises(InvalidInput, match="has no time zone"):
            run(older_than=datetime(2026, 1, 1))  # noqa: DTZ001


def test_scheduled_files_that_are_referenced_are_kept(files: Lake) -> None:
    catalog = files.create()
    files.append(catalog)
    (file,) = catalog.now().data_files(table_of(catalog))
    wrong = ScheduledFile(file.data_file_id, file.path, True, datetime(2020, 1, 1, tzinfo=UTC))
    catalog.schedule_deletion([wrong])
    assert catalog.cleanup_old_files(cleanup_all=True, dry_run=True) == []
    assert catalog.cleanup_old_files(cleanup_all=True) == []
    assert files.on_disk() == {file.path}
    assert catalog.scheduled_files() == []


def test_an_already_removed_file_is_not_an_error(files: Lake) -> None:
    catalog = files.create()
    files.append(catalog)
    (path,) = files.on_disk()
    files.replace(catalog)
    files.append(catalog)
    expire_all(catalog)
    (files.folder / path).unlink()
    assert catalog.cleanup_old_files(cleanup_all=True) == [str(files.folder / path)]


@pytest.mark.parametrize("mode", ["inherit", "copy"])
def test_forks_keep_visible_files_after_all_changes_of_their_parent(files: Lake, mode: str) -> None:
    parent = files.create()
    files.append(parent)
    fork = files.metastore.fork("sales", "fork", mode=mode)
    child = files.metastore.fork("fork", "child", mode=mode)
    files.append(child)
    seen = {one.name: paths(one) for one in (fork, child)}
    files.replace(parent)
    files.append(parent)
    expire_all(parent, fork, child)
    for one in (parent, fork, child):
        one.cleanup_old_files(cleanup_all=True)
        one.delete_orphaned_files(cleanup_all=True)
    assert {one.name: paths(one) for one in (fork, child)} == seen
    assert seen["fork"] | seen["child"] <= files.on_disk()

    files.metastore.drop_catalogs(["sales", "fork"])
    files.metastore.reclaim_dropped(cleanup_all=True)
    assert paths(child) == seen["child"]
    assert files.on_disk() == seen["child"]

    files.metastore.drop_catalog("child")
    files.metastore.reclaim_dropped(cleanup_all=True)
    assert files.on_disk() == set()


def test_files_of_a_fork_created_before_clean_up_are_kept(files: Lake) -> None:
    catalog = files.create()
    old = files.append(catalog)
    kept = files.append(catalog)
    files.replace(catalog)
    catalog.expire_snapshots(versions=[old])
    fork = files.metastore.fork("sales", "fork", at=kept)
    catalog.expire_snapshots(versions=[kept])
    assert catalog.cleanup_old_files(cleanup_all=True) == []
    assert paths(fork) <= files.on_disk()


def test_files_of_other_writers_are_never_removed(files: Lake) -> None:
    catalog = files.create()
    theirs = files.write_at("elsewhere/theirs.parquet")
    with catalog.transaction() as transaction:
        table = transaction.table("t")
        mapping = transaction.add_name_mapping(table, [("id", ColumnId(1))])
        foreign = NewDataFile(
            str(files.folder / theirs.path),
            3,
            theirs.file_size_bytes,
            path_is_relative=False,
            mapping_id=mapping,
        )
        transaction.add_data_files(table, [foreign])
    files.replace(catalog)
    files.append(catalog)
    expire_all(catalog)
    assert catalog.cleanup_old_files(cleanup_all=True) == []
    assert theirs.path in files.on_disk()
    with catalog.transaction() as transaction:
        transaction.drop_table("t")
    expire_all(catalog)
    for name in ("column_mapping", "name_mapping"):
        assert count(files.metastore, f"ducklake_{name}") == 0


def test_a_file_added_by_another_catalog_is_not_removed(files: Lake) -> None:
    catalog, other = files.create(), files.create("other")
    files.append(catalog)
    (file,) = catalog.now().data_files(table_of(catalog))
    full = str(files.folder / file.path)
    with other.transaction() as transaction:
        table = transaction.table("t")
        mapping = transaction.add_name_mapping(table, [("id", ColumnId(1))])
        added = NewDataFile(full, 3, 1, path_is_relative=False, mapping_id=mapping)
        transaction.add_data_files(table, [added])
    files.replace(catalog)
    files.append(catalog)
    expire_all(catalog)
    assert catalog.cleanup_old_files(cleanup_all=True) == []
    assert file.path in files.on_disk()


def test_dropped_catalogs_are_reclaimed_in_batches(files: Lake) -> None:
    files.append(files.create("kept"))
    for number in range(5):
        fork = files.metastore.fork("kept", f"fork-{number}")
        files.append(fork)
        with fork.transaction() as transaction:
            transaction.insert_rows(transaction.table("t"), [{"id": number}])
    kept = paths(files.metastore.catalog("kept"))
    files.metastore.drop_catalogs([f"fork-{number}" for number in range(5)])

    done = [files.metastore.reclaim_dropped(2) for _ in range(4)]

    assert [len(one.catalogs) for one in done] == [2, 2, 1, 0]
    assert not any(one.files for one in done)  # two days
    assert len(files.metastore.reclaim_dropped(cleanup_all=True).files) == 5
    assert files.on_disk() == kept
    for name in ("data_file", "table_stats", "catalog_lineage", "snapshot_changes"):
        assert count(files.metastore, f"ducklake_{name}", "catalog_id <> 0") == 0, name
    assert count(files.metastore, "ducklake_catalog") == 6  # their folders stay reserved


@pytest.mark.parametrize("at_once", [1, 3])
def test_files_of_copies_are_deleted_once_all_copies_are_reclaimed(
    files: Lake, at_once: int
) -> None:
    files.create("kept")
    parent = files.create("parent")
    files.append(parent)
    (file,) = parent.now().data_files(table_of(parent))
    files.delete_from(parent, file)
    own = paths(parent)
    for name in ("copy-1", "copy-2"):
        files.metastore.fork("parent", name, mode="copy")
    assert len(own) == 2
    files.metastore.drop_catalogs(["parent", "copy-1", "copy-2"])

    removed = [files.metastore.reclaim_dropped(at_once, cleanup_all=True) for _ in range(3)]

    assert sorted(path for one in removed for path in one.files) == sorted(
        str(files.folder / path) for path in own
    )
    assert not own & files.on_disk()
    for name in ("data_file", "delete_file", "file_column_stats", "file_partition_value"):
        assert count(files.metastore, f"ducklake_{name}") == 0, name
