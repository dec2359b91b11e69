"""Change feeds and streams, which must be the same with and without compaction."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from forklake import ColumnSpec, Session
from forklake.maintenance import flush_inlined_data, merge_adjacent_files, rewrite_data_files
from tests.maintenance.witness import (
    current_view,
    head,
    require_unchanged,
    rows_at,
    rows_with_ids,
    sorted_rows,
)
from tests.spark.test_streaming import Stream

COLUMNS = [ColumnSpec("id", "int64"), ColumnSpec("v", "varchar")]
INLINED = 4
STEPS = int(os.environ.get("FORKLAKE_COMPACTIONS", "6"))


def rewrite_all(lake: Session, alias: str) -> object:
    """Rewrite all files with a deleted row."""
    return rewrite_data_files(lake, alias, delete_threshold=0)


COMPACTIONS: tuple[Callable[[Session, str], object], ...] = (
    merge_adjacent_files,
    rewrite_all,
    flush_inlined_data,
)
Change = Callable[[str], object]


@dataclass
class Twin:
    """Two catalogs with the same history, the first of which is compacted occasionally."""

    lake: Session
    compacted: str
    plain: str
    # The snapshots at which both have the same contents.
    moments: list[tuple[int, int]] = field(default_factory=list)

    def do(self, change: Change) -> None:
        for alias in (self.compacted, self.plain):
            change(f"{alias}.main.t")
        self.moments.append((head(self.lake, self.compacted), head(self.lake, self.plain)))

    def fork(self, name: str) -> Twin:
        """Fork both catalogs."""
        new = f"{name}_{self.compacted}", f"{name}_{self.plain}"
        for old, alias in zip((self.compacted, self.plain), new, strict=True):
            self.lake.fork(old, alias, attach_as=alias)
        return Twin(self.lake, *new, list(self.moments))

    def check(self, dice: random.Random) -> None:
        """Check that both show the same at every moment, and the same changes between two."""
        for moment in self.moments:
            one, other = (self._rows(side, moment[side]) for side in (0, 1))
            assert one == other
        chosen = sorted(dice.sample(range(len(self.moments)), 2))
        for first, last in ((0, len(self.moments) - 1), chosen):
            one, other = (self._feed(side, first, last) for side in (0, 1))
            assert one == other, (self.compacted, first, last)

    def _alias(self, side: int) -> str:
        return (self.compacted, self.plain)[side]

    def _number(self, side: int, snapshot: int) -> int:
        return [moment[side] for moment in self.moments].index(snapshot)

    def _rows(self, side: int, version: int) -> list[Any]:
        rows = rows_at(self.lake.attachment(self._alias(side)).catalog.at(version=version))
        return sorted((*row[:-1], self._number(side, row[-1])) for row in rows)

    def _feed(self, side: int, first: int, last: int) -> list[Any]:
        start, end = self.moments[first][side], self.moments[last][side]
        rows = self.lake.table_changes(f"{self._alias(side)}.main.t", start, end)
        return sorted((self._number(side, row[0]), *row[1:]) for row in sorted_rows(rows))


def changes(lake: Session, dice: random.Random) -> Callable[[], Change]:
    """Return a source of random changes of a table of any name."""
    numbers = itertools.count()

    def insert() -> Change:
        rows = [(next(numbers), "new") for _ in range(dice.choice((2, 2, 2 * INLINED)))]
        return lambda name: lake.insert(name, rows)

    def delete() -> Change:
        where = f"id % 7 = {dice.randrange(7)}"
        return lambda name: lake.delete(name, where)

    def update() -> Change:
        where, value = f"id % 5 = {dice.randrange(5)}", f"'v{next(numbers)}'"
        return lambda name: lake.update(name, {"v": value}, where)

    return lambda: dice.choice((insert, insert, delete, update))()  # noqa: PLW0108


def test_feeds_are_the_same_with_and_without_compaction(lake: Session, metadata: str) -> None:
    seed = int(os.environ.get("FORKLAKE_SEED", random.randrange(10**9)))
    print(f"FORKLAKE_SEED={seed}")
    dice = random.Random(seed)
    lake.attach(metadata, "plain", catalog="plain", create_if_not_exists=True)
    for alias in ("lake", "plain"):
        lake.set_option(alias, "data_inlining_row_limit", INLINED)
        lake.create_table(f"{alias}.main.t", COLUMNS)
    parent, change = Twin(lake, "lake", "plain"), changes(lake, dice)
    parent.do(lambda name: lake.insert(name, [(-one, "first") for one in range(2 * INLINED)]))
    twins = [parent]
    for number in range(STEPS):
        twin = dice.choice(twins)
        twin.do(change())
        with require_unchanged(lake, alias=twin.compacted):
            COMPACTIONS[number % 3](lake, twin.compacted)
        if number == STEPS // 2:
            twins.append(parent.fork("fork"))
    for twin in twins:
        twin.check(dice)


def test_streams_skip_compaction(lake: Session, metadata: str) -> None:
    lake.set_option("lake", "data_inlining_row_limit", INLINED)
    lake.create_table("t", COLUMNS)
    start = head(lake) + 1
    lake.insert("t", [(one, "a") for one in range(2 * INLINED)])
    lake.insert("t", [(one, "b") for one in range(10, 12)])
    inserts = Stream(metadata, startingVersion=start)
    feed = Stream(metadata, startingVersion=start, readChangeFeed=True)
    assert (len(inserts.batch()), len(feed.batch())) == (10, 10)
    for compact in COMPACTIONS:
        compact(lake, "lake")
        assert (inserts.batch(), feed.batch()) == ([], [])
    lake.delete("t", "id = 1")
    lake.insert("t", [(12, "c")])
    for compact in COMPACTIONS:
        with require_unchanged(lake):
            compact(lake, "lake")
    assert [row[:3] for row in feed.batch()] == [(1, "a", "delete"), (12, "c", "insert")]
    assert len(Stream(metadata, startingVersion=start, ignoreDeletes=True).batch()) == 11
    assert len(Stream(metadata).batch()) == 10
    whole = Stream(metadata, startingVersion=start, readChangeFeed=True).batch()
    assert [row[:2] for row in whole].count((1, "a")) == 2
    assert rows_with_ids(lake) == rows_at(current_view(lake))
