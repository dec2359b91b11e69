"""The change feed, compared with a model of a table and its fork, and case by case."""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame

from forklake import ColumnSpec, Session, struct
from forklake.catalog.transaction import Transaction
from forklake.engines.spark.engine import Engine
from forklake.errors import InvalidInput, NotFound
from forklake.model.changes import ChangeKind
from forklake.model.files import ROW_ID, SNAPSHOT_ID
from forklake.model.scans import ScanFile
from tests.spark.builders import add_file, delete_rows, insert, rows_of

COLUMNS = [ColumnSpec("id", "int64"), ColumnSpec("v", "varchar")]
STEPS, PAIRS = 7, 3

Change = tuple[int, int, str, int, str]  # snapshot, row id, kind, values


def snapshot(session: Session, alias: str = "lake") -> int:
    """Return the newest snapshot."""
    return session.attachment(alias).catalog.current_snapshot()


def kinds(frame: DataFrame) -> Counter[tuple[Any, ...]]:
    """Return the rows of a feed without snapshots and row ids, with their counts."""
    return Counter(tuple(row)[2:] for row in frame.collect())


# Against a model


@dataclass(frozen=True)
class Row:
    """A row of the model: its values, its first snapshot, and where it is stored."""

    id: int
    v: str
    since: int
    path: str | None = None  # None: in the metastore
    position: int = 0


@dataclass
class World:
    """A catalog with a table `t`, and the rows expected in it.

    Each step is one transaction, in which no row is touched twice.
    """

    session: Session
    alias: str
    dice: random.Random
    numbers: Iterator[int] = field(default_factory=itertools.count)
    rows: dict[int, Row] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    @property
    def table(self) -> str:
        return f"{self.alias}.main.t"

    def fork(self, alias: str) -> World:
        """Fork the catalog together with its model."""
        self.session.fork(self.alias, alias, attach_as=alias)
        return replace(self, alias=alias, rows=dict(self.rows), changes=list(self.changes))

    def step(self) -> None:
        """Run one random transaction."""
        place = self.session.resolve(self.table)
        if self.dice.random() < 0.1:
            self.session.truncate(self.table)
            self._note({}, {}, set(self.rows))
            return
        with self.session.transaction(), self.session.changing(place.attachment) as change:
            step = _Step(self, change.transaction)
            for _ in range(self.dice.randint(1, 3)):
                self.dice.choice([step.insert, step.update, step.delete, step.move])()
            step.apply()
        if change.transaction.committed is not None:
            self._note(step.inserted(), step.updated, step.gone)
            self.rows |= step.moved

    def _note(self, new: dict[int, Row], updated: dict[int, Row], gone: set[int]) -> None:
        now = snapshot(self.session, self.alias)
        for row_id in gone:
            old = self.rows.pop(row_id)
            self.changes.append((now, row_id, "delete", old.id, old.v))
        for row_id, row in updated.items():
            old = self.rows[row_id]
            self.changes.append((now, row_id, "update_preimage", old.id, old.v))
            self.changes.append((now, row_id, "update_postimage", row.id, row.v))
        self.changes += [(now, one, "insert", row.id, row.v) for one, row in new.items()]
        self.rows |= {one: replace(row, since=now) for one, row in (new | updated).items()}

    def between(self, start: int, end: int) -> list[Change]:
        """Return the expected feed."""
        return sorted(change for change in self.changes if start <= change[0] <= end)


