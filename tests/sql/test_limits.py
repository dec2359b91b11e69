"""Statements that would take long to parse are refused, and parsing can be cancelled."""

from __future__ import annotations

import time

import pytest

from forklake import Session
from forklake.errors import Cancelled, InvalidInput
from forklake.sql.dialect import parse
from forklake.sql.guard import Guard
from forklake.sql.limits import MAX_TOKENS, cancellation_checks, check_text

DEEP = {
    "parentheses": "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    "case": "SELECT " + "CASE WHEN true THEN " * 500 + "1" + " END" * 500,
    "not": "SELECT " + "NOT " * 3000 + "true",
    "lists": "SELECT " + "[" * 500 + "1" + "]" * 500,
    "casts": "SELECT 1" + "::INT" * 3000,
    "queries": "SELECT " + "(SELECT " * 500 + "1" + ")" * 500,
    "fields": "SELECT " + "a." * 3000 + "b",
    "types": "CREATE TABLE d(a " + "STRUCT(a " * 500 + "INT" + ")" * 500 + ")",
    "default": "CREATE TABLE d(a INT DEFAULT " + "+".join(["1"] * 3000) + ")",
    "values": "INSERT INTO t VALUES (" + "+".join(["1"] * 3000) + ", 'a')",
    "argument": "CALL lake.set_option('x', " + " || ".join(["'a'"] * 3000) + ")",
    "moment": "SELECT * FROM t AT (VERSION => " + "+".join(["1"] * 3000) + ")",
}
LARGE = {
    "sum": "SELECT " + "+".join(["1"] * 20000),
    "rows": "INSERT INTO t VALUES " + ",".join(["(1, 'a')"] * 200000),
    "elements": "SELECT 1 IN (" + ",".join(["1"] * 50000) + ")",
    "names of WITH": "WITH c0 AS (SELECT 1 AS x), "
    + ", ".join(f"c{n + 1} AS (SELECT a.x FROM c{n} a, c{n} b)" for n in range(30))
    + " SELECT count(*) FROM c30",
    "names of WITH inside": "SELECT * FROM (WITH c0 AS (FROM t), "
    + ", ".join(f"c{n + 1} AS (FROM c{n} UNION ALL FROM c{n})" for n in range(30))
    + " SELECT count(*) FROM c30)",
    "cube": "SELECT count(*) FROM t GROUP BY CUBE(" + ", ".join(["a", "b"] * 7) + ")",
    "rollups": "SELECT count(*) FROM t GROUP BY " + ", ".join(["ROLLUP(a, b)"] * 9),
    "grouping sets": "SELECT count(*) FROM t GROUP BY GROUPING SETS (CUBE(" + "a, " * 12 + "b))",
    "macros": "SELECT m29()",
    "macro of macros": "SELECT " + "double(" * 18 + "1" + ")" * 18,
}


@pytest.fixture
def shop(dry: Session) -> Session:
    """Return a lake with macros that each call the previous one twice."""
    dry.execute("CREATE MACRO m0() AS 1; CREATE MACRO double(x) AS x + x")
    for n in range(1, 30):
        dry.execute(f"CREATE MACRO m{n}() AS m{n - 1}() + m{n - 1}()")
    return dry


@pytest.mark.parametrize("name", DEEP)
def test_deep_statements_are_invalid_input(shop: Session, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        shop.execute(DEEP[name])
    assert len(refused.value.message) < 1000


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "macro of macros" else [])
        for name in LARGE
        if "WITH" not in name
    ],
)
def test_large_statements_are_refused_before_spark(shop: Session, name: str) -> None:
    with pytest.raises(InvalidInput, match="more than"):
        shop.execute(LARGE[name])


def test_queries_that_grow_during_binding_are_refused(lake: Session) -> None:
    lake.execute("CREATE TABLE t(id INT); CREATE VIEW v0 AS SELECT id FROM t")
    for n in range(1, 9):
        lake.execute(f"CREATE VIEW v{n} AS SELECT a.id FROM v{n - 1} a, v{n - 1} b")
    for text in ("CREATE VIEW v9 AS SELECT a.id FROM v8 a, v8 b", "SELECT count(*) FROM v8, v8 b"):
        with pytest.raises(InvalidInput, match="reads more than 500 tables"):
            lake.execute(text)
    for name, text in LARGE.items():
        if "WITH" in name:
            with pytest.raises(InvalidInput, match="reads more than 500 tables"):
                lake.execute(text)
    for deep in (" || ".join(["'a'"] * 3000), "+".join(["1"] * 3000)):
        with pytest.raises(InvalidInput):  # by Python, or by Spark
            lake.execute(f"SELECT {deep}")
    aliases = ", ".join(f"a{n} + a{n} AS a{n + 1}" for n in range(30))
    with pytest.raises(InvalidInput, match="expression nodes"):
        lake.execute(f"SELECT 1 AS a0, {aliases}")


def test_a_long_literal_is_one_token() -> None:
    check_text("SELECT length('" + "a, " * MAX_TOKENS + "')")
    with pytest.raises(InvalidInput, match="tokens"):
        check_text("SELECT " + "a, " * MAX_TOKENS)


def test_parsing_ends_when_the_statement_is_cancelled() -> None:
    begin = time.monotonic()

    def proceed() -> None:
        if time.monotonic() > begin + 0.01:
            raise Cancelled("The statement was cancelled.", reason="cancelled")

    text = "SELECT " + ", ".join(f"a + {n}" for n in range(50000))
    with cancellation_checks(proceed), pytest.raises(Cancelled):
        parse(text)


class Impatient(Guard):
    """A guard that cancels a statement while it is parsed."""

    def proceed(self) -> None:
        raise Cancelled("The statement was cancelled.", reason="cancelled")


def test_binding_ends_when_the_statement_is_cancelled(shop: Session) -> None:
    shop.guard, before = Impatient(), shop.guard
    with pytest.raises(Cancelled):
        shop.execute("SELECT m5()")
    shop.guard = before
