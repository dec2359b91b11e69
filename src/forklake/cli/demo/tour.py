"""The acts of the demo, in their order. All numbers in it are measured."""

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
    """One performance, in a folder of its own."""

    def __init__(self, stage: Stage, folder: Path, *, rows: int, forks: int) -> None:
        self.uri = f"ducklake:{folder / 'lake.db'}"
        self._stage = stage
        self._session = stage.session
        self._data = folder / "data"
        self._database = folder / "lake.db"
        self._rows = rows
        self._forks = forks
        self._held: dict[str, Any] = {}  # by the shop, before anybody worked on it
        self._guard = threading.Lock()

    def run(self) -> None:
        """All acts."""
        began = time.perf_counter()
        self._stage.say(
            "Forklake: a lakehouse whose catalogs can be forked in a millisecond.",
            f"Everything is in {self._database.parent}; all numbers are measured.",
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
        """A lake with tables of millions of rows."""
        self._stage.act("1. A lake")
        began = time.perf_counter()
        assert self._session.engine
        self._stage.say(f"Spark is up after {duration(time.perf_counter() - began)}.")
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
        """A fork for each agent; the seconds that each took."""
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
        self._stage.say("  … and so for the others.")
        return took

    def let_agents_work(self) -> list[Work]:
        """All agents at the same time, each in its fork."""
        self._stage.act(f"3. {len(AGENTS)} agents work at once, each in its fork")
        works = work_at_once(self._session, AGENTS, self._tell)
        whole = max(work.ended for work in works) - min(work.began for work in works)
        alone = sum(work.ended - work.began for work in works)
        self._stage.say(
            f"All were done after {duration(whole)}, in which they were at work for"
            f" {duration(alone)} between them."
        )
        return works

    def _tell(self, agent: Agent, text: str, seconds: float) -> None:
        with self._guard:
            self._stage.say(f"{agent.name}, after {duration(seconds)}", shown(text))

    def compare(self, files: dict[str, int]) -> None:
        """What each catalog holds now: the parent, what it held before."""
        self._stage.act("4. Nobody sees what another did")
        self._stage.say(shown(f"{held_by(CATALOG).strip()}\nUNION ALL …  -- and so for each fork"))
        names = [agent.name for agent in AGENTS]
        rows = self._stage.answer(held_by(CATALOG, *names)).to_pylist()
        if self._held not in rows or files != _files(self._data / CATALOG):
            raise Corruption(f"The catalog '{CATALOG}' has changed.", remedy="Please report it.")
        self._stage.say(f"{CATALOG} has the rows, the revenue and the files that it had before.")

    def weigh(self, shared: int, fork_times: dict[str, float], works: list[Work]) -> None:
        """What each fork has cost: in time, and in bytes besides those that all share."""
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
        headings = ("fork", "its agent", "forked in", "rows changed", "bytes added", "bytes shared")
        self._stage.table(headings, rows, numbers=headings[2:])
        copies = shared * (len(works) + 1)
        self._stage.say(
            f"{len(works) + 1} catalogs take {size(shared + added)}; as copies of {CATALOG}"
            f" they would take {size(copies)} and more."
        )

    def travel(self) -> None:
        """Back to before a mishap."""
        self._stage.act("6. The intern looks back")
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
        """Forks by the thousand."""
        self._stage.act(f"7. {number(self._forks)} forks more")
        metastore = self._session.attachment(CATALOG).metastore
        before = self._bytes_of_metastore()
        names = [f"crowd-{index:06d}" for index in range(1, self._forks + 1)]
        began = time.perf_counter()
        metastore.fork_many(CATALOG, names)
        took = time.perf_counter() - began
        each = (self._bytes_of_metastore() - before) / max(1, self._forks)
        self._stage.say(
            f"All at once: {duration(took)}, that is {number(self._forks / took)} forks/s, and"
            f" {size(each)} each in the metastore."
        )
        rows = list(metastore.all_catalogs())
        self._stage.say(*draw_tree(fork_tree(rows, root=None, depth=2, limit=10)))

    def clean_up(self) -> None:
        """Everything but the parent goes, and all files that are not the parent's."""
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
            f"Removed what only they used in {duration(time.perf_counter() - began)}:"
            f" {counted(len(files), 'file')} of {size(freed)}. The {size(before - freed)} of"
            f" {CATALOG} are as they were.",
        )

    def _bytes_of_metastore(self) -> int:
        self._session.attachment(CATALOG).metastore.close()  # which folds SQLite's log into it
        paths = self._database.parent.glob(f"{self._database.name}*")
        return sum(path.stat().st_size for path in paths)


def _files(folder: Path) -> dict[str, int]:
    """The data files in a folder and below, with their sizes."""
    return {str(path): path.stat().st_size for path in folder.rglob("*.parquet")}


def _text(value: object) -> str:
    """A text as SQL has it."""
    return "'" + str(value).replace("'", "''") + "'"
