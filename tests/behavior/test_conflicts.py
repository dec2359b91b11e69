"""All pairs of two transactions that begin before either commits, on every backend.

Each pair is run on a fork of one prepared catalog. The second to commit must be refused exactly
where the matrix has an X; where both commit, the result must equal running them in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest

from forklake import (
    Catalog,
    ColumnBounds,
    ColumnSpec,
    MacroSpec,
    Metastore,
    NewDataFile,
    NewDeleteFile,
    Transaction,
)
from forklake.errors import Conflict, ForklakeError
from forklake.model.changes import ChangeKind
from forklake.model.entities import DataFile
from forklake.model.ids import ColumnId
from tests.properties.observe import observe

Operation = Callable[[Transaction, str], None]


def _file(path: str) -> NewDataFile:
    bounds = ColumnBounds(ColumnId(1), value_count=10, null_count=0, min_value="1", max_value="9")
    return NewDataFile(path, 10, 100, bounds=(bounds,))


def _found(transaction: Transaction, path: str) -> DataFile:
    table = transaction.table("t")
    return next(file for file in transaction.data_files(table) if file.path == path)


def prepare(metastore: Metastore) -> None:
    """Create the catalog that all pairs start from."""
    catalog = metastore.create_catalog("base")
    with catalog.transaction() as transaction:
        columns = [ColumnSpec("id", "int32"), ColumnSpec("x", "varchar")]
        transaction.create_table("t", columns)
        transaction.create_table("u", columns)
        transaction.create_schema("s")
        transaction.create_view("v", "SELECT 1")
        transaction.create_macro("m", [MacroSpec("1")])
    with catalog.transaction() as transaction:
        table = transaction.table("t")
        transaction.add_data_files(table, [_file("f1"), _file("f2"), _file("f3")])
    with catalog.transaction() as transaction:
        transaction.insert_rows(transaction.table("t"), [{"id": 1}, {"id": 2}])


def insert_file(transaction: Transaction, label: str) -> None:
    transaction.add_data_files(transaction.table("t"), [_file(f"new-{label}")])


def insert_rows(transaction: Transaction, label: str) -> None:
    transaction.insert_rows(transaction.table("t"), [{"id": 7, "x": label}])


def insert_other(transaction: Transaction, label: str) -> None:
    transaction.add_data_files(transaction.table("u"), [_file(f"other-{label}")])


def delete_file_1(transaction: Transaction, label: str) -> None:
    file = _found(transaction, "f1")
    new = NewDeleteFile(file.data_file_id, f"delete-{label}", 5, 10)
    transaction.add_delete_files(transaction.table("t"), [new])


def delete_file_2(transaction: Transaction, label: str) -> None:
    file = _found(transaction, "f2")
    new = NewDeleteFile(file.data_file_id, f"delete-{label}", 5, 10)
    transaction.add_delete_files(transaction.table("t"), [new])


def end_file_1(transaction: Transaction, label: str) -> None:
    transaction.end_data_files(transaction.table("t"), [_found(transaction, "f1")])


def positions_of_1(transaction: Transaction, label: str) -> None:
    transaction.delete_positions(transaction.table("t"), _found(transaction, "f1"), [3])


def delete_row(transaction: Transaction, label: str) -> None:
    table = transaction.table("t")
    transaction.delete_rows(table, transaction.inlined_rows(table)[:1])


def update_row(transaction: Transaction, label: str) -> None:
    table = transaction.table("t")
    row = transaction.inlined_rows(table)[1]
    transaction.update_rows(table, [(row, {"x": label})])


def truncate(transaction: Transaction, label: str) -> None:
    transaction.truncate(transaction.table("t"))


def add_column(transaction: Transaction, label: str) -> None:
    transaction.add_column(transaction.table("t"), ColumnSpec(f"column_{label}", "int32"))


def not_null(transaction: Transaction, label: str) -> None:
    transaction.set_nullable(transaction.table("t"), "id", False)


def comment(transaction: Transaction, label: str) -> None:
    transaction.set_tag(transaction.table("t"), "comment", label)


def set_option(transaction: Transaction, label: str) -> None:
    size = {"a": 1000, "b": 2000}[label]
    transaction.set_option("target_file_size", size, table="t")


def rename(transaction: Transaction, label: str) -> None:
    transaction.rename_table("t", f"t_{label}")


def drop(transaction: Transaction, label: str) -> None:
    transaction.drop_table("t")


def flush(transaction: Transaction, label: str) -> None:
    table = transaction.table("t")
    rows = transaction.inlined_rows(table)
    new = [NewDataFile(f"flushed-{label}", len(rows), 10, row_ids=False)]
    transaction.compact(table, ChangeKind.FLUSHED, rows=rows, data_files=new)


def merge(transaction: Transaction, label: str) -> None:
    old = [_found(transaction, "f1"), _found(transaction, "f2")]
    new = [NewDataFile(f"merged-{label}", 20, 200, row_ids=False)]
    table = transaction.table("t")
    transaction.compact(table, ChangeKind.MERGED, files=old, data_files=new)


def rewrite(transaction: Transaction, label: str) -> None:
    old = [_found(transaction, "f1")]
    new = [NewDataFile(f"rewritten-{label}", 10, 100, row_ids=False)]
    table = transaction.table("t")
    transaction.compact(table, ChangeKind.REWRITTEN, files=old, data_files=new)


def create_table(transaction: Transaction, label: str) -> None:
    transaction.create_table("New", [ColumnSpec("id", "int32")])


def create_view(transaction: Transaction, label: str) -> None:
    transaction.create_view("nEW", "SELECT 2")


def create_in_schema(transaction: Transaction, label: str) -> None:
    transaction.create_table(f"in_{label}", [ColumnSpec("id", "int32")], schema="s")


def create_schema(transaction: Transaction, label: str) -> None:
    transaction.create_schema("fresh")


def rename_schema(transaction: Transaction, label: str) -> None:
    transaction.rename_schema("s", f"s_{label}")


def drop_schema(transaction: Transaction, label: str) -> None:
    transaction.drop_schema("s", cascade=True)


def replace_view(transaction: Transaction, label: str) -> None:
    transaction.create_view("v", f"SELECT '{label}'", or_replace=True)


def drop_view(transaction: Transaction, label: str) -> None:
    transaction.drop_view("v")


def drop_macro(transaction: Transaction, label: str) -> None:
    transaction.drop_macro("m")


def create_macro(transaction: Transaction, label: str) -> None:
    transaction.create_macro("fresh", [MacroSpec("2")])


OPERATIONS: tuple[Operation, ...] = (
    insert_file,
    insert_rows,
    insert_other,
    delete_file_1,
    delete_file_2,
    end_file_1,
    positions_of_1,
    delete_row,
    update_row,
    truncate,
    add_column,
    not_null,
    comment,
    set_option,
    rename,
    drop,
    flush,
    merge,
    rewrite,
    create_table,
    create_view,
    create_in_schema,
    create_schema,
    rename_schema,
    drop_schema,
    replace_view,
    drop_view,
    drop_macro,
    create_macro,
)

# Row: the second to commit. Columns: the first, in the order of the rows. X: the second is refused.
MATRIX = """
insert_file      ..........XXX.XX.............
insert_rows      ..........XXX.XX.............
insert_other     .............................
delete_file_1    XX.X.XX.XXXXX.XX.XX..........
delete_file_2    XX..X...XXXXX.XX.X...........
end_file_1       XX.X.XX.XXXXX.XX.XX..........
positions_of_1   XX.X.XX.XXXXX.XXXXX..........
delete_row       XX.....XXXXXX.XXX............
update_row       XX......XXXXX.XXX............
truncate         XX......X.XXX.XX.............
add_column       ..........XXX.XX.............
not_null         XX......X.XXX.XX.............
comment          ..........XXX.XX.............
set_option       ...............X.............
rename           ..........XXX.XX.............
drop             XX.XXXXXXXXXX.XX.............
flush            ......XXXXXXX.XXX............
merge            ...XXXX..XXXX.XX.XX..........
rewrite          ...X.XX..XXXX.XX.XX..........
create_table     ...................XX........
create_view      ...................XX........
create_in_schema .......................XX....
create_schema    ......................X......
rename_schema    .......................XX....
drop_schema      .....................X.XX....
replace_view     .........................XX..
drop_view        .........................XX..
drop_macro       ...........................X.
create_macro     ............................X
"""


def expected() -> Iterator[tuple[Operation, Operation, bool]]:
    """Yield each pair (first, second), and whether the second is refused."""
    lines = [line.split() for line in MATRIX.strip().splitlines()]
    assert [line[0] for line in lines] == [operation.__name__ for operation in OPERATIONS]
    for line, second in zip(lines, OPERATIONS, strict=True):
        for mark, first in zip(line[1], OPERATIONS, strict=True):
            yield first, second, mark == "X"


def run_together(catalog: Catalog, first: Operation, second: Operation) -> bool:
    """Stage both, then commit both, and return whether the second was refused."""
    one, other = catalog.transaction(), catalog.transaction()
    first(one, "a")
    second(other, "b")
    one.commit()
    try:
        other.commit()
    except Conflict:
        return True
    return False


def run_in_turn(catalog: Catalog, *steps: tuple[Operation, str]) -> bool:
    """Run operations one after the other, and return False if a later one has no target."""
    for operation, label in steps:
        try:
            with catalog.transaction() as transaction:
                operation(transaction, label)
        except (ForklakeError, StopIteration, IndexError):
            return False
    return True


class Arena:
    """Forks of the prepared catalog, one for each pair."""

    def __init__(self, metastore: Metastore, mode: str) -> None:
        self._metastore = metastore
        self._mode = mode
        self._count = 0
        self._alone: dict[Operation, dict[str, Any]] = {}

    def fork(self) -> Catalog:
        """Return a new fork."""
        self._count += 1
        return self._metastore.fork("base", f"{self._mode}-{self._count}", mode=self._mode)

    def in_turn(self, *steps: tuple[Operation, str]) -> dict[str, Any] | None:
        """Return the state after running the steps in turn, or None if that is impossible."""
        catalog = self.fork()
        return observe(catalog) if run_in_turn(catalog, *steps) else None

    def alone(self, operation: Operation) -> dict[str, Any]:
        """Return the state after running one operation alone."""
        if operation not in self._alone:
            seen = self.in_turn((operation, "a"))
            assert seen is not None
            self._alone[operation] = seen
        return self._alone[operation]


def outcome(arena: Arena, first: Operation, second: Operation) -> bool:
    """Return whether the second is refused; fail if both commit and the result is not serial."""
    catalog = arena.fork()
    was_refused = run_together(catalog, first, second)
    result = observe(catalog)
    if was_refused:
        assert result == arena.alone(first), "the refused transaction left something behind"
        return True
    one, other = (first, "a"), (second, "b")
    assert result == arena.in_turn(one, other) or result == arena.in_turn(other, one), (
        f"{first.__name__} and {second.__name__}"
    )
    return False


# Only every nth pair runs on slower backends, which share the code above them.
SAMPLED = {"duckdb": 41, "mysql": 7}


@pytest.mark.slow
def test_pairs_conflict_exactly_where_the_matrix_says(metastore: Metastore, backend: str) -> None:
    prepare(metastore)
    modes = ("inherit", "copy") if backend == "sqlite" else ("inherit",)
    wrong = []
    for mode in modes:
        arena = Arena(metastore, mode)
        for number, (first, second, is_refused) in enumerate(expected()):
            if number % SAMPLED.get(backend, 1):
                continue
            if outcome(arena, first, second) != is_refused:
                wrong.append((mode, first.__name__, second.__name__))
    assert wrong == []


def print_matrix(metastore: Metastore) -> None:
    """Print the matrix of the actual outcomes, for use after changes of the rules."""
    prepare(metastore)
    arena = Arena(metastore, "inherit")
    for second in OPERATIONS:
        marks = ["X" if outcome(arena, first, second) else "." for first in OPERATIONS]
        print(f"{second.__name__:<17}{''.join(marks)}")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *product((delete_file_1, positions_of_1, end_file_1), (merge, rewrite)),
        (merge, delete_file_1),
        (rewrite, positions_of_1),
        (delete_file_1, positions_of_1),
    ],
    ids=lambda operation: operation.__name__,
)
def test_no_delete_is_lost_to_compaction_or_another_delete(
    metastore: Metastore, first: Operation, second: Operation
) -> None:
    prepare(metastore)
    assert outcome(Arena(metastore, "inherit"), first, second)


def test_a_table_dropped_and_renamed_concurrently_is_either_gone_or_renamed(
    metastore: Metastore,
) -> None:
    prepare(metastore)
    arena = Arena(metastore, "inherit")
    assert outcome(arena, drop, rename)
    assert outcome(arena, rename, drop)
