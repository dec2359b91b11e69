"""File modes: metastores in files are readable by their owner only, whatever the umask is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import forklake
from forklake import ColumnSpec, Metastore

EMBEDDED = pytest.mark.parametrize("backend", ["sqlite", "duckdb"])


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    """Set a umask with which all users can read new files."""
    before = os.umask(0)
    yield
    os.umask(before)


def change(metastore: Metastore, name: str) -> None:
    """Use all locks and logs of the metastore."""
    catalog = metastore.create_catalog(name)
    with catalog.transaction() as transaction:
        transaction.create_table("t", [ColumnSpec("a", "int64")])
    with metastore.database.turn(catalog.catalog_id) as turn, turn.reserve():
        pass
    with metastore.database.upkeep(catalog.catalog_id) as is_ours:
        assert is_ours


def modes(folder: Path) -> dict[str, str]:
    """Return the modes of the files in a folder."""
    return {path.name: oct(path.stat().st_mode & 0o777) for path in folder.iterdir()}


@EMBEDDED
def test_files_of_a_new_metastore_are_readable_by_their_owner_only(
    tmp_path: Path, backend: str
) -> None:
    with forklake.open(f"ducklake:{backend}:{tmp_path}/m.db", create=True) as metastore:
        change(metastore, "a")
        if backend == "duckdb":
            metastore.database._raw.execute("CHECKPOINT")  # type: ignore[attr-defined]
            change(metastore, "b")
        found = modes(tmp_path)
    assert len(found) >= 2
    assert set(found.values()) == {"0o600"}, found
    assert set(modes(tmp_path).values()) == {"0o600"}


@EMBEDDED
def test_an_existing_file_keeps_its_mode_and_new_files_get_the_same(
    tmp_path: Path, backend: str
) -> None:
    uri = f"ducklake:{backend}:{tmp_path}/m.db"
    forklake.open(uri, create=True).close()
    for path in tmp_path.iterdir():
        path.unlink() if path.name != "m.db" else path.chmod(0o660)
    with forklake.open(uri) as metastore:
        change(metastore, "a")
        found = modes(tmp_path)
    assert len(found) >= 2
    assert set(found.values()) == {"0o660"}, found


def test_an_empty_log_does_not_prevent_opening_the_metastore(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with forklake.open(f"ducklake:duckdb:{path}", create=True) as metastore:
        metastore.create_catalog("a")
        metastore.database._raw.execute("CHECKPOINT")  # type: ignore[attr-defined]
        with metastore.database.writing():
            assert (tmp_path / "m.db.wal").stat().st_size == 0
    (tmp_path / "m.db.wal").touch()
    for read_only in (True, False):
        with duckdb.connect(str(path), read_only=read_only) as connection:
            rows = connection.execute("SELECT catalog_name FROM ducklake_catalog").fetchall()
            assert rows == [("a",)]
    with forklake.open(f"ducklake:duckdb:{path}") as metastore:
        assert [row.catalog_name for row in metastore.catalogs()] == ["a"]
