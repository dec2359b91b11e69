"""Random histories of a table, whose changes must lead from old to new contents.

Rows are identified by data file and position, or by row id and value in the metastore. The
contents of delete files are remembered here, because the files do not exist.
"""

from __future__ import annotations

import itertools
import os
import random
from typing import Any

import pytest

from forklake import Catalog, Metastore, NewDeleteFile
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.catalog.transaction import Transaction
from forklake.errors import InvalidInput
from forklake.model.changes import ChangeKind
from forklake.model.entities import InlinedRow, Table
from forklake.model.ids import ColumnId
from forklake.model.scans import ScanFile
from tests.behavior.builders import a_file, a_table

Rows = set[tuple[Any, ...]]
STEPS = 8


class History:
    """A catalog and its fork, changed at random."""

    def __init__(self, metastore: Metastore, dice: random.Random) -> None:
        self.metastore = metastore
        self.dice = dice
        self.numbers = itertools.count()
        self.listed: dict[str, set[int]] = {}
        self.catalog = metastore.create_catalog("parent", data_path="/lake")
        self.table = a_table(self.catalog)
        self.changes = [
            self.append,
            self.insert,
            self.update,
            self.remove,
            self.delete,
            self.delete,
            self.end,
            self.replace,
            self.truncate,
        ]

    def step(self, catalog: Catalog) -> None:
        """Commit one to three random changes."""
        with catalog.transaction() as transaction:
            for _ in range(self.dice.randint(1, 3)):
                self.dice.choice(self.changes)(transaction)

    def append(self, transaction: Transaction) -> None:
        transaction.add_data_files(self.table, [a_file(f"f{next(self.numbers)}", rows=5)])

    def insert(self, transaction: Transaction) -> None:
        transaction.insert_rows(self.table, [{"id": next(self.numbers)} for _ in range(2)])

    def _row(self, transaction: Transaction) -> list[InlinedRow]:
        return self.dice.sample(rows := transaction.inlined_rows(self.table), min(1, len(rows)))

    def update(self, transaction: Transaction) -> None:
        changes = [(row, {"id": next(self.numbers)}) for row in self._row(transaction)]
        transaction.update_rows(self.table, changes)

    def remove(self, transaction: Transaction) -> None:
        transaction.delete_rows(self.table, self._row(transaction))

    def _file(self, transaction: Transaction) -> list[ScanFile]:
        files = transaction.scan_files(self.table)
        return self.dice.sample(files, min(1, len(files)))

    def delete(self, transaction: Transaction) -> None:
        for one in self._file(transaction):
            left = sorted(self.left(one))
            gone = set(left[: self.dice.randint(0, 2)])
            if self.dice.random() < 0.5:
                transaction.delete_positions(self.table, one.file, gone)
                continue
            path = f"d{next(self.numbers)}"
            self.listed[f"/lake/{path}"] = gone | (set(range(5)) - set(left))
            new = NewDeleteFile(one.file.data_file_id, path, 5 - len(left) + len(gone), 1)
            transaction.add_delete_files(self.table, [new])

    def end(self, transaction: Transaction) -> None:
        files = [one.file for one in self._file(transaction)]
        transaction.end_data_files(self.table, files)

    def replace(self, transaction: Transaction) -> None:
        files = [one.file for one in self._file(transaction)]
        new = [a_file(f"f{next(self.numbers)}", rows=5) for _ in files]
        transaction.compact(self.table, ChangeKind.MERGED, files=files, data_files=new)

    def truncate(self, transaction: Transaction) -> None:
        if self.dice.random() < 0.3:
            transaction.truncate(self.table)

    # Current rows

    def left(self, one: ScanFile) -> set[int]:
        gone = self.listed.get(one.delete_path or "", set())
        return set(range(one.file.record_count)) - gone - set(one.deleted_positions)

    def in_file(self, one: ScanFile) -> Rows:
        return {(one.file.data_file_id, place) for place in self.left(one)}

    def rows(self, seen: SnapshotReads) -> Rows:
        found = {_key(row) for row in seen.inlined_rows(self.table)}
        return found.union(*(self.in_file(one) for one in seen.scan_files(self.table)))


def _key(row: InlinedRow) -> tuple[Any, ...]:
    return ("inlined", row.row_id, row.values[ColumnId(1)])


def replayed(
    history: History, catalog: Catalog, rows: Rows, start: int, seen: SnapshotReads
) -> Rows:
    """Return the rows after applying the changes from one snapshot to another."""
    changes = catalog.table_changes(seen, history.table, start)
    for at in range(start, seen.snapshot_id + 1):
        for one in changes.added:
            rows |= history.in_file(one) if one.file.begin_snapshot == at else set()
        rows |= {_key(row) for row in changes.inserted_rows if row.begin_snapshot == at}
        for deleted in changes.deleted:
            if deleted.snapshot_id == at:
                kept = history.in_file(deleted.after) if deleted.after else set()
                assert kept <= history.in_file(deleted.before)
                rows -= history.in_file(deleted.before) - kept
        rows -= {_key(row) for ended, row in changes.deleted_rows if ended == at}
    return rows


@pytest.mark.parametrize("mode", ["inherit", "copy"])
def test_changes_transform_one_snapshot_into_another(metastore: Metastore, mode: str) -> None:
    seed = int(os.environ.get("FORKLAKE_SEED", random.randrange(10**9)))
    print(f"FORKLAKE_SEED={seed}")
    history = History(metastore, random.Random(seed))
    first = history.catalog.current_snapshot()
    for _ in range(STEPS):
        history.step(history.catalog)
    fork = metastore.fork("parent", "fork", mode=mode)
    for _ in range(STEPS):
        history.step(history.catalog)
        history.step(fork)
    for catalog in (history.catalog, fork):
        own = [one.snapshot_id for one in catalog.snapshots() if one.snapshot_id >= first]
        for _ in range(6):
            begin, end = sorted(history.dice.sample(own, 2))
            before, seen = catalog.at(version=begin), catalog.at(version=end)
            found = replayed(history, catalog, history.rows(before), begin + 1, seen)
            assert found == history.rows(seen), (catalog.name, begin, end)


def test_changes_mark_rewrites_and_refuse_a_future_start(metastore: Metastore) -> None:
    catalog = metastore.create_catalog("lake", data_path="/lake")
    table: Table = a_table(catalog, files=["a", "b"])
    with catalog.transaction() as transaction:
        files = transaction.data_files(table)
        transaction.compact(table, ChangeKind.MERGED, files=files, data_files=[a_file("c")])
    seen = catalog.now()
    changes = catalog.table_changes(seen, table, 0)
    assert changes.rewrites == {seen.snapshot_id}
    assert not changes.mixed
    assert [one.path for one in changes.added] == ["/lake/a", "/lake/b", "/lake/c"]
    assert [one.before.path for one in changes.deleted] == ["/lake/a", "/lake/b"]
    with catalog.transaction() as transaction:
        files = transaction.data_files(table)
        transaction.compact(table, ChangeKind.REWRITTEN, files=files, data_files=[a_file("d")])
        transaction.insert_rows(table, [{"id": 1}])
    changes = catalog.table_changes(catalog.now(), table, 0)
    assert changes.rewrites == {seen.snapshot_id}
    assert changes.mixed == {seen.snapshot_id + 1}
    with pytest.raises(InvalidInput, match="Changes cannot be read from snapshot"):
        catalog.table_changes(seen, table, seen.snapshot_id + 1)
