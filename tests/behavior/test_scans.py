"""Scans: the files that a reader gets, with their deletes and paths."""

from __future__ import annotations

import pytest

from forklake import Catalog, ColumnBounds, ColumnSpec, Metastore, NewDataFile, NewDeleteFile
from forklake.errors import NotFound
from forklake.model.entities import Table
from forklake.model.ids import UNCOMMITTED, ColumnId, SnapshotId
from forklake.model.predicates import And, Compare, In, IsNotNull, IsNull, Not, Or, StartsWith
from forklake.model.scans import ScanFile
from tests.behavior.builders import a_file, a_table, append

ID, NAME = ColumnId(1), ColumnId(2)
BASE = "/lake/"


@pytest.fixture
def catalog(metastore: Metastore) -> Catalog:
    """Return a catalog with a data path."""
    return metastore.create_catalog("sales", data_path=BASE)


def names(files: list[ScanFile]) -> list[str]:
    return [one.path.removeprefix(BASE) for one in files]


def numbered(catalog: Catalog, count: int) -> Table:
    """Return a table whose file n holds the ids 10n to 10n+9 and names with the same letter."""
    table = a_table(catalog)
    with catalog.transaction() as transaction:
        transaction.add_data_files(
            table,
            [
                NewDataFile(
                    f"f{number}",
                    10,
                    100,
                    bounds=(
                        ColumnBounds(
                            ID,
                            value_count=10,
                            null_count=0,
                            min_value=str(10 * number),
                            max_value=str(10 * number + 9),
                        ),
                        ColumnBounds(
                            NAME,
                            value_count=10,
                            null_count=number,
                            min_value=chr(97 + number),
                            max_value=chr(97 + number) + "z",
                        ),
                    ),
                )
                for number in range(count)
            ],
        )
    return table


def test_only_files_that_may_match_are_found(catalog: Catalog) -> None:
    table = numbered(catalog, 10)
    seen = catalog.now()
    for predicate, found in (
        (Compare(ID, "=", "42"), "4"),
        (Compare(ID, ">", "89"), "9"),
        (Compare(ID, ">=", "89"), "89"),
        (Compare(ID, "<", "10"), "0"),
        (Compare(ID, "<=", "10"), "01"),
        (Compare(ID, "=", "9999"), ""),
        (In(ID, ("3", "95")), "09"),
        (In(ID, tuple(str(one) for one in range(35, 135))), "3456789"),
        (Compare(NAME, "=", "cool"), "2"),
        (StartsWith(NAME, "d"), "3"),
        (IsNull(NAME), "123456789"),
        (Not(IsNotNull(NAME)), "123456789"),
        (And((Compare(ID, ">", "20"), Compare(ID, "<", "45"))), "234"),
        (Or((Compare(ID, "=", "5"), StartsWith(NAME, "j"))), "09"),
        (Not(Or((Compare(ID, ">=", "20"), Compare(NAME, "=", "x")))), "01"),
        (Compare(ColumnId(99), "=", "1"), "0123456789"),
    ):
        assert names(seen.scan_files(table, predicate)) == [f"f{one}" for one in found], predicate
    assert len(seen.scan_files(table)) == 10


def test_ended_files_are_pruned_as_well(metastore: Metastore, catalog: Catalog) -> None:
    table = numbered(catalog, 4)
    files = [one.data_file_id for one in catalog.now().data_files(table)]
    fork = metastore.fork("sales", "fork")
    with fork.transaction() as transaction:
        transaction.truncate(table)
    with catalog.transaction() as transaction:
        transaction.end_data_files(table, transaction.data_files(table)[:2])
    for seen in (catalog.now(), fork.now()):
        wanted = Compare(ID, ">=", "15")
        assert seen.narrowed(table, files, wanted) == set(files[1:])
        assert seen.narrowed(table, files[:2], wanted) == {files[1]}
        assert seen.narrowed(table, [], wanted) == set()
        assert seen.narrowed(table, files, Not(StartsWith(NAME, "a"))) == set(files)


