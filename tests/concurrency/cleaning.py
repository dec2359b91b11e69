"""Jobs that write, fork, time-travel, expire and clean up concurrently in one lake."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random

import pyarrow.parquet as pq

from forklake import Catalog, Metastore
from forklake.errors import Conflict, NotFound
from tests.concurrency.processes import Start, for_seconds
from tests.fix_metastore import Place
from tests.maintenance.lakes import Lake

# Unfinished writes are younger than this.
GRACE = timedelta(seconds=15)
CATALOGS = ("one", "two")


@dataclass(frozen=True)
class Role:
    """A repeated job of one process; its result counts the actions and the faults."""

    place: Place
    folder: Path
    seconds: float
    number: int

    def __call__(self, start: Start) -> Counter[str]:
        reported: Counter[str] = Counter()
        random = Random(self.number)
        with self.place.open() as metastore:
            files = Lake(metastore, self.folder)
            files.write_at(f"warm-up/{self.number}.parquet")  # loads everything that writing needs
            start()
            for count in for_seconds(self.seconds):
                with suppress(Conflict):
                    self.act(files, random, count, reported)
                reported[type(self).__name__] += 1
        return reported

    def act(self, files: Lake, random: Random, count: int, reported: Counter[str]) -> None:
        raise NotImplementedError


class Writer(Role):
    """Adds files, and replaces all files by one."""

    def act(self, files: Lake, random: Random, count: int, reported: Counter[str]) -> None:
        catalog = files.metastore.catalog(random.choice(CATALOGS))
        name = f"{self.number}-{count}"
        if random.random() < 0.7:
            new = files.write_at(f"{catalog.row.path}main/t/add-{name}.parquet")
            with catalog.transaction() as transaction:
                transaction.add_data_files(transaction.table("t"), [new])
            return
        new = files.write_at(f"{catalog.row.path}main/t/put-{name}.parquet")
        with catalog.transaction() as transaction:
            table = transaction.table("t")
            transaction.end_data_files(table, transaction.data_files(table))
            transaction.add_data_files(table, [new])


class Forker(Role):
    """Forks catalogs and forks, now or at a snapshot, reads the fork, and drops old forks."""

    def act(self, files: Lake, random: Random, count: int, reported: Counter[str]) -> None:
        mine = [f"fork-{self.number}-{one}" for one in range(max(0, count - 4), count)]
        parent = files.metastore.find(random.choice([*CATALOGS, *mine]))
        if parent is None:
            return
        catalog = Catalog(files.metastore, parent)
        at = random.choice([None, *(one.snapshot_id for one in catalog.snapshots()[-5:])])
        mode = random.choice(["inherit", "inherit", "inherit", "copy"])
        name = f"fork-{self.number}-{count}"
        try:
            fork = files.metastore.fork(parent.catalog_name, name, at=at, mode=mode)
        except NotFound:
            reported["a fork point had expired"] += 1
        else:
            look(files.metastore, fork.name, None, reported)
        if random.random() < 0.2:
            with suppress(NotFound):
                files.metastore.materialize(name)
        if count >= 4:
            files.metastore.drop_catalog(f"fork-{self.number}-{count - 4}", if_exists=True)


class Traveller(Role):
    """Reads catalogs and forks at current and past snapshots."""

    def act(self, files: Lake, random: Random, count: int, reported: Counter[str]) -> None:
        rows = files.metastore.catalogs()
        name = random.choice(rows).catalog_name
        with suppress(NotFound):
            catalog = files.metastore.catalog(name)
            past = [one.snapshot_id for one in catalog.snapshots()]
            look(files.metastore, name, random.choice([None, *past]), reported)


class Expirer(Role):
    """Expires snapshots of catalogs and forks, and reclaims dropped catalogs."""

    def act(self, files: Lake, random: Random, count: int, reported: Counter[str]) -> None:
        name = random.choice([row.catalog_name for row in files.metastore.catalogs()])
        with suppress(NotFound):
            catalog = files.metastore.catalog(name)
            past = [one.snapshot_id for one in catalog.snapshots()]
            chosen = past[:-3] if random.random() < 0.5 else random.sample(past, len(past) // 2)
            reported["expired"] += len(catalog.expire_snapshots(versions=chosen))
        if count % 5 == 0:
            reported["reclaimed"] += len(
                files.metastore.reclaim_dropped(3, cleanup_all=True).catalogs
            )


class Cleaner(Role):
    """Removes files at once, and removes orphans."""

    def act(self, files: Lake, random: Random, count: int, reported: Counter[str]) -> None:
        name = random.choice([row.catalog_name for row in files.metastore.catalogs()])
        with suppress(NotFound):
            catalog = files.metastore.catalog(name)
            reported["removed"] += len(catalog.cleanup_old_files(cleanup_all=True))
            reported["orphans"] += len(catalog.delete_orphaned_files(older_than=GRACE))


ROLES = (Writer, Writer, Forker, Traveller, Expirer, Cleaner)


def look(metastore: Metastore, name: str, version: int | None, reported: Counter[str]) -> None:
    """Read all files of a table; one may be missing only if its snapshot is gone as well."""
    try:
        catalog = metastore.catalog(name)
        seen = catalog.now() if version is None else catalog.at(version=version)
        found = seen.scan_files(seen.state.table("t"))
    except NotFound:
        reported["a snapshot had expired"] += 1
        return
    for file in found:
        try:
            assert pq.read_metadata(file.path).num_rows == file.file.record_count
        except FileNotFoundError:
            if _is_there(metastore, name, seen.snapshot_id):
                reported[f"LOST {file.path} of {name} at {seen.snapshot_id}"] += 1
            return
    reported["read"] += 1


def _is_there(metastore: Metastore, name: str, snapshot: int) -> bool:
    try:
        return metastore.catalog(name).at(version=snapshot).snapshot_id == snapshot
    except NotFound:
        return False
