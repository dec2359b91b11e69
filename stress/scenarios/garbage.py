"""Scenario with writers, forks, old readers, expiry and clean-up: no needed file is deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from random import Random

from tests.concurrency import cleaning
from tests.concurrency.cleaning import CATALOGS
from tests.concurrency.raw import RawMetastore
from tests.fix_metastore import Place
from tests.maintenance.lakes import Lake
from tests.properties.retention import RawFiles

from forklake import Metastore
from forklake.errors import AlreadyExists, NotFound
from stress.crews import read_journals
from stress.scenarios.scenario import Scenario
from stress.workers import Role, Worker

_WARM_UP = "warm-up"


class Cleaner(cleaning.Cleaner):
    """Role that deletes files at once, but orphans only if no write in progress can own them."""

    GRACE = timedelta(minutes=2)  # longer than a commit waits for its server

    def act(self, files: Lake, random: Random, count: int, told: Counter[str]) -> None:
        name = random.choice([row.catalog_name for row in files.metastore.catalogs()])
        with suppress(NotFound):
            catalog = files.metastore.catalog(name)
            told["removed"] += len(catalog.cleanup_old_files(cleanup_all=True))
            told["orphans"] += len(catalog.delete_orphaned_files(older_than=self.GRACE))


ROLES = (
    cleaning.Writer,
    cleaning.Forker,
    cleaning.Traveller,
    cleaning.Writer,
    cleaning.Expirer,
    Cleaner,
)


class Garbage(Scenario):
    """Invariant: all files that snapshots need exist, and clean-up deletes all others."""

    name = "garbage"
    expires = True

    def prepare(self) -> None:
        with self.ground.place.open() as metastore:
            lake = Lake(metastore, self.ground.lake)
            for name in CATALOGS:
                lake.append(lake.create(name))

    def roles(self) -> list[Role]:
        workers = max(len(ROLES), self.size.workers)
        pairs = zip(self.ground.places(), cycle(ROLES), strict=False)
        return [Actor(place, self.ground.lake, role) for place, role in islice(pairs, workers)]

    def verify(self, journals: Path) -> Iterator[str]:
        told: Counter[str] = Counter()
        for record in read_journals(journals):
            told.update(record.get("told_of") or {})
        yield from (what for what in told if what.startswith("LOST"))
        self.facts |= {what: count for what, count in told.items() if not what.startswith("LOST")}
        with self.ground.place.open() as metastore:
            lake = Lake(metastore, self.ground.lake)
            raw = RawFiles(RawMetastore(self.ground.place))
            if missing := set(_needed(metastore, raw)) - lake.on_disk():
                yield f"files that snapshots need are missing: {sorted(missing)[:5]}"
            clean_up(metastore)
            known = RawFiles(RawMetastore(self.ground.place)).known()
            there = {path for path in lake.on_disk() if not path.startswith(_WARM_UP)}
            self.facts |= {"files at the end": len(there)}
            if there != known:
                yield f"after clean-up, only on disk: {sorted(there - known)[:5]}"
                yield f"after clean-up, only in the metastore: {sorted(known - there)[:5]}"


def _needed(metastore: Metastore, raw: RawFiles) -> Iterator[str]:
    for row in metastore.all_catalogs():
        for at in raw.history(row.catalog_id):
            for path, _ in raw.needed(row.catalog_id, at):
                yield path


def clean_up(metastore: Metastore) -> None:
    """Delete everything that no catalog needs, after all workers have ended."""
    while metastore.reclaim_dropped(cleanup_all=True).catalogs:
        pass
    for row in metastore.all_catalogs():
        catalog = metastore.catalog(row.catalog_name)
        catalog.cleanup_old_files(cleanup_all=True)
        catalog.delete_orphaned_files(cleanup_all=True)


@dataclass(frozen=True)
class Actor:
    """Role that repeats an action of the cleaning tests."""

    place: Place
    folder: Path
    role: type[cleaning.Role]
    needs_right_clock: bool = field(init=False)

    def __post_init__(self) -> None:
        # The cleaner compares ages of files with its clock to spare writes in progress.
        object.__setattr__(self, "needs_right_clock", self.role is Cleaner)

    def __call__(self, worker: Worker) -> None:
        number = 1000 * worker.number + worker.life  # names of files are never used again
        actor = self.role(self.place, self.folder, 0, number)
        with worker.opened(self.place) as metastore:
            lake = Lake(metastore, self.folder)
            for count in worker.turns():
                told: Counter[str] = Counter()
                act = partial(actor.act, lake, worker.random, count, told)
                worker.attempt(self.role.__name__.lower(), partial(_acted, act))
                worker.note("counts", told_of=told)


def _acted(act: Callable[[], None]) -> None:
    """Act. Ignore names that exist: they are of a fork of this worker whose answer was lost."""
    with suppress(AlreadyExists):
        act()
