"""Races to create, fork, drop and materialize the same catalogs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest

from forklake import Catalog, Metastore
from forklake.errors import AlreadyExists, ForklakeError, NotFound
from tests.concurrency.consistency import problems
from tests.concurrency.processes import Job, Start, in_processes
from tests.concurrency.readers import watch_content
from tests.concurrency.writers import append, change_for, make_catalog, table_of
from tests.fix_metastore import Place
from tests.properties.observe import observe

RACERS = 16
ROUNDS = 6
SECONDS = 1.5
FORKS = 12

backends = pytest.mark.parametrize("backend", ["postgresql", "sqlite", "mysql"])
dropping_backends = pytest.mark.parametrize(
    "backend",
    [
        "postgresql",
        "sqlite",
        "mysql",
    ],
)

Attempt = Callable[[Metastore, int], object]


def race(place: Place, attempt: Attempt, start: Start) -> list[object]:
    """Attempt something in every round, and return the results or errors."""
    outcomes: list[object] = []
    with place.open() as metastore:
        metastore.count()  # connected
        start()
        for number in range(ROUNDS):
            try:
                outcomes.append(attempt(metastore, number))
            except ForklakeError as error:
                outcomes.append(type(error).__name__)
    return outcomes


def by_round(place: Place, attempts: list[Attempt]) -> list[list[object]]:
    """Return the outcomes of all racers, by round."""
    racers = in_processes([partial(race, place, attempt) for attempt in attempts])
    return [list(outcomes) for outcomes in zip(*racers, strict=True)]


# Opening


def open_new(place: Place, start: Start) -> int:
    """Open a metastore that does not exist yet."""
    start()
    with place.open() as metastore:
        return metastore.latest_snapshot()


@pytest.mark.parametrize(
    "backend",
    [
        "postgresql",
        "sqlite",
        "mysql",
    ],
)
def test_many_may_open_a_new_metastore_at_once(place: Place) -> None:
    assert in_processes([partial(open_new, place)] * RACERS) == [0] * RACERS
    assert problems(place) == []


# Creating and forking


def create(metastore: Metastore, number: int) -> object:
    return metastore.create_catalog(f"new-{number}").catalog_id


def create_if_not_exists(metastore: Metastore, number: int) -> object:
    return metastore.create_catalog(f"new-{number}", if_not_exists=True).catalog_id


def fork(metastore: Metastore, number: int) -> object:
    return metastore.fork("base", f"fork-{number}").catalog_id


def fork_if_not_exists(metastore: Metastore, number: int) -> object:
    return metastore.fork("base", f"fork-{number}", if_not_exists=True).catalog_id


@backends
@pytest.mark.parametrize("attempt", [create, fork])
def test_a_name_is_assigned_once(place: Place, attempt: Attempt) -> None:
    with place.open() as metastore:
        make_catalog(metastore, "base")
    for outcomes in by_round(place, [attempt] * RACERS):
        assert outcomes.count(AlreadyExists.__name__) == RACERS - 1
    assert problems(place) == []


@backends
@pytest.mark.parametrize("attempt", [create_if_not_exists, fork_if_not_exists])
def test_concurrent_creations_with_if_not_exists_return_the_same_catalog(
    place: Place, attempt: Attempt
) -> None:
    with place.open() as metastore:
        make_catalog(metastore, "base")
    outcomes = by_round(place, [attempt] * RACERS)
    assert [len(set(one)) for one in outcomes] == [1] * ROUNDS
    assert all(isinstance(one, int) for found in outcomes for one in found)
    assert problems(place) == []


def batch_of(racer: int, number: int) -> list[str]:
    """Return names that the others use too, in an order that differs by racer."""
    names = [f"many-{number}-{part}" for part in range(12)]
    return names[racer % 12 :] + names[: racer % 12]


def create_batch(racer: int, metastore: Metastore, number: int) -> object:
    rows = metastore.create_catalogs(batch_of(racer, number), if_not_exists=True)
    return frozenset((row.catalog_name, row.catalog_id) for row in rows)


def fork_batch(racer: int, metastore: Metastore, number: int) -> object:
    rows = metastore.fork_many("base", batch_of(racer, number), if_not_exists=True)
    return frozenset((row.catalog_name, row.catalog_id) for row in rows)


@backends
@pytest.mark.parametrize("attempt", [create_batch, fork_batch])
def test_concurrent_batches_with_if_not_exists_return_the_same_catalogs(
    place: Place, attempt: Callable[[int, Metastore, int], object]
) -> None:
    with place.open() as metastore:
        make_catalog(metastore, "base")
    outcomes = by_round(place, [partial(attempt, racer) for racer in range(RACERS)])
    assert [Counter(type(one) for one in found) for found in outcomes] == [
        Counter({frozenset: RACERS})
    ] * ROUNDS
    assert [len(set(found)) for found in outcomes] == [1] * ROUNDS
    assert problems(place) == []


def fork_own_batch(racer: int, metastore: Metastore, number: int) -> object:
    return len(metastore.fork_many("base", [f"{racer}-{number}-{part}" for part in range(10)]))


@backends
def test_concurrent_batches_with_different_names_all_succeed(place: Place) -> None:
    with place.open() as metastore:
        make_catalog(metastore, "base")
        outcomes = by_round(place, [partial(fork_own_batch, racer) for racer in range(RACERS)])
        assert outcomes == [[10] * RACERS] * ROUNDS
        assert metastore.count() == 1 + RACERS * ROUNDS * 10
    assert problems(place) == []


# Dropping


def drop(metastore: Metastore, number: int) -> object:
    metastore.drop_catalog(f"target-{number}")
    return "dropped"


def drop_backwards(metastore: Metastore, number: int) -> object:
    return drop(metastore, ROUNDS - 1 - number)


def fork_target(metastore: Metastore, number: int) -> object:
    """Fork a catalog that is being dropped, and read the fork."""
    fork = metastore.fork(f"target-{number}", f"fork-{number}")
    return tuple(file.path for file in fork.now().data_files(table_of(fork)))


def append_to_target(metastore: Metastore, number: int) -> object:
    """Append to a catalog that is being dropped."""
    catalog = metastore.catalog(f"target-{number}")
    return append(catalog, table_of(catalog), "late.parquet").snapshot_id


def make_targets(metastore: Metastore) -> None:
    base = make_catalog(metastore, "base")
    append(base, table_of(base), "base.parquet")
    metastore.fork_many("base", [f"target-{number}" for number in range(ROUNDS)])


@dropping_backends
def test_a_catalog_is_dropped_once(place: Place) -> None:
    with place.open() as metastore:
        make_targets(metastore)
        for outcomes in by_round(place, [drop] * RACERS):
            assert Counter(outcomes) == {"dropped": 1, NotFound.__name__: RACERS - 1}
        assert metastore.count() == 1
    assert problems(place) == []


def drop_all(racer: int, metastore: Metastore, number: int) -> object:
    """Drop a batch that others drop too, in an order that differs by racer."""
    names = [f"many-{number}-{part}" for part in range(12)]
    return metastore.drop_catalogs(names[racer % 12 :] + names[: racer % 12], if_exists=True)


@dropping_backends
def test_catalogs_are_dropped_once_regardless_of_order(place: Place) -> None:
    with place.open() as metastore:
        make_catalog(metastore, "base")
        names = [f"many-{number}-{part}" for number in range(ROUNDS) for part in range(12)]
        metastore.fork_many("base", names)
        for name in reversed(names):  # so that heads are not stored in the order of their ids
            catalog = metastore.catalog(name)
            append(catalog, table_of(catalog), "one.parquet")
        outcomes = by_round(place, [partial(drop_all, racer) for racer in range(RACERS)])
        assert all(isinstance(one, int) for found in outcomes for one in found), outcomes
        assert [sum(one for one in found if isinstance(one, int)) for found in outcomes] == [
            12
        ] * ROUNDS
        assert metastore.count() == 1
    assert problems(place) == []


@backends
def test_a_fork_of_a_dropped_catalog_is_complete_or_absent(place: Place) -> None:
    with place.open() as metastore:
        make_targets(metastore)
        for *outcomes, _ in by_round(place, [fork_target, fork_target, drop_backwards]):
            allowed = {("base.parquet",), NotFound.__name__, AlreadyExists.__name__}
            assert set(outcomes) <= allowed
        assert metastore.catalogs(prefix="target") == []
        for row in metastore.catalogs(prefix="fork"):
            fork = Catalog(metastore, row)
            assert [file.path for file in fork.now().data_files(table_of(fork))] == ["base.parquet"]
            append(fork, table_of(fork), "own.parquet")
    assert problems(place) == []


@backends
def test_a_commit_to_a_dropped_catalog_precedes_the_drop_or_fails(place: Place) -> None:
    with place.open() as metastore:
        make_targets(metastore)
        watching = [metastore.catalog(f"target-{number}") for number in range(ROUNDS)]
        attempts = [append_to_target, append_to_target, append_to_target, drop_backwards]
        rounds = by_round(place, list(attempts))
        assert metastore.catalogs(prefix="target") == []
        for catalog, outcomes in zip(watching, rounds, strict=True):
            committed = [one for one in outcomes if isinstance(one, int)]
            history = [snapshot.snapshot_id for snapshot in catalog.snapshots()]
            assert set(committed) <= set(history)
            assert len(history) == 4 + len(committed)
            assert all(isinstance(one, int) or one == NotFound.__name__ for one in outcomes[:3])
    assert problems(place) == []


# Materializing


def materialize_all(place: Place, names: list[str], start: Start) -> int:
    """Materialize forks while others use them, and return how many had a parent."""
    count = 0
    with place.open() as metastore:
        heads = {name: metastore.catalog(name).current_snapshot() for name in names}
        start()
        for name in names:
            while metastore.catalog(name).current_snapshot() == heads[name]:
                pass
            count += metastore.materialize(name) is not None
    return count


def fork_chain(place: Place, name: str, start: Start) -> int:
    """Fork a catalog repeatedly, and the forks again."""
    with place.open() as metastore:
        start()
        for number in range(FORKS):
            fork = metastore.fork(name, f"{name}-{number}")
            metastore.fork(fork.name, f"{fork.name}-again")
    return FORKS


def make_lineage(metastore: Metastore) -> None:
    """Create a catalog, a fork of it, and two forks of that."""
    base = make_catalog(metastore, "base")
    table = table_of(base)
    for number in range(20):
        append(base, table, f"base-{number}.parquet")
    with base.transaction() as transaction:
        transaction.insert_rows(table, [{"id": number} for number in range(20)])
    append(metastore.fork("base", "middle"), table, "middle.parquet")
    metastore.fork_many("middle", ["left", "right"])


def assert_forks_begin_as_their_parents_were(metastore: Metastore) -> None:
    catalogs = {row.catalog_id: Catalog(metastore, row) for row in metastore.all_catalogs()}
    shown = {}
    for catalog in catalogs.values():
        parent, forked_at = catalog.row.parent_catalog_id, catalog.row.fork_snapshot
        if parent is None or forked_at is None:
            continue
        if (parent, forked_at) not in shown:
            shown[parent, forked_at] = observe(catalogs[parent], forked_at)
        assert observe(catalog, catalog.row.begin_snapshot) == shown[parent, forked_at]
    assert len(shown) > 3


@backends
@pytest.mark.slow
def test_materializing_is_invisible_to_concurrent_users(place: Place) -> None:
    """Forks are materialized while they are read, written to and forked."""
    names = ["left", "middle", "right"]
    with place.open() as metastore:
        make_lineage(metastore)
        jobs: list[Job[int]] = [
            partial(materialize_all, place, names),
            partial(materialize_all, place, names[::-1]),
        ]
        for number, name in enumerate(names):
            jobs += [partial(fork_chain, place, name), partial(watch_content, place, name, SECONDS)]
            jobs += [
                partial(change_for, place, name, 2 * number + part, SECONDS) for part in (0, 1)
            ]
        assert sum(in_processes(jobs)[:2]) == len(names)
        assert_forks_begin_as_their_parents_were(metastore)
    assert problems(place) == []
