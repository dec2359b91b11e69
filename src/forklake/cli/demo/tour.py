"""Acts of the demo, in order. All numbers that it prints are measured."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from forklake.cli.demo.agents import AGENTS, Agent, Work, work_at_once
from forklake.cli.demo.shop import CATALOG, REVENUE, held_by, statements
from forklake.cli.demo.stage import Stage, shown
from forklake.cli.formatting import duration, number
from forklake.cli.tree import draw_tree, fork_tree
from forklake.errors import Corruption
from forklake.model.figures import counted, size


class Tour:
    """One run of the demo in a folder."""

    def __init__(self, stage: Stage, folder: Path, *, rows: int, forks: int) -> None:
        self.uri = f"ducklake:{folder / 'lake.db'}"
        self._stage = stage
        self._session = stage.session
        self._data = folder / "data"
        self._database = folder / "lake.db"
        self._rows = rows
        self._forks = forks
        self._held: dict[str, Any] = {}  # row counts of the shop before the agents worked
        self._guard = threading.Lock()

    def run(self) -> None:
        """Run all acts."""
        began = time.perf_counter()
        self._stage.say(
            "Forklake: a lakehouse whose catalogs can be forked in a millisecond.",
            f"Everything is stored in {self._database.parent}; all numbers are measured.",
        )
        self.make_shop()
        files = _files(self._data)
        fork_times = self.fork_for_agents()
        works = self.let_agents_work()
        self.compare(files)
        self.weigh(sum(files.values()), fork_times, works)
        self.travel()
        self.fork_for_a_crowd()
        self.clean_up()
        self._stage.say(f"\nThe tour took {duration(time.perf_counter() - began)}.")

    def make_shop(self) -> None:
        """Create the lake and its tables."""
        self._stage.act("1. A lake")
        began = time.perf_counter()
        assert self._session.engine
        self._stage.say(f"Spark started in {duration(time.perf_counter() - began)}.")
        self._stage.play(
            f"ATTACH {_text(self.uri)} AS {CATALOG}\n"
            f"  (CATALOG '{CATALOG}', DATA_PATH {_text(self._data)}, CREATE_IF_NOT_EXISTS true)",
            f"USE {CATALOG}",
            *statements(self._rows),
            REVENUE,
        )
        files = _files(self._data)
        total = self._session.execute(held_by(CATALOG)).arrow().to_pylist()[0]
        rows = sum(total[name] for name in ("orders", "customers", "visits"))
        self._held = total
        self._stage.say(
            f"{number(rows)} rows in {counted(len(files), 'file')} of {size(sum(files.values()))}."
        )

    def fork_for_agents(self) -> dict[str, float]:
        """Create and attach a fork for each agent; return the seconds that each fork took."""
        self._stage.act(f"2. {len(AGENTS)} forks of it")
        took = {}
        for agent in AGENTS:
            fork = f"CALL ducklake_fork_catalog('{CATALOG}', '{agent.name}')"
            took[agent.name] = self._stage.time(fork)
        first, *others = (
            f"ATTACH {_text(self.uri)} AS {agent.name} (CATALOG '{agent.name}')" for agent in AGENTS
        )
        self._stage.time(first)
        self._session.execute("; ".join(others))
        self._stage.say("  … and the same for the other agents.")
        return took

    def let_agents_work(self) -> list[Work]:
        """Run all agents at the same time, each in its fork."""
        self._stage.act(f"3. {len(AGENTS)} agents work at once, each in its fork")
        works = work_at_once(self._session, AGENTS, self._tell)
        whole = max(work.ended for work in works) - min(work.began for work in works)
        alone = sum(work.ended - work.began for work in works)
        self._stage.say(
            f"All agents were done after {duration(whole)}; the sum of their working times is"
            f" {duration(alone)}."
        )
        return works

    def _tell(self, agent: Agent, text: str, seconds: float) -> None:
        with self._guard:
            self._stage.say(f"{agent.name}, after {duration(seconds)}", shown(text))

    def compare(self, files: dict[str, int]) -> None:
        """Show the contents of all catalogs, and check that the parent has not changed."""
        self._stage.act("4. Each agent sees only its own changes")
        self._stage.say(shown(f"{held_by(CATALOG).strip()}\nUNION ALL …  -- for every fork"))
        names = [agent.name for agent in AGENTS]
        rows = self._stage.answer(held_by(CATALOG, *names)).to_pylist()
        if self._held not in rows or files != _files(self._data / CATALOG):
            raise Corruption(
                f"The catalog '{CATALOG}' was changed by work in its forks.",
                remedy="Please report this error.",
            )
        self._stage.say(f"{CATALOG} has the same rows, revenue and files as before.")

    def weigh(self, shared: int, fork_times: dict[str, float], works: list[Work]) -> None:
        """Show the cost of each fork: its time, and its bytes in addition to the shared ones."""
        self._stage.act("5. What the forks cost")
        rows, added = [], 0
        for work in works:
            name = work.agent.name
            own = sum(_files(self._data / name).values())
            added += own
            rows.append(
                (
                    *(name, work.agent.task, duration(fork_times[name]), number(work.changed)),
                    *(size(own), size(shared)),
                )
            )
        headings = ("fork", "task", "forked in", "rows changed", "bytes added", "bytes shared")
        self._stage.table(headings, rows, numbers=headings[2:])
        copies = shared * (len(works) + 1)
        self._stage.say(
            f"{len(works) + 1} catalogs take {size(shared + added)}; as copies of {CATALOG}"
            f" they would take at least {size(copies)}."
        )

    def travel(self) -> None:
        """Restore rows that were deleted by mistake from an earlier snapshot."""
        self._stage.act("6. The intern restores the deleted rows")
        self._stage.play("USE intern", "SELECT snapshot_id, changes FROM intern.snapshots()")
        *_, before, _ = self._session.snapshots("intern")
        self._stage.play(
            "SELECT count(*) AS visits FROM visits",
            f"SELECT count(*) AS visits FROM visits AT SNAPSHOT {before.snapshot_id}",
            f"INSERT INTO visits SELECT * FROM visits AT SNAPSHOT {before.snapshot_id}",
            "SELECT count(*) AS visits FROM visits",
            f"USE {CATALOG}",
        )

    def fork_for_a_crowd(self) -> None:
        """Create thousands of forks in one call."""
        self._stage.act(f"7. {number(self._forks)} more forks")
        metastore = self._session.attachment(CATALOG).metastore
        before = self._bytes_of_metastore()
        names = [f"crowd-{index:06d}" for index in range(1, self._forks + 1)]
        began = time.perf_counter()
        metastore.fork_many(CATALOG, names)
        took = time.perf_counter() - began
        each = (self._bytes_of_metastore() - before) / max(1, self._forks)
        self._stage.say(
            f"Created in one call in {duration(took)}: {number(self._forks / took)} forks/s,"
            f" {size(each)} each in the metastore."
        )
        rows = list(metastore.all_catalogs())
        self._stage.say(*draw_tree(fork_tree(rows, root=None, depth=2, limit=10)))

    def clean_up(self) -> None:
        """Drop all catalogs but the parent, and delete the files that only they used."""
        self._stage.act("8. Clean-up")
        for agent in AGENTS:
            self._session.detach(agent.name)
        metastore = self._session.attachment(CATALOG).metastore
        names = [row.catalog_name for row in metastore.all_catalogs()]
        began = time.perf_counter()
        count = metastore.drop_catalogs([name for name in names if name != CATALOG])
        took = time.perf_counter() - began
        self._stage.say(f"Dropped {counted(count, 'fork')} in {duration(took)}.")
        before, began = sum(_files(self._data).values()), time.perf_counter()
        files = metastore.reclaim_dropped(count, cleanup_all=True).files
        freed = before - sum(_files(self._data).values())
        self._stage.say(
            f"Deleted the files that only they used in {duration(time.perf_counter() - began)}:"
            f" {counted(len(files), 'file')} of {size(freed)}. The {size(before - freed)} of"
            f" {CATALOG} are unchanged.",
        )

    def _bytes_of_metastore(self) -> int:
        self._session.attachment(CATALOG).metastore.close()  # checkpoints the log of SQLite
        paths = self._database.parent.glob(f"{self._database.name}*")
        return sum(path.stat().st_size for path in paths)


def _files(folder: Path) -> dict[str, int]:
    """Return the sizes of the data files in a folder and its subfolders, by path."""
    return {str(path): path.stat().st_size for path in folder.rglob("*.parquet")}


def _text(value: object) -> str:
    """Return a value as a string literal of SQL."""
    return "'" + str(value).replace("'", "''") + "'"
