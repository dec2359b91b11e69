"""Creating, finding, listing, renaming and dropping catalogs."""

from __future__ import annotations

import pytest

from forklake import Metastore
from forklake.errors import AlreadyExists, InvalidInput, NotFound
from tests.behavior.builders import a_table, append, paths


def test_the_first_catalog_has_the_documented_ids(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("sales")
    assert catalog.catalog_id == 0
    assert catalog.now().state.schema("main").schema_id == 1
    assert catalog.current_snapshot() == 1
    assert [str(change) for change in catalog.snapshots()[0].changes] == ['created_schema:"main"']
    a_table(catalog)
    assert catalog.current_snapshot() == 2
    assert catalog.now().state.table("t").table_id == 2


def test_the_metastore_records_the_counters_with_each_snapshot(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("sales")
    a_table(catalog, files=["1", "2", "3"])
    with metastore.database.reading() as connection:
        rows = connection.fetch(
            "SELECT snapshot_id, next_catalog_id, next_file_id FROM ducklake_snapshot"
            " ORDER BY snapshot_id"
        )
    assert [tuple(row) for row in rows] == [(0, 0, 0), (1, 2, 0), (2, 3, 0), (3, 3, 3)]


def test_ids_are_unique_across_catalogs(metastore: Metastore) -> None:
    made = [metastore.create_catalog(name) for name in ("a", "b")]
    tables = [a_table(catalog) for catalog in made]
    assert [catalog.catalog_id for catalog in made] == [0, 2]
    assert len({table.table_id for table in tables}) == 2


def test_a_taken_name_is_refused_and_nothing_changes(metastore: Metastore) -> None:
    metastore.create_catalog("sales")
    before = metastore.latest_snapshot()
    with pytest.raises(AlreadyExists, match="'sales' already exists"):
        metastore.create_catalog("sales")
    assert (metastore.latest_snapshot(), metastore.count()) == (before, 1)


def test_create_if_not_exists_returns_the_existing_catalog(metastore: Metastore) -> None:
    first = metastore.create_catalog("sales")
    again = metastore.create_catalog("sales", if_not_exists=True)
    assert again.catalog_id == first.catalog_id


def test_an_unknown_catalog_is_named_in_the_error(metastore: Metastore) -> None:
    with pytest.raises(NotFound, match="Catalog 'nowhere' does not exist"):
        metastore.catalog("nowhere")


def test_many_catalogs_are_created_in_one_snapshot(metastore: Metastore) -> None:
    rows = metastore.create_catalogs([f"c{number:03}" for number in range(200)])
    assert {row.begin_snapshot for row in rows} == {1}
    assert metastore.count() == 200
    assert metastore.catalog("c150").now().state.schema("main")


def test_catalogs_are_listed_by_pages_and_prefix(metastore: Metastore) -> None:
    names = ["a", "b1", "b10", "b2", "c", "ü", "B"]
    metastore.create_catalogs(names)
    ordered = sorted(names)
    first = metastore.catalogs(limit=3)
    assert [row.catalog_name for row in first] == ordered[:3]
    rest = metastore.catalogs(after=first[-1].catalog_name)
    assert [row.catalog_name for row in rest] == ordered[3:]
    assert [row.catalog_name for row in metastore.catalogs(prefix="b")] == ["b1", "b10", "b2"]
    assert [row.catalog_name for row in metastore.all_catalogs()] == ordered
    with pytest.raises(InvalidInput):
        metastore.catalogs(limit=0)


def test_a_renamed_catalog_keeps_its_contents_and_folder(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("old")
    table = a_table(catalog, files=["f"])
    renamed = metastore.rename_catalog("old", "new")
    assert (renamed.catalog_id, renamed.row.path) == (catalog.catalog_id, "old/")
    assert paths(renamed, table) == ["f"]
    assert metastore.find("old") is None
    append(catalog, table, "g")  # a handle opened under the old name still works
    assert paths(renamed, table) == ["f", "g"]


def test_folders_of_earlier_catalogs_are_never_reused(metastore: Metastore) -> None:
    metastore.create_catalog("a")
    metastore.rename_catalog("a", "b")
    again = metastore.create_catalog("a")
    assert again.row.path == f"{again.row.catalog_uuid}/"
    metastore.drop_catalog("a")
    assert metastore.create_catalog("a").row.path != again.row.path


def test_a_name_unsuitable_as_a_folder_gets_a_folder_by_uuid(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("Ümlaut & co")
    assert catalog.row.path == f"{catalog.row.catalog_uuid}/"


def test_renaming_to_a_taken_name_is_refused(metastore: Metastore) -> None:
    metastore.create_catalogs(["a", "b"])
    with pytest.raises(AlreadyExists):
        metastore.rename_catalog("a", "b")
    with pytest.raises(NotFound):
        metastore.rename_catalog("nowhere", "c")
    assert [row.catalog_name for row in metastore.all_catalogs()] == ["a", "b"]


def test_a_dropped_catalog_is_gone_and_refuses_commits(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("a")
    table = a_table(catalog)
    open_transaction = catalog.transaction()
    open_transaction.add_data_files(table, [])
    metastore.drop_catalog("a")
    assert metastore.find("a") is None
    with pytest.raises(NotFound):
        append(catalog, table, "late")
    with pytest.raises(NotFound):
        catalog.now()
    assert metastore.create_catalog("a").catalog_id != catalog.catalog_id


def test_many_catalogs_are_dropped_in_one_snapshot_or_not_at_all(metastore: Metastore) -> None:
    metastore.create_catalogs(["a", "b", "c"])
    with pytest.raises(NotFound, match="'nowhere'"):
        metastore.drop_catalogs(["a", "nowhere"])
    assert metastore.count() == 3
    assert metastore.drop_catalogs(["a", "b", "nowhere"], if_exists=True) == 2
    assert [row.catalog_name for row in metastore.all_catalogs()] == ["c"]
