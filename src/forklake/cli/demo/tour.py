"""Acts of the demo, in order. All numbers that it prints are measured."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from forklake.cli.demo.agents import AGENTS, Agent, AgentRun, run_agents
from forklake.cli.demo.console import DemoConsole, highlight_statement
from forklake.cli.demo.shop import CATALOG, REVENUE, build_contents_query, shop_statements
from forklake.cli.formatting import duration, number
from forklake.cli.tree import draw_tree, fork_tree
from forklake.errors import Corruption
from forklake.model.figures import counted, size


class Tour:
    """One run of the demo in a folder."""

    def __init__(self, console: DemoConsole, folder: Path, *, rows: int, forks: int) -> None:
        self.uri = f"ducklake:{folder / 'lake.db'}"
        self._console = console
        self._session = console.session
        self._data = folder / "data"
        self._database = folder / "lake.db"
        self._rows = rows
        self._forks = forks
        self._contents: dict[str, Any] = {}  # row counts of the shop before the agents worked
        self._guard = threading.Lock()

    def run(self) -> None:
        """Run all acts."""
        began = time.perf_counter()
        self._console.print(
            "Forklake: a lakehouse whose catalogs can be forked in a millisecond.",
            f"Everything is stored in {self._database.parent}; all numbers are measured.",
        )
        self.create_shop()
        files = _file_sizes(self._data)
        fork_times = self.fork_for_agents()
        runs = self.run_agents()
        self.compare_catalogs(files)
        self.show_costs(sum(files.values()), fork_times, runs)
        self.restore_deleted_rows()
        self.create_many_forks()
        self.clean_up()
        self._console.print(f"\nThe tour took {duration(time.perf_counter() - began)}.")

    def create_shop(self) -> None:
        """Create the lake and its tables."""
        self._console.print_title("1. A lake")
        began = time.perf_counter()
        assert self._session.engine
        self._console.print(f"Spark started in {duration(time.perf_counter() - began)}.")
        self._console.run_statements(
            f"ATTACH {_quote(self.uri)} AS {CATALOG}\n"
            f"  (CATALOG '{CATALOG}', DATA_PATH {_quote(self._data)}, CREATE_IF_NOT_EXISTS true)",
            f"USE {CATALOG}",
            *shop_statements(self._rows),
            REVENUE,
        )
        files = _file_sizes(self._data)
        total = self._session.execute(build_contents_query(CATALOG)).arrow().to_pylist()[0]
        rows = sum(total[name] for name in ("orders", "customers", "visits"))
        self._contents = total
        self._console.print(
            f"{number(rows)} rows in {counted(len(files), 'file')} of {size(sum(files.values()))}."
        )

    def fork_for_agents(self) -> dict[str, float]:
        """Create and attach a fork for each agent; return the seconds that each fork took."""
        self._console.print_title(f"2. {len(AGENTS)} forks of it")
        took = {}
        for agent in AGENTS:
            fork = f"CALL ducklake_fork_catalog('{CATALOG}', '{agent.name}')"
            took[agent.name] = self._console.time_statement(fork)
        first, *others = (
            f"ATTACH {_quote(self.uri)} AS {agent.name} (CATALOG '{agent.name}')"
            for agent in AGENTS
        )
        self._console.time_statement(first)
        self._session.execute("; ".join(others))
        self._console.print("  … and the same for the other agents.")
        return took

    def run_agents(self) -> list[AgentRun]:
        """Run all agents at the same time, each in its fork."""
        self._console.print_title(f"3. {len(AGENTS)} agents work at once, each in its fork")
        runs = run_agents(self._session, AGENTS, self._print_statement)
        whole = max(run.ended for run in runs) - min(run.began for run in runs)
        alone = sum(run.ended - run.began for run in runs)
        self._console.print(
            f"All agents were done after {duration(whole)}; the sum of their working times is"
            f" {duration(alone)}."
        )
        return runs

    def _print_statement(self, agent: Agent, text: str, seconds: float) -> None:
        with self._guard:
            self._console.print(
                f"{agent.name}, after {duration(seconds)}", highlight_statement(text)
            )

    def compare_catalogs(self, files: dict[str, int]) -> None:
        """Show the contents of all catalogs, and check that the parent has not changed."""
        self._console.print_title("4. Each agent sees only its own changes")
        self._console.print(
            highlight_statement(
                f"{build_contents_query(CATALOG).strip()}\nUNION ALL …  -- for every fork"
            )
        )
        names = [agent.name for agent in AGENTS]
        rows = self._console.run_statement(build_contents_query(CATALOG, *names)).to_pylist()
        if self._contents not in rows or files != _file_sizes(self._data / CATALOG):
            raise Corruption(
                f"The catalog '{CATALOG}' was changed by work in its forks.",
                remedy="Please report this error.",
            )
        self._console.print(f"{CATALOG} has the same rows, revenue and files as before.")

    def show_costs(self, shared: int, fork_times: dict[str, float], runs: list[AgentRun]) -> None:
        """Show the cost of each fork: its time, and its bytes in addition to the shared ones."""
        self._console.print_title("5. What the forks cost")
        rows, added = [], 0
        for run in runs:
            name = run.agent.name
            own = sum(_file_sizes(self._data / name).values())
            added += own
            rows.append(
                (
                    *(name, run.agent.task, duration(fork_times[name]), number(run.changed)),
                    *(size(own), size(shared)),
                )
            )
        headings = ("fork", "task", "forked in", "rows changed", "bytes added", "bytes shared")
        self._console.print_table(headings, rows, numbers=headings[2:])
        copies = shared * (len(runs) + 1)
        self._console.print(
            f"{len(runs) + 1} catalogs take {size(shared + added)}; as copies of {CATALOG}"
            f" they would take at least {size(copies)}."
        )

    def restore_deleted_rows(self) -> None:
        """Restore rows that were deleted by mistake from an earlier snapshot."""
        self._console.print_title("6. The intern restores the deleted rows")
        self._console.run_statements(
            "USE intern", "SELECT snapshot_id, changes FROM intern.snapshots()"
        )
        *_, before, _ = self._session.snapshots("intern")
        self._console.run_statements(
            "SELECT count(*) AS visits FROM visits",
            f"SELECT count(*) AS visits FROM visits AT SNAPSHOT {before.snapshot_id}",
            f"INSERT INTO visits SELECT * FROM visits AT SNAPSHOT {before.snapshot_id}",
            "SELECT count(*) AS visits FROM visits",
            f"USE {CATALOG}",
        )

    def create_many_forks(self) -> None:
        """Create thousands of forks in one call."""
        self._console.print_title(f"7. {number(self._forks)} more forks")
        metastore = self._session.attachment(CATALOG).metastore
        before = self._metastore_size()
        names = [f"crowd-{index:06d}" for index in range(1, self._forks + 1)]
        began = time.perf_counter()
        metastore.fork_many(CATALOG, names)
        took = time.perf_counter() - began
        each = (self._metastore_size() - before) / max(1, self._forks)
        self._console.print(
            f"Created in one call in {duration(took)}: {number(self._forks / took)} forks/s,"
            f" {size(each)} each in the metastore."
        )
        rows = list(metastore.all_catalogs())
        self._console.print(*draw_tree(fork_tree(rows, root=None, depth=2, limit=10)))

    def clean_up(self) -> None:
        """Drop all catalogs but the parent, and delete the files that only they used."""
        self._console.print_title("8. Clean-up")
        for agent in AGENTS:
            self._session.detach(agent.name)
        metastore = self._session.attachment(CATALOG).metastore
        names = [row.catalog_name for row in metastore.all_catalogs()]
        began = time.perf_counter()
        count = metastore.drop_catalogs([name for name in names if name != CATALOG])
        took = time.perf_counter() - began
        self._console.print(f"Dropped {counted(count, 'fork')} in {duration(took)}.")
        before, began = sum(_file_sizes(self._data).values()), time.perf_counter()
        files = metastore.reclaim_dropped(count, cleanup_all=True).files
        freed = before - sum(_file_sizes(self._data).values())
        self._console.print(
            f"Deleted the files that only they used in {duration(time.perf_counter() - began)}:"
            f" {counted(len(files), 'file')} of {size(freed)}. The {size(before - freed)} of"
            f" {CATALOG} are unchanged.",
        )

    def _metastore_size(self) -> int:
        self._session.attachment(CATALOG).metastore.close()  # checkpoints the log of SQLite
        paths = self._database.parent.glob(f"{self._database.name}*")
        return sum(path.stat().st_size for path in paths)


def _file_sizes(folder: Path) -> dict[str, int]:
    """Return the sizes of the data files in a folder and its subfolders, by path."""
    return {str(path): path.stat().st_size for path in folder.rglob("*.parquet")}


def _quote(value: object) -> str:
    """Return a value as a string literal of SQL."""
    return "'" + str(value).replace("'", "''") + "'"
