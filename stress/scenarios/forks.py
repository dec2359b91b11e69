"""Scenario with very many forks of one parent, while parent and forks are changed and read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from tests.concurrency.writers import TABLE, append, change, make_catalog, table_of
from tests.fix_metastore import Place
from tests.properties.observe import observe

from forklake import Catalog, Metastore
from forklake.model.requests import ForkRequest
from stress.crews import read_journals
from stress.scenarios.scenario import Scenario
from stress.workers import Role, Worker

PARENT = "parent"
_SNAPSHOTS_BEFORE = 25
_FORKERS = 4
_LOOKED_AT_CLOSELY = 200  # forks whose whole state is compared, not only their files


def digest(catalog: Catalog, version: int | None = None) -> str:
    """Return a hash of everything that a catalog contains at a snapshot."""
    return hashlib.sha256(repr(observe(catalog, version)).encode()).hexdigest()


@dataclass
class Forks(Scenario):
    """Invariant: a snapshot of the parent never changes, neither in the parent nor in its forks."""

    name = "forks"
    digests: dict[int, str] = field(default_factory=dict)  # of the first snapshots of the parent

    def prepare(self) -> None:
        with self.ground.place.open() as metastore:
            parent = make_catalog(metastore, PARENT)
            random = Random(0)
            for number in range(_SNAPSHOTS_BEFORE):
                parent.run(partial(change, random=random, name=f"before-{number}"))
            self.digests = {
                one.snapshot_id: digest(parent, one.snapshot_id) for one in parent.snapshots()
            }

    def roles(self) -> list[Role]:
        places = self.ground.places()
        shares = [range(first, self.size.forks, _FORKERS) for first in range(_FORKERS)]
        forkers = [Forker(place, share) for place, share in zip(places, shares, strict=False)]
        others = max(2, self.size.workers - _FORKERS)
        changers = [Changer(place) for place in islice(places, others // 2)]
        readers = [Reader(place, self.digests) for place in islice(places, others - others // 2)]
        return [*forkers, *changers, *readers]

    def verify(self, journals: Path) -> Iterator[str]:
        acknowledged = [one for one in read_journals(journals) if one.get("outcome") == "ok"]
        with self.ground.place.open() as metastore:
            parent = metastore.catalog(PARENT)
            for version, expected in self.digests.items():
                if digest(parent, version) != expected:
                    yield f"snapshot {version} of the parent has changed"
            yield from _lost_changes(parent, acknowledged)
            yield from self._verify_forks(metastore, parent, acknowledged)

    def _verify_forks(
        self, metastore: Metastore, parent: Catalog, acknowledged: list[dict[str, Any]]
    ) -> Iterator[str]:
        written = {one["fork"] for one in acknowledged if one["kind"] == "append"}
        forks = list(metastore.all_catalogs(prefix="fork-"))
        self.facts |= {"forks": len(forks), "forks with commits": len(written)}
        if len(forks) != self.size.forks:
            yield f"there are {len(forks)} forks instead of {self.size.forks}"
        held = cache(partial(_paths, parent))
        for row in forks:
            own = {f"{row.catalog_name}.parquet"}
            found = _paths(Catalog(metastore, row))
            if found - own != held(row.fork_snapshot):
                yield f"{row.catalog_name} has other files than its parent at the forked snapshot"
            if row.catalog_name in written and not own <= found:
                yield f"the commit to {row.catalog_name} is lost"
        for row in Random(0).sample(forks, min(_LOOKED_AT_CLOSELY, len(forks))):
            fork = Catalog(metastore, row)
            if digest(fork, row.begin_snapshot) != digest(parent, row.fork_snapshot):
                yield f"{fork.name} differs from its parent at the forked snapshot"


def _paths(catalog: Catalog, version: int | None = None) -> frozenset[str]:
    seen = catalog.now() if version is None else catalog.at(version=version)
    return frozenset(file.path for file in seen.data_files(seen.state.table(TABLE)))


def _lost_changes(parent: Catalog, acknowledged: list[dict[str, Any]]) -> Iterator[str]:
    commits = (one["result"] for one in acknowledged if one["kind"] == "commit")
    numbers = [number for number in commits if number is not None]
    if len(set(numbers)) != len(numbers):
        yield "two commits have the same snapshot"
    if lost := set(numbers) - {one.snapshot_id for one in parent.snapshots()}:
        yield f"commits to the parent are lost: {sorted(lost)}"


@dataclass(frozen=True)
class Forker:
    """Role that creates a share of the forks, with retries, and commits to each of them."""

    place: Place
    share: range

    def __call__(self, worker: Worker) -> None:
        with worker.opened(self.place) as metastore:
            for number in self.share:
                name = f"fork-{number}"
                request = ForkRequest(PARENT, [name], if_not_exists=True)
                (row,), is_new = worker.persist(
                    "fork", partial(metastore.create_forks, request), fork=name
                )
                if is_new:
                    fork = Catalog(metastore, row)
                    worker.attempt("append", partial(_append_once, fork), fork=name)


def _append_once(fork: Catalog) -> int:
    return append(fork, table_of(fork), f"{fork.name}.parquet").snapshot_id


@dataclass(frozen=True)
class Changer:
    """Role that commits all kinds of changes to the parent."""

    place: Place

    def __call__(self, worker: Worker) -> None:
        with worker.opened(self.place) as metastore:
            parent = worker.catalog(metastore, PARENT)
            for number in worker.turns():
                name = f"{worker.name}-{number}"
                worker.attempt("commit", partial(self._change, parent, worker.random, name))

    def _change(self, parent: Catalog, random: Random, name: str) -> int | None:
        """Make a random change. Return its snapshot, or None if there was nothing to change."""
        before = parent.last_committed_snapshot()
        parent.run(partial(change, random=random, name=name))
        after = parent.last_committed_snapshot()
        return None if after == before else after


@dataclass(frozen=True)
class Reader:
    """Role that reads the first snapshots in the parent and in forks, and compares them."""

    place: Place
    digests: Mapping[int, str]

    def __call__(self, worker: Worker) -> None:
        with worker.opened(self.place) as metastore:
            for _ in worker.turns():
                version = worker.random.choice(list(self.digests))
                after = f"fork-{worker.random.randrange(1000)}"
                worker.attempt("read", partial(self._look, metastore, after, version))

    def _look(self, metastore: Metastore, after: str, version: int) -> str:
        page = metastore.catalogs(prefix="fork-", after=after, limit=1)
        catalog = Catalog(metastore, page[0]) if page else metastore.catalog(PARENT)
        if digest(catalog, version) != self.digests[version]:
            raise AssertionError(f"snapshot {version} has changed in {catalog.name}")
        return catalog.name
