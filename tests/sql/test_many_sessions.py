"""Many sessions in one process, each with its own names, settings and transactions."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forklake import Session
from forklake.engines.spark.engine import Engine

SESSIONS = 16


@pytest.fixture
def sessions(engine: Engine, metadata: str, tmp_path: Path) -> Iterator[list[Session]]:
    """Yield sessions that attach different catalogs under the same name."""
    opened = []
    for number in range(SESSIONS):
        session = Session(engine.spark)
        session.execute(
            f"ATTACH '{metadata}' AS mine (CATALOG 'tenant_{number}', DATA_PATH"
            f" '{tmp_path / 'data'}', CREATE_IF_NOT_EXISTS true, DATA_INLINING_ROW_LIMIT 10)"
        )
        session.execute(f"CREATE SCHEMA mine.schema_{number % 4}; USE mine.schema_{number % 4}")
        opened.append(session)
    yield opened
    for session in opened:
        session.close()


def work(session: Session, number: int) -> list[tuple[object, ...]]:
    """Run the statements of one session, which all use the same names."""
    session.execute("CREATE TABLE t (id INTEGER, who INTEGER)")
    session.execute("PREPARE add AS INSERT INTO t VALUES ($1, $2)")
    session.execute(f"CREATE MACRO double(x) AS x * 2 + {number}")
    session.execute("BEGIN")
    for row in range(number % 3 + 1):
        session.execute(f"EXECUTE add({row}, {number})")
    inside = session.sql("SELECT count(*) AS n FROM t").collect()[0].n
    session.execute("COMMIT" if number % 2 == 0 else "ROLLBACK")
    session.execute(f"INSERT INTO t SELECT 100, {number}")
    found = session.sql("SELECT count(*), min(who), max(who), max(double(who)) FROM t").collect()
    return [(inside,), tuple(found[0])]


def test_sixteen_sessions_do_not_mix(sessions: list[Session]) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(work, sessions, range(SESSIONS)))
    for number, answer in enumerate(answers):
        in_transaction = number % 3 + 1
        kept = in_transaction if number % 2 == 0 else 0
        assert answer == [(in_transaction,), (kept + 1, number, number, number * 3)]
        assert sessions[number].current == ("mine", f"schema_{number % 4}")
        assert not sessions[number].in_transaction
    views = [view.name for view in sessions[0].engine.spark.catalog.listTables()]
    assert not [name for name in views if name.startswith("__forklake")]
