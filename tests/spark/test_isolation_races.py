"""Races of rebuilds, inserts and upserts of one table, which must neither lose nor double rows.

FORKLAKE_RACE_SECONDS is the duration of each race.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from forklake import Session
from tests.fix_metastore import Place

SECONDS = float(os.environ.get("FORKLAKE_RACE_SECONDS", "2"))
REBUILD = "CREATE OR REPLACE TABLE t AS SELECT * FROM t"
INSERT = "INSERT INTO t VALUES ({}, 0)"
UPSERT = (
    "MERGE INTO t USING (SELECT {} AS id, 1 AS v) AS s ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET v = t.v + 1 WHEN NOT MATCHED THEN INSERT (id, v)"
    " VALUES (s.id, s.v)"
)
NEXT = "INSERT INTO t SELECT max(id) + 1, 0 FROM t WHERE id < 1000000"
_INSERTED, _UPSERTED = 1_000_000, 2_000_000


@dataclass
class Acknowledged:
    """Statements that ended without an error."""

    ids: list[int] = field(default_factory=list)
    upserts: Counter[int] = field(default_factory=Counter)
    next_ids: int = 0
    rebuilds: int = 0
    guard: threading.Lock = field(default_factory=threading.Lock)


@pytest.fixture
def sessions(
    session: Session, place: Place, backend: str, tmp_path: Path
) -> Iterator[list[Session]]:
    """Yield sessions on one catalog; on PostgreSQL half of them use connections of their own."""
    uris = [place.uri, place.uri]
    if backend == "postgresql":
        uris[1] += f"{'&' if '?' in uris[1] else '?'}application_name=other"
    with ExitStack() as stack:
        found = []
        for uri in uris:
            made = stack.enter_context(Session(session.engine.spark))
            made.attach(
                uri,
                "lake",
                catalog="race",
                data_path=str(tmp_path / "data"),
                metadata_schema=place.metadata_schema,
                create_if_not_exists=True,
            )
            found += [made, *(stack.enter_context(made.cursor()) for _ in range(3))]
        for one in found:
            one.use("lake")
        yield found


@pytest.mark.slow
@pytest.mark.timeout(300 + 4 * SECONDS)
@pytest.mark.parametrize(
    ("backend", "limit"), [("sqlite", 0), ("postgresql", 100)], ids=["files", "inlined"]
)
def test_race_of_rebuilds_inserts_and_upserts_loses_and_doubles_no_rows(
    sessions: list[Session], limit: int
) -> None:
    first = sessions[0]
    first.sql(f"CALL lake.set_option('data_inlining_row_limit', {limit})")
    first.sql("CREATE TABLE t (id INTEGER, v INTEGER); INSERT INTO t VALUES (0, 0)")
    done = Acknowledged()
    deadline = time.monotonic() + SECONDS
    jobs = [_rebuild, _insert, _upsert, _next, _next, _upsert, _insert, _rebuild]
    with ThreadPoolExecutor(len(jobs)) as pool:
        running = [
            pool.submit(_repeat, job, one, done, number, deadline)
            for number, (job, one) in enumerate(zip(jobs, sessions, strict=True))
        ]
        for one in running:
            one.result()
    rows = [tuple(row) for row in first.sql("SELECT id, v FROM t").collect()]
    ids = Counter(number for number, _ in rows)
    assert [number for number, count in ids.items() if count > 1] == []
    assert set(done.ids) == {one for one in ids if _INSERTED <= one < _UPSERTED}
    assert dict(done.upserts) == {one: value for one, value in rows if one >= _UPSERTED}
    assert sum(number < _INSERTED for number in ids) == 1 + done.next_ids
    print(
        f"{len(done.ids)} inserts, {done.upserts.total()} upserts, {done.next_ids} next ids,"
        f" {done.rebuilds} rebuilds"
    )


Job = Callable[[Session, Acknowledged, int], None]


def _repeat(job: Job, session: Session, done: Acknowledged, worker: int, deadline: float) -> None:
    number = 0
    while not number or time.monotonic() < deadline:
        job(session, done, 10_000 * worker + number)
        number += 1


def _rebuild(session: Session, done: Acknowledged, number: int) -> None:
    session.sql(REBUILD)
    with done.guard:
        done.rebuilds += 1


def _insert(session: Session, done: Acknowledged, number: int) -> None:
    session.sql(INSERT.format(_INSERTED + number))
    with done.guard:
        done.ids.append(_INSERTED + number)


def _upsert(session: Session, done: Acknowledged, number: int) -> None:
    key = _UPSERTED + number % 10_000  # both workers upsert the same keys
    session.sql(UPSERT.format(key))
    with done.guard:
        done.upserts[key] += 1


def _next(session: Session, done: Acknowledged, number: int) -> None:
    session.sql(NEXT)
    with done.guard:
        done.next_ids += 1
