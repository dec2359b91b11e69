"""The doctor on every database: each check finds its fault, and nothing else."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import forklake
from forklake import Metastore
from forklake.catalog.doctor import everywhere
from forklake.catalog.doctor.checks import Check, Weight
from forklake.catalog.doctor.examination import checks_for, examine
from forklake.store.operations import Statement
from forklake.store.upgrade import upgrade
from tests.behavior.builders import a_table

CHECKS = {check.name: check for check in everywhere.CHECKS}


def run(metastore: Metastore, text: str, **parameters: object) -> None:
    """Run a statement directly on the database."""
    with metastore.database.writing() as connection:
        connection.commit([Statement(text, parameters)])


def found(metastore: Metastore, name: str, **limits: float) -> list[str]:
    """Return the findings of one check."""
    check = CHECKS[name]
    check = replace(check, limits={**check.limits, **limits})
    return [one.words for one in examine(metastore, [check])]


def test_a_fresh_metastore_has_no_findings(metastore: Metastore) -> None:
    serious = [one for one in examine(metastore) if one.weight is Weight.SERIOUS]
    assert serious == []
    names = [check.name for check in checks_for(metastore.database.dialect.name)]
    assert len(names) == len(set(names)) >= 9


def test_missing_objects_are_reported_and_restored(metastore: Metastore) -> None:
    run(metastore, "DROP TABLE ducklake_catalog_lease")
    run(metastore, "DROP VIEW dl_txn_actions")
    reported = found(metastore, "schema")
    assert any("table ducklake_catalog_lease is missing" in one for one in reported)
    assert any("view dl_txn_actions is missing" in one for one in reported)
    # A check that needs a missing table reports that it could not run.
    (one,) = examine(metastore, [CHECKS["expired catalogs"]])
    assert (one.weight, one.words[:20]) == (Weight.ADVICE, "This check failed: T")
    restored = upgrade(metastore.database).restored
    assert {"ducklake_catalog_lease", "dl_txn_actions"} <= set(restored)
    assert found(metastore, "schema") == found(metastore, "expired catalogs") == []
    assert upgrade(metastore.database).restored == ()
    metastore.create_catalog("brief", ttl=timedelta(hours=1))


def test_a_missing_column_is_found(metastore: Metastore) -> None:
    run(metastore, "ALTER TABLE dl_mirror_status DROP COLUMN last_error")
    assert found(metastore, "columns") == ["The column dl_mirror_status.last_error is missing."]


def test_overdue_maintenance_is_found(metastore: Metastore) -> None:
    names = ("expired catalogs", "dropped catalogs", "files to remove")
    assert [found(metastore, name) for name in names] == [[], [], []]
    metastore.create_catalog("brief", ttl=timedelta(hours=1))
    metastore.create_catalogs(["one", "two"])
    metastore.drop_catalogs(["one", "two"])
    past = datetime.now(UTC) - timedelta(days=8)
    run(metastore, "UPDATE ducklake_catalog_lease SET expires_at = :past", past=past)
    run(
        metastore,
        "INSERT INTO ducklake_files_scheduled_for_deletion (catalog_id, data_file_id, path,"
        " path_is_relative, schedule_start) VALUES (0, 1, 'a', TRUE, :past)",
        past=past,
    )
    assert found(metastore, "expired catalogs")[0].endswith("and were not dropped: 1.")
    assert found(metastore, "dropped catalogs", catalogs=1)[0].endswith("rows in the metastore: 2.")
    assert found(metastore, "files to remove")[0].endswith("for more than a week: 1.")


def test_differing_clocks_are_found(metastore: Metastore) -> None:
    assert found(metastore, "clock") == []
    reported = found(metastore, "clock", seconds=-1)
    # Theirs is the clock of this machine.
    if metastore.database.dialect.name in {"sqlite", "duckdb"}:
        assert reported == []
    else:
        (one,) = reported
        assert one.startswith("The clock of the database is 0.")
        assert one.endswith("the clock of this machine.")


def test_failed_and_lagging_mirrors_are_found(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("lake")
    number = int(catalog.catalog_id)
    now = datetime.now(UTC)
    run(
        metastore,
        "INSERT INTO dl_mirror_status (catalog_id, table_id, mirror_engine, mirrored_version,"
        " state, last_error, updated_at) VALUES (:number, 7, 'delta', 3, 'FAILED', 'disk full',"
        " :now)",
        number=number,
        now=now,
    )
    run(
        metastore,
        "INSERT INTO dl_table_versions (catalog_id, table_id, begin_snapshot, version, timestamp,"
        " operation, transaction_id) VALUES (:number, 7, 1, 103, 0, 'WRITE', 'x')",
        number=number,
    )
    reported = "The delta mirror of table 7 of the catalog 'lake' is FAILED: disk full"
    assert found(metastore, "mirrors") == [reported]
    assert found(metastore, "lag of mirrors") == []
    run(metastore, "UPDATE dl_mirror_status SET mirrored_version = 2, state = 'LAGGING'")
    assert found(metastore, "mirrors") == []
    (behind,) = found(metastore, "lag of mirrors")
    assert behind.endswith("is 101 versions behind.")


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_unreachable_data_paths_are_found(metastore: Metastore, tmp_path: Path) -> None:
    good, wrong, lost = (str(tmp_path / name) for name in ("good", "wrong", "lost"))
    Path(good).mkdir()
    Path(wrong).write_text("a file")
    for name, path in (("good", good), ("wrong", wrong), ("new", str(tmp_path / "new"))):
        metastore.create_catalog(name, data_path=path)
    a_table(metastore.create_catalog("lost", data_path=lost), files=["a.parquet"])
    reported = sorted(found(metastore, "data paths"))
    assert len(reported) == 2
    assert "lost" in reported[0]
    assert reported[0].endswith("it does not exist, although files were written to it.")
    assert reported[1].endswith("it is a file, not a folder.")


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_nested_data_paths_are_found(metastore: Metastore) -> None:
    for name, path in (("outer", "/lake"), ("beside", "/lakes"), ("inner", "/elsewhere")):
        metastore.create_catalog(name, data_path=path)
    assert found(metastore, "nested data paths") == []
    with metastore.database.writing() as connection:
        connection.fetch(
            "UPDATE ducklake_catalog SET data_path = 'file:///lake/outer/'"
            " WHERE catalog_name = 'inner'"
        )
        connection.commit()
    (reported,) = found(metastore, "nested data paths")
    assert reported.startswith("The data path 'file:///lake/outer/' lies within '/lake/'")


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_only_some_of_many_findings_are_listed(metastore: Metastore) -> None:
    text = "SELECT column1 FROM (VALUES " + ", ".join(f"({n})" for n in range(30)) + ")"
    check = Check("many", Weight.SERIOUS, text, "Number {0}.", "Do it to {0}.")
    findings = examine(metastore, [check])
    assert len(findings) == 21
    assert findings[-1].words == "10 more of these problems."


def test_a_damaged_file_is_found(tmp_path: Path) -> None:
    checks = {check.name: check for check in checks_for("sqlite")}
    own = [checks[name] for name in ("integrity", "journal", "size")]
    path = tmp_path / "lake.db"
    with forklake.open(f"ducklake:{path}", create=True) as metastore:
        assert examine(metastore, own) == []
        (large,) = examine(metastore, [replace(checks["size"], limits={"bytes": 1})])
        assert large.words.startswith(f"The size of the file {path} is ")
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA journal_mode = DELETE")
        ((size,),) = raw.execute("PRAGMA page_size")
        ((page,),) = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ducklake_tag'")
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with forklake.open(f"ducklake:{path}") as metastore:
        reported = examine(metastore, own)
    assert reported[0].check == "integrity"
    assert reported[0].weight is Weight.SERIOUS
    assert reported[-1].words.startswith("The journal mode is delete,")
