"""Merges of metadata only, on every backend: no Spark, and no file is opened or written."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from forklake import Catalog, ColumnSpec, Metastore, Session
from forklake.catalog.cleanup import cleanup_old_files
from forklake.catalog.expiry import expire_snapshots
from forklake.errors import Conflict, InvalidInput, NotFound
from forklake.merging import diff, merge_fork, parent_of
from forklake.model.entities import Table
from forklake.model.fields import DROPPED_NAMES
from forklake.model.ids import DataFileId
from forklake.model.kinds import TAG
from forklake.model.requests import MergeRequest
from forklake.model.rules import Check, Rules
from tests.behavior.builders import COLUMNS, a_file, a_table, append, paths


@pytest.fixture
def session() -> Iterator[Session]:
    """Yield a session that must not start Spark."""
    with Session() as found:
        yield found
        assert found._engine is None


@pytest.fixture
def sales(metastore: Metastore) -> Catalog:
    """Return a catalog with a table `t` of one file."""
    catalog = metastore.create_catalog("sales", data_path="/data")
    a_table(catalog, files=["base.parquet"])
    return catalog


def files_of(catalog: Catalog, table: Table) -> dict[str, tuple[DataFileId, int | None]]:
    """Return the id and the first row id of each file."""
    found = catalog.now().data_files(table)
    return {file.path: (file.data_file_id, file.row_id_start) for file in found}


def inlined(catalog: Catalog, table: Table) -> dict[int, int]:
    """Return the first column of inlined rows by row id."""
    column = catalog.now().state.column(table, "id").column_id
    return {row.row_id: row.values[column] for row in catalog.now().inlined_rows(table)}


def insert(catalog: Catalog, table: Table, *numbers: int) -> None:
    with catalog.transaction() as transaction:
        transaction.insert_rows(table, [{"id": number, "name": "x"} for number in numbers])


def test_appends_on_both_sides_are_merged(
    session: Session, metastore: Metastore, sales: Catalog
) -> None:
    table = sales.now().state.table("t")
    fork = metastore.fork("sales", "agent")
    append(fork, table, "one.parquet", "two.parquet")
    insert(fork, table, 7, 8)
    append(sales, table, "own.parquet")
    insert(sales, table, 1)
    there = files_of(fork, table)
    foreseen = merge_fork(session, metastore, MergeRequest("agent", dry_run=True))
    assert foreseen.snapshot_id is None
    assert sorted(paths(sales, table)) == ["base.parquet", "own.parquet"]
    merged = merge_fork(session, metastore, MergeRequest("agent", message="done"))
    assert merged.tables == foreseen.tables
    (reported,) = merged.tables
    assert (
        reported.appended_rows,
        reported.appended_files,
        reported.updated,
        reported.deleted,
    ) == (22, 2, 0, 0)
    # One snapshot; files keep their ids and paths, and row ids are new and unique.
    (snapshot,) = [one for one in sales.snapshots() if one.commit_message == "done"]
    assert snapshot.snapshot_id == merged.snapshot_id
    found = files_of(sales, table)
    assert found["one.parquet"][0] == there["one.parquet"][0]
    assert [found[name][1] for name in ("base.parquet", "own.parquet")] == [0, 10]
    assert [found[name][1] for name in ("one.parquet", "two.parquet")] == [21, 31]
    assert inlined(sales, table) == {20: 1, 41: 7, 42: 8}
    statistics = sales.now().statistics(table)
    assert (statistics.record_count, statistics.next_row_id) == (43, 43)
    # The fork is unchanged, and a further merge finds nothing.
    assert files_of(fork, table) == there
    assert merge_fork(session, metastore, MergeRequest("agent")).snapshot_id is None


def test_repeated_merges_in_both_directions_take_later_changes(
    session: Session, metastore: Metastore, sales: Catalog
) -> None:
    table = sales.now().state.table("t")
    fork = metastore.fork("sales", "agent")
    append(fork, table, "one.parquet")
    assert merge_fork(session, metastore, MergeRequest("agent")).snapshot_id is not None
    append(sales, table, "own.parquet")
    append(fork, table, "two.parquet")
    back = merge_fork(session, metastore, MergeRequest("sales", into="agent"))
    assert [one.appended_files for one in back.tables] == [1]
    assert paths(fork, table) == ["base.parquet", "one.parquet", "own.parquet", "two.parquet"]
    forth = merge_fork(session, metastore, MergeRequest("agent"))
    assert [one.appended_files for one in forth.tables] == [1]
    assert paths(sales, table) == paths(fork, table)
    for source, target in (("sales", "agent"), ("agent", "sales")):
        assert merge_fork(session, metastore, MergeRequest(source, into=target)).snapshot_id is None
    assert not diff(session, metastore, "sales", "agent").tables
    starts = [start for _, start in files_of(sales, table).values()]
    assert len(set(starts)) == len(starts)


def test_definitions_are_merged(session: Session, metastore: Metastore, sales: Catalog) -> None:
    fork = metastore.fork("sales", "agent")
    with fork.transaction() as transaction:
        transaction.create_schema("lab")
        new = transaction.create_table(
            "fresh", COLUMNS, schema="lab", partition_by=[("id", "identity")]
        )
        transaction.add_data_files(new, [a_file("fresh.parquet")])
        transaction.insert_rows(new, [{"id": 1, "name": "y"}])
        transaction.create_view("v", "SELECT 1 AS one", dialect="duckdb")
        transaction.add_column(transaction.table("t"), ColumnSpec("extra", "int32", default="5"))
        transaction.set_option("target_file_size", "1MB", table="t")
    merged = merge_fork(session, metastore, MergeRequest("agent"))
    assert "table lab.fresh added" in merged.definitions
    now, there = sales.now(), fork.now()
    table, twin = now.state.table("fresh", "lab"), there.state.table("fresh", "lab")
    assert (table.table_id, table.table_uuid) == (twin.table_id, twin.table_uuid)
    assert now.state.fields(table) == there.state.fields(twin)
    assert now.state.partitioning(table) == there.state.partitioning(twin)
    assert now.statistics(table).next_row_id == there.statistics(twin).next_row_id == 11
    assert files_of(sales, table) == files_of(fork, twin)
    assert inlined(sales, table) == inlined(fork, twin)
    assert now.state.view("v").sql == "SELECT 1 AS one"
    assert [one.name for one in now.state.fields(now.state.table("t"))] == ["id", "name", "extra"]
    assert now.state.own_options(now.state.table("t").table_id) == there.state.own_options(
        there.state.table("t").table_id
    )
    # Afterwards the new table is an ordinary one.
    append(fork, twin, "more.parquet")
    append(sales, table, "other.parquet")
    merge_fork(session, metastore, MergeRequest("agent"))
    assert paths(sales, table) == ["fresh.parquet", "more.parquet", "other.parquet"]
    with fork.transaction() as transaction:
        transaction.drop_table("fresh", schema="lab")
    append(sales, table, "late.parquet")
    for source, target in (("sales", "agent"), ("agent", "sales")):
        with pytest.raises(Conflict, match=r"table lab\.fresh"):
            merge_fork(session, metastore, MergeRequest(source, into=target))


def _rename(name: str) -> Callable[[Catalog], None]:
    def change(catalog: Catalog) -> None:
        with catalog.transaction() as transaction:
            table = transaction.table("t")
            transaction.rename_column(table, ["name"], name)

    return change


def _add(column: str, kind: str = "int32") -> Callable[[Catalog], None]:
    def change(catalog: Catalog) -> None:
        with catalog.transaction() as transaction:
            transaction.add_column(transaction.table("t"), ColumnSpec(column, kind))

    return change


def _add_to(catalog: Catalog, table: Table, column: str) -> None:
    with catalog.transaction() as transaction:
        transaction.add_column(table, ColumnSpec(column, "int32"))


def _drop_column(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.drop_column(transaction.table("t"), ["name"])


def _add_write_and_drop(catalog: Catalog) -> None:
    _add("extra")(catalog)
    _append(catalog)
    with catalog.transaction() as transaction:
        transaction.drop_column(transaction.table("t"), ["extra"])


def _drop_other_column(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.drop_column(transaction.table("t"), ["id"])


def _partition(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.set_partitioning(transaction.table("t"), [("name", "identity")])


def _sort(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.set_sorted_by(transaction.table("t"), [("name", False, False)])


def _rule(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        rules = Rules(checks=(Check("named", "name IS NOT NULL", ("name",)),))
        transaction.set_rules(transaction.table("t"), rules)


def _drop(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.drop_table("t")


def _create(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.create_table("new", COLUMNS)


def _append(catalog: Catalog) -> None:
    append(catalog, catalog.now().state.table("t"), f"{catalog.name}.parquet")


def _require(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.set_nullable(transaction.table("t"), ["name"], False)


# What the fork does, what the parent does, and the text of the conflict, or None.
PAIRS = {
    "same rename": (_rename("title"), _rename("title"), None),
    "two renames": (_rename("title"), _rename("label"), "column"),
    "rename and append": (_rename("title"), _append, None),
    "rename and add": (_rename("title"), _add("extra"), None),
    "rename and drop": (_rename("title"), _drop_column, "column"),
    "drop and rename": (_drop_column, _rename("title"), "column"),
    "both drop it": (_drop_column, _drop_column, None),
    "files of a dropped column": (_add_write_and_drop, _add("extra"), "assigned its column id"),
    "a dropped column with files": (_add("extra"), _add_write_and_drop, "assigned its column id"),
    "each drops another column": (_drop_column, _drop_other_column, "dropped all of its columns"),
    "drop and partition": (_drop_column, _partition, "partitions or sorts"),
    "partition and drop": (_partition, _drop_column, "partitions or sorts"),
    "sort and drop": (_sort, _drop_column, "partitions or sorts"),
    "rule and rename": (_rule, _rename("title"), "uses the column name"),
    "rename and rule": (_rename("title"), _rule, "uses the column name"),
    "partition and rename": (_partition, _rename("title"), None),
    "same column": (_add("extra"), _add("extra"), None),
    "two columns": (_add("extra"), _add("other"), "column"),
    "a name for two columns": (_rename("title"), _add("title"), "column title"),
    "two columns for a name": (_add("Title"), _rename("title"), "column Title"),
    "two tables of a name": (_create, _create, "another object with this name"),
    "drop and nothing": (_drop, lambda _: None, None),
    "drop and append": (_drop, _append, "table main.t: removed"),
    "append and drop": (_append, _drop, "table main.t: changed"),
    "both drop": (_drop, _drop, None),
    "drop and change": (_drop, _add("extra"), "table main.t"),
    "rule and rows": (_require, _append, "added constraints"),
    "rows and rule": (_append, _require, "added constraints"),
}


@pytest.mark.parametrize("backend", ["sqlite"])
@pytest.mark.parametrize("pair", PAIRS)
def test_definitions_changed_on_both_sides_are_merged_or_conflict(
    session: Session, metastore: Metastore, sales: Catalog, pair: str
) -> None:
    theirs, ours, words = PAIRS[pair]
    fork = metastore.fork("sales", "agent")
    theirs(fork)
    ours(sales)
    before = sales.current_snapshot()
    if words is None:
        merge_fork(session, metastore, MergeRequest("agent"))
        assert merge_fork(session, metastore, MergeRequest("sales", into="agent")).conflicts == ()
        assert not diff(session, metastore, "sales", "agent").tables
        return
    assert merge_fork(session, metastore, MergeRequest("agent", dry_run=True)).has_conflicts
    with pytest.raises(Conflict, match=words) as caught:
        merge_fork(session, metastore, MergeRequest("agent"))
    assert caught.value.details["conflicts"]
    assert sales.current_snapshot() == before


@pytest.mark.parametrize("backend", ["sqlite"])
def test_dropped_column_names_of_either_side_are_reserved_on_both(
    session: Session, metastore: Metastore, sales: Catalog
) -> None:
    _add("extra")(sales)
    fork = metastore.fork("sales", "agent")
    for catalog, column in ((fork, "name"), (sales, "extra")):
        with catalog.transaction() as transaction:
            transaction.drop_column(transaction.table("t"), [column])
    directions = (("agent", "sales"), ("sales", "agent"))
    assert [
        merge_fork(session, metastore, MergeRequest(source, into=target)).snapshot_id is not None
        for source, target in directions * 2
    ] == [True, True, False, False]
    for catalog in (fork, sales):
        (tag,) = [one for one in catalog.now().state.rows(TAG) if one.key == DROPPED_NAMES]
        assert all(name in tag.value for name in ("name", "extra"))


def _fork_with_arrivals(session: Session, metastore: Metastore, sales: Catalog) -> Catalog:
    """Return a fork that got a table, a view and a column by a merge of its parent."""
    fork = metastore.fork("sales", "agent")
    with sales.transaction() as transaction:
        transaction.create_table("late", COLUMNS)
        transaction.create_view("v", "SELECT 1 AS one", dialect="duckdb")
        transaction.add_column(transaction.table("t"), ColumnSpec("extra", "int32"))
    merge_fork(session, metastore, MergeRequest("sales", into="agent"))
    return fork


@pytest.mark.parametrize("backend", ["sqlite"])
def test_objects_merged_from_the_parent_and_dropped_in_the_fork_are_dropped_in_the_parent(
    session: Session, metastore: Metastore, sales: Catalog
) -> None:
    fork = _fork_with_arrivals(session, metastore, sales)
    with fork.transaction() as transaction:
        transaction.drop_table("late")
        transaction.drop_view("v")
        transaction.drop_column(transaction.table("t"), ["extra"])
    merge_fork(session, metastore, MergeRequest("agent"))
    state = sales.now().state
    assert [row.table_name for row in state.tables()] == ["t"]
    assert state.find_relation("v") is None
    assert [one.name for one in state.fields(state.table("t"))] == ["id", "name"]
    for source, target in (("sales", "agent"), ("agent", "sales")):
        assert merge_fork(session, metastore, MergeRequest(source, into=target)).snapshot_id is None
    assert diff(session, metastore, "sales", "agent").is_empty


@pytest.mark.parametrize("backend", ["sqlite"])
@pytest.mark.parametrize("change", [append, _add_to])
def test_changing_a_merged_table_that_its_parent_dropped_conflicts(
    session: Session,
    metastore: Metastore,
    sales: Catalog,
    change: Callable[[Catalog, Table, str], object],
) -> None:
    fork = _fork_with_arrivals(session, metastore, sales)
    change(fork, fork.now().state.table("late"), "mine")
    with sales.transaction() as transaction:
        transaction.drop_table("late")
    with pytest.raises(Conflict, match=r"table main\.late: changed in the source, removed"):
        merge_fork(session, metastore, MergeRequest("agent"))


@pytest.mark.parametrize("backend", ["sqlite"])
def test_chains_of_renames_are_merged(
    session: Session, metastore: Metastore, sales: Catalog
) -> None:
    a_table(sales, "u")
    fork = metastore.fork("sales", "agent")
    a_table(fork, "new")
    with fork.transaction() as transaction:
        for name, becomes in (("t", "old"), ("u", "t"), ("old", "u"), ("t", "v"), ("new", "t")):
            transaction.rename_table(name, becomes)
    with fork.transaction() as transaction:
        columns = transaction.table("u")
        for name, becomes in (("id", "x"), ("name", "id"), ("x", "name")):
            transaction.rename_column(columns, [name], becomes)
    merge_fork(session, metastore, MergeRequest("agent"))
    there, here = fork.now().state, sales.now().state
    assert {row.table_name: row.table_id for row in here.tables()} == {
        row.table_name: row.table_id for row in there.tables()
    }
    assert here.fields(here.table("u")) == there.fields(there.table("u"))


def test_concurrent_merges_of_one_fork_apply_once(
    session: Session, metastore: Metastore, sales: Catalog
) -> None:
    table = sales.now().state.table("t")
    fork = metastore.fork("sales", "agent")
    append(fork, table, "one.parquet")
    start, found = threading.Barrier(4), []

    def work() -> None:
        start.wait()
        found.append(merge_fork(session, metastore, MergeRequest("agent")).snapshot_id)

    def disturb() -> None:
        start.wait()
        for number in range(5):
            append(sales, table, f"own-{number}.parquet")

    threads = [threading.Thread(target=one) for one in (work, work, work, disturb)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([one for one in found if one is not None]) == 1
    assert len(found) == 3
    assert len(paths(sales, table)) == 7
    assert paths(sales, table).count("one.parquet") == 1
    ranges = sorted(start for _, start in files_of(sales, table).values() if start is not None)
    assert ranges == list(range(0, 70, 10))


def test_merged_files_outlive_their_fork(
    session: Session, metastore: Metastore, sales: Catalog
) -> None:
    table = sales.now().state.table("t")
    fork = metastore.fork("sales", "agent")
    append(fork, table, "one.parquet")
    merge_fork(session, metastore, MergeRequest("agent"))
    metastore.drop_catalog("agent")
    metastore.reclaim_dropped(cleanup_all=True)
    assert cleanup_old_files(sales, cleanup_all=True) == []
    assert paths(sales, table) == ["base.parquet", "one.parquet"]
    with metastore.database.reading() as connection:
        for name in ("ducklake_catalog_merge", "ducklake_files_scheduled_for_deletion"):
            assert connection.fetch(f"SELECT count(*) FROM {name}")[0][0] == 0


@pytest.mark.parametrize("backend", ["sqlite"])
def test_the_first_snapshot_of_a_fork_may_expire_after_merges_in_both_directions(
    session: Session, metastore: Metastore, sales: Catalog
) -> None:
    table = sales.now().state.table("t")
    fork = metastore.fork("sales", "agent")
    first = fork.current_snapshot()
    for source, target in (("agent", "sales"), ("sales", "agent")):
        append(metastore.catalog(source), table, f"{source}.parquet")
        merge_fork(session, metastore, MergeRequest(source, into=target))
    other = metastore.fork("sales", "other")
    for catalog, begin in ((fork, first), (other, other.current_snapshot())):
        append(catalog, table, f"late-{catalog.name}.parquet")
        assert expire_snapshots(catalog, versions=[begin])
    merge_fork(session, metastore, MergeRequest("agent"))
    assert "late-agent.parquet" in paths(sales, table)
    with pytest.raises(NotFound, match="of the catalog 'other' has expired"):
        merge_fork(session, metastore, MergeRequest("other"))


def test_merged_files_stay_in_the_data_path_of_their_fork(
    session: Session, metastore: Metastore, sales: Catalog
) -> None:
    table = sales.now().state.table("t")
    fork = metastore.fork("sales", "agent", data_path="/elsewhere")
    append(fork, table, "agent/one.parquet")
    merge_fork(session, metastore, MergeRequest("agent"))
    (file,) = [one for one in sales.now().data_files(table) if "one" in one.path]
    assert sales.now().full_path(file) == "/elsewhere/agent/one.parquet"


@pytest.mark.parametrize("backend", ["sqlite"])
class TestRefusedMerges:
    def test_of_unrelated_catalogs(
        self, session: Session, metastore: Metastore, sales: Catalog
    ) -> None:
        for name in ("one", "two"):
            metastore.fork("sales", name)
        with pytest.raises(InvalidInput, match="neither is a fork"):
            merge_fork(session, metastore, MergeRequest("one", into="two"))
        with pytest.raises(InvalidInput, match="neither is a fork"):
            merge_fork(session, metastore, MergeRequest("sales", into="sales"))
        with pytest.raises(InvalidInput, match="is not a fork, or its parent was dropped"):
            merge_fork(session, metastore, MergeRequest("sales"))
        assert parent_of(metastore, "one") == "sales"

    def test_with_invalid_options(
        self, session: Session, metastore: Metastore, sales: Catalog
    ) -> None:
        metastore.fork("sales", "agent")
        with pytest.raises(InvalidInput, match="mine"):
            merge_fork(session, metastore, MergeRequest("agent", on_conflict="mine"))  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="cannot be 0"):
            diff(session, metastore, "sales", "agent", rows=True, limit=0)
