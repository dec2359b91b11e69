"""Random statements, which must give the same rows and tables in the lake and in DuckDB.

A few of them always run; FORKLAKE_TEST_RANDOM_STATEMENTS=2000 runs that many, with other seeds.
Statements that the lake or DuckDB refuses are counted, and must be few.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from forklake import Session
from forklake.engines.spark.engine import Engine
from forklake.errors import ForklakeError
from forklake.sql.dialect import parse
from tests.sql.comparing import rows_of, same_rows
from tests.sql.random_relations import kind_of_type, make_tables
from tests.sql.random_statements import Statements, make_definitions

_ASKED = os.environ.get("FORKLAKE_TEST_RANDOM_STATEMENTS")
COUNT = int(_ASKED or 60)
OF_ONE_SEED = 15
SEEDS = [1 + one for one in range(-(-COUNT // OF_ONE_SEED))]
if _ASKED:
    SEEDS = random.SystemRandom().sample(range(10**6), len(SEEDS))
_FOR_SMALL_TABLES = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "1"}


class Both:
    """A session of the lake and a connection of DuckDB with the same tables."""

    def __init__(self, session: Session, connection: duckdb.DuckDBPyConnection, seed: int) -> None:
        self.session, self.connection = session, connection
        self.random = random.Random(seed)
        self.tables = make_tables(self.random)
        for text in make_definitions(self.random, self.tables):
            connection.execute(text)
            session.execute(text)
        self.statements = Statements(self.random, self.tables, self._describe)

    def _describe(self, query: str) -> dict[str, str] | None:
        try:
            found = self.connection.execute(f"DESCRIBE {query}").fetchall()
        except duckdb.Error:
            return None
        return {name: kind_of_type(kind) or "other" for name, kind, *_ in found}

    def outcome(self, number: int) -> tuple[str, str]:
        """Run the next statement, every third a change, and return the outcome and the text."""
        if number % 3 < 2:
            text = self.statements.query((), 3).text
            return self._compared(text, text), text
        table = self.random.choice(self.tables)
        text = self.statements.change(table)
        return self._compared(text, f"FROM {table.name}", changed=table.name), text

    def _compared(self, text: str, query: str, changed: str = "") -> str:
        try:
            if changed:
                self.connection.execute(text)
            expected = self.connection.execute(query).to_arrow_table()
        except duckdb.Error:
            return "refused by DuckDB"
        try:
            if changed:
                self.session.execute(text)
            answer = self.session.sql(query).toArrow()
        except (ForklakeError, PySparkException, Py4JError) as reason:
            self._restore(changed, expected)
            return f"refused: {type(reason).__name__} {str(reason)[:300]}"
        in_order = not changed and parse(text)[0].args.get("order") is not None
        left, right = rows_of(expected), rows_of(answer)
        if same_rows(left, right, in_order=in_order):
            return "same"
        return f"differs\n    DuckDB: {left[:10]}\n    lake:   {right[:10]}"

    def _restore(self, table: str, rows: pa.Table) -> None:
        """Reset a table to the rows that it has in DuckDB."""
        if not table:
            return
        self.session.execute(f"TRUNCATE TABLE {table}")
        if rows.num_rows:
            frame = self.session.engine.spark.createDataFrame(rows)
            self.session.sql(f"INSERT INTO {table} FROM given", frames={"given": frame})


@pytest.fixture
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_random_statements_equal_those_of_duckdb(
    engine: Engine, duck: duckdb.DuckDBPyConnection, tmp_path: Path, seed: int
) -> None:
    with Session(engine.spark) as session:
        for name, value in _FOR_SMALL_TABLES.items():
            session.engine.spark.conf.set(name, value)
        session.attach(
            f"ducklake:{tmp_path / 'meta.db'}",
            "lake",
            catalog="random",
            data_path=str(tmp_path / "data"),
            data_inlining_row_limit=0 if seed % 2 else 1000,
            create_if_not_exists=True,
        )
        session.use("lake")
        both = Both(session, duck, seed)
        outcomes = [both.outcome(number) for number in range(OF_ONE_SEED)]
    counted = Counter(outcome.partition(":")[0].split("\n")[0] for outcome, _ in outcomes)
    wrong = [f"{text}\n    {outcome}" for outcome, text in outcomes if outcome[:4] == "diff"]
    assert not wrong, f"seed {seed}: " + "\n\n".join(wrong)
    refused = [f"{text}\n    {outcome}" for outcome, text in outcomes if ":" in outcome]
    assert counted["refused"] <= OF_ONE_SEED // 4, f"seed {seed}: " + "\n\n".join(refused)
    assert counted["same"] > OF_ONE_SEED // 2, f"seed {seed}: {counted}"
