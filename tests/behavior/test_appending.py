"""Appends in a single round trip to the database, with the same outcome as ordinary commits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from forklake import Catalog, ColumnBounds, ColumnSpec, Metastore, NewDataFile
from forklake.errors import Conflict, NotFound
from forklake.model.entities import Table
from forklake.model.ids import ColumnId
from forklake.store import commit as commits
from tests.fix_metastore import postgres_schema


@pytest.fixture
def metastore(shared_database: str) -> Iterator[Metastore]:
    """Yield a metastore that is reached over a connection."""
    with postgres_schema(shared_database) as place, place.open() as found:
        yield found


@pytest.fixture
def catalog(metastore: Metastore) -> Catalog:
    """Return a catalog with a table to which the same object has written once."""
    made = metastore.create_catalog("lake", data_path="/lake")
    with made.transaction() as transaction:
        transaction.create_table("t", [ColumnSpec("a", "bigint"), ColumnSpec("b", "varchar")])
    append(made, file("first", (10, 20)))
    return made


def file(path: str, bounds: tuple[int, int], **others: Any) -> NewDataFile:
    """Return a file of 100 rows with numbers within bounds."""
    low, high = bounds
    known = ColumnBounds(ColumnId(1), 800, 100, 0, str(low), str(high))
    return NewDataFile(path, 100, 1_000, footer_size=10, bounds=(known,), **others)


def append(catalog: Catalog, *files: NewDataFile) -> None:
    """Append files in one commit."""
    with catalog.transaction() as transaction:
        transaction.add_data_files(table_of(catalog), files)


def table_of(catalog: Catalog) -> Table:
    """Return the table, without reading from the database."""
    return catalog.refresh().table("t")


@contextmanager
def only_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail if a commit takes the ordinary way."""

    def refuse(*_: object) -> None:
        raise AssertionError("this commit did not go in one round trip")

    with monkeypatch.context() as patch:
        patch.setattr(commits, "_attempt", refuse)
        yield


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Record the commits that take the ordinary way."""
    usual = commits._attempt
    found: list[str] = []

    def note(*arguments: Any) -> Any:
        found.append("usual")
        return usual(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(commits, "_attempt", note)
        yield found


def bounds_of(catalog: Catalog) -> dict[int, tuple[str | None, str | None]]:
    """Return the table's bounds by column."""
    rows = catalog.now().column_statistics(table_of(catalog))
    return {int(row.column_id): (row.min_value, row.max_value) for row in rows}


