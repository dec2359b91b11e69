"""Connections cut at any moment, also between a commit and its reply: changes apply once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

from forklake import Catalog, Metastore
from forklake.errors import AlreadyExists, Unavailable
from forklake.model.plan import Committed
from tests.concurrency.consistency import problems
from tests.concurrency.interruptions import CASES, Held, finish, once_at
from tests.concurrency.locks import until_waiting
from tests.concurrency.processes import Start, in_processes, in_threads
from tests.concurrency.worlds import OPERATIONS, expected, prepare, world
from tests.concurrency.writers import append, make_catalog, new_file, table_of
from tests.fix_metastore import Place
from tests.fix_proxy import CuttableProxy, Direction

TIMES = 30
NEVER_ARRIVED: tuple[Direction, bool] = ("to_server", False)
NEVER_ANSWERED: tuple[Direction, bool] = ("to_client", False)
cuts = pytest.mark.parametrize(
    "cut",
    [
        pytest.param(NEVER_ARRIVED, id="never arrived"),
        pytest.param(("to_server", True), id="arrived last"),
        pytest.param(NEVER_ANSWERED, id="never answered"),
    ],
)
# A drop is not retried automatically: the caller gets the error and may retry.
RETRIED = ("create", "commit", "fork", "copy", "materialize")
Cut = tuple[Direction, bool]


@pytest.fixture
def backend() -> str:
    """Return the backend whose connections are cut."""
    return "postgresql"


@pytest.fixture
def proxy(shared_database: str) -> Iterator[CuttableProxy]:
    """Yield the proxy that cuts connections."""
    with CuttableProxy(shared_database) as found:
        yield found


@pytest.fixture
def distant(place: Place, proxy: CuttableProxy) -> Iterator[Metastore]:
    """Yield the metastore of the place, over connections that are cut."""
    with replace(place, uri=f"ducklake:postgres:{proxy.dsn()}").open() as metastore:
        yield metastore


def committed_append(catalog: Catalog, path: str) -> Committed:
    """Append a file, and return what is known about the commit."""
    with catalog.transaction() as transaction:
        transaction.add_data_files(table_of(catalog), [new_file(path)])
    assert transaction.committed is not None
    return transaction.committed


def is_acknowledged(metastore: Metastore, operation: str, number: int) -> bool:
    """Run an operation over a connection that is cut, and return whether it was acknowledged."""
    try:
        OPERATIONS[operation](metastore, number)
    except Unavailable:
        assert operation not in RETRIED
        return False
    return True


def assert_all_or_nothing(
    place: Place, operation: str, number: int, *, was_acknowledged: bool
) -> None:
    """Check that an acknowledged operation is complete, and any other complete or absent."""
    assert problems(place, every_snapshot=True) == []
    with place.open() as metastore:
        outcomes = [expected(operation, number)]
        outcomes += [] if was_acknowledged else [expected(operation, number - 1)]
        assert world(metastore) in outcomes
        finish(metastore, operation, number + 1 if was_acknowledged else number)
        assert world(metastore) == expected(operation, 3)
    assert problems(place, every_snapshot=True) == []


@cuts
def test_a_commit_of_unknown_outcome_applies_once(
    place: Place, distant: Metastore, proxy: CuttableProxy, cut: Cut
) -> None:
    catalog = make_catalog(distant, "base")
    outcomes = []
    for number in range(TIMES):
        was_cut = proxy.cut_after(b"COMMIT", *cut)
        outcomes.append(committed_append(catalog, f"{number}.parquet"))
        assert was_cut.is_set()
    files = catalog.now().data_files(table_of(catalog))
    assert [(file.path, file.begin_snapshot) for file in files] == [
        (f"{number}.parquet", outcome.snapshot_id) for number, outcome in enumerate(outcomes)
    ]
    assert len(catalog.snapshots()) == 2 + TIMES
    if cut in (NEVER_ARRIVED, NEVER_ANSWERED):
        applied_before = {outcome.was_applied_before for outcome in outcomes}
        assert applied_before == {cut == NEVER_ANSWERED}
    assert problems(place) == []


@cuts
@pytest.mark.parametrize("mode", ["inherit", "copy"])
def test_a_fork_of_unknown_outcome_is_created_once(
    place: Place, distant: Metastore, proxy: CuttableProxy, cut: Cut, mode: str
) -> None:
    parent = make_catalog(distant, "base")
    append(parent, table_of(parent), "base.parquet")
    names = [f"fork-{number:02}" for number in range(TIMES // 2)]
    for name in names:
        was_cut = proxy.cut_after(b"COMMIT", *cut)
        fork = distant.fork("base", name, mode=mode, if_not_exists=True)
        assert was_cut.is_set()
        assert fork.row == distant.find(name)
        assert len(fork.now().data_files(table_of(fork))) == 1
    assert [row.catalog_name for row in distant.catalogs(prefix="fork")] == names
    assert problems(place) == []


@cuts
def test_a_creation_of_unknown_outcome_happens_once(
    place: Place, distant: Metastore, proxy: CuttableProxy, cut: Cut
) -> None:
    names = [f"new-{number:02}" for number in range(TIMES // 2)]
    for name in names:
        was_cut = proxy.cut_after(b"COMMIT", *cut)
        made = distant.create_catalog(name, if_not_exists=True)
        assert was_cut.is_set()
        assert made.row == distant.find(name)
    assert [row.catalog_name for row in distant.catalogs()] == names
    assert problems(place) == []


@cuts
@pytest.mark.parametrize("operation", ["materialize", "drop"])
def test_other_operations_of_unknown_outcome_leave_all_or_nothing(
    place: Place, distant: Metastore, proxy: CuttableProxy, cut: Cut, operation: str
) -> None:
    prepare(distant)
    was_cut = proxy.cut_after(b"COMMIT", *cut)
    was_acknowledged = is_acknowledged(distant, operation, 1)
    assert was_cut.is_set()
    assert_all_or_nothing(place, operation, 1, was_acknowledged=was_acknowledged)


def test_a_retried_creation_reports_its_own_name_as_taken(
    place: Place, distant: Metastore, proxy: CuttableProxy
) -> None:
    proxy.cut_after(b"COMMIT", *NEVER_ANSWERED)
    with pytest.raises(AlreadyExists):
        distant.create_catalog("new")
    assert [row.catalog_name for row in distant.catalogs()] == ["new"]
    assert problems(place) == []


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "phase"), CASES)
def test_a_connection_cut_at_any_phase_leaves_all_or_nothing(
    place: Place, distant: Metastore, proxy: CuttableProxy, operation: str, phase: str
) -> None:
    prepare(distant)
    OPERATIONS[operation](distant, 1)
    with once_at(phase, proxy.cut) as happened:
        was_acknowledged = is_acknowledged(distant, operation, 2)
    assert happened.is_set()
    assert_all_or_nothing(place, operation, 2, was_acknowledged=was_acknowledged)


def test_a_commit_that_lost_its_place_in_the_queue_applies_once(
    place: Place, distant: Metastore, proxy: CuttableProxy
) -> None:
    catalog = make_catalog(distant, "base")
    table = table_of(catalog)
    with place.open() as near, ThreadPoolExecutor() as pool:
        other = near.catalog("base")
        with Held("commit.locked", partial(append, other, table, "first.parquet")):
            second = pool.submit(append, catalog, table, "second.parquet")
            until_waiting(place, second)
            proxy.cut()
            until_waiting(place, second)
        second.result()
    assert [file.path for file in catalog.now().data_files(table)] == [
        "first.parquet",
        "second.parquet",
    ]
    assert problems(place) == []


# Idle connections that were cut


def use_connection(metastore: Metastore, start: Start) -> None:
    """Hold a connection while the others hold theirs."""
    with metastore.database.reading() as connection:
        start()
        connection.fetch("SELECT 1")


def with_idle_connections(metastore: Metastore, count: int) -> None:
    """Leave idle connections in the pool."""
    in_threads([partial(use_connection, metastore) for _ in range(count)])


def test_a_commit_survives_the_loss_of_all_idle_connections(
    place: Place, distant: Metastore, proxy: CuttableProxy
) -> None:
    catalog = make_catalog(distant, "base")
    table = table_of(catalog)
    with_idle_connections(distant, 16)
    proxy.cut()
    append(catalog, table, "one.parquet")
    assert problems(place) == []


def test_a_read_survives_the_loss_of_its_idle_connection(
    distant: Metastore, proxy: CuttableProxy
) -> None:
    catalog = make_catalog(distant, "base")
    proxy.cut()
    assert catalog.now().data_files(table_of(catalog)) == []


# Idempotency keys


def append_with_key(place: Place, writer: int, start: Start) -> Committed:
    """Append a file under the common key."""
    with place.open() as metastore:
        catalog = metastore.catalog("base")
        table = table_of(catalog)
        start()
        with catalog.transaction(idempotency_key="the key") as transaction:
            transaction.add_data_files(table, [new_file(f"{writer}.parquet")])
    assert transaction.committed is not None
    return transaction.committed


@pytest.mark.slow
def test_a_key_shared_by_many_writers_applies_once(place: Place) -> None:
    with place.open() as metastore:
        catalog = make_catalog(metastore, "base")
        outcomes = in_processes([partial(append_with_key, place, number) for number in range(16)])
        assert len({outcome.snapshot_id for outcome in outcomes}) == 1
        assert [outcome.was_applied_before for outcome in outcomes].count(False) == 1
        assert len(catalog.now().data_files(table_of(catalog))) == 1
        assert len(catalog.snapshots()) == 3
    assert problems(place) == []


def test_a_key_is_recognized_after_many_commits(place: Place) -> None:
    with place.open() as metastore:
        catalog = make_catalog(metastore, "base")
        table = table_of(catalog)
        with catalog.transaction(idempotency_key="the key") as first:
            first.add_data_files(table, [new_file("first.parquet")])
        for number in range(3):
            append(catalog, table, f"{number}.parquet")
    with place.open() as metastore:
        catalog = metastore.catalog("base")
        with catalog.transaction(idempotency_key="the key") as again:
            again.add_data_files(table, [new_file("again.parquet")])
        assert first.committed is not None
        assert again.committed is not None
        assert again.committed.was_applied_before
        assert again.committed.snapshot_id == first.committed.snapshot_id
        paths = [file.path for file in catalog.now().data_files(table)]
        assert paths == ["first.parquet", "0.parquet", "1.parquet", "2.parquet"]


def test_a_key_applied_in_the_parent_counts_in_every_fork(place: Place) -> None:
    with place.open() as metastore:
        parent = make_catalog(metastore, "base")
        table = table_of(parent)
        with parent.transaction(idempotency_key="the key") as transaction:
            transaction.add_data_files(table, [new_file("base.parquet")])
        metastore.fork("base", "loose")
        metastore.materialize("loose")
        forks = [
            metastore.fork("base", "inheriting"),
            metastore.fork("base", "copying", mode="copy"),
            metastore.catalog("loose"),
        ]
        for fork in forks:
            with fork.transaction(idempotency_key="the key") as transaction:
                transaction.add_data_files(table, [new_file("fork.parquet")])
        counts = {fork.name: len(fork.now().data_files(table)) for fork in forks}
        assert len(set(counts.values())) == 1, counts
