"""Jobs of writers: appends, counters, and changes of every kind."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Protocol

from forklake import Catalog, ColumnBounds, ColumnSpec, Metastore, NewDataFile, Transaction
from forklake.errors import Conflict
from forklake.model.entities import Table
from forklake.model.ids import ColumnId
from tests.concurrency.processes import Start, for_seconds

TABLE = "events"
COUNTER = "count"


class Opens(Protocol):
    """A place of a metastore, or an opened one."""

    def open(self) -> AbstractContextManager[Metastore]: ...


@dataclass(frozen=True)
class Append:
    """An acknowledged append: its file and snapshot."""

    path: str
    rows: int
    snapshot_id: int


def make_catalog(metastore: Metastore, name: str) -> Catalog:
    """Create a catalog with an empty table."""
    catalog = metastore.create_catalog(name, data_path="/data")
    with catalog.transaction() as transaction:
        columns = [ColumnSpec("id", "bigint"), ColumnSpec("name", "varchar")]
        transaction.create_table(TABLE, columns)
    return catalog


def table_of(catalog: Catalog) -> Table:
    """Return the common table."""
    return catalog.now().state.table(TABLE)


def new_file(path: str, rows: int = 10, start: int = 0) -> NewDataFile:
    """Return a data file with consecutive ids from `start` on."""
    bounds = ColumnBounds(ColumnId(1), 8 * rows, rows, 0, str(start), str(start + rows - 1))
    return NewDataFile(path, rows, 100 * rows, bounds=(bounds,))


def append(catalog: Catalog, table: Table, path: str, rows: int = 10) -> Append:
    """Append one file in a transaction."""
    with catalog.transaction() as transaction:
        transaction.add_data_files(table, [new_file(path, rows)])
    assert transaction.committed is not None
    return Append(path, rows, transaction.committed.snapshot_id)


def append_for(
    place: Opens, catalog_name: str, writer: int, seconds: float, start: Start
) -> list[Append]:
    """Append files, one per commit, until the time is over."""
    with place.open() as metastore:
        catalog = metastore.catalog(catalog_name)
        table = table_of(catalog)
        start()
        return [
            append(catalog, table, f"{writer}-{number}.parquet", 1 + (writer + number) % 7)
            for number in for_seconds(seconds)
        ]


def count_for(place: Opens, catalog_name: str, seconds: float, start: Start) -> int:
    """Increment a tag repeatedly, and return how often that was acknowledged."""
    acknowledged = 0
    with place.open() as metastore:
        catalog = metastore.catalog(catalog_name)
        start()
        for _ in for_seconds(seconds):
            try:
                catalog.run(add_one)
            except Conflict:
                continue  # all attempts conflicted, and nothing was added
            acknowledged += 1
    return acknowledged


def count_times(place: Opens, catalog_name: str, times: int, start: Start) -> int:
    """Increment a tag a number of times, retrying after conflicts."""
    with place.open() as metastore:
        catalog = metastore.catalog(catalog_name)
        start()
        for _ in range(times):
            catalog.run(add_one, attempts=10_000)
    return times


def add_one(transaction: Transaction) -> None:
    """Increment the number in a tag."""
    table = transaction.table(TABLE)
    known = int(transaction.state.tags(table.table_id).get(COUNTER, "0"))
    transaction.set_tag(table, COUNTER, str(known + 1))


def counted(catalog: Catalog) -> int:
    """Return the number in the tag."""
    state = catalog.now().state
    return int(state.tags(state.table(TABLE).table_id).get(COUNTER, "0"))


def change_for(place: Opens, catalog_name: str, writer: int, seconds: float, start: Start) -> int:
    """Commit changes of all kinds, and return how many were acknowledged."""
    acknowledged = 0
    random = Random(writer)
    with place.open() as metastore:
        catalog = metastore.catalog(catalog_name)
        start()
        for number in for_seconds(seconds):
            try:
                catalog.run(partial(change, random=random, name=f"{writer}-{number}"))
            except Conflict:
                continue
            acknowledged += 1
    return acknowledged


def change(transaction: Transaction, random: Random, name: str) -> None:
    """Make one change of a random kind to the table or another object."""
    table = transaction.table(TABLE)
    files = transaction.data_files(table)
    rows = transaction.inlined_rows(table)
    match random.choice(["append", "insert", "delete rows", "delete", "end", "tag", "create"]):
        case "delete rows" if rows:
            transaction.delete_rows(table, random.sample(rows, min(2, len(rows))))
        case "delete" if files:
            file = random.choice(files)
            transaction.delete_positions(table, file, [random.randrange(file.record_count)])
        case "end" if files:
            transaction.end_data_files(table, [random.choice(files)])
        case "tag":
            transaction.set_tag(table, "author", name)
        case "create":
            made = transaction.create_table(f"made-{name}", [ColumnSpec("id", "bigint")])
            transaction.add_data_files(made, [new_file(f"made-{name}.parquet", 3)])
        case "insert":
            rows_to_insert = [{"id": number, "name": name} for number in range(3)]
            transaction.insert_rows(table, rows_to_insert)
        case _:
            transaction.add_data_files(table, [new_file(f"{name}.parquet", 5)])