def test_files_get_their_ids_rows_and_statistics(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = catalog.current_snapshot()
    with only_at_once(monkeypatch):
        append(catalog, file("second", (12, 15)), file("third", (10, 20), row_ids=False))
        append(catalog, file("fourth", (11, 11)))
    now = catalog.now()
    files = now.data_files(table_of(catalog))
    assert [one.path for one in files] == ["first", "second", "third", "fourth"]
    assert [one.row_id_start for one in files] == [0, 100, None, 200]
    assert [one.file_order for one in files] == [0, 0, 1, 0]
    assert len({one.data_file_id for one in files}) == 4
    found = now.statistics(table_of(catalog))
    assert (found.record_count, found.next_row_id, found.file_size_bytes) == (400, 300, 4_000)
    statistics = now.file_statistics(table_of(catalog), [one.data_file_id for one in files])
    assert [(one.min_value, one.max_value) for one in statistics] == [
        ("10", "20"),
        ("12", "15"),
        ("10", "20"),
        ("11", "11"),
    ]
    assert catalog.at(version=before).statistics(table_of(catalog)).record_count == 100
    newest = catalog.snapshots()[-1]
    assert newest.snapshot_id == catalog.last_committed_snapshot() == catalog.current_snapshot()
    assert [str(change) for change in newest.changes] == [
        f"inserted_into_table:{table_of(catalog).table_id}"
    ]


def test_bounds_are_widened(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = [catalog.current_snapshot()]
    with only_at_once(monkeypatch):
        for low, high in ((5, 12), (9, 30), (6, 29)):
            append(catalog, file(f"from {low}", (low, high)))
            versions.append(catalog.current_snapshot())
    seen = []
    for version in versions:
        (row,) = catalog.at(version=version).column_statistics(table_of(catalog))
        seen.append((row.min_value, row.max_value))
    assert seen == [("10", "20"), ("5", "20"), ("5", "30"), ("5", "30")]


def test_concurrently_widened_bounds_are_kept(
    metastore: Metastore, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(catalog, file("mine", (10, 20)))
    other = metastore.catalog("lake")
    append(other, file("theirs", (1, 50)))
    with counted(monkeypatch) as usual:
        append(catalog, file("mine again", (0, 20)))  # would widen the bounds known before
        append(catalog, file("and again", (3, 20)))
    assert usual == ["usual"]
    assert bounds_of(catalog) == {1: ("0", "50")}


def test_concurrent_appends_need_no_retry(
    metastore: Metastore, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = metastore.catalog("lake")
    append(other, file("theirs", (1, 50)))
    with only_at_once(monkeypatch):
        append(catalog, file("mine", (11, 12)))
        append(other, file("theirs again", (2, 49)))
        append(catalog, file("mine again", (13, 14)))
    now = catalog.now()
    assert now.statistics(table_of(catalog)).record_count == 500
    starts = [one.row_id_start for one in now.data_files(table_of(catalog))]
    assert starts == [0, 100, 200, 300, 400]
    assert bounds_of(catalog) == {1: ("1", "50")}


def test_partition_values_and_commit_info_are_kept(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    with catalog.transaction() as transaction:
        transaction.set_partitioning(transaction.table("t"), [("b", "identity")])
    append(catalog, file("one", (10, 20)))
    state = catalog.refresh()
    partition = state.partitioning(table_of(catalog))[0].partition_id
    with only_at_once(monkeypatch), catalog.transaction(author="me", message="why") as transaction:
        values = {"partition_id": partition, "partition_values": ("ä'\"\\", None)}
        transaction.add_data_files(table_of(catalog), [file("two", (10, 20), **values)])
    now = catalog.now()
    newest = now.data_files(table_of(catalog))[-1]
    assert newest.partition_id == partition
    kept = now.partition_values(table_of(catalog), [newest.data_file_id])
    assert [row.partition_value for row in kept] == ["ä'\"\\", None]
    snapshot = catalog.snapshots()[-1]
    assert (snapshot.author, snapshot.commit_message) == ("me", "why")


@pytest.mark.parametrize("change", ["drop", "rename", "widen type"])
def test_a_changed_table_is_a_conflict(metastore: Metastore, catalog: Catalog, change: str) -> None:
    transaction = catalog.transaction()
    transaction.add_data_files(table_of(catalog), [file("late", (10, 20))])
    with metastore.catalog("lake").transaction() as theirs:
        if change == "drop":
            theirs.drop_table("t")
        elif change == "rename":
            theirs.rename_table("t", "u")
        else:
            theirs.add_column(theirs.table("t"), ColumnSpec("c", "bigint"))
    before = catalog.current_snapshot()
    with pytest.raises(Conflict):
        transaction.commit()
    assert catalog.current_snapshot() == before


def test_own_schema_changes_do_not_conflict_with_appends(
    metastore: Metastore, catalog: Catalog
) -> None:
    table = table_of(catalog)
    with catalog.transaction() as transaction:
        transaction.add_column(table, ColumnSpec("c", "bigint"))
    with catalog.transaction() as transaction:
        transaction.add_data_files(table, [file("after my own", (10, 20))])
    with metastore.catalog("lake").transaction() as theirs:
        theirs.add_column(theirs.table("t"), ColumnSpec("d", "bigint"))
    for attempt in ("one that cannot know", "one that has learnt"):  # language: ok
        transaction = catalog.transaction()
        transaction.add_data_files(table, [file(attempt, (10, 20))])
        if attempt == "one that has learnt":
            transaction.commit()
        else:
            with pytest.raises(Conflict):
                transaction.commit()
    assert len(catalog.now().data_files(table)) == 3


def test_appends_after_a_truncation_start_new_statistics(
    metastore: Metastore, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    with metastore.catalog("lake").transaction() as theirs:
        theirs.truncate(theirs.table("t"))
    with counted(monkeypatch) as usual:
        append(catalog, file("new", (12, 13)))
    assert usual == ["usual"]
    found = catalog.now().statistics(table_of(catalog))
    assert (found.record_count, found.next_row_id) == (100, 200)


def test_appends_to_a_dropped_catalog_are_refused(metastore: Metastore, catalog: Catalog) -> None:
    table = table_of(catalog)
    transaction = catalog.transaction()
    transaction.add_data_files(table, [file("late", (10, 20))])
    metastore.drop_catalog("lake")
    with pytest.raises(NotFound):
        transaction.commit()


def test_appends_in_a_fork_have_their_own_row_ids_and_bounds(
    metastore: Metastore, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork = metastore.fork("lake", "fork")
    append(fork, file("in fork", (10, 25)))  # the fork gets statistics of its own
    with only_at_once(monkeypatch):
        append(fork, file("in fork again", (10, 26)))
        append(catalog, file("in parent", (10, 20)))
    assert fork.now().statistics(table_of(fork)).next_row_id == 300
    assert catalog.now().statistics(table_of(catalog)).next_row_id == 200
    assert bounds_of(fork) == {1: ("10", "26")}
    assert bounds_of(catalog) == {1: ("10", "20")}
    metastore.materialize("fork")
    append(fork, file("after", (1, 26)))
    append(fork, file("after that", (0, 26)))
    assert fork.now().statistics(table_of(fork)).record_count == 500
    assert bounds_of(fork) == {1: ("0", "26")}


def test_an_idempotency_key_applies_once(catalog: Catalog) -> None:
    for _ in range(2):
        with catalog.transaction(idempotency_key="only once") as transaction:
            transaction.add_data_files(table_of(catalog), [file("keyed", (10, 20))])
    assert len(catalog.now().data_files(table_of(catalog))) == 2


def test_a_conflict_names_the_table(metastore: Metastore, catalog: Catalog) -> None:
    table = table_of(catalog)
    transaction = catalog.transaction()
    transaction.add_data_files(table, [file("late", (10, 20))])
    with metastore.catalog("lake").transaction() as theirs:
        theirs.drop_table("t")
    with pytest.raises(Conflict, match="inserted rows into table 't'"):
        transaction.commit()