class _Step:
    """The random changes of one transaction."""

    def __init__(self, world: World, transaction: Transaction) -> None:
        self.world = world
        self.dice = world.dice
        self.transaction = transaction
        self.table = transaction.state.table("t")
        self.untouched = set(world.rows)
        self.next_row_id = transaction.committed_view().statistics(self.table).next_row_id
        self.gone: set[int] = set()
        self.left_files: set[int] = set()  # rows that moved away from their file
        self.moves: dict[ChangeKind, set[int]] = {
            ChangeKind.MERGED: set(),
            ChangeKind.FLUSHED: set(),
        }
        self.new: list[list[Row]] = []
        self.new_inlined: list[Row] = []
        self.updated: dict[int, Row] = {}
        self.moved: dict[int, Row] = {}

    def _fresh(self) -> Row:
        number = next(self.world.numbers)
        return Row(number, f"v{number}", 0)

    def _take(self, rows: Iterable[int]) -> set[int]:
        chosen = sorted(set(rows) & self.untouched)
        taken = set(self.dice.sample(chosen, min(len(chosen), self.dice.randint(1, 3))))
        self.untouched -= taken
        return taken

    def insert(self) -> None:
        rows = [self._fresh() for _ in range(self.dice.randint(1, 3))]
        if self.dice.random() < 0.5:
            self.new.append(rows)
        else:
            self.new_inlined += rows

    def update(self) -> None:
        taken = self._take(self.world.rows)
        in_file = self.dice.random() < 0.5
        for one in taken:
            row = replace(self._fresh(), path="" if in_file else None)
            self.updated[one] = row

    def delete(self) -> None:
        self.gone |= self._take(self.world.rows)

    def move(self) -> None:
        """Move all untouched rows of a file to another file, or all inlined rows to a file."""
        rows = self.world.rows
        places = sorted({rows[one].path or "" for one in self.untouched})
        if places:
            place = self.dice.choice(places)
            moving = {one for one in self.untouched if (rows[one].path or "") == place}
            self.untouched -= moving
            self.moves[ChangeKind.MERGED if place else ChangeKind.FLUSHED] |= moving

    # Applying the changes

    def apply(self) -> None:
        moving = set().union(*self.moves.values())
        self._leave(self.gone | set(self.updated) | moving, moving)
        for kind, row_ids in self.moves.items():
            for one, row in self._write([(one, self.world.rows[one]) for one in row_ids], kind):
                self.moved[one] = row
        in_files = [(one, row) for one, row in self.updated.items() if row.path is not None]
        self.updated |= dict(self._write(in_files, None))
        inlined = [(one, row) for one, row in self.updated.items() if row.path is None]
        values = [{"id": row.id, "v": row.v} for _, row in inlined]
        values += [{"id": row.id, "v": row.v} for row in self.new_inlined]
        self.transaction.insert_rows(self.table, values, [one for one, _ in inlined])
        self.new = [self._placed(rows, None) for rows in self.new]

    def _write(self, rows: list[tuple[int, Row]], kind: ChangeKind | None) -> list[tuple[int, Row]]:
        """Write rows with their ids; rows that move keep their snapshots."""
        if not rows:
            return []
        extra = {ROW_ID: [one for one, _ in rows]}
        if kind is not None:
            extra[SNAPSHOT_ID] = [row.since for _, row in rows]
        placed = self._placed([row for _, row in rows], extra, kind or ChangeKind.INSERTED)
        return [(one, row) for (one, _), row in zip(rows, placed, strict=True)]

    def _placed(
        self,
        rows: list[Row],
        extra: dict[str, list[int]] | None,
        kind: ChangeKind = ChangeKind.INSERTED,
    ) -> list[Row]:
        values = [{"id": row.id, "v": row.v} for row in rows]
        known = {one.path for one in self.transaction.scan_files(self.table)}
        add_file(
            self.world.session,
            self.world.table,
            values,
            extra=extra,
            kind=kind,
            row_ids=extra is None,
        )
        (path,) = {one.path for one in self.transaction.scan_files(self.table)} - known
        return [replace(row, path=path, position=at) for at, row in enumerate(rows)]

    def _leave(self, leaving: set[int], moving: set[int]) -> None:
        """End rows where they are stored: whole files, positions in files, or inlined rows."""
        rows = self.world.rows
        for one in self.transaction.scan_files(self.table):
            here = {number for number, row in rows.items() if row.path == one.path}
            ending = here & leaving
            if ending and ending == here:
                kind = ChangeKind.MERGED if ending <= moving else ChangeKind.DELETED
                self.transaction.end_data_files(self.table, [one.file], change=kind)
            elif ending:
                self._delete(one, {rows[number].position for number in ending}, here)
        inlined = {row.row_id: row for row in self.transaction.inlined_rows(self.table)}
        self.transaction.delete_rows(
            self.table, [inlined[one] for one in sorted(leaving) if rows[one].path is None]
        )

    def _delete(self, file: ScanFile, positions: set[int], here: set[int]) -> None:
        if self.dice.random() < 0.5:
            self.transaction.delete_positions(self.table, file.file, positions)
            return
        left = {self.world.rows[number].position for number in here} - positions
        every = set(range(file.file.record_count)) - left
        delete_rows(self.world.session, self.world.table, {file.file.data_file_id: sorted(every)})

    def inserted(self) -> dict[int, Row]:
        """New rows by the ids that the commit gave them: files first."""
        rows = [*itertools.chain(*self.new), *self.new_inlined]
        return dict(enumerate(rows, self.next_row_id))


