"""Data paths of catalogs, which must not overlap, however they are written."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from forklake import Metastore
from forklake.errors import InvalidInput
from forklake.maintenance.ducklake_import import import_ducklake
from forklake.session.attachments import Attachments, AttachOptions
from forklake.store.data_paths import _overlapping, refuse_location
from forklake.store.database import Connection
from forklake.store.operations import Statement
from tests.fix_metastore import Place

NESTED = [
    ("/lake", "/lake/sales"),
    ("/lake/sales", "/lake"),
    ("/lake/sales", "/"),
    ("/lake", "file:///lake/sales"),
    ("file:/lake/sales", "/lake//"),
    ("/lake/./sales/", "//lake"),
    ("s3://bucket/lake", "s3a://bucket/lake/sales"),
    ("S3N://bucket//lake/sales", "s3://BUCKET/lake/"),
    ("gs://bucket/x/y", "gcs://bucket"),
]


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Metastore]:
    """Yield a metastore on the fastest backend, for rules that do not depend on it."""
    with Place("sqlite", f"ducklake:sqlite:{tmp_path / 'metastore.db'}").open() as found:
        yield found


@pytest.mark.parametrize(("first", "second"), NESTED)
def test_a_catalog_within_the_data_path_of_another_is_refused(
    sqlite: Metastore, first: str, second: str
) -> None:
    sqlite.create_catalog("one", data_path=first)
    sqlite.create_catalog("beside", data_path="/lakes")
    for make in (
        lambda: sqlite.create_catalog("two", data_path=second),
        lambda: sqlite.create_catalogs(["two", "three"], data_path=second),
        lambda: sqlite.fork("beside", "two", data_path=second),
        lambda: sqlite.fork_many("one", ["two", "three"], data_path=second),
    ):
        with pytest.raises(InvalidInput, match=r"overlaps with .* of the catalog 'one'") as error:
            make()
        assert error.value.remedy == "Use the same data path, or one outside of it."
    assert sqlite.count() == 2


def test_an_import_into_the_folder_of_a_catalog_is_refused(
    sqlite: Metastore, tmp_path: Path
) -> None:
    sqlite.create_catalog("one", data_path="/lake")
    with pytest.raises(InvalidInput, match="overlaps"):
        import_ducklake(sqlite, f"ducklake:{tmp_path / 'other.db'}", "two", data_path="/lake/one")


def test_overlap_is_found_on_every_backend(metastore: Metastore) -> None:
    metastore.create_catalog("a", data_path="/lake/a")
    metastore.create_catalogs(["same", "too"], data_path="file:///lake/a")
    metastore.create_catalog("beside", data_path="/lake/a-2")
    metastore.create_catalog("b", data_path="s3://bucket/b")
    for path in ("/lake", "/lake/a/x/y", "s3a://bucket", "s3a://bucket/b/c"):
        with pytest.raises(InvalidInput, match="overlaps"):
            metastore.create_catalog("bad", data_path=path)
    metastore.create_catalog("other", data_path="s3a://bucket/c")
    metastore.create_catalog("none")
    assert metastore.find("bad") is None


def test_symbolic_links_are_resolved_in_data_paths(sqlite: Metastore, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    made = sqlite.create_catalog("one", data_path=str(tmp_path / "link"))
    assert made.row.data_path == f"{tmp_path}/real/"
    with pytest.raises(InvalidInput, match="overlaps"):
        sqlite.create_catalog("two", data_path=str(tmp_path / "real" / "one"))


def test_the_data_path_of_a_dropped_catalog_is_reserved_until_it_is_reclaimed(
    metastore: Metastore,
) -> None:
    metastore.create_catalog("one", data_path="/lake")
    metastore.drop_catalog("one")
    with pytest.raises(InvalidInput, match="of the dropped catalog 'one'") as error:
        metastore.create_catalog("two", data_path="/lake/one")
    assert "forklake maintain" in str(error.value.remedy)
    metastore.reclaim_dropped()
    metastore.create_catalog("two", data_path="/lake/one")


def test_errors_name_a_renamed_catalog_by_its_new_name(metastore: Metastore) -> None:
    metastore.create_catalog("one", data_path="/lake")
    metastore.rename_catalog("one", "uno")
    with pytest.raises(InvalidInput, match="'uno'"):
        metastore.create_catalog("two", data_path="/lake/one")


@pytest.mark.parametrize("stored", ["s3a://bucket/lake/", "file:///lake/", "file:/lake/"])
def test_paths_stored_by_older_versions_are_normalized_before_comparison(
    sqlite: Metastore, stored: str
) -> None:
    sqlite.create_catalog("one", data_path="/elsewhere")
    with sqlite.database.writing() as connection:
        connection.fetch("UPDATE ducklake_catalog SET data_path = :path", path=stored)
        connection.commit()
    inside = "s3://bucket/lake/one" if "bucket" in stored else "/lake/one"
    with pytest.raises(InvalidInput, match="overlaps"):
        sqlite.create_catalog("two", data_path=inside)


def test_only_one_of_concurrent_creations_gets_an_overlapping_path(place: Place) -> None:
    paths = ["/lake", "/lake/a", "/lake/a/b", "/lake/a/b/c"]
    with place.open() as metastore:
        start = threading.Barrier(len(paths))

        def create(number: int) -> None:
            start.wait()
            try:
                metastore.create_catalog(f"c{number}", data_path=paths[number])
            except InvalidInput:
                refused.append(number)

        refused: list[int] = []
        threads = [threading.Thread(target=create, args=(one,)) for one in range(len(paths))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(refused), metastore.count()) == (3, 1)


def test_a_catalog_attached_with_another_data_path_is_checked(place: Place) -> None:
    with place.open() as metastore:
        metastore.create_catalog("one", data_path="/lake")
        metastore.create_catalog("same", data_path="/lake")
        metastore.create_catalog("other", data_path="/elsewhere")

    def attach(data_path: str) -> str:
        options = AttachOptions(catalog="one", data_path=data_path, override_data_path=True)
        found = attachments.attach(
            place.uri, None, replace(options, metadata_schema=place.metadata_schema)
        )
        attachments.detach("one")
        return found.data_path

    attachments = Attachments()
    assert attach("file:///lake//") == "/lake/"
    assert attach("/lake/moved") == "/lake/moved/"
    assert attach("/elsewhere") == "/elsewhere/"
    for path in ("/elsewhere/one", "/"):
        with pytest.raises(InvalidInput, match="overlaps with '/elsewhere/'"):
            attach(path)


def test_locations_of_foreign_tables_must_not_overlap_catalog_folders(
    metastore: Metastore,
) -> None:
    metastore.create_catalog("one", data_path="/lake")
    metastore.create_catalog("two", data_path="s3a://bucket/x")
    with metastore.database.reading() as connection:
        for good in ("/lake/delta/t/", "/lakes/", "/other/one/", "s3://bucket/y/", "s3://two/x/"):
            refuse_location(connection, good)
        for bad in (
            "/lake/one/t/",
            "/lake/one/",
            "/lake/",
            "/",
            "s3://bucket/",
            "s3n://bucket/x/two/t/",
        ):
            with pytest.raises(InvalidInput, match=r"overlaps with .* of the catalog"):
                refuse_location(connection, bad)


def test_the_check_is_an_index_lookup(metastore: Metastore, backend: str) -> None:
    if backend in ("duckdb", "mysql"):
        pytest.skip("the plans of SQLite and PostgreSQL are compared")
    metastore.create_catalogs([f"c{number}" for number in range(2000)], data_path="/lake")
    with metastore.database.reading() as connection:
        if backend == "postgresql":
            connection.fetch("ANALYZE ducklake_catalog")
        for statement in _overlapping(connection.dialect, "/lakes/x/"):
            plan = explain(connection, statement)
            assert "ducklake_catalog_data_path" in plan, plan


def explain(connection: Connection, statement: Statement) -> str:
    """Return the query plan of a statement."""
    word = "EXPLAIN QUERY PLAN" if connection.dialect.name == "sqlite" else "EXPLAIN"
    return str(connection.fetch(f"{word} {statement.sql}", **statement.parameters))
