"""Snapshots: history, time travel, commit messages, and idempotency keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from forklake import Catalog, Metastore
from forklake.errors import InvalidInput, NotFound
from forklake.model.entities import Table
from forklake.model.stream_keys import format_batch_key
from forklake.store.firings import snapshot_of_key
from tests.behavior.builders import COLUMNS, a_file, a_table, append, paths


def test_every_snapshot_stays_readable(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    table = a_table(catalog)
    versions = [append(catalog, table, str(number)) for number in range(4)]
    for count, version in enumerate(versions, start=1):
        assert len(paths(catalog, table, version)) == count
        assert catalog.at(version=version).statistics(table).record_count == 10 * count


def test_time_travel_by_timestamp_finds_the_last_earlier_snapshot(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    table = a_table(catalog, files=["1"])
    append(catalog, table, "2")
    history = catalog.snapshots()
    times = [one.snapshot_time for one in history]
    assert times == sorted(set(times))
    assert catalog.at(timestamp=times[2]).snapshot_id == history[2].snapshot_id
    just_before = times[3] - timedelta(microseconds=1)
    assert catalog.at(timestamp=just_before).snapshot_id == history[2].snapshot_id
    assert catalog.at(timestamp=datetime.now(UTC)).snapshot_id == catalog.current_snapshot()
    with pytest.raises(NotFound, match="No snapshot found at timestamp"):
        catalog.at(timestamp=times[0] - timedelta(seconds=1))


def test_time_travel_needs_one_unambiguous_point(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    with pytest.raises(InvalidInput):
        catalog.at()
    with pytest.raises(InvalidInput):
        catalog.at(version=1, timestamp=datetime.now(UTC))
    with pytest.raises(InvalidInput, match="time zone"):
        catalog.at(timestamp=datetime.now())  # noqa: DTZ005
    for limit in (-1, 0, 10**25):
        with pytest.raises(InvalidInput):
            catalog.snapshots(limit=limit)
    for version in (-1, 0, 99, 2**63, 2**70):
        with pytest.raises(NotFound, match="No snapshot found at version"):
            catalog.at(version=version)


def test_a_snapshot_id_of_another_catalog_selects_the_state_at_that_moment(
    metastore: Metastore,
) -> None:
    catalog, other = metastore.create_catalog("a"), metastore.create_catalog("b")
    table = a_table(catalog, files=["1"])
    foreign = append(other, a_table(other), "x")
    append(catalog, table, "2")
    assert paths(catalog, table, version=foreign) == ["1"]
    with pytest.raises(NotFound):
        other.at(version=1)  # before it was created


def test_current_and_last_committed_snapshot_differ_between_writers(metastore: Metastore) -> None:
    mine = metastore.create_catalog("c")
    theirs = metastore.catalog("c")
    table = a_table(mine)
    assert theirs.last_committed_snapshot() is None
    append(theirs, table, "1")
    assert mine.last_committed_snapshot() == 2
    assert mine.current_snapshot() == theirs.last_committed_snapshot() == 3


def test_a_commit_records_author_and_message(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    with catalog.transaction(author="ada", message="first", extra_info="{}") as transaction:
        transaction.create_table("t", COLUMNS)
    newest = catalog.snapshots(limit=1)[0]
    assert (newest.author, newest.commit_message, newest.commit_extra_info) == (
        "ada",
        "first",
        "{}",
    )


def test_a_catalog_can_require_commit_messages(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    catalog.set_option("require_commit_message", True)
    with (
        pytest.raises(InvalidInput, match="requires a commit message"),
        catalog.transaction() as transaction,
    ):
        transaction.create_schema("s")
    transaction = catalog.transaction()
    transaction.create_schema("s")
    transaction.set_commit_message("ada", "because")
    assert transaction.commit() is not None


def test_a_transaction_without_changes_creates_no_snapshot(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    a_table(catalog)
    before = catalog.current_snapshot()
    with catalog.transaction() as transaction:
        transaction.create_table("t2", COLUMNS)
        transaction.drop_table("t2")
        transaction.create_table("t", COLUMNS, if_not_exists=True)
    assert catalog.current_snapshot() == before


def test_a_rolled_back_or_failed_transaction_leaves_nothing(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    with (  # noqa: PT012
        pytest.raises(NotFound),
        catalog.transaction() as transaction,
    ):
        transaction.create_schema("s")
        transaction.drop_table("nowhere")
    assert catalog.current_snapshot() == 1
    with pytest.raises(InvalidInput, match="already rolled back"):
        transaction.create_schema("s")


def test_a_transaction_sees_its_own_changes(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    with catalog.transaction() as transaction:
        table = transaction.create_table("t", COLUMNS)
        transaction.add_data_files(table, [a_file("1")])
        transaction.insert_rows(table, [{"id": 1}])
        assert [file.path for file in transaction.data_files(table)] == ["1"]
        assert len(transaction.inlined_rows(table)) == 1
        assert [one.table_name for one in transaction.state.tables()] == ["t"]
    committed = catalog.now().state.table("t")
    assert paths(catalog, committed) == ["1"]
    assert [row.row_id for row in catalog.now().inlined_rows(committed)] == [10]


def test_a_transaction_keeps_reading_the_snapshot_it_began_at(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    table = a_table(catalog, files=["1"])
    reader = catalog.transaction()
    assert len(reader.data_files(table)) == 1
    append(catalog, table, "2")
    assert len(reader.data_files(table)) == 1


def test_an_idempotency_key_applies_once_across_processes(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    table = a_table(catalog)
    first = catalog.transaction(idempotency_key="job-7")
    first.add_data_files(table, [a_file("1")])
    applied = first.commit()
    append(catalog, table, "between")
    again = metastore.catalog("c").transaction(idempotency_key="job-7")
    again.add_data_files(table, [a_file("1")])
    repeated = again.commit()
    assert applied is not None
    assert repeated is not None
    assert (repeated.snapshot_id, repeated.was_applied_before) == (applied.snapshot_id, True)
    assert paths(catalog, table) == ["1", "between"]


def _commit_once(catalog: Catalog, table: Table, key: str) -> bool:
    """Append a file under a key, and return whether it was applied before."""
    transaction = catalog.transaction(idempotency_key=key)
    transaction.add_data_files(table, [a_file(key)])
    committed = transaction.commit()
    assert committed is not None
    return committed.was_applied_before


def test_idempotency_key_outlives_its_expired_snapshot(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    table = a_table(catalog)
    assert not _commit_once(catalog, table, "job-7")
    append(catalog, table, "later")
    assert catalog.expire_snapshots(older_than=timedelta(0))
    assert _commit_once(catalog, table, "job-7")
    assert paths(catalog, table) == ["job-7", "later"]


def test_commit_of_a_firing_is_found_after_its_snapshot_expired(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    table = a_table(catalog)
    assert not _commit_once(catalog, table, "reagent-1-monday")
    made = catalog.head().snapshot_id
    append(catalog, table, "later")
    assert catalog.expire_snapshots(older_than=timedelta(0))
    with metastore.database.reading() as connection:
        assert snapshot_of_key(connection, catalog.catalog_id, "reagent-1-monday") == made
        assert snapshot_of_key(connection, catalog.catalog_id, "reagent-1-tuesday") is None


def test_expired_keys_are_deleted_after_their_retention_except_the_last_batch(
    metastore: Metastore,
) -> None:
    catalog = metastore.create_catalog("c")
    table = a_table(catalog)
    with catalog.transaction() as transaction:
        transaction.set_option("idempotency_key_retention", "0 seconds")
    earlier, last, later = (format_batch_key("query", batch, "main", "t") for batch in (9, 10, 11))
    other = format_batch_key("another query", 9, "main", "t")
    for key in ("job", earlier, last):
        assert not _commit_once(catalog, table, key)
    append(catalog, table, "later")
    assert catalog.expire_snapshots(older_than=timedelta(0))
    repeated = [_commit_once(catalog, table, key) for key in (last, earlier, "job", other, later)]
    assert repeated == [True, True, False, False, False]


def test_the_latest_snapshot_of_the_metastore_is_that_of_its_last_commit(
    metastore: Metastore,
) -> None:
    catalog = metastore.create_catalog("c")
    a_table(catalog, files=["1"])
    assert metastore.latest_snapshot() == catalog.current_snapshot() == 3
