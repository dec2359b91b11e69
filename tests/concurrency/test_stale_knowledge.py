"""Writers with stale caches: the metastore stays consistent, and the writers get conflicts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from forklake import Catalog, ColumnSpec, Metastore, Transaction
from forklake.errors import Conflict, NotFound
from forklake.model.entities import Table
from tests.concurrency.consistency import problems
from tests.concurrency.processes import Start, in_processes
from tests.concurrency.writers import TABLE, append, make_catalog, new_file, table_of
from tests.fix_metastore import Place

shared_backends = pytest.mark.parametrize("backend", ["postgresql", "sqlite", "mysql"])


@pytest.fixture
def catalog(metastore: Metastore) -> Catalog:
    """Return a catalog with a table."""
    return make_catalog(metastore, "base")


# Options: the last value wins


def test_an_option_set_concurrently_is_stored_once(place: Place, catalog: Catalog) -> None:
    first, second = catalog.transaction(), catalog.transaction()
    first.set_option("target_file_size", 1000)
    second.set_option("target_file_size", 2000)
    first.commit()
    second.commit()
    assert catalog.now().state.own_options(0) == {"target_file_size": "2000"}
    assert problems(place) == []


@pytest.mark.parametrize("owner", ["table", "schema"])
def test_an_option_ends_with_its_owner(place: Place, catalog: Catalog, owner: str) -> None:
    with catalog.transaction() as transaction:
        transaction.create_schema("other")
    setting, dropping = catalog.transaction(), catalog.transaction()
    if owner == "table":
        setting.set_option("target_file_size", 1000, table=TABLE)
        dropping.drop_table(TABLE)
    else:
        setting.set_option("target_file_size", 1000, schema="other")
        dropping.drop_schema("other")
    dropping.commit()
    with suppress(Conflict):
        setting.commit()
    assert problems(place) == []


# Dropped tables

CHANGES: dict[str, Callable[[Transaction, Table], object]] = {
    "append": lambda transaction, table: transaction.add_data_files(table, [new_file("late")]),
    "insert": lambda transaction, table: transaction.insert_rows(table, [{}]),
    "truncate": lambda transaction, table: transaction.truncate(table),
    "tag": lambda transaction, table: transaction.set_tag(table, "key", "value"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_table_dropped_in_the_cached_state_cannot_be_changed(
    place: Place, catalog: Catalog, what: str
) -> None:
    table = table_of(catalog)
    with catalog.transaction() as transaction:
        transaction.drop_table(TABLE)
    catalog.refresh()
    with pytest.raises((Conflict, NotFound)), catalog.transaction() as late:
        CHANGES[what](late, table)
    assert problems(place) == []


@pytest.mark.parametrize("what", ["append"])
def test_a_table_dropped_since_the_cached_state_cannot_be_changed(
    place: Place, metastore: Metastore, catalog: Catalog, what: str
) -> None:
    table = table_of(catalog)
    with metastore.catalog("base").transaction() as transaction:
        transaction.drop_table(TABLE)
    with pytest.raises(Conflict), catalog.transaction() as late:
        CHANGES[what](late, table)
    assert problems(place) == []


# Names


def create_table(place: Place, name: str, start: Start) -> str:
    """Create a table, and return the outcome."""
    with place.open() as metastore:
        transaction = metastore.catalog("base").transaction()
        transaction.create_table(name, [ColumnSpec("id", "bigint")])
        start()
        try:
            transaction.commit()
        except Conflict:
            return "conflict"
        return "created"


@shared_backends
def test_exactly_one_of_many_creates_a_table(place: Place, catalog: Catalog) -> None:
    names = ["same" if number % 2 else "Same" for number in range(16)]
    outcomes = in_processes([partial(create_table, place, name) for name in names])
    assert sorted(outcomes) == ["conflict"] * 15 + ["created"]
    assert problems(place) == []


# Tables of inlined rows


def insert_first_row(place: Place, name: str, start: Start) -> int:
    """Insert the first row of a catalog."""
    with place.open() as metastore:
        catalog = metastore.catalog(name)
        table = table_of(catalog)
        start()
        with catalog.transaction() as transaction:
            transaction.insert_rows(table, [{"id": 1, "name": name}])
        return len(catalog.now().inlined_rows(table))


@shared_backends
def test_forks_can_insert_their_first_rows_concurrently(
    place: Place, metastore: Metastore, catalog: Catalog
) -> None:
    append(catalog, table_of(catalog), "base.parquet")
    names = [f"fork-{number}" for number in range(16)]
    metastore.fork_many("base", names)
    assert in_processes([partial(insert_first_row, place, name) for name in names]) == [1] * 16
    for name in names:
        fork = metastore.catalog(name)
        (row,) = fork.now().inlined_rows(table_of(fork))
        assert name in row.values.values()
    assert problems(place) == []
