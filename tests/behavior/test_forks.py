"""Forks: what they inherit, how they are isolated, and how they are separated from ancestors."""

from __future__ import annotations

import re
from typing import Any

import pytest

from forklake import ColumnSpec, Metastore
from forklake.errors import AlreadyExists, Conflict, InvalidInput, NotFound
from forklake.files.paths import resolve
from forklake.store.forks import MAX_DEPTH
from tests.behavior.builders import a_table, append, paths
from tests.properties.observe import observe

MODES = ("inherit", "copy")


@pytest.mark.parametrize("mode", MODES)
def test_a_fork_sees_what_its_parent_had(metastore: Metastore, mode: str) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent, files=["1", "2"])
    fork = metastore.fork("parent", "fork", mode=mode)
    assert observe(fork) == observe(parent)
    assert fork.row.parent_catalog_id == parent.catalog_id
    assert fork.row.fork_snapshot == parent.current_snapshot()
    assert [str(one) for one in fork.snapshots()[-1].changes] == ["forked_from:0"]
    assert {file.data_file_id for file in fork.now().data_files(table)} == {0, 1}


@pytest.mark.parametrize("mode", MODES)
def test_forks_and_parents_are_isolated_from_each_others_later_commits(
    metastore: Metastore, mode: str
) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent, files=["shared"])
    fork = metastore.fork("parent", "fork", mode=mode)
    append(parent, table, "parents")
    append(fork, table, "forks")
    with parent.transaction() as transaction:
        transaction.drop_column(table, "name")
    with fork.transaction() as transaction:
        transaction.rename_table("t", "mine")
    assert paths(parent, table) == ["parents", "shared"]
    assert paths(fork, table) == ["forks", "shared"]
    assert [one.column_name for one in fork.now().state.columns(table)] == ["id", "name"]
    assert parent.now().state.table("t").table_id == fork.now().state.table("mine").table_id


def test_files_ended_in_a_fork_stay_visible_in_its_parent(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent, files=["1", "2", "3"])
    fork = metastore.fork("parent", "fork")
    with fork.transaction() as transaction:
        gone = [file for file in transaction.data_files(table) if file.path == "2"]
        transaction.end_data_files(table, gone)
    assert paths(fork, table) == ["1", "3"]
    assert paths(parent, table) == ["1", "2", "3"]
    assert fork.now().statistics(table).record_count == 20
    assert parent.now().statistics(table).record_count == 30


@pytest.mark.parametrize("mode", MODES)
def test_a_fork_of_a_past_snapshot_sees_that_snapshot(metastore: Metastore, mode: str) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent, files=["1"])
    then = parent.current_snapshot()
    append(parent, table, "2")
    with parent.transaction() as transaction:
        transaction.drop_table("t")
    fork = metastore.fork("parent", "fork", at=then, mode=mode)
    assert paths(fork, table) == ["1"]
    assert fork.now().statistics(table).record_count == 10
    assert fork.row.fork_snapshot == then


@pytest.mark.parametrize("mode", MODES)
def test_a_fork_can_read_snapshots_from_before_it_was_created(
    metastore: Metastore, mode: str
) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent, files=["1"])
    then = parent.current_snapshot()
    append(parent, table, "2")
    fork = metastore.fork("parent", "fork", mode=mode)
    append(parent, table, "3")
    assert paths(fork, table, version=then) == ["1"]
    own = [one.snapshot_id for one in fork.snapshots()]
    assert own == [1, 2, 3, 4, fork.row.begin_snapshot]


def test_forks_of_forks_inherit_from_all_ancestors(metastore: Metastore) -> None:
    parent = metastore.create_catalog("level-0")
    table = a_table(parent, files=["0"])
    for level in range(1, 6):
        fork = metastore.fork(f"level-{level - 1}", f"level-{level}")
        append(fork, table, str(level))
        with fork.transaction() as transaction:
            gone = [one for one in transaction.data_files(table) if one.path == str(level - 1)]
            transaction.end_data_files(table, gone)
    assert paths(metastore.catalog("level-5"), table) == ["5"]
    assert paths(metastore.catalog("level-2"), table) == ["2"]


def test_truncating_or_dropping_an_inherited_table_writes_one_row(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent, files=[str(number) for number in range(50)])
    for name, change in (("truncated", "truncate"), ("dropped", "drop")):
        fork = metastore.fork("parent", name)
        with fork.transaction() as transaction:
            transaction.truncate(table) if change == "truncate" else transaction.drop_table("t")
        with metastore.database.reading() as connection:
            ((count,),) = connection.fetch(
                "SELECT count(*) FROM ducklake_tombstone WHERE catalog_id = :catalog",
                catalog=fork.catalog_id,
            )
        assert count <= 3
    assert paths(metastore.catalog("truncated"), table) == []
    assert metastore.catalog("dropped").now().state.tables() == []
    assert len(paths(parent, table)) == 50


