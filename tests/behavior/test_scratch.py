"""Scratch forks, which are dropped at the end of a block unless they are kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from forklake import Metastore
from forklake.errors import InvalidInput, NotFound
from forklake.maintenance.due import maintain
from forklake.store import phases
from tests.behavior.builders import COLUMNS

HOUR = timedelta(hours=1)


def names(metastore: Metastore) -> list[str]:
    """Return the names of all catalogs."""
    return [row.catalog_name for row in metastore.catalogs()]


def test_a_scratch_fork_is_dropped_at_the_end_also_after_errors(metastore: Metastore) -> None:
    parent = metastore.create_catalog("sales")
    with metastore.scratch("sales") as fork:
        with fork.transaction() as transaction:
            transaction.create_table("t", COLUMNS)
        expires_at = fork.expires_at()
        assert expires_at is not None
        assert expires_at <= datetime.now(UTC) + HOUR
        assert names(metastore) == ["sales", fork.name]
    with pytest.raises(ZeroDivisionError), metastore.scratch("sales", ttl=HOUR):
        assert 1 / 0
    assert names(metastore) == ["sales"]
    assert parent.now().state.tables() == []


def test_a_scratch_fork_can_be_kept(metastore: Metastore) -> None:
    metastore.create_catalog("sales")
    before = metastore.catalog("sales").current_snapshot()
    with metastore.scratch("sales", at=before) as one, metastore.scratch("sales") as other:
        assert one.name != other.name
        result = one.keep("result")
        assert other.keep(ttl=HOUR) is other
    assert names(metastore) == sorted(["result", "sales", other.name])
    assert (result.name, result.expires_at()) == ("result", None)
    assert metastore.drop_expired(now=datetime.now(UTC) + 2 * HOUR) == [other.name]


@pytest.mark.parametrize("backend", ["sqlite"])
def test_a_scratch_fork_may_be_dropped_before_its_end(metastore: Metastore) -> None:
    metastore.create_catalog("a name that is longer than forty characters")
    (parent,) = names(metastore)
    with metastore.scratch(parent) as fork:
        metastore.drop_catalog(fork.name)
    with pytest.raises(NotFound), metastore.scratch("missing"):
        pass
    with pytest.raises(InvalidInput), metastore.scratch(parent, ttl=timedelta(0)):
        pass
    assert names(metastore) == [parent]


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_ten_thousand_expired_forks_are_dropped_in_batches(
    metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    metastore.create_catalog("sales")
    forks = [f"request-{number:05d}" for number in range(10_000)]
    metastore.fork_many("sales", forks, ttl=timedelta(microseconds=1))
    metastore.fork("sales", "kept", ttl=HOUR)
    reached: list[str] = []
    monkeypatch.setattr(phases, "observer", reached.append)
    steps = [one for one in maintain(metastore) if one.unit == "catalogs"]
    for operation in ("drop_expired", "reclaim_dropped"):
        assert sum(one.count for one in steps if one.operation == operation) == 10_000
    assert reached.count("drop.committed") == 10  # no batch blocks other transactions for long
    assert names(metastore) == ["kept", "sales"]
