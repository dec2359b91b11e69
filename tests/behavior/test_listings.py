"""Listings of files, with which every catalog sees the same at every snapshot as without."""

from __future__ import annotations

import json

import pyarrow.compute as pc
import pytest

from forklake import Catalog, ColumnBounds, ColumnSpec, Metastore, NewDataFile
from forklake.catalog import listings, snapshot_reads, zones
from forklake.catalog.file_listings import keep_listing, keep_listings
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.model.entities import Table
from forklake.model.ids import ColumnId
from forklake.model.predicates import And, Compare, In, IsNull, Predicate, StartsWith, question
from forklake.store import listings as stored
from forklake.store.operations import Statement
from tests.fix_metastore import Place

ID, DAY, NAME = ColumnId(1), ColumnId(2), ColumnId(3)
COLUMNS = (ColumnSpec("id", "int64"), ColumnSpec("day", "date"), ColumnSpec("name", "varchar"))
PREDICATES: tuple[Predicate, ...] = (
    Compare(ID, "=", "73"),
    And((Compare(ID, ">=", "55"), In(DAY, ("2024-01-03", "2024-01-05")))),
    And((IsNull(NAME), StartsWith(NAME, "name-1"))),
    Compare(ID, "=", "no number"),
)


@pytest.fixture(autouse=True)
def small_zones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make listings of few files usable."""
    monkeypatch.setattr(zones, "SIZE", 2)
    monkeypatch.setattr(listings, "_LOOKUP", 0)


def a_file(number: int) -> NewDataFile:
    """Return a file of ten ids on one of seven days; one file in five has no bounds."""
    ids = ColumnBounds(ID, None, 10, 0, str(number * 10), str(number * 10 + 9))
    day = ColumnBounds.of_constant(DAY, f"2024-01-{1 + number % 7:02}", 10, contains_nan=None)
    name = ColumnBounds(NAME, None, 10, number, f"name-{number}", f"name-{number}z")
    return NewDataFile(f"{number}", 10, 100 + number, bounds=(ids, day, name) if number % 5 else ())


def add(catalog: Catalog, *numbers: int) -> None:
    with catalog.transaction() as transaction:
        transaction.add_data_files(transaction.table("t"), map(a_file, numbers))


def end(catalog: Catalog, *numbers: int) -> None:
    wanted = {str(number) for number in numbers}
    with catalog.transaction() as transaction:
        table = transaction.table("t")
        files = [one for one in transaction.data_files(table) if one.path in wanted]
        transaction.end_data_files(table, files)


def filled(metastore: Metastore) -> tuple[Catalog, Table]:
    """Return a catalog with a table of twenty files, some of which have ended."""
    catalog = metastore.create_catalog("lake", data_path="/lake")
    with catalog.transaction() as transaction:
        transaction.create_table("t", COLUMNS)
    add(catalog, *range(12))
    end(catalog, 3, 4)
    add(catalog, *range(12, 20))
    return catalog, catalog.now().state.table("t")


def seen_by(view: SnapshotReads, table: Table) -> list[object]:
    known = view.file_columns(table, [ID, DAY, NAME])
    columns = [
        *known.files.columns,
        *(one for bounds in known.bounds.values() for one in bounds.columns),
    ]
    order = pc.sort_indices(known.files["data_file_id"])
    found: list[object] = [one.take(order).to_pylist() for one in columns]
    return found + [
        [one.file.path for one in view.scan_files(table, predicate)] for predicate in PREDICATES
    ]


def compare(view: SnapshotReads, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare what is visible with listings and without."""
    found = seen_by(view, table)
    with monkeypatch.context() as patch:
        patch.setattr(snapshot_reads, "are_kept", lambda _: False)
        assert found == seen_by(view, table)


def listed(metastore: Metastore) -> set[tuple[int, int]]:
    """Return the owners of listings with their last snapshots."""
    with metastore.database.reading() as connection:
        rows = connection.fetch(f"SELECT DISTINCT catalog_id, upto_snapshot FROM {stored.NAME}")
    return {(owner, upto) for owner, upto in rows}


def numbers_looked_up(view: SnapshotReads, table: Table, predicate: Predicate) -> int | None:
    """Return how many files are looked up by id, or None if no listing is used."""
    with view.reading() as reader:
        requested = question(predicate, {ID: "int64", DAY: "date", NAME: "varchar"})
        statements = listings.likely_files(reader, table.table_id, requested)
    if statements is None:
        return None
    numbers = statements[0].parameters["files"]
    return len(json.loads(numbers) if isinstance(numbers, str) else numbers)


