"""Transactions over many tables, alone and with concurrent writers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from forklake import ColumnSpec, Session
from forklake.errors import Conflict, Forbidden, InvalidInput, NotFound
from forklake.session.changing.merge_into import when_matched, when_not_matched
from forklake.session.insert import insert_rows
from tests.fix_metastore import Place

COLUMNS = [ColumnSpec("id", "int64"), ColumnSpec("v", "varchar")]


@pytest.fixture
def shop(session: Session, place: Place, tmp_path: Path) -> Session:
    """Return a lake with two tables, each with three rows in a file."""
    session.attach(
        place.uri,
        "lake",
        catalog="shop",
        metadata_schema=place.metadata_schema,
        data_path=str(tmp_path / "data"),
        create_if_not_exists=True,
    )
    session.use("lake")
    session.set_option("lake", "data_inlining_row_limit", 0)
    for name in ("orders", "items"):
        session.create_table(name, COLUMNS)
        insert_rows(session, name, [(one, name) for one in (1, 2, 3)])
    return session


def ids(session: Session, name: str) -> list[int]:
    """Return the ids of all rows."""
    return sorted(row["id"] for row in session.table(name).collect())


def snapshot(session: Session) -> int:
    """Return the newest snapshot."""
    return session.attachment("lake").catalog.current_snapshot()


def on_disk(session: Session) -> set[str]:
    """Return the names of all files."""
    root = Path(session.attachment("lake").data_path)
    return {path.name for path in root.rglob("*") if path.is_file()}


def _many_changes(session: Session) -> None:
    """Run every kind of statement on old and new tables."""
    spark = session.engine.spark
    session.create_table("notes", COLUMNS)
    insert_rows(session, "notes", [(7, "x"), (8, "y")])
    session.write(spark.sql("SELECT id, 'w' FROM range(10, 13)"), "orders")
    session.delete("orders", "id IN (1, 10)")
    session.update("items", {"v": "concat(v, '!')"}, "id = 2")
    session.add_column("items", "price", "decimal(9,2)", default="1.50")
    session.merge(
        "items",
        session.table("orders"),
        "target.id = source.id",
        [
            when_matched("target.id = 3").delete(),
            when_not_matched().insert({"id": "source.id", "v": "source.v"}),
        ],
    )
    session.write(session.table("notes"), "orders")


def _require_all_changes(session: Session) -> None:
    assert ids(session, "notes") == [7, 8]
    assert ids(session, "orders") == [2, 3, 7, 8, 11, 12]
    rows = sorted(tuple(map(str, row)) for row in session.table("items").collect())
    assert rows == [
        ("1", "items", "1.50"),
        ("11", "w", "1.50"),
        ("12", "w", "1.50"),
        ("2", "items!", "1.50"),
    ]


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_changes_of_many_tables_are_visible_inside_and_become_one_snapshot(shop: Session) -> None:
    before, files = snapshot(shop), on_disk(shop)
    with shop.cursor() as other:
        shop.begin()
        _many_changes(shop)
        _require_all_changes(shop)
        assert ids(other, "orders") == ids(other, "items") == [1, 2, 3]
        with pytest.raises(NotFound):
            other.table("notes")
        shop.rollback()
        assert (snapshot(shop), on_disk(shop)) == (before, files)
        assert ids(shop, "orders") == ids(shop, "items") == [1, 2, 3]
        with shop.transaction():
            _many_changes(shop)
        assert snapshot(shop) == before + 1
        _require_all_changes(shop)
        _require_all_changes(other)


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_many_concurrent_appends_never_fail(shop: Session) -> None:
    writers, times = 3, 3
    barrier = threading.Barrier(writers)
    failures: list[BaseException] = []

    def append(number: int) -> None:
        try:
            with shop.cursor() as session:
                for turn in range(times):
                    start = 100 * number + 10 * turn
                    with session.transaction():
                        insert_rows(session, "orders", [(start, "a"), (start + 1, "a")])
                        made = session.engine.spark.range(start + 2, start + 5)
                        session.write(made.selectExpr("id", "'b'"), "orders")
                        barrier.wait(120)  # all have begun before any commits
        except BaseException as error:
            failures.append(error)
            barrier.abort()
            raise

    threads = [threading.Thread(target=append, args=(number + 1,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    starts = [100 * (number + 1) + 10 * turn for number in range(writers) for turn in range(times)]
    assert ids(shop, "orders") == [1, 2, 3, *(start + one for start in starts for one in range(5))]
    rows = shop.table("orders", virtual=["rowid"]).collect()
    assert sorted(row["rowid"] for row in rows) == list(range(len(rows)))


Change = Callable[[Session], object]
_CONFLICTS: list[tuple[Change, Change]] = [
    (lambda one: one.delete("orders", "id = 1"), lambda one: one.delete("orders", "id = 2")),
    (lambda one: one.delete("orders", "id = 1"), lambda one: one.truncate("orders")),
    (
        lambda one: one.update("orders", {"v": "'a'"}, "id = 1"),
        lambda one: one.update("orders", {"v": "'b'"}, "id = 1"),
    ),
    (
        lambda one: one.update("orders", {"v": "'a'"}, "id = 1"),
        lambda one: one.add_column("orders", "w", "int32"),
    ),
    (lambda one: insert_rows(one, "orders", [(9, "x")]), lambda one: one.drop_table("orders")),
]


@pytest.mark.parametrize("backend", ["sqlite"])
def test_the_second_of_two_conflicting_transactions_fails_and_leaves_no_file(shop: Session) -> None:
    with shop.cursor() as other:
        for mine, theirs in _CONFLICTS:
            if shop.viewing(shop.attachment("lake")).state.find_relation("orders", "main"):
                shop.drop_table("orders")
            shop.create_table("orders", COLUMNS)
            insert_rows(shop, "orders", [(one, "x") for one in (1, 2, 3)])
            files = on_disk(shop)
            shop.begin()
            mine(shop)
            my_files = on_disk(shop) - files
            theirs(other)
            with pytest.raises(Conflict, match="concurrent commit"):
                shop.commit()
            assert my_files
            assert not shop.in_transaction
            assert not on_disk(shop) & my_files
        # Changes of different tables, and appends to a table with deletes, do not conflict.
        shop.create_table("orders", COLUMNS)
        insert_rows(shop, "orders", [(one, "x") for one in (1, 2, 3)])
        with shop.transaction():
            insert_rows(shop, "orders", [(4, "new")])
            shop.delete("items", "id = 1")
            other.delete("orders", "id = 2")
    assert (ids(shop, "orders"), ids(shop, "items")) == ([1, 3, 4], [2, 3])


@pytest.mark.parametrize("backend", ["sqlite"])
def test_reads_in_a_transaction_are_repeatable(shop: Session) -> None:
    with shop.cursor() as other:
        shop.begin()
        held = shop.table("orders")
        assert ids(shop, "items") == [1, 2, 3]
        other.delete("orders", "id = 1")
        insert_rows(other, "orders", [(5, "x")])
        assert ids(shop, "orders") == [1, 2, 3]
        shop.commit()
        assert ids(shop, "orders") == [2, 3, 5]
        assert sorted(row["id"] for row in held.collect()) == [1, 2, 3]


@pytest.mark.parametrize("backend", ["sqlite"])
def test_a_catalog_attached_read_only_is_not_changed(shop: Session, place: Place) -> None:
    shop.attach(place.uri, "fixed", catalog="shop", read_only=True)
    before, files = snapshot(shop), on_disk(shop)
    rows = shop.engine.spark.sql("SELECT 1L AS id, 'x' AS v")
    changes: list[Change] = [
        lambda one: one.write(rows, "fixed.main.orders"),
        lambda one: insert_rows(one, "fixed.main.orders", [(1, "x")]),
        lambda one: one.delete("fixed.main.orders", "id = 1"),
        lambda one: one.update("fixed.main.orders", {"v": "'a'"}),
        lambda one: one.merge("fixed.main.orders", rows, "true", [when_not_matched().insert()]),
        lambda one: one.truncate("fixed.main.orders"),
        lambda one: one.create_table("fixed.main.new", COLUMNS),
        lambda one: one.add_column("fixed.main.orders", "w", "int32"),
        lambda one: one.drop_table("fixed.main.orders"),
    ]
    for change in changes:
        with pytest.raises(Forbidden, match="fixed"):
            change(shop)
    assert ids(shop, "fixed.main.orders") == [1, 2, 3]
    assert (snapshot(shop), on_disk(shop)) == (before, files)


@pytest.mark.parametrize("backend", ["sqlite"])
def test_a_failed_statement_aborts_its_transaction(shop: Session) -> None:
    before, files = snapshot(shop), on_disk(shop)
    failures: list[Change] = [
        lambda one: one.update("orders", {"id": "1 / (id - 3)"}),
        lambda one: insert_rows(one, "orders", [("no number", "x")]),
        lambda one: one.delete("orders", "nosuch = 1"),
        lambda one: one.write(one.engine.spark.sql("SELECT 'x', 'y'"), "orders"),
    ]
    for failing in failures:
        shop.begin()
        shop.update("items", {"v": "'changed'"}, "id = 1")
        with pytest.raises(InvalidInput):
            failing(shop)
        with pytest.raises(InvalidInput, match="statement of this transaction failed"):
            insert_rows(shop, "items", [(9, "x")])
        with pytest.raises(InvalidInput, match="rolled back"):
            shop.commit()
        assert (snapshot(shop), on_disk(shop)) == (before, files)
    assert ids(shop, "items") == [1, 2, 3]


@pytest.mark.parametrize("backend", ["sqlite"])
def test_files_written_and_deleted_in_one_transaction_are_removed(shop: Session) -> None:
    files = on_disk(shop)
    with shop.transaction():
        insert_rows(shop, "orders", [(4, "x"), (5, "x")])
        insert_rows(shop, "items", [(4, "x")])
        shop.delete("orders", "id = 1")
        shop.delete("orders", "id = 2")  # its delete file replaces the first one
        shop.delete("orders", "id IN (4, 5)")
        shop.truncate("items")
    view = shop.viewing(shop.attachment("lake"))
    (left,) = view.scan_files(view.state.table("orders"))
    assert left.delete_path is not None
    assert on_disk(shop) - files == {Path(left.delete_path).name}
    assert (ids(shop, "orders"), ids(shop, "items")) == ([3], [])
