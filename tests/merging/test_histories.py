"""Random histories on both sides, compared with a plain model of row versions.

In the model each row has a version, which records the versions that it replaced. A merge takes a
version that replaced the other one, and finds a conflict where neither did. How the lake
detects that from snapshots, files and row ids is not part of the model.

`FORKLAKE_MERGES=200` runs more.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from forklake import Session
from forklake.engines.spark.engine import Engine
from forklake.errors import Conflict
from forklake.maintenance import flush_inlined_data, merge_adjacent_files, rewrite_data_files
from forklake.model.requests import Choice
from tests.merging.fix_sides import Sides

HISTORIES = int(os.environ.get("FORKLAKE_MERGES", "2"))
TABLES = {"in_files": 0, "inlined": 1000}
OTHER = {"lake": "fork", "fork": "lake"}
_numbers = count()


@dataclass(frozen=True, eq=False)
class Version:
    """A version of a row; a deleted row has no value."""

    value: str | None
    known: set[Version] = field(default_factory=set)

    def follows(self, other: Version) -> bool:
        """Return whether this version is the other one or a successor of it."""
        return other is self or other in self.known

    def followed_by(self, value: str | None) -> Version:
        """Return the next version."""
        return Version(value, {self, *self.known})


Rows = dict[int, Version]


class Model:
    """The rows of both sides, by table and key."""

    def __init__(self, rows: int) -> None:
        base = {table: {key: Version("base") for key in range(rows)} for table in TABLES}
        self.sides: dict[str, dict[str, Rows]] = {
            side: {table: dict(held) for table, held in base.items()} for side in OTHER
        }

    def put(self, side: str, table: str, keys: list[int], value: str | None) -> None:
        """Change rows, or delete them."""
        rows = self.sides[side][table]
        for key in keys:
            before = rows.get(key)
            rows[key] = before.followed_by(value) if before else Version(value)

    def live(self, side: str, table: str) -> dict[int, str]:
        """Return the live rows."""
        rows = self.sides[side][table]
        return {key: one.value for key, one in rows.items() if one.value is not None}

    def conflicts(self, source: str) -> dict[str, set[int]]:
        """Return the keys whose versions on the two sides are unrelated."""
        found = {
            table: {key for key in rows if self._verdict(source, table, key) == "conflict"}
            for table, rows in self.sides[source].items()
        }
        return {table: keys for table, keys in found.items() if keys}

    def _verdict(self, source: str, table: str, key: int) -> str:
        theirs = self.sides[source][table][key]
        ours = self.sides[OTHER[source]][table].get(key)
        if ours is None or (ours is not theirs and ours in theirs.known):
            return "take"
        if ours.follows(theirs) or (ours.value is None and theirs.value is None):
            return "keep"
        return "conflict"

    def merge(self, source: str, choice: Choice) -> None:
        """Take versions unknown to the other side; resolve conflicts by the choice."""
        for table, rows in self.sides[source].items():
            target = self.sides[OTHER[source]][table]
            for key, theirs in rows.items():
                verdict = self._verdict(source, table, key)
                if verdict == "take" or (verdict == "conflict" and choice == "theirs"):
                    target[key] = theirs
                else:
                    target[key].known.update({theirs, *theirs.known} - {target[key]})


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.sampled_from(list(OTHER)), st.integers(1, 3)),
        st.tuples(st.just("update"), st.sampled_from(list(OTHER)), st.integers(0, 3)),
        st.tuples(st.just("delete"), st.sampled_from(list(OTHER)), st.integers(0, 5)),
        st.tuples(st.just("both"), st.sampled_from(list(OTHER)), st.integers(0, 3)),
        st.tuples(st.just("empty"), st.sampled_from(list(OTHER)), st.just(0)),
        st.tuples(st.just("compact"), st.sampled_from(list(OTHER)), st.just(0)),
        st.tuples(st.just("merge"), st.sampled_from(list(OTHER)), st.integers(0, 1)),
    ),
    min_size=4,
    max_size=10,
)


@pytest.mark.slow
@settings(
    max_examples=HISTORIES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(steps=STEPS)
def test_merges_match_the_model(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]]
) -> None:
    with Session(engine.spark) as session:
        _play(session, tmp_path_factory.mktemp("merges"), steps)


def _play(session: Session, folder: Path, steps: list[tuple[str, str, int]]) -> None:
    data = str(folder / "data")
    uri = f"ducklake:{folder / 'meta.db'}"
    session.attach(uri, "lake", catalog="sales", data_path=data, create_if_not_exists=True)
    session.use("lake")
    sides, model = Sides.of(session, tables=TABLES, rows=6), Model(6)
    keys = count(100)
    for kind, side, number in [*steps, ("merge", "fork", 1), ("merge", "lake", 1)]:
        if kind == "merge":
            _merge(sides, model, side, "theirs" if number else "ours")
        elif kind == "compact":
            rewrite_data_files(session, side, delete_threshold=0.0)
            merge_adjacent_files(session, side)
            flush_inlined_data(session, side)
        else:
            _change(sides, model, (kind, side, number), keys)
        for one in OTHER:
            for table in TABLES:
                assert sides.rows(one, table) == model.live(one, table), (kind, side, number)
    for table in TABLES:
        assert model.live("lake", table) == model.live("fork", table)


def _change(sides: Sides, model: Model, step: tuple[str, str, int], keys: count[int]) -> None:
    kind, side, number = step
    if kind == "both":  # new and changed rows in one snapshot
        with sides.session.transaction():
            _change(sides, model, ("insert", side, 2), keys)
            _change(sides, model, ("update", side, number), keys)
        return
    for table in TABLES:
        value = f"{kind} {next(_numbers)}"
        if kind == "insert":
            chosen = [next(keys) for _ in range(number)]
            sides.insert(side, table, chosen, value)
            model.put(side, table, chosen, value)
            continue
        chosen = [key for key in model.live(side, table) if kind == "empty" or key % 6 == number]
        where = f"k % 6 = {number}"
        if kind == "update":
            sides.session.update(f"{side}.{table}", {"v": f"'{value}'"}, where)
        elif kind == "delete":
            sides.session.delete(f"{side}.{table}", where)
        else:
            sides.session.truncate(f"{side}.{table}")
        model.put(side, table, chosen, value if kind == "update" else None)


def _merge(sides: Sides, model: Model, source: str, choice: Choice) -> None:
    back = source == "lake"
    conflicts = model.conflicts(source)
    if conflicts:
        with pytest.raises(Conflict) as caught:
            sides.merge(back=back)
        found = {one["table"]: one["conflict_count"] for one in caught.value.details["conflicts"]}
        assert found == {f"main.{table}": len(keys) for table, keys in conflicts.items()}
    sides.merge(back=back, on_conflict=choice)
    model.merge(source, choice)
