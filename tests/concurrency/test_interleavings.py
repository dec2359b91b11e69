"""Two operations in either order, with one of them paused half-way, on PostgreSQL.

Where one must wait for the other, the test sees it wait; elsewhere, it sees it finish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial

import psycopg
import pytest

from forklake import Catalog, Metastore
from forklake.errors import Conflict, NotFound
from tests.concurrency.consistency import problems
from tests.concurrency.interruptions import Held, every_time_at, once_at
from tests.concurrency.locks import until_waiting, waits
from tests.concurrency.processes import TIMEOUT_SECONDS
from tests.concurrency.raw import RawMetastore
from tests.concurrency.worlds import OPERATIONS, prepare
from tests.concurrency.writers import append, make_catalog, table_of
from tests.fix_metastore import Place
from tests.properties.observe import observe

CIRCLE_SECONDS = 5.0


@pytest.fixture
def backend() -> str:
    """Return the only backend on which writers of one metastore run concurrently."""
    return "postgresql"


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Yield threads for operations that have to wait."""
    with ThreadPoolExecutor() as found:
        yield found


@pytest.fixture
def base(metastore: Metastore) -> Catalog:
    """Return a catalog with one file, its fork `fork`, and the fork `child` of that."""
    catalog = make_catalog(metastore, "base")
    append(catalog, table_of(catalog), "base.parquet")
    metastore.fork("base", "fork")
    metastore.fork("fork", "child")
    return catalog


def paths(catalog: Catalog) -> list[str]:
    return [file.path for file in catalog.now().data_files(table_of(catalog))]


def append_to(metastore: Metastore, name: str, path: str) -> None:
    catalog = metastore.catalog(name)
    append(catalog, table_of(catalog), path)


def end_all_files(catalog: Catalog) -> None:
    table = table_of(catalog)
    with catalog.transaction() as transaction:
        transaction.end_data_files(table, transaction.data_files(table))


# Commits


def test_forks_do_not_wait_for_commits(metastore: Metastore, base: Catalog) -> None:
    with Held("commit.prepared", partial(append_to, metastore, "base", "late.parquet")):
        assert paths(metastore.fork("base", "early")) == ["base.parquet"]
    assert paths(base) == ["base.parquet", "late.parquet"]
    assert paths(metastore.catalog("early")) == ["base.parquet"]


def test_commits_do_not_wait_for_forks(metastore: Metastore, base: Catalog) -> None:
    with Held("fork.prepared", partial(metastore.fork, "base", "early")):
        append_to(metastore, "base", "late.parquet")
    assert paths(metastore.catalog("early")) == ["base.parquet"]


def test_catalogs_do_not_wait_for_each_other(metastore: Metastore, base: Catalog) -> None:
    with Held("commit.prepared", partial(append_to, metastore, "base", "base-2.parquet")):
        append_to(metastore, "fork", "fork.parquet")
        append_to(metastore, "child", "child.parquet")
    assert paths(metastore.catalog("fork")) == ["base.parquet", "fork.parquet"]


def test_readers_do_not_wait_for_writers(metastore: Metastore, base: Catalog) -> None:
    fork = metastore.catalog("fork")
    for phase, action in (
        ("commit.prepared", partial(append_to, metastore, "fork", "fork.parquet")),
        ("materialize.copied", partial(metastore.materialize, "fork")),
        ("drop.locked", partial(metastore.drop_catalog, "fork")),
    ):
        before = observe(fork)
        with Held(phase, action):
            assert observe(fork) == before


def test_commits_to_one_catalog_are_queued_in_order_of_arrival(
    place: Place, metastore: Metastore, base: Catalog, pool: ThreadPoolExecutor
) -> None:
    with Held("commit.locked", partial(append_to, metastore, "base", "0.parquet")):
        waiting: list[Future[None]] = []
        for number in range(1, 6):
            waiting.append(pool.submit(append_to, metastore, "base", f"{number}.parquet"))
            until_waiting(place, waiting[-1], count=number)
    for one in waiting:
        one.result(TIMEOUT_SECONDS)
    assert paths(base) == ["base.parquet", *(f"{number}.parquet" for number in range(6))]


# The whole metastore


@pytest.mark.parametrize(
    ("operation", "phase"),
    [
        ("commit", "commit.prepared"),
        ("materialize", "materialize.copied"),
        ("create", "create.allocated"),
        ("fork", "fork.prepared"),
        ("copy", "fork.prepared"),
        ("drop", "drop.locked"),
    ],
)
def test_no_snapshot_appears_below_the_latest_one(
    place: Place, metastore: Metastore, pool: ThreadPoolExecutor, operation: str, phase: str
) -> None:
    prepare(metastore)
    make_catalog(metastore, "beside")
    with Held(phase, partial(OPERATIONS[operation], metastore, 1)) as under_way:
        append_to(metastore, "beside", "later.parquet")  # has a higher number, and is done first
        asking = pool.submit(metastore.latest_snapshot)
        if not waits(place, asking):
            latest = asking.result()
            before = snapshots_upto(place, latest)
            under_way.let_go()
            assert snapshots_upto(place, latest) == before
    assert asking.result(TIMEOUT_SECONDS) > 0


