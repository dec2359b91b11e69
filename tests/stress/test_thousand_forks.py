"""A thousand forks of one parent: created, changed and read concurrently."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import psutil
import pytest
from stress.scenarios.forks import digest

from forklake import Catalog, Metastore
from forklake.store.postgresql import PostgresDatabase
from tests.concurrency.processes import Job, Start, in_processes
from tests.concurrency.writers import TABLE, append, append_for, make_catalog, table_of
from tests.fix_metastore import Place, postgres_schema

FORKS, AT_ONCE, BATCH, COMMITS = 1000, 4, 25, 5
PARENT = "parent"
SHARES = [range(first, FORKS, AT_ONCE) for first in range(AT_ONCE)]


def names(share: range) -> list[str]:
    return [f"fork-{number:03}" for number in share]


def fork_share(place: Place, share: range, start: Start) -> int:
    """Create a share of the forks, some at a time."""
    with place.open() as metastore:
        start()
        wanted = names(share)
        for first in range(0, len(wanted), BATCH):
            metastore.fork_many(PARENT, wanted[first : first + BATCH])
    return len(wanted)


class Forked(NamedTuple):
    """The place of the forks, and the parent's earlier contents."""

    place: Place
    digests: dict[int, str]


@pytest.fixture(scope="module")
def forked(shared_database: str) -> Iterator[Forked]:
    """Yield a parent with its first snapshots, and a thousand forks created while it changed."""
    with postgres_schema(shared_database) as place:
        with place.open() as metastore:
            parent = make_catalog(metastore, PARENT)
            for number in range(COMMITS):
                append(parent, table_of(parent), f"{number}.parquet")
            versions: list[int] = [one.snapshot_id for one in parent.snapshots()]
            seen = {version: digest(parent, version) for version in versions}
        jobs: list[Job[object]] = [partial(fork_share, place, share) for share in SHARES]
        jobs += [partial(append_for, place, PARENT, writer, 1.0) for writer in range(2)]
        in_processes(jobs)
        yield Forked(place, seen)


def test_a_thousand_forks_are_created_while_their_parent_changes(forked: Forked) -> None:
    seen = forked.digests
    with forked.place.open() as metastore:
        parent = metastore.catalog(PARENT)
        assert metastore.count_children([parent.catalog_id]) == {parent.catalog_id: FORKS}
        assert len(parent.snapshots()) > len(seen)
        assert {version: digest(parent, version) for version in seen} == seen


def commit_to(place: Place, share: range, start: Start) -> list[int]:
    """Commit to each fork of a share, and return the snapshots."""
    with place.open() as metastore:
        forks = [metastore.catalog(name) for name in names(share)]
        start()
        return [append(one, table_of(one), f"{one.name}.parquet").snapshot_id for one in forks]


def test_concurrent_commits_to_many_forks_get_distinct_snapshots(forked: Forked) -> None:
    jobs = [partial(commit_to, forked.place, share[:60]) for share in SHARES]
    numbers = [number for found in in_processes(jobs) for number in found]
    assert len(set(numbers)) == len(numbers) == 60 * AT_ONCE


def paths(catalog: Catalog, version: int) -> frozenset[str]:
    """Return the files of a catalog at a snapshot."""
    seen = catalog.at(version=version)
    return frozenset(file.path for file in seen.data_files(seen.state.table(TABLE)))


def read_share(place: Place, share: range, version: int, start: Start) -> set[frozenset[str]]:
    """Return the distinct contents that all forks of a share show at a snapshot of their parent."""
    with place.open() as metastore:
        start()
        return {paths(metastore.catalog(name), version) for name in names(share)}


def test_forks_read_concurrently_show_the_same(forked: Forked) -> None:
    version = max(forked.digests)
    jobs = [partial(read_share, forked.place, share, version) for share in SHARES]
    with forked.place.open() as metastore:
        expected = paths(metastore.catalog(PARENT), version)
    assert len(expected) == COMMITS
    assert in_processes(jobs) == [{expected}] * AT_ONCE


def visit(metastore: Metastore, forks: range) -> int:
    """Read some forks, and return the memory of this process afterwards, in megabytes."""
    for name in names(forks):
        catalog = metastore.catalog(name)
        assert catalog.now().data_files(table_of(catalog))
    return int(psutil.Process().memory_info().rss) // 2**20


def test_reading_more_forks_needs_no_more_memory_and_connections(forked: Forked) -> None:
    with forked.place.open() as metastore:
        some = visit(metastore, range(FORKS // 4))
        assert visit(metastore, range(FORKS // 4, FORKS)) - some < 20
        assert isinstance(metastore.database, PostgresDatabase)
        assert metastore.database.pool_statistics()["pool_size"] <= 2
