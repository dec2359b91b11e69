"""SELECT statements on DuckDB and Spark over the same Parquet files, which must give equal results.

The statements are text files, one per topic. Those that only compute columns of one source are
combined into one query, so that all of them take seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import IllegalArgumentException, PySparkException
from sqlglot import exp

from forklake.engines.spark.engine import Engine
from forklake.errors import ForklakeError
from forklake.sql.dialect import parse
from forklake.sql.translate import dispatch, to_spark
from tests.sql.comparing import rows_of, same_rows

FOLDER = Path(__file__).with_name("differential")
TABLES = FOLDER / "tables.sql"
REFUSED = FOLDER / "refused.sql"
TOPICS = sorted(one.stem for one in FOLDER.glob("*.sql") if one not in (TABLES, REFUSED))
MOST_COLUMNS = 60
_FOR_SMALL_TABLES = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "1"}


@dataclass
class Engines:
    """DuckDB and Spark with the same tables."""

    duckdb: duckdb.DuckDBPyConnection
    engine: Engine

    def expected(self, text: str) -> pa.Table:
        return self.duckdb.execute(text).to_arrow_table()

    def answer(self, text: str) -> pa.Table:
        [statement] = parse(text)
        return self.spark_answer(to_spark(statement, columns_of=self.columns_of))

    def spark_answer(self, text: str) -> pa.Table:
        if dispatch.is_needed(text):
            dispatch.register_functions(self.engine)
        return self.engine.spark.sql(text).toArrow()

    def columns_of(self, relation: str) -> list[str]:
        if dispatch.is_needed(relation):
            dispatch.register_functions(self.engine)
        return self.engine.spark.sql(f"SELECT * FROM {relation}").columns


@pytest.fixture(scope="module")
def engines(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engines]:
    folder = tmp_path_factory.mktemp("differential")
    session = engine.new_session()
    for name, value in _FOR_SMALL_TABLES.items():
        session.spark.conf.set(name, value)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(TABLES.read_text())
        for [name] in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            path = folder / f"{name}.parquet"
            connection.execute(f"COPY {name} TO '{path}'")
            connection.execute(f"DROP TABLE {name}")
            connection.execute(f"CREATE VIEW {name} AS FROM '{path}'")
            session.spark.read.parquet(str(path)).createOrReplaceTempView(name)
        yield Engines(connection, session)
    session.close()


def statements(path: Path) -> list[str]:
    """Return the statements of a file, without their comments."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("--")]
    return [one.strip() for one in "\n".join(lines).split(";\n") if one.strip(" ;\n")]


def source_of(text: str) -> str | None:
    """Return the source of a statement that only computes columns of it, else None."""
    [node] = parse(text)
    if not isinstance(node, exp.Select) or node.is_star:
        return None
    clauses = {name for name, value in node.args.items() if value} - {"expressions", "from_"}
    if (
        clauses
        or "unnest" in text.lower()
        or "columns(" in text.lower()
        or " over " in text.lower()
    ):
        return None
    if any(isinstance(one, exp.Subquery) for one in node.walk()) or "(" not in text:
        return None
    start = node.args.get("from_")
    return "" if start is None else str(start.this.sql("duckdb"))


def batches(texts: list[str]) -> Iterator[list[str]]:
    """Yield lists of statements that can be combined into one query."""
    together: dict[str, list[str]] = {}
    for text in texts:
        source = source_of(text)
        if source is None or "(select" in text.lower():
            yield [text]
        else:
            together.setdefault(source, []).append(text)
    for found in together.values():
        for start in range(0, len(found), MOST_COLUMNS):
            yield found[start : start + MOST_COLUMNS]


def differences(engines: Engines, texts: list[str]) -> Iterator[str]:
    """Yield the differences between the results of statements, combined or else one by one."""
    if len(texts) > 1 and not _failure(engines, _joined(texts)):
        return
    for text in texts:
        if found := _failure(engines, text):
            yield f"{text}\n    {found}"


def _failure(engines: Engines, text: str) -> str:
    """Return the difference or error of a statement, or ""."""
    try:
        return _difference(engines, text)
    except (ForklakeError, PySparkException, Py4JError, duckdb.Error) as reason:
        return f"{type(reason).__name__}: {str(reason)[:600]}"


def _joined(texts: list[str]) -> str:
    parsed = [parse(text)[0] for text in texts]
    columns: list[exp.Expr] = []
    for node in parsed:
        for one in node.expressions:
            columns.append(exp.alias_(one.unalias().copy(), f"c{len(columns)}"))
    whole = parsed[0].copy()
    whole.set("expressions", columns)
    return str(whole.sql("duckdb"))


def _difference(engines: Engines, text: str) -> str:
    expected, answer = engines.expected(text), engines.answer(text)
    in_order = parse(text)[0].args.get("order") is not None
    left, right = rows_of(expected), rows_of(answer)
    if not same_rows(left, right, in_order=in_order):
        return f"DuckDB: {left}\n    Spark:  {right}"
    names = [(a, b) for a, b in zip(expected.column_names, answer.column_names, strict=True)]
    given = [one.alias for one in parse(text)[0].find_all(exp.Alias)]
    wrong = [pair for pair in names if pair[0] in given and pair[0] != pair[1]]
    return f"Names differ: {wrong}" if wrong else ""


@pytest.mark.slow
@pytest.mark.parametrize("topic", TOPICS)
def test_spark_results_equal_those_of_duckdb(engines: Engines, topic: str) -> None:
    texts = statements(FOLDER / f"{topic}.sql")
    found = [one for batch in batches(texts) for one in differences(engines, batch)]
    assert not found, f"{len(found)} of {len(texts)} differ:\n\n" + "\n\n".join(found)


def refusals() -> Iterator[tuple[str, str]]:
    """Yield statements with the words that their errors must contain."""
    word = ""
    for line in REFUSED.read_text().splitlines():
        if line.startswith("-- "):
            word = line.removeprefix("-- ")
        elif line:
            yield line.rstrip(";"), word


def test_unsupported_features_are_named(engines: Engines) -> None:
    wrong = []
    for text, word in refusals():
        try:
            engines.answer(text)
            wrong.append(f"{text}\n    is not refused")
        except (ForklakeError, IllegalArgumentException) as reason:
            if word not in str(reason):
                wrong.append(f"{text}\n    {reason}")
    assert not wrong, "\n\n".join(wrong)
