"""Operations to interrupt, and the expected state of the whole metastore after each.

Each operation can be run three times, numbered 1 to 3. States contain no ids: a metastore with an
interrupted operation is compared with one in which nothing was ever interrupted.
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
    """Create a catalog."""
    metastore.create_catalog(f"new-{number}", data_path="/data", if_not_exists=True)


def commit(metastore: Metastore, number: int) -> None:
    """Commit a transaction on a fork that adds, changes and ends objects of every kind."""
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
    # More than a few rows are sent to PostgreSQL in bulk.
    added = [new_file(f"{number}-{part}.parquet", 7, 1000 * number) for part in range(30)]
    transaction.add_data_files(table, added)
    rows = [row for row in transaction.inlined_rows(table) if row.row_id < 100]
    transaction.delete_rows(table, rows[:1])
    transaction.update_rows(table, [(rows[1], {"name": f"changed by {number}"})])
    transaction.insert_rows(table, [{"id": number, "name": "new"}])
    transaction.set_tag(table, "changed", str(number))
    transaction.add_column(table, ColumnSpec(f"column_{number}", "int", default=str(number)))


def fork(metastore: Metastore, number: int) -> None:
    """Create a fork that inherits."""
    metastore.fork("branch", f"fork-{number}", if_not_exists=True)


def copy(metastore: Metastore, number: int) -> None:
    """Create a fork that copies."""
    metastore.fork("branch", f"copy-{number}", mode="copy", if_not_exists=True)


def materialize(metastore: Metastore, number: int) -> None:
    """Materialize a fork that has forks itself."""
    metastore.materialize(f"loose-{number}")


def drop(metastore: Metastore, number: int) -> None:
    """Drop a catalog that has forks."""
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
    """Create a catalog, forks of it with their own changes, and forks of these."""
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
    """Return the contents, histories and parents of all catalogs."""
    return {row.catalog_name: _seen(Catalog(metastore, row)) for row in metastore.all_catalogs()}


def _seen(catalog: Catalog) -> dict[str, Any]:
    content = observe(catalog)
    history = [
        sorted(change.kind.value for change in snapshot.changes) for snapshot in catalog.snapshots()
    ]
    return {"content": content, "history": history, "inherits": catalog.inherits}


@cache
def expected(operation: str, times: int) -> World:
    """Return the state after an operation was run some times without interruption."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place("sqlite", f"ducklake:sqlite:{Path(folder) / 'metastore.db'}")
        with place.open() as metastore:
            prepare(metastore)
            for number in TIMES[:times]:
                OPERATIONS[operation](metastore, number)
            return world(metastore)
