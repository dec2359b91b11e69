"""Expiry: chosen snapshots are deleted, and everything that others can see is kept."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from forklake import Catalog, ColumnSpec, MacroSpec
from forklake.errors import Conflict, InvalidInput, NotFound
from forklake.store.tables import table_names
from tests.maintenance.lakes import Lake, count, paths, table_of


def numbers(catalog: Catalog) -> list[int]:
    return [one.snapshot_id for one in catalog.snapshots()]


def test_expired_snapshots_are_gone_and_the_others_are_unchanged(files: Lake) -> None:
    catalog = files.create()
    first, second = files.append(catalog), files.append(catalog)
    third = files.replace(catalog)
    seen = {version: paths(catalog, version) for version in (first, second, third)}

    expired = catalog.expire_snapshots(versions=[second])

    assert [one.snapshot_id for one in expired] == [second]
    assert second not in numbers(catalog)
    with pytest.raises(NotFound, match=f"No snapshot found at version {second}"):
        catalog.at(version=second)
    assert paths(catalog, first) == seen[first]
    assert paths(catalog) == seen[third]
    # Only the second append had that file; the file of the first one is still visible.
    assert {one.path for one in catalog.scheduled_files()} == seen[second] - seen[first]
    assert count(files.metastore, "ducklake_file_column_stats") == 2
    assert files.on_disk() == seen[second] | seen[third]


def test_the_newest_snapshot_never_expires(files: Lake) -> None:
    catalog = files.create()
    files.append(catalog)
    newest = files.append(catalog)
    catalog.expire_snapshots(versions=numbers(catalog))
    assert numbers(catalog) == [newest]
    assert len(paths(catalog)) == 2
    assert catalog.expire_snapshots(older_than=datetime.now(UTC) + timedelta(days=1)) == []


def test_expired_versions_are_not_answered_with_older_snapshots(
    files: Lake,
) -> None:
    catalog = files.create()
    first = files.append(catalog)
    before = files.metastore.create_catalog("before").current_snapshot()
    expired = files.append(catalog)
    moment = catalog.head().snapshot_time
    between = files.metastore.create_catalog("between").current_snapshot()
    newest = files.append(catalog)

    catalog.expire_snapshots(versions=[expired])

    assert catalog.at(version=before).snapshot_id == first
    with pytest.raises(NotFound, match=f"No snapshot found at version {between}"):
        catalog.at(version=between)
    with pytest.raises(NotFound, match="No snapshot found at timestamp"):
        catalog.at(timestamp=moment)
    assert catalog.at(timestamp=moment - timedelta(microseconds=1)).snapshot_id == first
    assert catalog.at(version=newest).snapshot_id == newest
    with pytest.raises(NotFound, match=f"No snapshot found at version {between}"):
        files.metastore.fork("sales", "fork", at=between)


def test_snapshots_expire_by_age_and_by_option(files: Lake) -> None:
    catalog = files.create()
    old, newest = files.append(catalog), files.append(catalog)
    assert catalog.expire_snapshots() == []  # no option is set
    assert catalog.expire_snapshots(older_than=timedelta(days=1)) == []
    moment = catalog.head().snapshot_time
    dry = catalog.expire_snapshots(older_than=moment, dry_run=True)
    assert [one.snapshot_id for one in dry][-1] == old
    assert len(numbers(catalog)) == len(dry) + 1
    catalog.set_option("expire_older_than", "0 seconds")
    assert {one.snapshot_id for one in catalog.expire_snapshots()} >= {old, newest}


def test_bad_arguments_change_nothing(files: Lake) -> None:
    catalog = files.create()
    files.append(catalog)
    before = numbers(catalog)
    with pytest.raises(InvalidInput, match="cannot specify both 'versions' and 'older_than'"):
        catalog.expire_snapshots(versions=[1], older_than=datetime.now(UTC))
    with pytest.raises(InvalidInput, match="has no time zone"):
        catalog.expire_snapshots(older_than=datetime(2026, 1, 1))  # noqa: DTZ001
    assert catalog.expire_snapshots(versions=[]) == []
    assert catalog.expire_snapshots(versions=[10**6, -1]) == []
    assert numbers(catalog) == before


def test_a_fork_pins_its_snapshot_and_reads_the_remaining_history_of_its_parent(
    files: Lake,
) -> None:
    parent = files.create()
    kept, forked_at = files.append(parent), files.append(parent)
    fork = files.metastore.fork("sales", "fork", at=forked_at)
    files.metastore.fork("fork", "grandchild")
    files.replace(parent)
    files.replace(parent)
    seen = {kept: paths(fork, kept), forked_at: paths(fork)}

    parent.expire_snapshots(versions=[one for one in numbers(parent) if one != kept])

    grandchild = files.metastore.catalog("grandchild")
    for catalog in (fork, grandchild):
        assert paths(catalog, kept) == seen[kept]
        assert paths(catalog) == seen[forked_at]
        with pytest.raises(NotFound):
            catalog.at(version=forked_at)
    assert not {one.path for one in parent.scheduled_files()} & seen[forked_at]
    assert len(parent.scheduled_files()) == 1  # written by the first replacement


def test_a_fork_expires_only_its_own_snapshots(files: Lake) -> None:
    parent = files.create()
    files.append(parent)
    fork = files.metastore.fork("sales", "fork")
    theirs = numbers(parent)
    own = files.append(fork)
    files.append(fork)
    gone = fork.expire_snapshots(versions=[*theirs, own])
    assert [one.snapshot_id for one in gone] == [own]
    assert numbers(parent) == theirs
    assert set(theirs) < set(numbers(fork))


def test_rows_of_every_kind_are_deleted_with_the_last_snapshot_that_sees_them(files: Lake) -> None:
    catalog = files.create()
    with catalog.transaction() as transaction:
        made = transaction.create_table(
            "gone", [ColumnSpec("id", "int64", comment="x")], partition_by=[("id", "identity")]
        )
        transaction.insert_rows(made, [{"id": 1}])
        transaction.set_tag(made, "key", "value")
        transaction.create_view("v", "SELECT 1")
        transaction.create_macro("m", [MacroSpec("1")])
        transaction.set_option("target_file_size", "1MB", table="gone")
    with catalog.transaction() as transaction:
        transaction.drop_table("gone")
        transaction.drop_view("v")
        transaction.drop_macro("m")
    catalog.expire_snapshots(older_than=datetime.now(UTC))
    left = table_names(files.metastore.database)
    assert not [name for name in left if re.match(r"ducklake_inlined_data_\d", name)]
    for table in "view macro macro_impl partition_info partition_column column_tag".split():
        assert count(files.metastore, f"ducklake_{table}") == 0, table
    assert count(files.metastore, "ducklake_table") == 1
    assert count(files.metastore, "ducklake_snapshot_changes") == 1
    assert count(files.metastore, "ducklake_schema_versions") == 1
    assert count(files.metastore, "ducklake_tag") == 0


def test_the_id_of_a_dropped_column_is_not_reused(files: Lake) -> None:
    catalog = files.create()
    table = table_of(catalog)
    with catalog.transaction() as transaction:
        added = transaction.add_column(table, ColumnSpec("extra", "int64"))
    fork = files.metastore.fork("sales", "fork")
    with catalog.transaction() as transaction:
        transaction.drop_column(table, "extra")
    after = files.metastore.fork("sales", "after")
    with catalog.transaction() as transaction:
        transaction.set_tag(table, "a", "b")
    catalog.expire_snapshots(older_than=datetime.now(UTC))
    for one in (catalog, after, fork):
        with one.transaction() as transaction:
            again = transaction.add_column(table, ColumnSpec("more", "varchar"))
        assert again.column_id == added.column_id + 1


def test_a_transaction_that_began_at_an_expired_snapshot_conflicts(files: Lake) -> None:
    catalog = files.create()
    files.append(catalog)
    with files.metastore.catalog("sales").transaction() as transaction:
        table = transaction.table("t")
        (file,) = transaction.data_files(table)
        files.replace(catalog)  # ends the file
        files.append(catalog)
        catalog.expire_snapshots(older_than=datetime.now(UTC))
        transaction.delete_positions(table, file, [0])
        with pytest.raises(Conflict, match="have expired"):
            transaction.commit()
        transaction.rollback()
    with files.metastore.catalog("sales").transaction() as transaction:
        transaction.add_data_files(transaction.table("t"), [files.write(catalog)])


def test_reads_of_an_expired_snapshot_view_fail(files: Lake) -> None:
    catalog = files.create()
    old = files.append(catalog)
    seen = catalog.at(version=old)
    table = seen.state.table("t")
    files.replace(catalog)
    catalog.expire_snapshots(versions=[old])
    for read in (seen.scan_files, seen.inlined_rows):
        with pytest.raises(NotFound, match=f"No snapshot found at version {old}"):
            read(table)


def test_change_feeds_over_expired_snapshots_fail(files: Lake) -> None:
    catalog = files.create()
    first, second, third = (files.append(catalog) for _ in range(3))
    fourth = files.replace(catalog)
    table = table_of(catalog)
    catalog.expire_snapshots(versions=[second])
    now = catalog.now()
    for start in (first, second, third):
        with pytest.raises(NotFound, match="have expired"):
            catalog.table_changes(now, table, start)
    assert len(catalog.table_changes(now, table, fourth).added) == 1
    past = catalog.at(version=first)
    assert len(catalog.table_changes(past, table, first).added) == 1


def test_a_materialized_fork_keeps_files_that_its_parent_expires(files: Lake) -> None:
    parent = files.create()
    files.append(parent)
    copy = files.metastore.fork("sales", "copy", mode="copy")
    kept = paths(copy)
    files.replace(parent)
    files.append(parent)
    parent.expire_snapshots(older_than=datetime.now(UTC))
    assert parent.scheduled_files() == []
    files.replace(copy)
    copy.expire_snapshots(older_than=datetime.now(UTC))
    assert {one.path for one in copy.scheduled_files()} == kept
