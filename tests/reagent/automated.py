"""Shared tools of automation tests: a settable clock, and work that leaves a mark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from forklake import Catalog, ColumnSpec, Metastore, NewDataFile
from forklake.model.ids import SnapshotId
from forklake.reagent.automations import Automations, FiringRun, Runner
from forklake.store.database import Connection

WORKBOOK = """
[tasks.insert]
sql = "INSERT INTO done VALUES (1)"
"""
COLUMNS = [ColumnSpec("id", "int32")]
LEASE = timedelta(seconds=60)


@dataclass
class Clock:
    """A clock that advances only explicitly."""

    moment: datetime = datetime(2026, 11, 16, 12, 10, tzinfo=UTC)

    def __call__(self, connection: Connection) -> datetime:
        return self.moment


@dataclass
class MarkingHandler:
    """Work that adds a file to the table `done` of its catalog, under the key of the firing."""

    metastore: Metastore
    works: list[FiringRun] = field(default_factory=list)
    before: Callable[[FiringRun], object] = lambda work: None

    def __call__(self, work: FiringRun) -> SnapshotId | None:
        self.works.append(work)
        self.before(work)
        return add_mark(self.metastore.catalog(work.catalog), work.key)


def add_mark(catalog: Catalog, key: str) -> SnapshotId | None:
    """Add a file to `done`, once for each key."""
    with catalog.transaction(idempotency_key=key) as transaction:
        table = transaction.table("done")
        transaction.add_data_files(table, [NewDataFile(f"{key}.parquet", 1, 1)])
    return None if transaction.committed is None else transaction.committed.snapshot_id


def read_marks(catalog: Catalog) -> list[str]:
    """Return the keys of files in `done`, with repetitions."""
    seen = catalog.now()
    files = seen.data_files(seen.state.table("done"))
    return sorted(file.path.removesuffix(".parquet") for file in files)


def shop(metastore: Metastore) -> Catalog:
    """Create a catalog with a table to watch, another one, and one for the marks."""
    catalog = metastore.create_catalog("shop")
    with catalog.transaction() as transaction:
        for name in ("orders", "other", "done"):
            transaction.create_table(name, COLUMNS)
    return catalog


def append(catalog: Catalog, table: str = "orders") -> SnapshotId:
    """Commit a change of a table, and return the snapshot."""
    with catalog.transaction() as transaction:
        transaction.add_data_files(transaction.table(table), [NewDataFile("f", 1, 1)])
    assert transaction.committed is not None
    return transaction.committed.snapshot_id


@dataclass
class World:
    """Automations of a shop, and a runner with a settable clock."""

    metastore: Metastore
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.shop = shop(self.metastore)
        self.automations = Automations(self.metastore, clock=self.clock)
        self.marking = MarkingHandler(self.metastore)
        self.runner = self.new_runner()

    def new_runner(self) -> Runner:
        """Return another runner with the same work."""
        return Runner(self.metastore, self.marking, lease=LEASE, clock=self.clock)

    def pass_time(self, **time: float) -> None:
        """Advance the clock."""
        self.clock.moment += timedelta(**time)

    def states(self, name: str) -> list[str]:
        """Return the states of the firings of an automation, oldest first."""
        return [one.state.value for one in reversed(self.automations.history(name))]