@pytest.mark.parametrize("mode", MODES)
def test_a_fork_of_a_truncated_fork_keeps_later_rows(metastore: Metastore, mode: str) -> None:
    table = a_table(metastore.create_catalog("parent"), files=["old"])
    fork = metastore.fork("parent", "fork")
    with fork.transaction() as transaction:
        transaction.truncate(table)
    append(fork, table, "new")
    child = metastore.fork("fork", "child", mode=mode)
    assert paths(child, table) == ["new"]
    assert [one.path for one in child.at(version=2 + 1).data_files(table)] == ["old"]
    assert fork.now().statistics(table).record_count == 10


def test_materializing_changes_nothing_visible(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent, files=["1", "2"])
    fork = metastore.fork("parent", "fork")
    with fork.transaction() as transaction:
        transaction.end_data_files(table, transaction.data_files(table)[:1])
    child = metastore.fork("fork", "child")
    before = [observe(one, v) for one in (fork, child) for v in range(1, 6)]
    snapshot = metastore.materialize("fork")
    assert snapshot is not None
    assert [observe(one, v) for one in (fork, child) for v in range(1, 6)] == before
    assert metastore.materialize("fork") is None
    with metastore.database.reading() as connection:
        rows = connection.fetch(
            "SELECT path FROM ducklake_data_file WHERE catalog_id = :catalog"
            " AND end_snapshot IS NULL",
            catalog=fork.catalog_id,
        )
        lines = connection.fetch(
            "SELECT ancestor_id FROM ducklake_catalog_lineage WHERE catalog_id = :catalog"
            " ORDER BY depth",
            catalog=child.catalog_id,
        )
    assert [tuple(row) for row in rows] == [("2",)]
    assert [tuple(row) for row in lines] == [(child.catalog_id,), (fork.catalog_id,)]


def test_a_transaction_that_ends_inherited_rows_conflicts_with_materializing(
    metastore: Metastore,
) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent, files=["1", "2"])
    fork = metastore.fork("parent", "fork")
    ending, appending = fork.transaction(), fork.transaction()
    ending.end_data_files(table, ending.data_files(table)[:1])
    appending.add_data_files(table, [])
    metastore.materialize("fork")
    with pytest.raises(Conflict, match="materialized"):
        ending.commit()
    append(fork, table, "3")
    assert paths(fork, table) == ["1", "2", "3"]


def test_dropping_a_parent_does_not_affect_its_forks(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent, files=["1"])
    fork = metastore.fork("parent", "fork")
    metastore.drop_catalog("parent")
    append(fork, table, "2")
    assert paths(fork, table) == ["1", "2"]
    assert paths(metastore.fork("fork", "child"), table) == ["1", "2"]


def test_forking_twice_under_one_name_needs_if_not_exists(metastore: Metastore) -> None:
    metastore.create_catalog("parent")
    first = metastore.fork("parent", "fork")
    with pytest.raises(AlreadyExists):
        metastore.fork("parent", "fork")
    again = metastore.fork("parent", "fork", if_not_exists=True)
    assert again.catalog_id == first.catalog_id


