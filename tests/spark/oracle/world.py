"""A lake and its model, which run scripts of random statements."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pyarrow as pa

from forklake import ColumnSpec, Session
from tests.fix_metastore import Place
from tests.spark.oracle import statements
from tests.spark.oracle.model import KEY, Branch, Column, Oracle, State, comparable
from tests.spark.oracle.statements import POSSIBLE, Scene, Statement, condition
from tests.spark.oracle.values import lake

# Kinds of steps. The first is the one that shrinking prefers; repeated kinds are more likely.
KINDS = (
    *("nothing", "fork", "partition"),
    *("transaction",) * 2,
    *("columns",) * 3,
    *("rows",) * 8,
)
Script = Sequence[str]
_PARTITIONS: tuple[tuple[tuple[str, str], ...], ...] = (
    (("v", "identity"),),
    (("d", "year"),),
    (("ts", "month"), ("i", "identity")),
    (("o", "identity"),),
    (("n", "identity"),),
    (("f", "identity"),),
    (("ts", "day"),),
)
_MOST_FORKS = 2
_MOST_LOOKS_BACK = 6


@dataclass(frozen=True)
class Setting:
    """Options of the lake."""

    inlining_limit: int
    is_partitioned: bool
    seed: int


class _RolledBackOnPurpose(Exception):
    pass


class World:
    """A table in a lake with its forks, and the DuckDB model of each."""

    def __init__(self, session: Session, place: Place, folder: Path, setting: Setting) -> None:
        self.session, self.folder, self.seed = session, folder, setting.seed
        self.oracle = Oracle()
        self.log: list[str] = [str(setting)]
        self._keys = itertools.count(1)
        random = Random(setting.seed)
        session.attach(
            place.uri,
            "main_lake",
            catalog="main_lake",
            metadata_schema=place.metadata_schema,
            data_path=str(folder),
            create_if_not_exists=True,
        )
        session.set_option("main_lake", "data_inlining_row_limit", setting.inlining_limit)
        self.branches = [self._created(random, setting.is_partitioned)]

    def _created(self, random: Random, is_partitioned: bool) -> Branch:
        keys = random.choice(_PARTITIONS) if is_partitioned else ()
        names = {name for name, _ in keys}
        some = [one for one in POSSIBLE if one.name in names or random.random() < 0.55]
        columns = (Column(KEY, "int64"), *(some if len(some) > 1 else POSSIBLE[:3]))
        self.log.append(f"create {columns} partitioned by {keys}")
        self.session.create_table(
            "main_lake.main.t",
            [ColumnSpec(one.name, lake(one.type), default=one.default) for one in columns],
            partition_by=keys,
        )
        state = replace(self.oracle.create(columns), partition_keys=frozenset(names))
        branch = Branch("main_lake", state)
        self._remember(branch, state)
        return branch

    def _remember(self, branch: Branch, state: State) -> None:
        version = self.session.attachment(branch.alias).catalog.current_snapshot()
        branch.now = branch.history[version] = state

    # Steps

    def run(self, script: Script) -> None:
        """Run all steps, check the rows after some of them, and check everything at the end."""
        for number, kind in enumerate(script):
            if kind == "nothing":
                continue
            random = Random(f"{self.seed} {number}")  # independent of the other steps
            branch = random.choice(self.branches)
            getattr(self, f"_{kind}")(branch, random)
            if number % 3 == 2:
                self.check(branch, random)
        for branch in self.branches:
            random = Random(f"{self.seed} {branch.alias}")
            self.check(branch, random)
            looks = random.sample(list(branch.history), min(len(branch.history), _MOST_LOOKS_BACK))
            for version in looks:
                self._compare(branch, branch.history[version], version=version)
        self.check_files()

    def _rows(self, branch: Branch, random: Random) -> None:
        self._commit(branch, random, statements.ROWS)

    def _columns(self, branch: Branch, random: Random) -> None:
        self._commit(branch, random, statements.COLUMNS)

    def _commit(self, branch: Branch, random: Random, kinds: Sequence[object]) -> None:
        state = self._applied(branch, branch.now, random, kinds)
        self._remember(branch, state)

    def _applied(
        self, branch: Branch, state: State, random: Random, kinds: Sequence[object]
    ) -> State:
        """Return the state after a random statement on both sides."""
        scene = Scene(
            state.columns, self.oracle.keys(state), state.partition_keys, self._keys, random
        )
        make = random.choice(kinds)
        statement: Statement | None = make(scene)  # type: ignore[operator]
        if statement is None:
            return state
        self.log.append(f"{branch.alias}: {statement.text}")
        after, expected = self.oracle.after(state, statement.columns, statement.on_duckdb)
        count = statement.on_lake(self.session, self._name(branch))
        assert count == expected, "another number of rows"
        return after

    def _name(self, branch: Branch) -> str:
        return f"{branch.alias}.main.t"

    def _transaction(self, branch: Branch, random: Random) -> None:
        """Run several statements that see each other, and commit or roll back all of them."""
        is_kept = random.random() < 0.6
        self.log.append(f"{branch.alias}: begin")
        state, on_disk = branch.now, self._on_disk()
        before = len(self.session.snapshots(branch.alias))
        with suppress(_RolledBackOnPurpose), self.session.transaction():
            for _ in range(random.randint(2, 4)):
                kinds = statements.COLUMNS if random.random() < 0.25 else statements.ROWS
                state = self._applied(branch, state, random, kinds)
            self._compare(branch, state, is_open=True)
            if not is_kept:
                raise _RolledBackOnPurpose
        self.log.append("commit" if is_kept else "rollback")
        after = len(self.session.snapshots(branch.alias))
        if is_kept:
            assert after <= before + 1, "more than one snapshot"
            self._remember(branch, state)
        else:
            assert after == before, "a snapshot of what was rolled back"
            assert self._on_disk() == on_disk, "files of what was rolled back"

    def _fork(self, branch: Branch, random: Random) -> None:
        if len(self.branches) > _MOST_FORKS:
            return
        alias = f"fork_{len(self.branches)}"
        at = random.choice([None, random.choice(list(branch.history))])
        self.log.append(f"fork {branch.alias} at {at} as {alias}")
        self.session.fork(branch.alias, alias, at=at, attach_as=alias)
        made = branch.forked(alias, max(branch.history) if at is None else at)
        self._remember(made, made.now)
        self.branches.append(made)

    def _partition(self, branch: Branch, random: Random) -> None:
        """Change the partitioning of new files."""
        plain = {one.name: one.type for one in branch.now.columns if isinstance(one.type, str)}
        possible = [keys for keys in _PARTITIONS if all(name in plain for name, _ in keys)]
        keys = random.choice([(), *(one for one in possible if _fits(one, plain))])
        self.log.append(f"{branch.alias}: partition by {keys}")
        self.session.set_partitioning(self._name(branch), keys)
        self._remember(
            branch, replace(branch.now, partition_keys=frozenset(name for name, _ in keys))
        )

    # Checks

    def check(self, branch: Branch, random: Random) -> None:
        """Compare all rows, and those that fulfill a condition."""
        self._compare(branch, branch.now)
        scene = Scene(
            branch.now.columns,
            self.oracle.keys(branch.now),
            branch.now.partition_keys,
            self._keys,
            random,
        )
        self._compare(branch, branch.now, where=condition(scene))

    def _compare(
        self,
        branch: Branch,
        state: State,
        *,
        version: int | None = None,
        where: str | None = None,
        is_open: bool = False,
    ) -> None:
        self.log.append(f"{branch.alias}: look at version {version} where {where}")
        shown = self.session.table(
            self._name(branch), version=version, where=where, virtual=["rowid"]
        )
        assert shown.columns == [*(one.name for one in state.columns), "rowid"]
        found: pa.Table = shown.toArrow()
        ids = dict(zip(found[KEY].to_pylist(), found["rowid"].to_pylist(), strict=True))
        expected = self.oracle.rows(state, where or "true")
        assert comparable(found.drop_columns(["rowid"])) == comparable(expected), "other rows"
        assert len(set(ids.values())) == found.num_rows, "two rows with one id"
        if not is_open:
            moved = {key: (branch.row_ids[key], ids[key]) for key in ids if key in branch.row_ids}
            assert all(old == new for old, new in moved.values()), "rows with other ids"
            branch.row_ids |= ids

    def check_files(self) -> None:
        """Check that the files on disk are exactly those that snapshots refer to."""
        known: set[str] = set()
        for branch in self.branches:
            for version in branch.history:
                catalog = self.session.attachment(branch.alias).catalog
                seen = catalog.at(version=version)
                for file in seen.scan_files(seen.state.table("t")):
                    known |= {file.path, file.delete_path or file.path}
        assert self._on_disk() == known, "unreferenced or missing files"

    def _on_disk(self) -> set[str]:
        return {str(path) for path in self.folder.rglob("*") if path.is_file()}


def _fits(keys: Sequence[tuple[str, str]], types: dict[str, str]) -> bool:
    """Return whether the transforms suit the types of the columns: dropped names are reused."""
    return all(
        transform == "identity" or types[name] in ("date", "timestamp") for name, transform in keys
    )
