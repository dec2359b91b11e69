"""Storage usage: shared and own bytes of catalogs, and the bytes that dropping one frees."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from forklake import Catalog
from forklake.cli.main import app
from forklake.maintenance.due import maintain
from forklake.store.scheduled import ScheduledFile
from tests.fix_metastore import Place
from tests.maintenance.lakes import Lake


def bytes_on_disk(files: Lake) -> int:
    return sum((files.folder / path).stat().st_size for path in files.on_disk())


def size_of(files: Lake, catalog: Catalog) -> int:
    seen = catalog.now()
    return sum(file.file_size_bytes for file in seen.data_files(seen.state.table("t")))


def test_shared_and_own_bytes_of_a_catalog(files: Lake) -> None:
    parent = files.create()
    files.append(parent)
    common = size_of(files, parent)
    fork = files.metastore.fork("sales", "fork")
    copy = files.metastore.fork("sales", "copy", mode="copy")
    files.append(parent)
    own = size_of(files, parent) - common
    files.append(fork, files=2)
    forks_own = size_of(files, fork) - common

    reported = {one.catalog_name: one for one in files.metastore.storage(["sales", "fork", "copy"])}

    def of(catalog: Catalog) -> tuple[int, int, int]:
        one = reported[catalog.name]
        return one.private_bytes, one.shared_bytes, one.freed_bytes

    assert of(parent) == (own, common, own)
    assert of(fork) == (forks_own, common, forks_own)
    assert of(copy) == (0, common, 0)


@pytest.mark.parametrize("name", ["sales", "fork", "child"])
def test_dropping_a_catalog_frees_the_reported_bytes(files: Lake, name: str) -> None:
    parent = files.create()
    files.append(parent)
    fork = files.metastore.fork("sales", "fork")
    files.replace(parent)
    files.append(parent)
    parent.expire_snapshots(older_than=datetime.now(UTC))
    files.append(fork)
    files.append(files.metastore.fork("fork", "child"))
    files.replace(fork)
    parent.cleanup_old_files(cleanup_all=True)
    (reported,) = files.metastore.storage([name])
    before = bytes_on_disk(files)
    files.metastore.drop_catalog(name)
    files.metastore.reclaim_dropped(cleanup_all=True)
    for one in files.metastore.catalogs():
        Catalog(files.metastore, one).cleanup_old_files(cleanup_all=True)
    assert before - bytes_on_disk(files) == reported.freed_bytes


def test_maintenance_runs_and_reports_due_operations(files: Lake) -> None:
    catalog = files.create()
    files.append(catalog)
    files.replace(catalog)
    files.metastore.fork("sales", "gone")
    files.metastore.drop_catalog("gone")
    assert [one.operation for one in maintain(files.metastore, seconds=0)] == []
    assert [one.operation for one in maintain(files.metastore)] == ["reclaim_dropped"]
    files.metastore.set_option("expire_older_than", "0 seconds")
    files.metastore.set_option("delete_older_than", "0 seconds")
    done = [(one.catalog, one.operation, one.count) for one in maintain(files.metastore)]
    assert done == [("sales", "expire_snapshots", 3), ("sales", "cleanup_old_files", 1)]
    assert list(maintain(files.metastore)) == []
    with catalog.database.upkeep(catalog.catalog_id) as is_ours:
        assert is_ours
        (passed,) = maintain(files.metastore, ["sales"])
    assert passed.operation == "skipped"


def test_a_failure_in_one_catalog_does_not_stop_maintenance_of_others(files: Lake) -> None:
    nowhere = files.metastore.create_catalog("a-nowhere")
    moment = datetime(2020, 1, 1, tzinfo=UTC)
    nowhere.schedule_deletion([ScheduledFile(7, "a.parquet", True, moment)])
    files.append(files.create())
    files.metastore.set_option("expire_older_than", "0 seconds")
    failed, done = maintain(files.metastore)
    assert (failed.catalog, failed.operation) == ("a-nowhere", "failed")
    assert "no data path" in failed.unit
    assert (done.catalog, done.operation) == ("sales", "expire_snapshots")


@pytest.mark.parametrize("backend", ["sqlite"])
def test_storage_and_maintain_commands_work(files: Lake, place: Place, tmp_path: Path) -> None:
    files.append(files.create())
    files.metastore.set_option("expire_older_than", "0 seconds")
    runner = CliRunner()
    reported = runner.invoke(app, ["storage", "--metastore", place.uri])
    assert reported.exit_code == 0, reported.output
    assert "freed if dropped" in reported.output
    assert "sales" in reported.output
    done = runner.invoke(app, ["maintain", "--metastore", place.uri])
    assert done.exit_code == 0, done.output
    assert "expire_snapshots" in done.output
    again = runner.invoke(app, ["maintain", "sales", "--metastore", place.uri, "--json"])
    assert again.exit_code == 0
    assert again.output.split() == ["{", '"steps":', "[]", "}"]