def test_partition_values_replace_unknown_bounds(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        columns = [ColumnSpec("day", "date"), ColumnSpec("at", "timestamp")]
        transaction.create_table("t", [*columns, ColumnSpec("zoned", "timestamptz")])
    table = catalog.now().state.table("t")
    day, at, zoned = (ColumnId(number) for number in (1, 2, 3))
    partitionings = (
        (
            "f",
            [("day", "identity"), ("at", "year"), ("zoned", "year")],
            ("2024-05-05", "2024", "2024"),
        ),
        ("g", [("at", "year"), ("at", "month"), ("day", "year")], ("2023", "7", "2025")),
    )
    for path, keys, values in partitionings:
        with catalog.transaction() as transaction:
            transaction.set_partitioning(table, keys)
        with catalog.transaction() as transaction:
            (one, *_) = transaction.state.partitioning(table)
            new = NewDataFile(path, 1, 1, partition_id=one.partition_id, partition_values=values)
            transaction.add_data_files(table, [new])
    seen = catalog.now()
    for predicate, found in (
        (Compare(day, "=", "2024-05-05"), "f"),
        (Compare(day, "=", "2024-05-06"), ""),
        (Compare(day, ">", "2024-12-31"), "g"),
        (Compare(day, "<=", "2025-01-01"), "fg"),
        (Compare(at, "=", "2023-12-31 23:59:59.5"), "g"),
        (Compare(at, ">=", "2024-01-01 00:00:00"), "f"),
        (Compare(at, "<", "2023-01-01 00:00:00"), "g"),
        (Compare(at, "<", "2022-12-31 23:59:59"), ""),
        (Compare(zoned, "=", "1999-01-01 00:00:00+00"), "fg"),
        (IsNull(day), "fg"),
    ):
        assert names(seen.scan_files(table, predicate)) == list(found), predicate


def test_bounds_from_before_a_promotion_are_compared_as_the_new_type(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        transaction.create_table("t", [ColumnSpec("d", "date"), ColumnSpec("n", "int8")])
    table = catalog.now().state.table("t")
    with catalog.transaction() as transaction:
        days = ColumnBounds(ID, min_value="2024-01-01", max_value="2024-01-02")
        numbers = ColumnBounds(NAME, min_value="1", max_value="2")
        transaction.add_data_files(table, [NewDataFile("a", 1, 1, bounds=(days, numbers))])
    with catalog.transaction() as transaction:
        transaction.set_column_type(table, "d", "timestamp")
        transaction.set_column_type(table, "n", "float64")
    seen = catalog.now()
    for predicate, found in (
        (Compare(ID, ">=", "2024-01-02 00:00:00"), ["a"]),
        (Compare(ID, ">=", "2024-01-02 00:00:01"), []),
        (Compare(ID, "=", "2024-01-01 00:00:00"), ["a"]),
        (Compare(NAME, "<=", "1.0"), ["a"]),
        (Compare(NAME, "<", "0.9"), []),
    ):
        assert names(seen.scan_files(table, predicate)) == found, predicate


def test_a_scanned_file_has_the_paths_of_its_data_and_deletes(catalog: Catalog) -> None:
    table = a_table(catalog, files=["sales/main/t/a", "b"])
    first, second = catalog.now().data_files(table)
    with catalog.transaction() as transaction:
        new = NewDeleteFile(first.data_file_id, "sales/main/t/d", 1, 10)
        transaction.add_delete_files(table, [new])
        transaction.delete_positions(table, second, [7, 3])
    for predicate in (None, Compare(ID, "<", "5")):
        one, other = catalog.now().scan_files(table, predicate)
        assert (one.path, one.delete_path) == ("/lake/sales/main/t/a", "/lake/sales/main/t/d")
        assert one.delete_file is not None
        assert one.delete_file.delete_count == 1
        assert (other.delete_file, other.deleted_positions) == (None, (3, 7))


def test_an_outline_lists_only_files_that_need_special_handling(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent", data_path=BASE)
    table = a_table(parent, files=["old"])
    for name in ("plain", "deleted", "position", "ended"):
        append(parent, table, name)
    with parent.transaction() as transaction:
        mapping = transaction.add_name_mapping(table, [("key", ID)])
        special = [
            NewDataFile("mapped", 10, 100, mapping_id=mapping),
            NewDataFile("partial", 10, 100, partial_file_info="partial_max:1"),
        ]
        transaction.add_data_files(table, special)
    fork = metastore.fork("parent", "fork")
    append(parent, table, "later")
    files = {file.path: file for file in fork.now().data_files(table)}
    with fork.transaction() as transaction:
        new = NewDeleteFile(files["deleted"].data_file_id, "d", 1, 10)
        transaction.add_delete_files(table, [new])
        transaction.delete_positions(table, files["position"], [3])
        transaction.end_data_files(table, [files["ended"]])
    old = files["plain"].begin_snapshot
    for catalog, before, count, found in (
        (parent, 0, 8, ["mapped", "partial"]),
        (parent, old, 8, ["old", "mapped", "partial"]),
        (fork, 0, 6, ["deleted", "position", "mapped", "partial"]),
        (fork, old, 6, ["old", "deleted", "position", "mapped", "partial"]),
    ):
        outline = catalog.now().outline(table, before=SnapshotId(before))
        whole = catalog.now().scan_files(table)
        assert names(list(outline.special)) == found
        assert set(outline.special) <= set(whole)
        assert (outline.count, len(whole)) == (count, count)
        assert outline.size == sum(one.file.file_size_bytes for one in whole)
    empty = a_table(parent, "empty")
    outline = parent.now().outline(empty, before=SnapshotId(0))
    assert (outline.count, outline.size, outline.special) == (0, 0, ())


def test_files_of_an_ancestor_are_below_its_data_path(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent", data_path="/one")
    table = a_table(parent, files=["parent/a"])
    fork = metastore.fork("parent", "fork", data_path="/two")
    append(fork, table, "fork/b")
    nested = metastore.fork("fork", "nested", data_path="/three")
    append(nested, table, "nested/c")
    whole = ["/one/parent/a", "/two/fork/b", "/three/nested/c"]
    assert [one.path for one in nested.now().scan_files(table)] == whole
    metastore.drop_catalog("parent")
    metastore.materialize("nested")
    again = metastore.catalog("nested")
    assert [one.path for one in again.now().scan_files(table)] == whole
    with again.transaction() as transaction:
        assert [one.path for one in transaction.scan_files(table)] == whole


def test_a_fork_writes_below_its_own_folder(metastore: Metastore) -> None:
    parent = metastore.create_catalog("parent", data_path="/one")
    table = a_table(parent)
    fork = metastore.fork("parent", "fork")
    assert parent.table_folder(parent.now().state, table) == "parent/main/t/"
    assert fork.table_folder(fork.now().state, table) == "fork/main/t/"
    assert fork.data_path() == parent.data_path() == "/one/"


def test_a_catalog_without_a_data_path_cannot_have_files(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("sales")
    table = a_table(catalog, files=["a"])
    with pytest.raises(NotFound, match="has no data path"):
        catalog.data_path()
    with pytest.raises(NotFound, match="has no data path"):
        catalog.now().scan_files(table)


def test_dropped_and_renamed_tables_are_scanned_at_old_snapshots(catalog: Catalog) -> None:
    gone, moved = a_table(catalog, "gone", files=["a"]), a_table(catalog, "moved", files=["b"])
    before = catalog.current_snapshot()
    with catalog.transaction() as transaction:
        transaction.drop_table("gone")
        transaction.rename_table("moved", "other")
    past = catalog.at(version=before)
    assert names(past.scan_files(past.state.table("gone"), Compare(ID, "=", "5"))) == ["a"]
    assert names(past.scan_files(past.state.table("moved"))) == ["b"]
    assert names(catalog.now().scan_files(catalog.now().state.table("other"))) == ["b"]
    assert gone.table_id != moved.table_id


class TestTransaction:
    """Scans within a transaction."""

    def test_staged_files_are_found_and_pruned(self, catalog: Catalog) -> None:
        table = a_table(catalog, files=["old"])
        with catalog.transaction() as transaction:
            transaction.insert_rows(table, [{"id": 1}])
            new = [a_file("low", rows=5), a_file("high", low=100, high=200)]
            transaction.add_data_files(table, new)
            low, high = transaction.scan_files(table)[1:]
            assert (low.file.begin_snapshot, low.path) == (UNCOMMITTED, "/lake/low")
            assert low.file.data_file_id < 0
            assert (low.file.row_id_start, high.file.row_id_start) == (10**18 + 1, 10**18 + 6)
            assert names(transaction.scan_files(table, Compare(ID, "=", "150"))) == ["high"]

    def test_staged_files_keep_all_their_properties(self, catalog: Catalog) -> None:
        table = a_table(catalog)
        with catalog.transaction() as transaction:
            transaction.set_partitioning(table, [("id", "identity")])
            mapping = transaction.add_name_mapping(table, [("ID", ID)])
            (key,) = transaction.state.partitioning(table)
            new = NewDataFile(
                "a",
                1,
                1,
                partition_id=key.partition_id,
                partition_values=("1",),
                encryption_key="secret",
                mapping_id=mapping,
                row_ids=False,
            )
            transaction.add_data_files(table, [new])
            (one,) = transaction.scan_files(table)
            assert one.file.partition_id == key.partition_id
            assert (one.file.encryption_key, one.file.row_id_start) == ("secret", None)
            assert one.file.mapping_id == mapping
            assert [row.source_name for row in transaction.name_mapping(mapping)[1]] == ["ID"]
        (one,) = catalog.now().scan_files(table)
        assert one.file.mapping_id is not None
        committed = catalog.now().name_mapping(one.file.mapping_id)
        with catalog.transaction() as transaction:
            assert transaction.name_mapping(one.file.mapping_id) == committed

    def test_staged_deletes_and_ended_files_are_applied(self, catalog: Catalog) -> None:
        table = a_table(catalog, files=["a", "b", "c"])
        with catalog.transaction() as transaction:
            first, second, third = transaction.data_files(table)
            transaction.delete_positions(table, first, [1])
        with catalog.transaction() as transaction:
            transaction.delete_positions(table, first, [4])
            transaction.end_data_files(table, [third])
            (number,) = transaction.add_data_files(table, [a_file("new")])
            transaction.add_delete_files(table, [NewDeleteFile(number, "of_new", 1, 1)])
            transaction.add_delete_files(table, [NewDeleteFile(second.data_file_id, "d", 2, 9)])
            seen = transaction.scan_files(table)
            assert names(seen) == ["a", "b", "new"]
            assert seen[0].deleted_positions == (1, 4)
            assert [one.delete_path for one in seen] == [None, "/lake/d", "/lake/of_new"]
            transaction.add_delete_files(table, [NewDeleteFile(first.data_file_id, "e", 3, 9)])
            one = transaction.scan_files(table)[0]
            assert (one.delete_path, one.deleted_positions) == ("/lake/e", ())
            expected = [(one.path, one.delete_path) for one in transaction.scan_files(table)]
        committed = catalog.now().scan_files(table)
        assert [(one.path, one.delete_path) for one in committed] == expected

    def test_after_a_truncation_only_new_files_are_left(self, catalog: Catalog) -> None:
        table = a_table(catalog, files=["a"])
        with catalog.transaction() as transaction:
            transaction.add_data_files(table, [a_file("lost")])
            transaction.truncate(table)
            assert transaction.scan_files(table) == []
            transaction.add_data_files(table, [a_file("new")])
            assert names(transaction.scan_files(table)) == ["new"]

    def test_files_of_a_new_table_are_found(self, catalog: Catalog) -> None:
        with catalog.transaction() as transaction:
            table = transaction.create_table("n", [ColumnSpec("id", "int64")])
            transaction.add_data_files(table, [a_file("a", low=5)])
            assert names(transaction.scan_files(table, Compare(ID, "=", "3"))) == []
            assert names(transaction.scan_files(table, Compare(ID, "=", "7"))) == ["a"]
