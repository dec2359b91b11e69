"""Invalid input: a typed error with a remedy, and nothing changed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import unicodedata
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

import forklake
from forklake import ColumnSpec, Metastore
from forklake.errors import (
    AlreadyExists,
    Corruption,
    Forbidden,
    InvalidInput,
    NotFound,
    Unavailable,
    Unsupported,
)
from forklake.store.uri import parse_uri
from tests.behavior.builders import a_table
from tests.fix_metastore import Place, postgres_schema

REFUSED_EVERYWHERE = [
    "",
    " ",
    " lead",
    "trail ",
    "nul\x00nul",
    "line\nbreak",
    "tab\t",
    "zero\u200bwidth",
    "right\u202eleft",
    "x" * 10_000,
    "ü" * 200,
    "\ud800",
]
REFUSED_AS_CATALOG = ["a/b", "a\\b", 'a"b', "a'b", "a`b", "..", ".hidden", "dot."]
ACCEPTED = ["'; DROP TABLE x;--", 'q"u"o"te', "per%cent", "a:b", "$x", "😀", "%s", "a.b.c", "null"]


@pytest.mark.parametrize("name", REFUSED_EVERYWHERE + REFUSED_AS_CATALOG, ids=ascii)
def test_bad_catalog_names_are_refused(metastore: Metastore, name: str) -> None:
    metastore.create_catalog("parent")
    for attempt in (
        lambda: metastore.create_catalog(name),
        lambda: metastore.fork("parent", name),
        lambda: metastore.rename_catalog("parent", name),
        lambda: metastore.fork_many("parent", ["fine", name]),
    ):
        with pytest.raises(InvalidInput) as caught:
            attempt()
        assert caught.value.remedy
    assert metastore.count() == 1
    assert metastore.latest_snapshot() == 1
    with pytest.raises(NotFound):
        metastore.catalog(name)


@pytest.mark.parametrize("name", REFUSED_EVERYWHERE, ids=ascii)
def test_bad_names_are_refused_within_a_catalog(metastore: Metastore, name: str) -> None:
    catalog = metastore.create_catalog("c")
    table = a_table(catalog)
    transaction = catalog.transaction()
    for attempt in (
        lambda: transaction.create_schema(name),
        lambda: transaction.create_table(name, [ColumnSpec("a", "int32")]),
        lambda: transaction.create_table("x", [ColumnSpec(name, "int32")]),
        lambda: transaction.add_column(table, ColumnSpec(name, "int32")),
        lambda: transaction.rename_table("t", name),
        lambda: transaction.create_view(name, "SELECT 1"),
        lambda: transaction.set_tag(table, name, "x"),
    ):
        with pytest.raises(InvalidInput):
            attempt()
    assert transaction.commit() is None


@pytest.mark.parametrize("name", ACCEPTED, ids=ascii)
def test_unusual_but_valid_names_work_everywhere(metastore: Metastore, name: str) -> None:
    catalog = metastore.create_catalog("c")
    with catalog.transaction() as transaction:
        transaction.create_schema(name)
        transaction.create_table(name, [ColumnSpec(name, "int32")], schema=name)
        transaction.create_view(name, name)
        transaction.set_tag(transaction.table(name, name), name, name)
    fork = metastore.fork("c", "fork")
    state = fork.now().state
    table = state.table(name, name)
    assert state.column(table, name).column_name == name
    assert state.tags(table.table_id) == {name: name}
    assert state.view(name).sql == name
    fork.snapshots()


def test_composed_and_decomposed_unicode_names_are_equal(metastore: Metastore) -> None:
    composed, decomposed = (unicodedata.normalize(form, "é") for form in ("NFC", "NFD"))
    assert composed != decomposed
    metastore.create_catalog(composed)
    with pytest.raises(AlreadyExists):
        metastore.create_catalog(decomposed)
    catalog = metastore.catalog(decomposed)
    assert metastore.fork(decomposed, "fork").row.parent_catalog_id == catalog.catalog_id
    assert metastore.materialize(decomposed) is None
    metastore.rename_catalog(decomposed, "plain")
    metastore.rename_catalog("plain", composed)
    with catalog.transaction() as transaction:
        transaction.create_schema(decomposed)
        with pytest.raises(AlreadyExists):
            transaction.create_schema(composed)


def test_values_that_a_database_cannot_hold_are_refused(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    table = a_table(catalog)
    before = catalog.current_snapshot()
    transaction = catalog.transaction()
    with pytest.raises(InvalidInput, match="is not a value of type int64"):
        transaction.insert_rows(table, [{"id": 1}, {"id": 2**70}])
    assert transaction.commit() is None
    assert catalog.current_snapshot() == before


def test_the_same_name_twice_in_a_batch_is_refused(metastore: Metastore) -> None:
    with pytest.raises(InvalidInput, match="twice"):
        metastore.create_catalogs(["a", "b", "a"])
    assert metastore.count() == 0


def test_opening_a_missing_metastore_does_not_create_it(vacant_place: Place) -> None:
    with pytest.raises(NotFound, match="DuckLake metadata not found: the ") as error:
        forklake.open(vacant_place.uri, metadata_schema=vacant_place.metadata_schema)
    assert "forklake init -m" in error.value.remedy
    if parse_uri(vacant_place.uri).is_file:
        assert "does not exist." in error.value.message
        assert vacant_place.uri.removeprefix("ducklake:sqlite:") in error.value.remedy
        assert not Path(vacant_place.uri.rsplit(":", 1)[1]).exists()
    else:
        assert "holds no metastore." in error.value.message


def test_a_database_without_a_metastore_is_reported_as_such(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.commit()
    with pytest.raises(NotFound, match=r"other\.db' holds no metastore\.") as error:
        forklake.open(f"ducklake:{path}")
    assert error.value.remedy.endswith(f"forklake init -m ducklake:{path}.")


def test_an_unsupported_version_is_refused_with_the_specified_message(place: Place) -> None:
    with place.open() as metastore, metastore.database.writing() as connection:
        connection.fetch("UPDATE ducklake_metadata SET value = '0.3' WHERE key = 'version'")
        connection.commit()
    with pytest.raises(Unsupported) as caught:
        forklake.open(place.uri, metadata_schema=place.metadata_schema)
    assert caught.value.message == (
        "Unsupported DuckLake version: 0.3. Expected 0.5-dev1. This version requires a fresh"
        " schema. Migration from older versions is not supported."
    )


def test_opening_with_create_keeps_an_existing_metastore(place: Place) -> None:
    with place.open() as metastore:
        metastore.create_catalog("c")
    with place.open() as metastore:
        assert metastore.count() == 1


def test_opening_a_missing_metadata_schema_does_not_create_it(place: Place) -> None:
    place.open().close()
    for _ in range(2):
        with pytest.raises(NotFound):
            forklake.open(place.uri, metadata_schema="nowhere")


def test_each_metadata_schema_is_a_separate_metastore(place: Place) -> None:
    other = Place(place.backend, place.uri, "other_metastore")
    try:
        with place.open() as one:
            one.create_catalog("mine")
            one.close()
        with other.open() as another:
            assert another.count() == 0
            another.create_catalog("mine")
            assert another.catalog("mine").catalog_id == 0
    finally:
        if not parse_uri(place.uri).is_file:
            how = "CASCADE" if place.backend == "postgresql" else ""
            with place.open() as one, one.database.writing() as connection:
                connection.fetch(f"DROP SCHEMA IF EXISTS other_metastore {how}")
                connection.commit()


def test_files_that_are_not_a_metastore_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("these are my notes, not a database")
    with pytest.raises(InvalidInput, match="is not a metastore"):
        forklake.open(f"ducklake:{text}", create=True)
    for backend in ("sqlite", "duckdb"):
        with pytest.raises(InvalidInput, match="is not a metastore"):
            forklake.open(f"ducklake:{backend}:{text}", create=True)
    assert text.read_text().startswith("these are my notes")
    with pytest.raises(InvalidInput, match="is a folder"):
        forklake.open(f"ducklake:{tmp_path}", create=True)
    with pytest.raises(InvalidInput, match="slash"):
        forklake.open(f"ducklake:{tmp_path / 'x.db'}", create=True, metadata_schema="../y")
    with pytest.raises(InvalidInput, match="folder"):
        forklake.open(f"ducklake:{tmp_path / 'nowhere' / 'x.db'}", create=True)


def test_other_databases_are_recognized_and_unchanged(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as raw:
        raw.execute("CREATE TABLE mine (x)")
    duckdb.connect(tmp_path / "b.db").execute("CREATE TABLE mine (x INTEGER)").close()
    for name, other in (("a.db", "duckdb"), ("b.db", "sqlite")):
        with pytest.raises(NotFound):
            forklake.open(f"ducklake:{tmp_path / name}")
        with pytest.raises(InvalidInput, match=f"not of {other}"):
            forklake.open(f"ducklake:{other}:{tmp_path / name}")


def test_a_plain_path_is_opened_by_the_format_of_its_file(tmp_path: Path) -> None:
    forklake.open(f"ducklake:duckdb:{tmp_path / 'd.db'}", create=True).close()
    with forklake.open(f"ducklake:{tmp_path / 'd.db'}") as metastore:
        assert metastore.database.dialect.name == "duckdb"
    with forklake.open(f"ducklake:{tmp_path / 'new.db'}", create=True) as metastore:
        assert metastore.database.dialect.name == "sqlite"


@pytest.mark.parametrize("uri", ["", "ducklake:", "ducklake:sqlite:", "ducklake:a\x00b"], ids=ascii)
def test_addresses_without_a_location_are_refused(uri: str) -> None:
    with pytest.raises(InvalidInput):
        forklake.open(uri)


@pytest.mark.parametrize("server", ["postgres:postgresql", "mysql:mysql"])
def test_the_error_for_an_unreachable_server_hides_the_password(server: str) -> None:
    uri = f"ducklake:{server}://me:sesame@127.0.0.1:1/db?connect_timeout=2"
    with pytest.raises(Unavailable) as caught:
        forklake.open(uri)
    assert "sesame" not in f"{caught.value} {caught.value!r} {caught.value.details}"
    assert caught.value.remedy
    with pytest.raises(InvalidInput):
        forklake.open(f"ducklake:{server.partition(':')[0]}:this is no dsn")  # language: ok


@pytest.mark.parametrize("backend", ["sqlite", "duckdb"])
def test_a_read_only_file_is_reported_and_unchanged(backend: str) -> None:
    folder = Path(tempfile.mkdtemp())
    uri = f"ducklake:{backend}:{folder / 'metastore.db'}"
    try:
        with forklake.open(uri, create=True) as metastore:
            metastore.create_catalog("c")
        (folder / "metastore.db").chmod(0o444)
        folder.chmod(0o555)
        assert as_nobody(lambda: _create_in(uri)) == "Forbidden"
        folder.chmod(0o755)
        (folder / "metastore.db").chmod(0o644)
        with forklake.open(uri) as metastore:
            assert metastore.count() == 1
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def _create_in(uri: str) -> None:
    with forklake.open(uri) as metastore:
        metastore.create_catalog("d")


def as_nobody(work: Callable[[], None]) -> str:
    """Return the name of the error that a process without privileges gets; root would get none."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        name = "none"
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            work()
        except BaseException as error:  # noqa: BLE001
            name = type(error).__name__
        os.write(writer, name.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        name = answer.read()
    os.waitpid(child, 0)
    return name


def test_writing_with_a_read_only_role_is_forbidden(shared_database: str) -> None:
    with postgres_schema(shared_database) as place:
        with place.open() as metastore:
            metastore.create_catalog("c")
        separator = "&" if "?" in place.uri else "?"
        option = "options=-c%20default_transaction_read_only%3Don"
        uri = f"{place.uri}{separator}{option}%20-c%20search_path%3D{place.metadata_schema}"
        with forklake.open(uri) as metastore:
            assert metastore.count() == 1
            with pytest.raises(Forbidden):
                metastore.create_catalog("d")


def test_a_metastore_without_its_tables_is_reported_as_damaged(place: Place) -> None:
    with place.open() as metastore:
        with metastore.database.writing() as connection:
            connection.fetch("DROP TABLE ducklake_catalog")
            connection.commit()
        with pytest.raises(Corruption):
            metastore.create_catalog("c")
