"""Behavior of MySQL and MariaDB only: locks in a table, length limits, rolled back transactions."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import forklake
from forklake import Metastore
from forklake.errors import Forbidden, InvalidInput, Unavailable
from forklake.store.database import Lock
from forklake.store.deadlock_retry import again_if_undone
from forklake.store.operations import Insert

pytestmark = pytest.mark.mysql


@pytest.fixture
def backend() -> str:
    """Return the only backend of these tests."""
    return "mysql"


def test_every_lock_has_rows_to_lock(metastore: Metastore) -> None:
    with metastore.database.writing() as connection:
        for lock in Lock:
            for number in (0, 31, 12_345):
                assert connection.run(connection.lock(lock, number)) == [[(1,)]]


def test_a_text_that_is_too_long_is_refused_and_changes_nothing(metastore: Metastore) -> None:
    columns = ("catalog_id", "object_id", "begin_snapshot", "key", "value")
    rows = [(0, 1, 1, "k" * length, "v") for length in (512, 513)]
    database = metastore.database
    with pytest.raises(InvalidInput, match="cannot store"), database.writing() as connection:
        connection.commit([Insert("ducklake_tag", columns, rows)])
    with database.reading() as connection:
        assert connection.fetch("SELECT key FROM ducklake_tag WHERE catalog_id = 0") == []


def test_a_value_larger_than_a_packet_is_refused_and_not_retried(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("lake", data_path="/lake")
    before = catalog.current_snapshot()
    with metastore.database.reading() as connection:
        ((largest,),) = connection.fetch("SELECT @@max_allowed_packet")
    with (
        pytest.raises(InvalidInput, match="exceeds max_allowed_packet"),
        catalog.transaction() as transaction,
    ):
        transaction.create_view("v", f"SELECT '{'z' * largest}'")
    assert catalog.current_snapshot() == before
    with catalog.transaction() as transaction:
        transaction.create_view("v", f"SELECT '{'z' * (largest // 2)}'")
    assert catalog.current_snapshot() > before


def test_comparisons_respect_case_and_trailing_spaces(metastore: Metastore) -> None:
    with metastore.database.reading() as connection:
        text = "SELECT :one = :other, :one < :other FROM ducklake_metadata WHERE value = '0.5-dev1'"
        assert connection.fetch(text, one="a", other="a ") == [(0, 1)]
        assert connection.fetch(text, one="a", other="A") == [(0, 0)]
        assert connection.fetch(text.replace("dev1", "dev1 "), one="", other="") == []


def test_a_deadlocked_transaction_is_retried(metastore: Metastore) -> None:
    for name in ("one", "other"):
        metastore.create_catalog(name)
    both_hold = threading.Barrier(2)
    tries: list[int] = []
    text = "SELECT catalog_id FROM ducklake_catalog_head WHERE catalog_id = :catalog FOR UPDATE"

    @again_if_undone
    def lock_both(first: int, second: int) -> None:
        tries.append(first)
        with metastore.database.writing() as connection:
            connection.fetch(text, catalog=first)
            if len(tries) <= 2:
                both_hold.wait(60)
            connection.fetch(text, catalog=second)
            connection.commit()

    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(lock_both, *pair) for pair in ((0, 2), (2, 0))]
        for run in runs:
            run.result(60)
    assert len(tries) == 3


def test_the_error_for_a_refused_connection_hides_the_password(mysql_address: str) -> None:
    server = mysql_address.split(maxsplit=1)[0]
    login = "user=nobody password=sesame"  # language: ok
    with pytest.raises(Forbidden, match="does not allow") as caught:
        forklake.open(f"ducklake:mysql:{server} {login} database=lake")
    assert "sesame" not in f"{caught.value} {caught.value.details}"
    assert not isinstance(caught.value, Unavailable)