def test_the_feed_matches_a_model_after_random_transactions(lake: Session) -> None:
    seed = int(os.environ.get("FORKLAKE_SEED", random.randrange(10**9)))
    print(f"FORKLAKE_SEED={seed}")
    dice = random.Random(seed)
    lake.create_table("t", COLUMNS)
    parent = World(lake, "lake", dice)
    for _ in range(STEPS):
        parent.step()
    fork = parent.fork("branch")
    for _ in range(STEPS):
        parent.step()
        fork.step()
    last = max(snapshot(lake), snapshot(lake, "branch"))
    for world in (parent, fork):
        pairs = [(0, last)] + [
            sorted(dice.choices(range(3, last + 1), k=2)) for _ in range(PAIRS - 1)
        ]
        for start, end in pairs:
            feed = lake.table_changes(world.table, start, end)
            found = sorted(tuple(row) for row in feed.collect())
            assert found == world.between(start, end), (world.alias, start, end)
        live = lake.table(world.table, virtual=["rowid"]).collect()
        assert {row["rowid"]: (row["id"], row["v"]) for row in live} == {
            one: (row.id, row.v) for one, row in world.rows.items()
        }


# Case by case


@pytest.mark.parametrize("inlined", [0, 100])
def test_several_changes_of_a_row_in_one_transaction_count_once(
    session: Session, metadata: str, inlined: int
) -> None:
    session.attach(
        metadata, "lake", catalog="x", create_if_not_exists=True, data_inlining_row_limit=inlined
    )
    session.use("lake")
    session.create_table("t", COLUMNS)
    spark = session.engine.spark

    def write(*rows: tuple[int, str], mode: str = "append") -> None:
        session.write(spark.createDataFrame(list(rows), "id long, v string"), "t", mode=mode)

    first = snapshot(session) + 1
    write((1, "a"), (2, "b"), (3, "c"))
    with session.transaction():
        session.update("t", {"v": "concat(v, '1')"}, "id = 1")
        session.update("t", {"v": "concat(v, '2')"}, "id = 1")
    with session.transaction():
        session.delete("t", "id = 2")
        write((2, "b"))
    with session.transaction():
        session.update("t", {"v": "'gone'"}, "id = 3")
        session.delete("t", "id = 3")
        write((9, "never"), (8, "seen"))
        session.delete("t", "id >= 9")
    write((7, "all"), mode="overwrite")
    last = snapshot(session)
    with session.transaction():
        write((6, "staged"))
        session.delete("t", "id = 7")
        feed = session.table_changes("t", first, last).collect()
    assert sorted((row[0] - first, *row[2:]) for row in feed) == [
        (0, "insert", 1, "a"),
        (0, "insert", 2, "b"),
        (0, "insert", 3, "c"),
        (1, "update_postimage", 1, "a12"),
        (1, "update_preimage", 1, "a"),
        (2, "delete", 2, "b"),
        (2, "insert", 2, "b"),
        (3, "delete", 3, "c"),
        (3, "insert", 8, "seen"),
        (4, "delete", 1, "a12"),
        (4, "delete", 2, "b"),
        (4, "delete", 8, "seen"),
        (4, "insert", 7, "all"),
    ]
    names = ["snapshot_id", "rowid", "id", "v"]
    came = session.table_insertions("t", first + 1, last - 1)
    went = session.table_deletions("t", first + 1, last - 1)
    assert came.columns == went.columns == names
    within = [row for row in feed if first < row[0] < last]
    for frame, endings in ((came, ("insert", "postimage")), (went, ("delete", "preimage"))):
        expected = [(*row[:2], *row[3:]) for row in within if row[2].endswith(endings)]
        assert rows_of(frame) == sorted(expected, key=repr)


