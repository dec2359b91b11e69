"""Readers among writers, which see a history that only grows at its end."""

from __future__ import annotations

from functools import partial

import pytest

from forklake import Catalog
from tests.concurrency.consistency import problems
from tests.concurrency.processes import Job, Start, in_processes
from tests.concurrency.raw import RawMetastore
from tests.concurrency.readers import count_changes, look_at_all, watch, watch_content
from tests.concurrency.writers import Opens, append_for, change_for, make_catalog
from tests.fix_metastore import Place
from tests.properties.observe import observe

WRITERS = 13
READERS = 3
SECONDS = 2.0

shared_backends = pytest.mark.parametrize("backend", ["postgresql", "sqlite", "mysql"])


@shared_backends
@pytest.mark.slow
def test_a_history_only_grows_at_its_end(place: Place) -> None:
    with place.open() as metastore:
        make_catalog(metastore, "shared")
    jobs: list[Job[object]] = [partial(watch, place, "shared", SECONDS) for _ in range(READERS)]
    jobs += [partial(append_for, place, "shared", number, SECONDS) for number in range(WRITERS)]
    results = in_processes(jobs)
    assert all(grown for grown in results[:READERS])


@shared_backends
@pytest.mark.slow
def test_a_snapshot_never_changes(place: Place) -> None:
    with place.open() as metastore:
        make_catalog(metastore, "shared")
    jobs: list[Job[int]] = [
        partial(watch_content, place, "shared", SECONDS) for _ in range(READERS)
    ]
    jobs += [partial(change_for, place, "shared", number, SECONDS) for number in range(WRITERS)]
    assert all(in_processes(jobs)[:READERS])
    assert problems(place) == []


def fork_often(place: Opens, parent: str, forker: int, count: int, start: Start) -> list[str]:
    """Create forks of a catalog, singly and three at once, and return their names."""
    names: list[str] = []
    with place.open() as metastore:
        start()
        for number in range(count):
            name = f"fork-{forker}-{number}"
            mode = "copy" if number % 5 == 0 else "inherit"
            batch = [f"{name}-a", f"{name}-b", f"{name}-c"] if number % 3 == 0 else [name]
            metastore.fork_many(parent, batch, mode=mode)
            names += batch
    return names


@shared_backends
@pytest.mark.slow
def test_forks_show_the_state_of_their_parent_when_they_were_forked(place: Place) -> None:
    forkers, forks = 3, 10
    with place.open() as metastore:
        parent = make_catalog(metastore, "shared")
        jobs: list[Job[object]] = [
            partial(fork_often, place, "shared", number, forks) for number in range(forkers)
        ]
        jobs += [partial(change_for, place, "shared", number, SECONDS) for number in range(WRITERS)]
        in_processes(jobs)
        made = metastore.catalogs(prefix="fork-")
        assert len(made) == forkers * (forks + 2 * ((forks + 2) // 3))
        shown = {}
        for row in made:
            assert row.fork_snapshot is not None
            if row.fork_snapshot not in shown:
                shown[row.fork_snapshot] = observe(parent, row.fork_snapshot)
            assert observe(Catalog(metastore, row)) == shown[row.fork_snapshot]
        assert len(shown) > 1
    assert problems(place) == []


@shared_backends
@pytest.mark.slow
def test_everything_up_to_the_latest_snapshot_is_final(place: Place) -> None:
    names = [f"own-{number % 4}" for number in range(WRITERS)]
    with place.open() as metastore:
        for name in sorted(set(names)):
            make_catalog(metastore, name)
    jobs: list[Job[object]] = [partial(look_at_all, place, SECONDS) for _ in range(READERS)]
    jobs += [partial(append_for, place, name, number, SECONDS) for number, name in enumerate(names)]
    results = in_processes(jobs)[:READERS]
    finally_there = RawMetastore(place)
    for looks in results:
        assert isinstance(looks, list)
        assert looks
        assert looks == [count_changes(finally_there, look.upto) for look in looks]