def test_if_not_exists_refuses_a_different_fork_of_that_name(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent")
    for name in ("other", "plain", "gone"):
        metastore.create_catalog(name)
    before = parent.head().snapshot_id
    with parent.transaction() as transaction:
        transaction.create_schema("later")
    metastore.fork("other", "theirs")
    metastore.fork("gone", "orphan")
    metastore.drop_catalog("gone")
    metastore.fork("parent", "ours", at=before, data_path="/ours")
    for name, found in {
        "theirs": "a fork of 'other', not of 'parent'",
        "plain": "not a fork of 'parent'",
        "orphan": "a fork of another catalog, not of 'parent'",
        "parent": "not a fork of 'parent'",
    }.items():
        expected = re.escape(f"The catalog '{name}' already exists and is {found}.")
        with pytest.raises(AlreadyExists, match=expected):
            metastore.fork("parent", name, if_not_exists=True)
        with pytest.raises(AlreadyExists, match=expected):
            metastore.fork_many("parent", ["new", name], if_not_exists=True)
    same: dict[str, Any] = {"if_not_exists": True}
    assert metastore.fork("parent", "ours", at=before, data_path="/ours/", **same).name == "ours"
    assert metastore.fork("parent", "ours", **same).name == "ours"
    with pytest.raises(
        AlreadyExists, match=f"at snapshot {before}, not {parent.head().snapshot_id}"
    ):
        metastore.fork("parent", "ours", at=parent.head().snapshot_id, **same)
    with pytest.raises(AlreadyExists, match="has the data path '/ours/', not '/else/'"):
        metastore.fork("parent", "ours", data_path="/else", **same)
    assert metastore.find("new") is None


def test_forking_a_missing_catalog_or_snapshot_is_refused(metastore: Metastore) -> None:
    metastore.create_catalog("parent")
    with pytest.raises(NotFound, match="Catalog 'nobody' does not exist"):  # language: ok
        metastore.fork("nobody", "fork")  # language: ok
    with pytest.raises(NotFound, match="No snapshot found at version 99"):
        metastore.fork("parent", "fork", at=99)
    with pytest.raises(NotFound):
        metastore.fork("parent", "fork", at=-1)
    with pytest.raises(InvalidInput, match="fork mode"):
        metastore.fork("parent", "fork", mode="clone")
    assert metastore.count() == 1


def test_many_forks_are_created_in_one_snapshot(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent, files=["1"])
    rows = metastore.fork_many("parent", [f"f{number}" for number in range(150)])
    assert len({row.begin_snapshot for row in rows}) == 1
    assert paths(metastore.catalog("f77"), table) == ["1"]
    assert len(metastore.children("parent")) == 150


def test_a_fork_with_its_own_data_path_reads_its_parents_files(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent", data_path="/lake")
    table = a_table(parent, files=["parent/main/t/1.parquet"])
    fork = metastore.fork("parent", "fork", data_path="/elsewhere/")
    assert fork.row.data_path == "/elsewhere/"
    (file,) = fork.now().data_files(table)
    assert file.catalog_id == parent.catalog_id
    metastore.materialize("fork")
    (own,) = fork.now().data_files(table)
    assert own.catalog_id == fork.catalog_id
    full = resolve("/elsewhere/", own.path, is_relative=own.path_is_relative)
    assert full == "/lake/parent/main/t/1.parquet"


@pytest.mark.parametrize("path", ["/lake/inside", "/"])
def test_overlapping_data_paths_are_refused(metastore: Metastore, path: str) -> None:
    metastore.create_catalog("parent", data_path="/lake/")
    with pytest.raises(InvalidInput, match="overlaps"):
        metastore.fork("parent", "fork", data_path=path)


def test_a_very_deep_lineage_is_shortened(metastore: Metastore, backend: str) -> None:
    if backend == "duckdb":
        pytest.skip("sixty-five forks take long there, and the code is the same")
    table = a_table(metastore.create_catalog("f0"), files=["1"])
    for level in range(1, MAX_DEPTH + 2):
        metastore.fork(f"f{level - 1}", f"f{level}")
    with metastore.database.reading() as connection:
        ((deepest,),) = connection.fetch("SELECT max(depth) FROM ducklake_catalog_lineage")
    assert deepest < MAX_DEPTH
    assert paths(metastore.catalog(f"f{MAX_DEPTH + 1}"), table) == ["1"]


def test_inlined_rows_of_forks_with_different_schemas_do_not_mix(
    metastore: Metastore,
) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent)
    for name, kind, value in (("a", "int64", 5), ("b", "varchar", "five")):
        fork = metastore.fork("parent", name)
        with fork.transaction() as transaction:
            transaction.add_column(table, ColumnSpec("extra", kind))
            transaction.insert_rows(table, [{"id": 1, "extra": value}])
    for name, value in (("a", 5), ("b", "five")):
        (row,) = metastore.catalog(name).now().inlined_rows(table)
        assert list(row.values.values()) == [1, None, value]
    assert parent.now().inlined_rows(table) == []


def test_a_fork_ends_a_file_with_several_inherited_deletes(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent")
    table = a_table(parent, files=["1", "2"])
    with parent.transaction() as transaction:
        transaction.delete_positions(table, transaction.data_files(table)[0], [1, 2, 3])
    fork = metastore.fork("parent", "fork")
    with fork.transaction() as transaction:
        transaction.end_data_files(table, transaction.data_files(table)[:1])
    assert fork.now().inlined_deletes(table) == []
    assert fork.now().statistics(table).record_count == 10
    assert len(parent.now().inlined_deletes(table)) == 3
