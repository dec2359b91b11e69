"""The command that examines a metastore."""

from __future__ import annotations

from forklake import Metastore
from forklake.store.operations import Statement
from tests.cli.conftest import CommandLine


def test_a_sound_metastore_has_no_findings(cli: CommandLine) -> None:
    done = cli.ok("doctor")
    assert done.lines[-1].endswith("lake.db (sqlite): 13 checks, 0 findings, 0 of them serious.")
    assert cli.document("doctor")["findings"] == []


def test_serious_findings_exit_with_one_until_an_upgrade_repairs_them(
    cli: CommandLine, lake: Metastore
) -> None:
    with lake.database.writing() as connection:
        connection.commit([Statement("DROP TABLE ducklake_catalog_lease")])
    done = cli("doctor")
    assert done.code == 1
    assert done.lines[0].startswith("serious: schema: The table ducklake_catalog_lease is missing")
    assert done.lines[1].startswith("  Run: forklake init --upgrade.")
    stated = cli.ok("init", "--upgrade").lines
    assert stated[0].endswith(
        "Added or updated: ducklake_catalog_lease, ducklake_catalog_lease_expires."
    )
    cli.ok("doctor")


def test_a_missing_metastore_is_an_error(nowhere: CommandLine) -> None:
    code, error = nowhere.error("doctor")
    assert (code, error["code"]) == (3, "not_found")


def test_partitions_need_postgresql(nowhere: CommandLine) -> None:
    code, error = nowhere.error("init", "--partitions", "8")
    assert (code, error["message"]) == (
        8,
        "Partitions are not supported for a metastore in sqlite.",
    )