def test_rows_have_the_schema_of_the_end_snapshot(lake: Session) -> None:
    columns = [
        ColumnSpec("id", "int8"),
        ColumnSpec("old", "varchar"),
        ColumnSpec("s", struct(x="int32")),
    ]
    lake.create_table("t", columns)
    created = snapshot(lake)
    number = add_file(lake, "t", [{"id": one, "old": "o", "s": {"x": one}} for one in (1, 2)])
    insert(lake, "t", [{"id": 3, "old": "o", "s": {"x": 3}}])
    delete_rows(lake, "t", {number: [0]})
    early = snapshot(lake)
    lake.set_column_type("t", "id", "float32")
    lake.drop_column("t", "old")
    lake.rename_column("t", "s", "r")
    lake.add_column("t", "n", "int32", default="5")
    lake.add_column("t", "r.y", "int32", default="6")
    lake.rename_table("t", "u")
    add_file(lake, "u", [{"id": 4.5, "s": {"x": 4, "y": 7}, "n": 8}])
    late = snapshot(lake)
    lake.drop_table("u")

    assert kinds(lake.table_changes("t", created, early)) == Counter(
        [
            ("insert", 1, "o", (1,)),
            ("insert", 2, "o", (2,)),
            ("insert", 3, "o", (3,)),
            ("delete", 1, "o", (1,)),
        ]
    )
    feed = lake.table_changes("u", created, late)
    assert feed.columns == ["snapshot_id", "rowid", "change_type", "id", "r", "n"]
    assert kinds(feed) == Counter(
        [
            ("insert", 1.0, (1, 6), 5),
            ("insert", 2.0, (2, 6), 5),
            ("insert", 3.0, (3, 6), 5),
            ("delete", 1.0, (1, 6), 5),
            ("insert", 4.5, (4, 7), 8),
        ]
    )
    with pytest.raises(NotFound, match="does not exist"):
        lake.table_changes("u", created, snapshot(lake))


def test_bounds_are_snapshots_or_times_and_both_are_inclusive(lake: Session) -> None:
    lake.create_table("t", COLUMNS)
    for number in range(3):
        insert(lake, "t", [{"id": number, "v": "x"}])
    taken = {one.snapshot_id: one.snapshot_time for one in lake.snapshots("lake")}
    first, second, third = sorted(taken)[-3:]
    blink = timedelta(microseconds=1)

    def ids(start: Any, end: Any) -> list[int]:
        return sorted(row["id"] for row in lake.table_changes("t", start, end).collect())

    assert ids(second, second) == [1]
    assert ids(taken[first], taken[second]) == [0, 1]
    assert ids(taken[first] + blink, taken[third].isoformat()) == [1, 2]
    assert ids(0, taken[third] - blink) == [0, 1]
    assert ids(taken[third] + blink, datetime.now(UTC)) == []
    lake.create_table("other", COLUMNS)
    assert ids(third + 1, third + 1) == []
    for start, end in ((2, 1), (taken[third], taken[first]), (third + 9, third)):
        with pytest.raises(InvalidInput, match="ends before it starts"):
            lake.table_changes("t", start, end)
    for wrong in (-1, True, "yesterday"):
        with pytest.raises(InvalidInput, match=r"is not a snapshot|cannot be read"):
            lake.table_changes("t", wrong, third)
    with pytest.raises(NotFound, match="No snapshot found at version"):
        lake.table_changes("t", first, third + 99)
    with pytest.raises(NotFound, match="does not exist"):
        lake.table_changes("t", 0, 1)


