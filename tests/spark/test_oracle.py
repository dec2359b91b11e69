"""Random statements, which must give the same rows on a lake table and on a DuckDB table."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from forklake import Session
from forklake.engines.spark.engine import Engine
from tests.fix_metastore import Place, postgres_schema
from tests.spark.oracle.world import KINDS, Script, Setting, World

# To run more statements, newly chosen each time: FORKLAKE_STATEMENTS=5000
STATEMENTS = os.environ.get("FORKLAKE_STATEMENTS")
LENGTH = 15
SCRIPTS = int(STATEMENTS or 60) // LENGTH
# A script takes seconds: after a failure, at most this many more run to find a shorter one.
ATTEMPTS = 20

scripts = st.lists(st.sampled_from(KINDS), min_size=LENGTH, max_size=LENGTH)
lakes = st.builds(Setting, st.sampled_from([0, 5, 1000]), st.booleans(), st.integers(0, 2**32))
Making = Callable[[Path], AbstractContextManager[Place]]


class _Runs:
    """Runs of scripts, limited in number after the first failure."""

    def __init__(self, engine: Engine, make: Making) -> None:
        self._engine, self._make = engine, make
        self._failed: set[str] = set()
        self._attempts = 0

    def __call__(self, setting: Setting, script: Script) -> None:
        reported = repr((setting, script))
        if self._failed and reported not in self._failed:
            self._attempts += 1
            assume(self._attempts <= ATTEMPTS)
        try:
            self._run(setting, script)
        except BaseException:
            self._failed.add(reported)
            raise

    def _run(self, setting: Setting, script: Script) -> None:
        folder = Path(tempfile.mkdtemp())
        try:
            with self._make(folder) as place, Session(self._engine.spark) as session:
                world = World(session, place, folder / "data", setting)
                try:
                    world.run(script)
                except BaseException as reason:
                    reason.add_note("\n".join(["The script was:", *world.log]))
                    raise
        finally:
            shutil.rmtree(folder)


@contextmanager
def _sqlite(folder: Path) -> Iterator[Place]:
    yield Place("sqlite", f"ducklake:sqlite:{folder / 'metastore.db'}")


def run(engine: Engine, make: Making) -> None:
    """Run many random scripts."""
    runs = _Runs(engine, make)

    @settings(
        max_examples=SCRIPTS,
        deadline=None,
        database=None,
        derandomize=STATEMENTS is None,
        print_blob=True,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(lakes, scripts)
    def all_agree(setting: Setting, script: Script) -> None:
        runs(setting, script)

    all_agree()


@pytest.mark.slow
@pytest.mark.timeout(0 if STATEMENTS else 600)
def test_statements_agree_with_duckdb_on_sqlite(engine: Engine) -> None:
    run(engine, _sqlite)


@pytest.mark.slow
@pytest.mark.timeout(0 if STATEMENTS else 600)
def test_statements_agree_with_duckdb_on_postgresql(engine: Engine, shared_database: str) -> None:
    run(engine, lambda _: postgres_schema(shared_database))


def test_zeros_are_equal_regardless_of_sign(lake: Session) -> None:
    made = "SELECT id, IF(id % 2 = 0, 0.0D, -0.0D) AS f FROM range(0, 1000, 1, 1)"
    rows = lake.engine.spark.sql(made)
    lake.create_table("t", rows.schema)
    for remainder in (0, 1):  # a file for each sign, with a dictionary
        lake.write(rows.where(f"id % 2 = {remainder}"), "t")
    assert lake.table("t").where("f = 0.0D").count() == 1000
    assert lake.table("t", where="f IN (-0.0D, 1.0D)").count() == 1000
    assert lake.delete("t", "f = -0.0D AND id < 10") == 10
