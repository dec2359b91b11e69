"""Creating metastores, catalogs and forks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import forklake
from forklake import ColumnSpec, Metastore
from forklake.store.migrations import MIGRATIONS
from tests.cli.conftest import CommandLine
from tests.fix_metastore import Place
from tests.upgrade import dumps

CATALOG_KEYS = [
    "name",
    "catalog_id",
    "uuid",
    "begin_snapshot",
    "parent_catalog_id",
    "fork_snapshot",
    "data_path",
    "path",
]


class TestInit:
    def test_reports_the_new_metastore(self, nowhere: CommandLine, tmp_path: Path) -> None:
        assert nowhere.ok("init").lines == [
            f"Created the metastore {tmp_path / 'lake.db'} (sqlite)."
        ]

    def test_keeps_an_existing_metastore(self, cli: CommandLine, tmp_path: Path) -> None:
        cli.ok("create", "sales")
        assert cli.ok("init").lines == [
            f"The metastore {tmp_path / 'lake.db'} (sqlite) already exists, with 1 catalog."
        ]
        assert cli.names() == ["sales"]

    def test_as_json(self, nowhere: CommandLine, tmp_path: Path) -> None:
        address = str(tmp_path / "lake.db")
        made = {"address": address, "backend": "sqlite", "created": True, "catalogs": 0}
        made |= {"migrations": [], "added": []}
        assert nowhere.document("init") == made
        assert nowhere.document("init") == made | {"created": False}

    def test_takes_an_address(self, nowhere: CommandLine, tmp_path: Path) -> None:
        nowhere.ok("init", f"ducklake:{tmp_path / 'other.db'}")
        assert (tmp_path / "other.db").exists()
        assert not (tmp_path / "lake.db").exists()

    def test_defaults_to_a_file_in_the_current_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        CommandLine("").ok("init")
        assert (tmp_path / "forklake.db").exists()

    def test_upgrades_a_metastore_of_an_older_version(
        self, nowhere: CommandLine, tmp_path: Path
    ) -> None:
        place = Place("sqlite", f"ducklake:{tmp_path / 'lake.db'}")
        dumps.load_empty(place)
        for command in ("init", "catalogs"):
            code, error = nowhere.error(command)
            assert code == 8
            assert "was made by an older version of Forklake" in error["message"]
            assert "forklake init --upgrade" in error["remedy"]
        lines = nowhere.ok("init", "--upgrade").lines
        assert lines[0].startswith("Migrated: 0001_idempotency_keys (Table of idempotency keys")
        assert lines[-1].endswith("(sqlite) already exists, with 0 catalogs.")
        assert len(lines) == 1 + len(MIGRATIONS)
        assert nowhere.document("init", "--upgrade")["migrations"] == []

    def test_restores_missing_tables_when_asked_to(self, cli: CommandLine, tmp_path: Path) -> None:
        with closing(sqlite3.connect(tmp_path / "lake.db")) as raw:
            raw.execute("DROP TABLE ducklake_catalog_lease")
        assert cli.document("init")["added"] == []
        (line,) = cli.ok("init", "--upgrade").lines
        assert "Added or updated: ducklake_catalog_lease, ducklake_catalog_lease_expires." in line

    def test_creates_separate_metadata_schemas(self, cli: CommandLine) -> None:
        cli.ok("init", "--metadata-schema", "second")
        cli.ok("create", "sales", "--metadata-schema", "second")
        assert cli.names() == []
        cli.ok("--metadata-schema", "second", "drop", "sales")

    def test_needs_a_folder(self, nowhere: CommandLine, tmp_path: Path) -> None:
        code, error = nowhere.error("init", f"ducklake:{tmp_path / 'nothing' / 'lake.db'}")
        assert (code, error["remedy"]) == (2, "Create the folder first.")


class TestCreate:
    def test_reports_the_new_catalog(self, cli: CommandLine) -> None:
        done = cli.ok("create", "sales", "stock", "--data-path", "s3://lake")
        assert done.cells == [["sales", "0", "s3://lake/"], ["stock", "2", "s3://lake/"]]

    def test_as_json(self, cli: CommandLine) -> None:
        (made,) = cli.document("create", "sales")["catalogs"]
        assert list(made) == CATALOG_KEYS
        assert made | {"uuid": ""} == {
            "name": "sales",
            "catalog_id": 0,
            "uuid": "",
            "begin_snapshot": 1,
            "parent_catalog_id": None,
            "fork_snapshot": None,
            "data_path": None,
            "path": "sales/",
        }

    def test_refuses_a_taken_name(self, cli: CommandLine) -> None:
        cli.ok("create", "sales")
        assert cli.error("create", "stock", "sales") == (
            4,
            {
                "code": "already_exists",
                "message": "Catalog 'sales' already exists.",
                "remedy": "Choose another name.",
            },
        )
        assert cli.names() == ["sales"]

    def test_keeps_an_existing_catalog_with_if_not_exists(self, cli: CommandLine) -> None:
        (before,) = cli.document("create", "sales")["catalogs"]
        after = cli.document("create", "stock", "sales", "--if-not-exists")["catalogs"]
        assert before in after
        assert cli.names() == ["sales", "stock"]


class TestFork:
    @pytest.fixture(autouse=True)
    def parent(self, cli: CommandLine) -> None:
        cli.ok("create", "sales", "--data-path", "/data")

    def test_names_the_parent(self, cli: CommandLine) -> None:
        done = cli.ok("fork", "sales", "first", "second")
        assert done.cells == [
            ["first", "2", "sales", "1", "/data/"],
            ["second", "3", "sales", "1", "/data/"],
        ]

    def test_as_json(self, cli: CommandLine) -> None:
        (made,) = cli.document("fork", "sales", "first")["catalogs"]
        assert list(made) == CATALOG_KEYS
        assert (made["parent_catalog_id"], made["fork_snapshot"]) == (0, 1)

    def test_numbers_many(self, cli: CommandLine) -> None:
        done = cli.ok("fork", "sales", "agent", "--count", "1200")
        assert done.lines == ["1,200 catalogs: agent-000001 … agent-001200"]
        assert cli.document("catalogs", "--limit", "1")["total"] == 1201

    def test_numbers_each_name(self, cli: CommandLine) -> None:
        cli.ok("fork", "sales", "a", "b", "--count", "2")
        assert cli.names() == ["a-000001", "a-000002", "b-000001", "b-000002", "sales"]

    def test_forks_a_past_snapshot(self, cli: CommandLine, lake: Metastore) -> None:
        with lake.catalog("sales").transaction() as transaction:
            transaction.create_table("orders", [ColumnSpec("id", "bigint")])
        cli.ok("fork", "sales", "early", "--at", "1")
        cli.ok("fork", "sales", "late")
        assert cli.document("tables", "early")["tables"] == []
        assert len(cli.document("tables", "late")["tables"]) == 1

    @pytest.mark.parametrize("snapshot", ["0", "-1", "99", "9" * 30])
    def test_refuses_a_missing_snapshot(self, cli: CommandLine, snapshot: str) -> None:
        code, error = cli.error("fork", "sales", "early", "--at", snapshot)
        assert (code, error["message"]) == (3, f"No snapshot found at version {snapshot}.")

    def test_copies_with_the_option(self, cli: CommandLine) -> None:
        cli.ok("fork", "sales", "copied", "--mode", "copy")
        assert cli.document("materialize", "copied")["materialized"] is False

    def test_takes_a_data_path(self, cli: CommandLine) -> None:
        (made,) = cli.document("fork", "sales", "x", "--data-path", "/elsewhere")["catalogs"]
        assert made["data_path"] == "/elsewhere/"

    def test_refuses_a_data_path_within_the_parents(self, cli: CommandLine) -> None:
        code, error = cli.error("fork", "sales", "x", "--data-path", "/data/inside")
        assert (code, error["code"]) == (2, "invalid_input")

    def test_refuses_an_unknown_parent(self, cli: CommandLine) -> None:
        code, error = cli.error("fork", "nothing", "x")
        assert (code, error["message"]) == (3, "Catalog 'nothing' does not exist")

    def test_keeps_an_existing_catalog_with_if_not_exists(self, cli: CommandLine) -> None:
        cli.ok("fork", "sales", "agent", "--count", "2")
        made = cli.document("fork", "sales", "agent", "--count", "3", "--if-not-exists")
        assert len(made["catalogs"]) == 3

    def test_refuses_a_catalog_that_is_another_fork(self, cli: CommandLine) -> None:
        cli.ok("create", "stock")
        cli.ok("fork", "stock", "agent")
        code, error = cli.error("fork", "sales", "agent", "--if-not-exists")
        assert code == 4
        assert "a fork of 'stock', not of 'sales'" in error["message"]

    @pytest.mark.parametrize(
        "wrong", [["--mode", "other"], ["--count", "0"], ["--count", "many"], ["--at", "today"]]
    )
    def test_refuses_contradictory_options(self, cli: CommandLine, wrong: list[str]) -> None:
        done = cli("fork", "sales", "x", *wrong)
        assert done.code == 2
        assert wrong[0] in done.err
        assert cli.names() == ["sales"]


def test_a_metastore_created_by_command_opens_in_python(cli: CommandLine) -> None:
    cli.ok("create", "sales")
    with forklake.open(cli.uri) as metastore:
        assert metastore.catalog("sales").name == "sales"
