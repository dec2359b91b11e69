"""Promises of the catalog, each tested under its own words."""

from __future__ import annotations

from pathlib import Path

from forklake import Catalog, Metastore
from forklake.crucible.settings import Settings
from tests.behavior.builders import a_table, append
from tests.crucible.served import run_service
from tests.maintenance.lakes import Lake, paths


def test_a_commit_creates_a_snapshot_of_the_whole_metastore(metastore: Metastore) -> None:
    made = [metastore.create_catalog(name) for name in ("a", "b")]
    tables = [a_table(catalog) for catalog in made]
    for turn in range(2):
        for catalog, table in zip(made, tables, strict=True):
            before = metastore.latest_snapshot()
            assert append(catalog, table, f"{turn}") == metastore.latest_snapshot() == before + 1


def test_new_files_of_parents_and_forks_never_share_an_id(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent, files=["shared"])
    family = [parent, *(metastore.fork("parent", f"fork-{number}") for number in range(3))]
    for catalog in family:
        append(catalog, table, f"{catalog.name}-1", f"{catalog.name}-2")
    numbers = {
        file.data_file_id: file.path
        for catalog in family
        for file in catalog.now().data_files(table)
    }
    assert len(numbers) == len(set(numbers.values())) == 1 + 2 * len(family)


def test_snapshot_ids_are_unique_and_may_have_gaps(metastore: Metastore) -> None:
    one, other = metastore.create_catalog("one"), metastore.create_catalog("other")
    mine, theirs = a_table(one), a_table(other)
    for number in range(3):
        append(one, mine, f"{number}")
        append(other, theirs, f"{number}")
    numbers = [snapshot.snapshot_id for snapshot in one.snapshots()]
    others = [snapshot.snapshot_id for snapshot in other.snapshots()]
    assert numbers == sorted(set(numbers))
    assert not set(numbers) & set(others)
    assert numbers[-1] - numbers[0] > len(numbers)  # other catalogs took the numbers between
    assert one.at(version=numbers[-1] - 1).snapshot_id == numbers[-2]


def rich_fork(files: Lake) -> tuple[Catalog, Catalog]:
    """Return a parent with files, and a fork that has its own files as well."""
    parent = files.create()
    files.append(parent, files=2)
    fork = files.metastore.fork("sales", "fork")
    files.append(fork)
    return parent, fork


def clean_up(fork: Catalog) -> list[str]:
    """Expire and clean up everything in a catalog, and return the removed files."""
    fork.expire_snapshots(versions=[one.snapshot_id for one in fork.snapshots()[:-1]])
    removed = fork.cleanup_old_files(cleanup_all=True)
    return removed + fork.delete_orphaned_files(cleanup_all=True)


def test_clean_up_in_a_fork_leaves_the_files_of_its_parent(
    metastore: Metastore, tmp_path: Path
) -> None:
    files = Lake(metastore, tmp_path)
    parent, fork = rich_fork(files)
    files.replace(fork)  # it needs none of the parent's files afterwards
    removed = clean_up(fork)
    assert len(removed) == 1  # its own first file
    assert paths(parent) <= files.on_disk()


def test_dropping_a_table_in_a_fork_leaves_shared_files(
    metastore: Metastore, tmp_path: Path
) -> None:
    files = Lake(metastore, tmp_path)
    parent, fork = rich_fork(files)
    with fork.transaction() as transaction:
        transaction.drop_table("t")
    clean_up(fork)
    assert paths(parent) == files.on_disk()


def test_the_first_catalog_of_a_new_service_begins_at_snapshot_one(tmp_path: Path) -> None:
    settings = Settings(metastore=f"ducklake:{tmp_path / 'metastore.db'}", create=True)
    with run_service(settings, with_rules=False) as service:
        made = service.client().post("/v1/catalogs", json={"name": "first"}).json()
    assert made["begin_snapshot"] == 1
