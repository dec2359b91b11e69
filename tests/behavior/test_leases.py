"""Catalogs with a time to live, which any process may drop after their expiry."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from forklake import Metastore
from forklake.errors import InvalidInput, NotFound
from forklake.store import phases
from tests.behavior.builders import COLUMNS
from tests.concurrency.consistency import problems
from tests.fix_metastore import Place

HOUR = timedelta(hours=1)


def later(hours: float) -> datetime:
    """Return the time in so many hours."""
    return datetime.now(UTC) + hours * HOUR


def test_catalogs_are_dropped_after_their_expiry_and_not_before(
    metastore: Metastore, place: Place
) -> None:
    metastore.create_catalog("kept")
    metastore.create_catalogs(["brief-1", "brief-2"], ttl=HOUR)
    metastore.fork("kept", "fork", ttl=2 * HOUR)
    metastore.fork_many("kept", ["many-1", "many-2"], ttl=3 * HOUR, mode="copy")
    assert metastore.catalog("kept").expires_at() is None
    expires_at = metastore.catalog("fork").expires_at()
    assert expires_at is not None
    assert later(1.9) < expires_at < later(2)

    assert metastore.drop_expired() == []
    assert metastore.drop_expired(now=later(1)) == ["brief-1", "brief-2"]
    some = metastore.drop_expired(now=later(9), limit=2)
    assert len(some) == 2
    others = metastore.drop_expired(now=later(9))
    assert sorted(some + others) == ["fork", "many-1", "many-2"]
    assert [row.catalog_name for row in metastore.catalogs()] == ["kept"]
    assert problems(place) == []


def test_an_expired_catalog_is_usable_until_it_is_dropped(
    metastore: Metastore,
) -> None:
    catalog = metastore.create_catalog("brief", ttl=timedelta(microseconds=1))
    with catalog.transaction() as transaction:
        transaction.create_table("t", COLUMNS)
    metastore.fork("brief", "heir")
    assert metastore.drop_expired() == ["brief"]
    with pytest.raises(NotFound):
        catalog.extend(HOUR)
    with pytest.raises(NotFound):
        catalog.extend(None)
    assert metastore.catalog("heir").now().state.table("t")
    assert metastore.catalog("heir").expires_at() is None


def test_an_expiry_can_be_extended_removed_and_added(metastore: Metastore) -> None:
    brief = metastore.create_catalog("brief", ttl=HOUR)
    assert brief.extend(3 * HOUR) == brief.expires_at()
    assert metastore.drop_expired(now=later(2)) == []
    assert brief.extend(None) is None
    assert brief.expires_at() is None
    assert metastore.drop_expired(now=later(9)) == []
    brief.extend(HOUR)
    renamed = metastore.rename_catalog("brief", "renamed")
    assert renamed.expires_at() == brief.expires_at()
    metastore.create_catalog("renamed", if_not_exists=True, ttl=9 * HOUR)  # keeps its expiry
    assert metastore.drop_expired(now=later(2)) == ["renamed"]


def test_a_reused_name_does_not_inherit_the_old_expiry(metastore: Metastore) -> None:
    metastore.create_catalog("again", ttl=HOUR)
    metastore.drop_catalog("again")
    metastore.create_catalog("again")
    assert metastore.drop_expired(now=later(9)) == []


@pytest.mark.parametrize("backend", ["sqlite"])
def test_invalid_times_are_refused(metastore: Metastore) -> None:
    for ttl in (timedelta(0), -HOUR, timedelta(days=40_000)):
        with pytest.raises(InvalidInput):
            metastore.create_catalog("new", ttl=ttl)
    with pytest.raises(InvalidInput):
        metastore.drop_expired(0)
    with pytest.raises(InvalidInput):
        metastore.drop_expired(now=datetime(2100, 1, 1))  # noqa: DTZ001
    assert metastore.count() == 0


def test_each_expired_catalog_is_dropped_by_exactly_one_process(
    metastore: Metastore, place: Place
) -> None:
    metastore.create_catalog("parent")
    names = [f"fork-{number:03d}" for number in range(60)]
    metastore.fork_many("parent", names, ttl=HOUR)
    start = threading.Barrier(6)

    def drop() -> list[str]:
        start.wait()
        found: list[str] = []
        while metastore.count() > 1:
            found += metastore.drop_expired(7, now=later(2))
        return found

    with ThreadPoolExecutor(6) as threads:
        runs = [threads.submit(drop) for _ in range(6)]
        assert sorted(name for run in runs for name in run.result()) == names
    assert problems(place) == []


@contextmanager
def on_reaching(phase: str, run: threading.Event) -> Iterator[None]:
    """Set the event when a phase is reached for the first time."""
    phases.observer = lambda name: run.set() if name == phase else None
    try:
        yield
    finally:
        phases.observer = None


def test_extending_an_expiry_during_a_drop_succeeds_or_finds_nothing(
    metastore: Metastore, place: Place
) -> None:
    outcomes = set()
    for number in range(12):
        catalog = metastore.create_catalog(f"brief-{number}", ttl=HOUR)
        begun = threading.Event()
        with on_reaching("drop.begun", begun), ThreadPoolExecutor(2) as threads:
            dropping = threads.submit(metastore.drop_expired, now=later(2))
            if number % 2:
                begun.wait(5)
            prolonging = threads.submit(catalog.extend, 9 * HOUR)
            dropped = dropping.result()
            is_lost = isinstance(prolonging.exception(), NotFound)
        assert is_lost == (dropped == [catalog.name])
        assert (metastore.find(catalog.name) is None) == is_lost
        outcomes.add(is_lost)
    assert True in outcomes
    assert problems(place) == []