def test_views_and_columns_with_names_of_the_feed_are_refused(lake: Session) -> None:
    lake.create_table("t", [ColumnSpec("Change_Type", "int32")])
    catalog = lake.attachment("lake").catalog
    with catalog.transaction() as transaction:
        transaction.create_view("v", "SELECT 1")
    now = snapshot(lake)
    with pytest.raises(InvalidInput, match="'Change_Type', which is also"):
        lake.table_insertions("t", 0, now)
    for feed in (lake.table_insertions, lake.table_deletions, lake.table_changes):
        with pytest.raises(NotFound, match="is a view"):
            feed("v", 0, now)


def test_rows_of_several_snapshots_may_be_in_one_file(lake: Session) -> None:
    lake.create_table("t", COLUMNS)
    early = snapshot(lake) + 1
    add_file(
        lake,
        "t",
        [{"id": one, "v": "x"} for one in (1, 2, 3)],
        extra={ROW_ID: [70, 80, 70], SNAPSHOT_ID: [early, early, early + 1]},
        partial_file_info=f"partial_max:{early + 1}",
        row_ids=False,
    )
    add_file(lake, "t", [{"id": 4, "v": "x"}])
    assert kinds(lake.table_changes("t", early, early)) == Counter(
        [("insert", 1, "x"), ("insert", 2, "x")]
    )
    assert kinds(lake.table_changes("t", early + 1, early + 1)) == Counter(
        [("insert", 3, "x"), ("insert", 4, "x")]
    )


def test_deleted_encrypted_rows_are_read_with_their_keys(session: Session, metadata: str) -> None:
    session.attach(
        metadata,
        "lake",
        catalog="x",
        create_if_not_exists=True,
        encrypted=True,
        data_inlining_row_limit=0,
    )
    session.use("lake")
    session.create_table("t", COLUMNS)
    session.write(session.engine.spark.range(4).selectExpr("id", "'x' AS v"), "t")
    for number in (1, 2):
        session.delete("t", f"id = {number}")
    assert kinds(session.table_changes("t", 0, snapshot(session))) == Counter(
        [("insert", one, "x") for one in range(4)] + [("delete", one, "x") for one in (1, 2)]
    )


@pytest.mark.parametrize("native", [True, False])
def test_a_long_history_is_one_query(engine: Engine, lake: Session, native: bool) -> None:
    lake._engine = Engine(engine.base, native=native)
    lake.create_table("t", COLUMNS)
    place, start = lake.resolve("t"), snapshot(lake)
    for step in range(3):
        add_file(lake, "t", [{"id": 10 * step + at, "v": "x"} for at in range(4)])
        with lake.changing(place.attachment) as change:
            table = lake.find_table(change.transaction, place)
            for one in change.transaction.scan_files(table):
                change.transaction.delete_positions(table, one.file, [step])
    lake.truncate("t")
    feed = lake.table_changes("t", start, snapshot(lake))
    assert feed._jdf.queryExecution().executedPlan().toString().count("FileScan") == 2
    places = [(file, at) for file in range(3) for at in range(4)]
    expected = [(2 * file, "insert", 10 * file + at) for file, at in places]
    expected += [
        (2 * at + 1 if file <= at < 3 else 6, "delete", 10 * file + at) for file, at in places
    ]
    found = [(row[0] - start - 1, row[2], row[3]) for row in feed.where("id < 22").collect()]
    assert sorted(found) == sorted(one for one in expected if one[2] < 22)