def snapshots_upto(place: Place, latest: int) -> list[int]:
    numbers = (row["snapshot_id"] for row in RawMetastore(place)["snapshot"])
    return sorted(number for number in numbers if number <= latest)


@pytest.fixture
def impatient(place: Place) -> Iterator[Metastore]:
    """Yield the metastore with a long deadlock timeout, so that deadlocks fail the test."""
    patience = "&options=-c%20deadlock_timeout%3D10s"
    with replace(place, uri=place.uri + patience).open() as metastore:
        yield metastore


def test_forking_materializing_and_reading_the_latest_snapshot_do_not_deadlock(
    place: Place, impatient: Metastore, base: Catalog, pool: ThreadPoolExecutor
) -> None:
    with Held("fork.locked", partial(impatient.fork, "fork", "early")):
        cutting = pool.submit(impatient.materialize, "fork")
        until_waiting(place, cutting, count=1)
        asking = pool.submit(impatient.latest_snapshot)
        until_waiting(place, asking, count=2)
        forking = pool.submit(impatient.fork, "fork", "late")
        until_waiting(place, forking, count=3)
    for one in (forking, cutting, asking):
        one.result(CIRCLE_SECONDS)


def test_dropping_materializing_and_reading_the_latest_snapshot_do_not_deadlock(
    place: Place, impatient: Metastore, base: Catalog, pool: ThreadPoolExecutor
) -> None:
    with Held("commit.locked", partial(append_to, impatient, "child", "last.parquet")):
        dropping = pool.submit(impatient.drop_catalog, "child")
        until_waiting(place, dropping, count=1)
        cutting = pool.submit(impatient.materialize, "fork")
        until_waiting(place, cutting, count=2)
        asking = pool.submit(impatient.latest_snapshot)
        until_waiting(place, asking, count=3)
    for one in (dropping, cutting, asking):
        one.result(CIRCLE_SECONDS)


# Dropping


def test_a_drop_waits_for_a_running_fork(
    place: Place, metastore: Metastore, base: Catalog, pool: ThreadPoolExecutor
) -> None:
    with Held("fork.locked", partial(metastore.fork, "base", "last")):
        dropping = pool.submit(metastore.drop_catalog, "base")
        until_waiting(place, dropping)
    dropping.result(TIMEOUT_SECONDS)
    assert metastore.find("base") is None
    assert paths(metastore.catalog("last")) == ["base.parquet"]
    assert problems(place) == []


def test_a_drop_waits_for_a_running_commit(
    place: Place, metastore: Metastore, base: Catalog, pool: ThreadPoolExecutor
) -> None:
    with Held("commit.locked", partial(append_to, metastore, "base", "last.parquet")):
        dropping = pool.submit(metastore.drop_catalog, "base")
        until_waiting(place, dropping)
    dropping.result(TIMEOUT_SECONDS)
    assert metastore.find("base") is None
    assert problems(place) == []


@pytest.mark.parametrize("what", ["fork", "copy", "commit", "rename", "materialize"])
def test_operations_queued_behind_a_drop_find_nothing(
    place: Place, metastore: Metastore, base: Catalog, pool: ThreadPoolExecutor, what: str
) -> None:
    actions: dict[str, Callable[[], object]] = {
        "fork": partial(metastore.fork, "fork", "late"),
        "copy": partial(metastore.fork, "fork", "late", mode="copy"),
        "commit": partial(append_to, metastore, "fork", "late.parquet"),
        "rename": partial(metastore.rename_catalog, "fork", "late"),
        "materialize": partial(metastore.materialize, "fork"),
    }
    with Held("drop.locked", partial(metastore.drop_catalog, "fork")):
        late = pool.submit(actions[what])
        until_waiting(place, late)
    with pytest.raises(NotFound):
        late.result(TIMEOUT_SECONDS)
    assert paths(metastore.catalog("child")) == ["base.parquet"]
    assert problems(place) == []


def test_a_second_drop_finds_nothing(
    place: Place, metastore: Metastore, base: Catalog, pool: ThreadPoolExecutor
) -> None:
    with Held("drop.locked", partial(metastore.drop_catalog, "fork")):
        late = pool.submit(metastore.drop_catalog, "fork")
        until_waiting(place, late)
    with pytest.raises(NotFound):
        late.result(TIMEOUT_SECONDS)
    assert problems(place) == []


# Materializing


