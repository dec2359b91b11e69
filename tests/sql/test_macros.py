"""Macros: parameters, defaults and overloads, also under other aliases and in forks."""

from __future__ import annotations

import pytest

from forklake import Session
from forklake.errors import AlreadyExists, InvalidInput, NotFound, Unsupported
from forklake.model.children import MacroImplementation
from tests.sql.test_views import rows


def bodies(session: Session, name: str, type: str = "scalar") -> list[str]:
    state = session.viewing(session.attachment("lake")).state
    macro = state.macro(name, type=type)
    return [one.sql for one in state.children(MacroImplementation, macro.macro_id)]


@pytest.fixture
def shop(lake: Session) -> Session:
    """Return a lake with a table to read."""
    lake.execute("CREATE TABLE t(id INT, name VARCHAR); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    return lake


def test_scalar_macros_have_defaults_and_overloads(shop: Session) -> None:
    shop.execute("CREATE MACRO plus(a, b := 2, c => 3) AS a + b + c")
    shop.execute("CREATE MACRO area(r) AS r * r, (w, h) AS w * h, () AS 0")
    assert rows(
        shop,
        "SELECT plus(1), plus(1, 1), plus(1, c := 10), plus(1, b => 0, c := 0),"
        " area(3), area(3, 4), area(), lake.main.area(2), Plus(id, id) FROM t WHERE id = 2",
    ) == [(6, 5, 13, 1, 9, 12, 0, 4, 7)]
    with pytest.raises(InvalidInput, match="does not take these arguments"):
        shop.execute("SELECT area(1, 2, 3)")


def test_expressions_as_arguments_keep_their_precedence(shop: Session) -> None:
    shop.execute("CREATE MACRO twice(start) AS start * 2")
    shop.execute("CREATE MACRO four(x) AS twice(x) + twice(x)")
    assert rows(shop, "SELECT twice(1 + 2), four(id + 1) FROM t ORDER BY id") == [(6, 8), (6, 12)]


def test_parameters_are_replaced_before_method_calls(shop: Session) -> None:
    shop.execute("CREATE MACRO m1(i, n := 2) AS substr(i, 1, n).rpad(n, ' ')")
    shop.execute("CREATE MACRO m2(x) AS x.upper().lower() || (x || 'b').upper()")
    text = "SELECT m1('abc') AS a, m1('a', n := 3) AS b, m2(name) AS c FROM t WHERE id = 1"
    assert rows(shop, text) == [("ab", "a  ", "aAB")]


def test_macros_read_tables_of_their_catalog(shop: Session, metadata: str) -> None:
    shop.execute("CREATE MACRO biggest() AS (SELECT max(id) FROM t)")
    shop.execute("CREATE MACRO named(n := 'a') AS TABLE SELECT id FROM t WHERE name = n")
    shop.execute(
        "CREATE MACRO near(a) AS TABLE SELECT id FROM t WHERE id = a,"
        " (a, b) AS TABLE SELECT id FROM t WHERE id BETWEEN a AND b"
    )
    assert bodies(shop, "biggest") == ["(SELECT max(id) FROM {DUCKLAKE_CATALOG}.main.t)"]
    assert bodies(shop, "near", "table")[1] == (
        "SELECT id FROM {DUCKLAKE_CATALOG}.main.t WHERE id BETWEEN a AND b"
    )
    shop.execute("CALL ducklake_fork_catalog('sales', 'copy')")
    shop.execute(f"ATTACH '{metadata}' AS \"a fork\" (CATALOG 'copy'); USE \"a fork\"")
    shop.execute("INSERT INTO t VALUES (7, 'a')")
    assert rows(shop, "SELECT biggest() AS a, lake.main.biggest() AS b") == [(7, 2)]
    assert sorted(rows(shop, "FROM named()")) == [(1,), (7,)]
    assert rows(shop, "FROM named(n := 'b')") == [(2,)]
    assert rows(shop, "FROM near(1)") == [(1,)]
    assert sorted(rows(shop, "SELECT id FROM near(2, 9) AS n")) == [(2,), (7,)]
    shop.execute("CREATE VIEW v AS SELECT biggest() AS b FROM near(1)")
    shop.execute("USE lake")
    assert rows(shop, 'FROM "a fork".main.v') == [(7,)]


def test_macros_are_replaced_and_dropped(shop: Session) -> None:
    shop.execute("CREATE MACRO m(a) AS a; CREATE MACRO m(a) AS TABLE SELECT a AS x")
    with pytest.raises(AlreadyExists, match=r"Macro 'main\.M' already exists"):
        shop.execute("CREATE MACRO M(a) AS a")
    shop.execute(
        "CREATE MACRO IF NOT EXISTS m(a) AS a * 100; CREATE OR REPLACE FUNCTION m(a) AS -a"
    )
    assert rows(shop, "SELECT m(x) FROM m(5)") == [(-5,)]
    shop.execute("DROP MACRO TABLE m; DROP MACRO TABLE IF EXISTS m")
    assert rows(shop, "SELECT m(5)") == [(-5,)]
    shop.execute("DROP FUNCTION m; DROP MACRO IF EXISTS m")
    for statement in ("DROP MACRO m", "DROP MACRO TABLE m"):
        with pytest.raises(NotFound, match=r"Macro 'main\.m' does not exist"):
            shop.execute(statement)


@pytest.mark.parametrize(
    ("statement", "kind", "error"),
    [
        ("CREATE MACRO m(a, A) AS a", InvalidInput, "two parameters of the same name"),
        ("CREATE MACRO m(a := 1, b) AS a", InvalidInput, "has no default"),
        ("CREATE MACRO m(a) AS a, (b) AS b", InvalidInput, "same number of parameters"),
        (
            "CREATE MACRO m(a) AS a, () AS TABLE SELECT 1",
            InvalidInput,
            "both scalar and table overloads",
        ),
        ("CREATE MACRO m(a := x) AS a", InvalidInput, "not constant"),
        ("CREATE MACRO m() AS (SELECT max(id) FROM nope)", NotFound, "nope"),
        ("CREATE MACRO m() AS TABLE FROM nope.t", NotFound, "nope"),
        ("CREATE MACRO nope.m() AS 1", NotFound, "nope"),
        ("CREATE TEMP MACRO m() AS 1", Unsupported, "CREATE TEMP MACRO"),
    ],
)
def test_invalid_macros_are_refused(
    shop: Session, statement: str, kind: type[Exception], error: str
) -> None:
    before = shop.snapshots("lake")[-1].snapshot_id
    with pytest.raises(kind, match=error):
        shop.execute(statement)
    assert shop.snapshots("lake")[-1].snapshot_id == before
