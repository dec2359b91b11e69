"""Operations to interrupt, and what the whole metastore looks like with and without them.

Each operation can be done three times, numbered 1 to 3. Contents say nothing of ids: a metastore
in which an operation was interrupted is compared with one in which nothing ever went wrong.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from forklake import Catalog, ColumnSpec, Metastore, Transaction
from tests.concurrency.writers import TABLE, make_catalog, new_file, table_of
from tests.fix_metastore import Place
from tests.properties.observe import observe

World = dict[str, Any]
TIMES = (1, 2, 3)
Operation = Callable[[Metastore, int], object]


def create(metastore: Metastore, number: int) -> None:
    """A new catalog."""
    metastore.create_catalog(f"new-{number}", data_path="/data", if_not_exists=True)


def commit(metastore: Metastore, number: int) -> None:
    """One transaction on a fork that adds, changes and ends things of every kind."""
    catalog = metastore.catalog("branch")
    with catalog.transaction() as transaction:
        _change_inherited(transaction, number)
        made = transaction.create_table(
            f"made-{number}", [ColumnSpec("id", "bigint")], partition_by=[("id", "identity")]
        )
        transaction.add_data_files(made, [new_file(f"made-{number}.parquet", 5, number)])
        transaction.insert_rows(made, [{"id": number}])
        transaction.create_view(f"view-{number}", f"SELECT {number}")
        transaction.set_option("target_file_size", f"{number}MB")


def _change_inherited(transaction: Transaction, number: int) -> None:
    table = transaction.table(TABLE)
    files = {file.path: file for file in transaction.data_files(table)}
    transaction.end_data_files(table, [files[f"base-{number}.parquet"]])
    transaction.delete_positions(table, files["base-4.parquet"], [number])
    # More than a few rows go to PostgreSQL by another way.
    added = [new_file(f"{number}-{part}.parquet", 7, 1000 * number) for part in range(30)]
    transaction.add_data_files(table, added)
    rows = [row for row in transaction.inlined_rows(table) if row.row_id < 100]
    transaction.delete_rows(table, rows[:1])
    transaction.update_rows(table, [(rows[1], {"name": f"changed by {number}"})])
    transaction.insert_rows(table, [{"id": number, "name": "new"}])
    transaction.set_tag(table, "changed", str(number))
    transaction.add_column(table, ColumnSpec(f"column_{number}", "int", default=str(number)))


def fork(metastore: Metastore, number: int) -> None:
    """Forks that inherit."""
    metastore.fork("branch", f"fork-{number}", if_not_exists=True)


def copy(metastore: Metastore, number: int) -> None:
    """A fork that copies."""
    metastore.fork("branch", f"copy-{number}", mode="copy", if_not_exists=True)


def materialize(metastore: Metastore, number: int) -> None:
    """Cut a fork loose that has forks itself."""
    metastore.materialize(f"loose-{number}")


def drop(metastore: Metastore, number: int) -> None:
    """End a catalog that has forks."""
    metastore.drop_catalog(f"gone-{number}", if_exists=True)


OPERATIONS: dict[str, Operation] = {
    "create": create,
    "commit": commit,
    "fork": fork,
    "copy": copy,
    "materialize": materialize,
    "drop": drop,
}


def prepare(metastore: Metastore) -> None:
    """What the operations find: a catalog, forks of it with changes of their own, and theirs."""
    base = make_catalog(metastore, "base")
    table = table_of(base)
    with base.transaction() as transaction:
        files = [new_file(f"base-{number}.parquet", 10, 10 * number) for number in range(1, 6)]
        transaction.add_data_files(table, files)
        rows = [{"id": number, "name": f"row {number}"} for number in range(8)]
        transaction.insert_rows(table, rows)
        transaction.set_tag(table, "changed", "never")
    loose = [f"loose-{number}" for number in TIMES]
    metastore.fork_many("base", ["branch", *loose, *(f"gone-{number}" for number in TIMES)])
    for number in TIMES:
        for name in (f"loose-{number}", f"gone-{number}"):
            _change_a_little(metastore.catalog(name), 4)
            metastore.fork(name, f"{name}-child")
        _change_a_little(metastore.catalog(f"loose-{number}-child"), 5)


def _change_a_little(catalog: Catalog, place: int) -> None:
    table = table_of(catalog)
    with catalog.transaction() as transaction:
        file = next(
            file for file in transaction.data_files(table) if file.path == f"base-{place}.parquet"
        )
        transaction.end_data_files(table, [file])
        transaction.delete_rows(table, transaction.inlined_rows(table)[:1])
        transaction.add_data_files(table, [new_file(f"{catalog.name}.parquet", 3)])


def world(metastore: Metastore) -> World:
    """All catalogs: their contents, their histories, and whether they depend on others."""
    return {row.catalog_name: _seen(Catalog(metastore, row)) for row in metastore.all_catalogs()}


def _seen(catalog: Catalog) -> dict[str, Any]:
    content = observe(catalog)
    history = [
        sorted(change.kind.value for change in snapshot.changes) for snapshot in catalog.snapshots()
    ]
    return {"content": content, "history": history, "inherits": catalog.inherits}


@cache
def expected(operation: str, times: int) -> World:
    """The world after an operation was done some times, and nothing ever went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place("sqlite", f"ducklake:sqlite:{Path(folder) / 'metastore.db'}")
        with place.open() as metastore:
            prepare(metastore)
            for number in TIMES[:times]:
                OPERATIONS[operation](metastore, number)
            return world(metastore)