def test_listings_do_not_change_what_catalogs_see(
    metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, table = filled(metastore)
    early = metastore.fork("lake", "early")
    add(lake, *range(20, 25))
    assert keep_listing(lake, table, least=25)
    late = metastore.fork("lake", "late")
    for catalog, first in ((lake, 30), (early, 40), (late, 50)):
        add(catalog, *range(first, first + 4))
        end(catalog, 7, first)
    assert keep_listing(late, table, least=4)
    deep = metastore.fork("late", "deep")
    add(deep, 60, 61)
    end(deep, 8, 52)
    with early.transaction() as transaction:
        transaction.truncate(transaction.table("t"))
    add(early, 70)
    copied = metastore.fork("deep", "copied", mode="copy")
    end(copied, 9)
    assert {owner for owner, _ in listed(metastore)} == {lake.catalog_id, late.catalog_id}
    past = [one.snapshot_id for one in lake.snapshots()]
    views = [lake.at(version=past[3]), lake.at(version=past[6])]
    views += [catalog.now() for catalog in (lake, late, copied, early, deep)]
    # Every statement takes long on DuckDB.
    for view in views[-2:] if metastore.database.dialect.name == "duckdb" else views:
        compare(view, table, monkeypatch)


def test_few_files_are_looked_up(metastore: Metastore, monkeypatch: pytest.MonkeyPatch) -> None:
    lake, table = filled(metastore)
    keep_listing(lake, table, least=1)
    silent = 4  # files without bounds are always looked up
    assert numbers_looked_up(lake.now(), table, Compare(ID, "=", "73")) == 2 + silent
    assert numbers_looked_up(lake.now(), table, Compare(DAY, "=", "2024-01-03")) == 4 + silent
    assert numbers_looked_up(lake.now(), table, IsNull(ID)) is None
    monkeypatch.setattr(listings, "_LOOKUP", 8)
    assert numbers_looked_up(lake.now(), table, Compare(ID, ">", "20")) is None  # most match


def test_no_file_is_looked_up_where_none_matches(metastore: Metastore) -> None:
    lake = metastore.create_catalog("lake", data_path="/lake")
    with lake.transaction() as transaction:
        transaction.create_table("t", COLUMNS)
    add(lake, 1, 2, 3, 4)
    table = lake.now().state.table("t")
    keep_listing(lake, table, least=1)
    assert numbers_looked_up(lake.now(), table, Compare(ID, "=", "9999")) == 0
    assert lake.now().scan_files(table, Compare(ID, "=", "9999")) == []
    add(lake, 999)
    (found,) = lake.now().scan_files(table, Compare(ID, "=", "9999"))
    assert found.file.path == "999"


def test_a_listing_is_rebuilt_when_it_pays_off(metastore: Metastore) -> None:
    lake, table = filled(metastore)
    assert not keep_listing(lake, table, least=21)
    assert keep_listings(lake, least=20) == 1
    ((_, first),) = listed(metastore)
    add(lake, *range(20, 44))
    assert keep_listing(lake, table, least=1)
    add(lake, 44, 45)
    assert not keep_listing(lake, table, least=1)  # only two new files beside forty-four
    add(lake, 46)
    assert not keep_listing(lake, table, least=4)
    assert keep_listings(lake, least=3) == 1
    ((_, second),) = listed(metastore)
    assert second > first
    assert keep_listings(metastore.fork("lake", "fork"), least=1) == 0  # it owns no files


def test_an_incomplete_listing_is_not_used(
    metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, table = filled(metastore)
    keep_listing(lake, table, least=1)
    for part in ("numbers", "bounds"):
        with metastore.database.writing() as connection:
            text = f"DELETE FROM {stored.NAME} WHERE part = '{part}' AND column_id = {ID}"
            connection.commit([Statement(text)])
        compare(lake.now(), table, monkeypatch)


def test_listings_are_deleted_with_their_files(metastore: Metastore) -> None:
    lake, table = filled(metastore)
    fork = metastore.fork("lake", "fork")
    add(fork, 30)
    for catalog in (lake, fork):
        assert keep_listing(catalog, table, least=1)
    metastore.drop_catalog("lake")
    metastore.reclaim_dropped()
    assert {owner for owner, _ in listed(metastore)} == {lake.catalog_id, fork.catalog_id}
    assert numbers_looked_up(fork.now(), table, Compare(ID, "=", "73")) is not None
    metastore.drop_catalog("fork")
    metastore.reclaim_dropped()
    assert listed(metastore) == set()


def test_a_metastore_of_an_older_version_works_without_listings(place: Place) -> None:
    with place.open() as metastore, metastore.database.writing() as connection:
        connection.commit([Statement(f"DROP TABLE {stored.NAME}")])
    with place.open() as metastore:
        lake, table = filled(metastore)
        assert not keep_listing(lake, table, least=1)
        assert len(seen_by(lake.now(), table)[0]) == 18  # type: ignore[arg-type]
        metastore.drop_catalog("lake")
        metastore.reclaim_dropped()
