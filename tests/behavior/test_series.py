"""Series of transactions, committed together with one snapshot each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forklake import Catalog, ColumnSpec, Metastore, NewDeleteFile
from forklake.catalog.series import Series
from forklake.catalog.transaction import Transaction
from forklake.errors import Conflict
from forklake.model.entities import Table
from forklake.model.ids import SnapshotId
from forklake.model.kinds import TAG
from forklake.model.scans import FoundFile
from forklake.store import commit, phases
from tests.behavior.builders import COLUMNS, a_file, a_table, append, paths

Step = Callable[[Transaction], object]


def _files(transaction: Transaction, *names: str) -> list[Any]:
    found = transaction.data_files(transaction.table("t"))
    return [file for file in found if file.path in names]


def _add(*names: str, low: int = 0) -> Step:
    files = [a_file(name, low=low, high=low + 9) for name in names]
    return lambda transaction: transaction.add_data_files(transaction.table("t"), files)


def _end(*names: str) -> Step:
    return lambda transaction: transaction.end_data_files(
        transaction.table("t"), _files(transaction, *names)
    )


def _delete(name: str, rows: int) -> Step:
    def step(transaction: Transaction) -> None:
        (file,) = _files(transaction, name)
        new = NewDeleteFile(file.data_file_id, f"{name}-{rows}", rows, 5)
        transaction.add_delete_files(transaction.table("t"), [new])

    return step


def _insert(number: int) -> Step:
    row = {"id": number, "name": "x"}
    return lambda transaction: transaction.insert_rows(transaction.table("t"), [row])


# Each changes objects of the series itself or older ones.
STEPS: tuple[Step, ...] = (
    _add("a", "b", low=5),
    _add("c", low=-5),
    _delete("a", 2),
    _delete("p", 1),
    _delete("a", 3),
    _end("b", "p"),
    lambda transaction: transaction.add_column(transaction.table("t"), ColumnSpec("n", "int64")),
    _insert(1),
    _end("a", "c"),
    _insert(2),
    lambda transaction: transaction.truncate(transaction.table("t")),
    _add("d", low=3),
    lambda transaction: transaction.set_tag(transaction.table("t"), "comment", "one"),
    lambda transaction: transaction.set_tag(transaction.table("t"), "comment", "two"),
    lambda transaction: transaction.drop_table("t"),
    lambda transaction: transaction.create_table("t", COLUMNS),
    _add("e"),
)


@pytest.mark.parametrize(("inherits", "rows"), [(False, 1000), (True, 20)])
def test_a_series_equals_its_transactions_run_one_by_one(
    metastore: Metastore, inherits: bool, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit, "MOST_ROWS", rows)
    alone, together = _twins(metastore, inherits=inherits)
    single, joined = [], []
    for step in STEPS:
        with alone.transaction() as transaction:
            step(transaction)
        single.append(_snapshot(transaction))
    with together.series() as series:
        for step in STEPS:
            with series.transaction(message="m") as transaction:
                step(transaction)
            joined.append(_snapshot(transaction))
    assert joined == sorted(set(joined))
    assert _history(alone, single) == _history(together, joined)
    append(together, together.now().state.table("t"), "after")
    assert paths(together, together.now().state.table("t")) == ["after", "e"]


def _twins(metastore: Metastore, *, inherits: bool) -> list[Catalog]:
    """Return two catalogs with the same table, their own or inherited from a common parent."""
    if inherits:
        a_table(metastore.create_catalog("base"), files=("p", "q"))
        return [metastore.fork("base", name) for name in ("alone", "together")]
    found = [metastore.create_catalog(name) for name in ("alone", "together")]
    for catalog in found:
        a_table(catalog, files=("p", "q"))
    return found


def _snapshot(transaction: Transaction) -> int:
    assert transaction.committed is not None
    return transaction.committed.snapshot_id


def _history(catalog: Catalog, snapshots: list[int]) -> list[Any]:
    stated = {one.snapshot_id: one.changes for one in catalog.snapshots()}
    kinds = [sorted(one.kind.value for one in stated[SnapshotId(number)]) for number in snapshots]
    return [*kinds, *(_seen(catalog, number) for number in snapshots)]


def _seen(catalog: Catalog, snapshot: int) -> Any:
    """Return everything visible at a snapshot, except for table and file ids."""
    view = catalog.at(version=snapshot)
    table = view.state.find_relation("t", "main")
    if not isinstance(table, Table):
        return None
    total = view.statistics(table)
    return (
        [field.name for field in view.state.fields(table)],
        sorted(map(_outline, view.found_files(table))),
        [(one.row_id, one.values) for one in view.inlined_rows(table)],
        (total.record_count, total.next_row_id, total.file_size_bytes),
        [(one.min_value, one.max_value) for one in view.column_statistics(table)],
        [one.value for one in view.state.beneath(TAG, table.table_id) if one.key == "comment"],
    )


def _outline(found: FoundFile) -> tuple[str, int]:
    deletes = found.delete_file
    return found.file.path, 0 if deletes is None else deletes.delete_count


def test_an_error_rolls_back_the_whole_series(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("c")
    table = a_table(catalog, files=("a",))
    before = catalog.current_snapshot()
    with pytest.raises(ZeroDivisionError), catalog.series() as series:
        _fail(catalog, series, table)
    assert (catalog.current_snapshot(), paths(catalog, table)) == (before, ["a"])
    append(catalog, table, "c")
    assert paths(catalog, table) == ["a", "c"]


def _fail(catalog: Catalog, series: Series, table: Table) -> None:
    with series.transaction() as transaction:
        transaction.add_data_files(table, [a_file("b")])
    with series.transaction() as transaction:
        assert [one.path for one in transaction.data_files(table)] == ["a", "b"]
        assert paths(catalog, table) == ["a"]  # other transactions do not see it yet
        raise ZeroDivisionError


def test_a_series_conflicts_like_a_single_transaction(
    metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = metastore.create_catalog("c")
    table = a_table(catalog, files=("a",))
    other = metastore.catalog("c")

    def drop(phase: str) -> None:
        monkeypatch.setattr(phases, "observer", None)
        with other.transaction() as transaction:
            transaction.drop_table("t")

    monkeypatch.setattr(phases, "observer", drop)  # just before the lock is acquired
    with (
        pytest.raises(Conflict, match="dropped table"),
        catalog.series() as series,
        series.transaction() as transaction,
    ):
        transaction.add_data_files(table, [a_file("b")])
    assert catalog.now().state.find_relation("t", "main") is None
