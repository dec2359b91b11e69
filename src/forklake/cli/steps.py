"""The steps of the demo: each does something with forks, and says what it took."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import forklake
from forklake import Catalog, ColumnSpec, Metastore
from forklake.cli.formatting import counted, duration, number, size
from forklake.cli.output import Output, heading, table
from forklake.cli.sample import commit_in_parallel, contents, create_shop
from forklake.cli.tree import draw_tree, fork_tree

_ONE_BY_ONE = 25
_COMMITS_TO_A_FORK = 5


class Steps:
    """The steps of the demo, in their order; each says what it did and what it took."""

    def __init__(self, folder: Path, output: Output) -> None:
        self.folder = folder
        self.uri = f"ducklake:{folder / 'forklake.db'}"
        self.metastore: Metastore = forklake.open(self.uri, create=True)
        self._output = output

    def say(self, *lines: str) -> None:
        """Lines of text."""
        self._output.draw(lines)

    def heading(self, text: str) -> None:
        """The title of a step."""
        self._output.draw([heading(text)])

    def bytes_on_disk(self) -> int:
        """The size of the metastore; closing it first folds SQLite's write-ahead log into it."""
        self.metastore.close()
        return sum(path.stat().st_size for path in self.folder.iterdir())

    def create(self, files: int) -> None:
        """A catalog with so many data files."""
        self.heading("1. A catalog to fork")
        began = time.perf_counter()
        sales = create_shop(self.metastore, "sales", files)
        took = time.perf_counter() - began
        self.show_contents(sales)
        self.say(
            f"{counted(files, 'data file')} of made-up metadata, committed in {duration(took)};"
            f" the metastore takes {size(self.bytes_on_disk())}."
        )

    def fork(self, count: int) -> list[str]:
        """So many forks; their names."""
        self.heading(f"2. {number(count)} forks of it")
        before = self.bytes_on_disk()
        names = [f"agent-{index:06d}" for index in range(1, count + 1)]
        began = time.perf_counter()
        self.metastore.fork_many("sales", names)
        took = time.perf_counter() - began
        each = (self.bytes_on_disk() - before) / count
        self.say(
            f"All at once: {duration(took)}, that is {number(count / took)} forks/s."
            f" A fork takes {number(each)} bytes: no row of its parent is copied."
        )
        times = []
        for index in range(1, _ONE_BY_ONE + 1):
            began = time.perf_counter()
            self.metastore.fork("sales", f"single-{index:02d}")
            times.append(time.perf_counter() - began)
        self.say(
            f"One by one, each synced to disk: {duration(statistics.median(times))} a fork"
            f" (median of {_ONE_BY_ONE})."
        )
        return names

    def commit(self, forks: list[str], processes: int) -> None:
        """New files in every fork."""
        self.heading("3. Commits to many forks at the same time")
        commits, seconds = commit_in_parallel(
            self.uri, forks, commits=_COMMITS_TO_A_FORK, processes=processes
        )
        self.say(
            f"{counted(processes, 'process', 'processes')}, {counted(len(forks), 'fork')},"
            f" {counted(commits, 'commit')} in {duration(seconds)}: {number(commits / seconds)}"
            " commits/s, each synced to disk."
        )

    def isolate(self, forks: list[str]) -> None:
        """Changes that only the fork itself sees."""
        self.heading("4. Every fork is on its own")
        added, changed, emptied = (self.metastore.catalog(name) for name in forks[:3])
        with changed.transaction(author="demo", message="an experiment") as transaction:
            orders = transaction.table("orders")
            transaction.add_column(orders, ColumnSpec("discount", "decimal(12,2)", default="0"))
            transaction.create_table("refunds", [ColumnSpec("order_id", "bigint")])
        with emptied.transaction(author="demo", message="a mishap") as transaction:
            transaction.truncate(transaction.table("orders"))
            transaction.drop_table("visits")
        untouched = self.metastore.catalog("single-01")
        self.show_contents(self.metastore.catalog("sales"), untouched, added, changed, emptied)
        self.say(
            f"{added.name} has {counted(_COMMITS_TO_A_FORK, 'new file')}, {changed.name} a new"
            f" column and table, {emptied.name} lost its orders and visits;"
            " sales and its other forks see nothing of it."
        )

    def look_back(self, name: str) -> None:
        """The past of a fork, and a fork of it."""
        self.heading("5. Looking back, and a fork of the past")
        catalog = self.metastore.catalog(name)
        *_, before, mishap = catalog.snapshots()
        self.metastore.fork(name, "rescued", at=before.snapshot_id)
        self.show_contents(catalog, self.metastore.catalog("rescued"))
        seen = catalog.at(version=before.snapshot_id)
        files = len(seen.data_files(seen.state.table("orders")))
        self.say(
            f"{name} lost its orders in snapshot {mishap.snapshot_id} ({mishap.commit_message})."
            f" At snapshot {before.snapshot_id} it had {counted(files, 'file')} of them, and"
            " 'rescued', forked there, has them still."
        )

    def drop(self, names: list[str]) -> None:
        """Many forks less."""
        self.heading("6. Forks are cheap to drop, too")
        began = time.perf_counter()
        count = self.metastore.drop_catalogs(names)
        took = time.perf_counter() - began
        left = self.metastore.count()
        self.say(f"Dropped {counted(count, 'fork')} in {duration(took)}; {number(left)} are left.")

    def draw_tree(self, names: list[str]) -> None:
        """Forks of forks, drawn."""
        self.heading("7. The fork tree")
        for parent in names[:2]:
            self.metastore.fork_many(parent, [f"{parent}-{idea}" for idea in ("left", "right")])
        self.metastore.fork(f"{names[0]}-left", f"{names[0]}-left-again")
        rows = self.metastore.all_catalogs()
        self._output.draw(draw_tree(fork_tree(rows, root=None, depth=8, limit=4)))

    def show_contents(self, *catalogs: Catalog) -> None:
        """The tables of some catalogs and how much they hold."""
        headings = ("catalog", "table", "columns", "files", "rows", "size")
        rows = [line for catalog in catalogs for line in contents(catalog)]
        self._output.draw([table(headings, rows, numbers=headings[2:])])
