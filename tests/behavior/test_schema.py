"""The schema: complete, equal on all backends, and consistent with the code."""

from __future__ import annotations

import re
import sqlite3
from importlib import resources
from pathlib import Path

import pytest

import forklake
from forklake import Metastore
from forklake.errors import Corruption, ForklakeError, InvalidInput, Unavailable
from forklake.model.children import CHILDREN
from forklake.model.kinds import KINDS
from forklake.store.schema.description import Backend
from forklake.store.schema.metastore import TABLES
from forklake.store.schema.script import schema_files
from forklake.store.sqlite import SqliteDatabase

SPECIFIED = """
catalog column column_mapping column_tag data_file delete_file file_column_stats
file_partition_value files_scheduled_for_deletion inlined_data_tables macro macro_impl
macro_parameters metadata name_mapping partition_column partition_info schema schema_versions
snapshot snapshot_changes table table_column_stats table_stats tag view
""".split()
OURS = """
catalog_head catalog_hold catalog_lease catalog_lineage catalog_merge expired_snapshots
file_listing idempotency_key inlined_delete tombstone
""".split()
DELTA = "dl_actions dl_file_actions dl_mirror_status dl_table_versions dl_tables".split()


def tables_of(backend: Backend) -> dict[str, tuple[str, ...]]:
    """Return the tables of a metastore with their columns, in order."""
    found = {one.name: one.column_names for one in TABLES if backend in one.backends}
    for name in ("ducklake_sequence", "ducklake_lock"):  # of databases without sequences and locks
        found.pop(name, None)
    return found


def test_schema_has_all_specified_tables() -> None:
    assert len(SPECIFIED) == 26
    for backend in Backend:
        expected = [f"ducklake_{one}" for one in SPECIFIED + OURS] + DELTA
        assert sorted(tables_of(backend)) == sorted(expected)


def test_schema_files_are_current() -> None:
    folder = resources.files("forklake.store.schema")
    for name, text in schema_files().items():
        assert folder.joinpath(name).read_text() == text, f"{name} is outdated: run `make schema`"


def test_the_code_reads_and_writes_columns_that_exist() -> None:
    tables = tables_of(Backend.POSTGRESQL)
    for kind in KINDS:
        assert {*kind.columns, "end_snapshot"} <= set(tables[kind.name]), kind.name
        assert set(kind.identity) <= set(kind.columns)
    for child in CHILDREN:
        assert set(child.columns()) == set(tables[child.NAME]), child.NAME


def test_a_fresh_metastore_is_snapshot_zero(metastore: Metastore) -> None:
    with metastore.database.reading() as connection:
        assert [
            tuple(row)
            for row in connection.fetch(
                "SELECT snapshot_id, schema_version, next_catalog_id, next_file_id"
                " FROM ducklake_snapshot"
            )
        ] == [(0, 0, 0, 0)]
        rows = connection.fetch("SELECT key, value FROM ducklake_metadata WHERE scope IS NULL")
    assert [tuple(row) for row in rows] == [("version", "0.5-dev1")]
    assert metastore.latest_snapshot() == 0


SOURCES = sorted(Path(forklake.__file__).parent.rglob("*.py"))
# Rows of these tables do not belong to a single catalog.
NOT_BY_CATALOG = {
    "ducklake_snapshot",
    "ducklake_metadata",
    "ducklake_sequence",
    "ducklake_lock",
}
# Statements about all catalogs: counting, finding the folders and data paths in use, checks of
# the doctor, and views that serve all of them.
ABOUT_ALL = (
    "SELECT count(*) FROM ducklake_catalog_head",
    "SELECT path FROM ducklake_catalog c",
    "SELECT c.catalog_name, c.data_path",
    "SELECT count(*) FROM ducklake_catalog_lease",
    "SELECT count(*) FROM ducklake_files_scheduled_for_deletion",
    "SELECT DISTINCT data_path FROM ducklake_catalog",
    "SELECT count(*) FROM pg_inherits",
    "SELECT {stock}.show_deletes(d.table_id)",
    "SELECT setval('ducklake_snapshot_id_seq', 1, false)",
)
NAMES_IT = re.compile(r"catalog_id|ancestor_id|\{among\}|\{mine\}|\{_HISTORY\}")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_statements_on_rows_of_catalogs_name_the_catalog(path: Path) -> None:
    text = re.sub(r'"\s*\n\s*f?"', "", path.read_text())
    for statement in re.findall(r'"((?:UPDATE|DELETE FROM|SELECT)[^"]*)"', text):
        touched = set(re.findall(r"ducklake_\w+", statement)) - NOT_BY_CATALOG
        if touched and not statement.startswith(ABOUT_ALL):
            assert NAMES_IT.search(statement), statement


def test_only_the_schema_creates_tables() -> None:
    of_database = [path for path in SOURCES if {"store", "catalog"} & set(path.parts)]
    makers = [path.name for path in of_database if "CREATE TABLE" in path.read_text()]
    assert makers == ["inlined.py", "definitions.py", "postgresql.py"]  # with partitions


def test_only_one_module_decides_visibility() -> None:
    knows = [path.name for path in SOURCES if re.search(r"end_snapshot\S* > ", path.read_text())]
    # A commit looks up what changed since it began. Views show the Delta log to other programs.
    assert knows == ["conflict_check.py", "delta_log_views.py", "visibility.py"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SQLITE_PROTOCOL", Unavailable),
        ("SQLITE_NOMEM", Unavailable),
        ("SQLITE_IOERR_READ", Unavailable),
        ("SQLITE_TOOBIG", InvalidInput),
        ("SQLITE_CORRUPT_VTAB", Corruption),
        ("SQLITE_ERROR", Corruption),  # of our statements: a table or column is missing
    ],
)
def test_sqlite_errors_without_evidence_of_damage_are_not_corruption(
    tmp_path: Path, name: str, expected: type[ForklakeError]
) -> None:
    reason = sqlite3.OperationalError("a message of SQLite")
    reason.sqlite_errorname = name
    database = SqliteDatabase(str(tmp_path / "metastore.db"))
    assert type(database._translate_error(reason)) is expected