@pytest.mark.parametrize("mode", ["inherit", "copy"])
def test_a_fork_waits_for_the_materialization_of_its_parent(
    place: Place, metastore: Metastore, base: Catalog, pool: ThreadPoolExecutor, mode: str
) -> None:
    with Held("materialize.copied", partial(metastore.materialize, "fork")):
        forks = [
            pool.submit(metastore.fork, name, f"late-{name}", mode=mode)
            for name in ("fork", "child")
        ]
        for number, fork in enumerate(forks, start=1):
            until_waiting(place, fork, count=number)
    for fork in forks:
        assert paths(fork.result(TIMEOUT_SECONDS)) == ["base.parquet"]
    assert problems(place, every_snapshot=True) == []


@pytest.mark.parametrize("parent", ["fork", "child"])
def test_a_catalog_is_materialized_after_running_forks(
    place: Place, metastore: Metastore, base: Catalog, pool: ThreadPoolExecutor, parent: str
) -> None:
    with Held("fork.prepared", partial(metastore.fork, parent, "early")):
        cutting = pool.submit(metastore.materialize, "fork")
        until_waiting(place, cutting)
    assert cutting.result(TIMEOUT_SECONDS) is not None
    assert paths(metastore.catalog("early")) == ["base.parquet"]
    assert problems(place, every_snapshot=True) == []


def test_appends_commit_after_a_materialization_and_other_changes_conflict(
    place: Place, metastore: Metastore, base: Catalog, pool: ThreadPoolExecutor
) -> None:
    fork = metastore.catalog("fork")
    table = table_of(fork)
    with Held("materialize.copied", partial(metastore.materialize, "fork")):
        appending = pool.submit(append, fork, table, "fork.parquet")
        until_waiting(place, appending, count=1)
        ending = pool.submit(end_all_files, metastore.catalog("fork"))
        until_waiting(place, ending, count=2)
    appending.result(TIMEOUT_SECONDS)
    with pytest.raises(Conflict):
        ending.result(TIMEOUT_SECONDS)
    assert paths(fork) == ["base.parquet", "fork.parquet"]
    end_all_files(fork)
    assert paths(fork) == []
    assert paths(metastore.catalog("child")) == ["base.parquet"]
    assert problems(place, every_snapshot=True) == []


# Names


@pytest.mark.parametrize("times", [1, 2, pytest.param(5, id="often")])
@pytest.mark.parametrize("how", ["create", "fork"])
def test_if_not_exists_never_fails_because_of_a_concurrent_creation(
    metastore: Metastore,
    base: Catalog,
    how: str,
    times: int,
) -> None:
    names = [f"new-{number}" for number in range(times + 1)]
    rivals = iter(names[:times])

    def be_faster() -> None:
        for name in rivals:
            metastore.create_catalog(name) if how == "create" else metastore.fork("base", name)
            return

    phase = "create.allocated" if how == "create" else "fork.prepared"
    with every_time_at(phase, be_faster):
        if how == "create":
            made = metastore.create_catalogs(names, if_not_exists=True)
        else:
            made = metastore.fork_many("base", names, if_not_exists=True)
    assert sorted(made, key=lambda row: row.catalog_name) == metastore.catalogs(prefix="new-")
    assert len(made) == len(names)


@pytest.mark.parametrize("how", ["create", "fork"])
@pytest.mark.parametrize("end", ["drop", "rename"])
def test_no_two_catalogs_share_a_folder(
    place: Place, metastore: Metastore, base: Catalog, how: str, end: str
) -> None:
    def create_and_remove() -> None:
        metastore.create_catalog("new")
        if end == "drop":
            metastore.drop_catalog("new")
        else:
            metastore.rename_catalog("new", "renamed")

    if how == "create":
        with once_at("create.allocated", create_and_remove):
            metastore.create_catalog("new")
    else:
        with once_at("fork.prepared", create_and_remove):
            metastore.fork("base", "new")
    assert problems(place) == []


def test_a_drop_does_not_affect_a_catalog_renamed_meanwhile(
    metastore: Metastore, base: Catalog
) -> None:
    def rename() -> None:
        metastore.rename_catalog("fork", "renamed")
        metastore.fork("base", "fork")

    with once_at("drop.begun", rename), suppress(NotFound):
        metastore.drop_catalog("fork")
    assert metastore.find("renamed") is not None


def test_a_metastore_is_created_in_a_concurrently_created_schema(
    place: Place, pool: ThreadPoolExecutor
) -> None:
    dsn = place.uri.split(":", 2)[2]
    with psycopg.connect(dsn) as other:
        other.execute(f"CREATE SCHEMA {place.metadata_schema}".encode())
        opening = pool.submit(place.open)
        until_waiting(place, opening)
        other.commit()
    with opening.result(TIMEOUT_SECONDS) as metastore:
        assert metastore.count() == 0
