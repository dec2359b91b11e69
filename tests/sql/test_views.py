"""Views: their stored text, and their use under other aliases, in forks and in the past."""

from __future__ import annotations

import pytest

from forklake import Session
from forklake.errors import AlreadyExists, InvalidInput, NotFound
from forklake.sql.dialect import parse
from forklake.sql.dialect.stored import format_aliases, parse_aliases, parse_stored_text


@pytest.fixture
def shop(lake: Session) -> Session:
    """Return a lake with two tables in two schemas."""
    lake.execute("CREATE SCHEMA s; CREATE TABLE t(id INT, name VARCHAR); CREATE TABLE s.u(id INT)")
    lake.execute("INSERT INTO t VALUES (1, 'one'), (2, 'two'); INSERT INTO s.u VALUES (2)")
    return lake


def rows(session: Session, query: str, dialect: str = "duckdb") -> list[tuple[object, ...]]:
    found = session.execute(query, dialect=dialect).arrow()
    return [tuple(row.values()) for row in found.to_pylist()]


def stored(session: Session, name: str = "v", schema: str = "main") -> str:
    state = session.viewing(session.attachment("lake")).state
    return state.view(name, schema).sql


# Stored texts


STORED = {
    "SELECT id FROM t": "SELECT id FROM {C}.main.t",
    "FROM T": "FROM {C}.main.T",
    "SELECT t.id -- why\nFROM lake.t": "SELECT t.id -- why\nFROM {C}.main.t",
    'SELECT lake.main.t.id FROM "LAKE".main."t"': "SELECT {C}.main.t.id FROM {C}.main.t",
    "SELECT x.id FROM t x, s.u AS y": "SELECT x.id FROM {C}.main.t x, {C}.s.u AS y",
    "SELECT 't', '{DUCKLAKE_CATALOG}.main.t' FROM t": (
        "SELECT 't', '{DUCKLAKE_CATALOG}.main.t' FROM {C}.main.t"
    ),
    "WITH t AS (SELECT id FROM t) SELECT id FROM t": (
        "WITH t AS (SELECT id FROM {C}.main.t) SELECT id FROM t"
    ),
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) FROM r": (
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) FROM r"
    ),
    "SELECT id FROM t WHERE id IN (SELECT id FROM s.u)": (
        "SELECT id FROM {C}.main.t WHERE id IN (SELECT id FROM {C}.s.u)"
    ),
    "SELECT id FROM t UNION SELECT id FROM s.u": (
        "SELECT id FROM {C}.main.t UNION SELECT id FROM {C}.s.u"
    ),
    "SELECT twice(id) AS d FROM t": "SELECT {C}.main.twice(id) AS d FROM {C}.main.t",
    "SELECT lake.main.twice(id) AS d FROM t": "SELECT {C}.main.twice(id) AS d FROM {C}.main.t",
    "SELECT * FROM above(1)": "SELECT * FROM {C}.main.above(1)",
    "SELECT snapshot_id FROM lake.snapshots()": "SELECT snapshot_id FROM {C}.snapshots()",
    "SELECT * FROM range(3) AS r(i)": "SELECT * FROM range(3) AS r(i)",
}


def test_stored_texts_have_qualified_names(shop: Session) -> None:
    shop.execute("CREATE MACRO twice(a) AS a * 2")
    shop.execute("CREATE MACRO above(n) AS TABLE SELECT id FROM t WHERE id > n")
    for written, expected in STORED.items():
        shop.execute(f"CREATE OR REPLACE VIEW v AS {written}")
        assert stored(shop) == expected.replace("{C}", "{DUCKLAKE_CATALOG}"), written
        if "WITH" in written or "twice" in written:
            assert rows(shop, "FROM v") == rows(shop, written), written


def test_unusual_names_are_quoted_in_stored_texts(shop: Session) -> None:
    shop.execute('CREATE SCHEMA "select"; CREATE TABLE "select"."a ""b"" c"(x INT)')
    shop.execute('USE "select"; CREATE VIEW v AS FROM "a ""b"" c"')
    assert stored(shop, "v", "select") == 'FROM {DUCKLAKE_CATALOG}."select"."a ""b"" c"'
    assert rows(shop, 'FROM lake."select".v') == []


def test_placeholder_is_replaced_outside_of_literals_only() -> None:
    text = "SELECT '{DUCKLAKE_CATALOG}.x' FROM {DUCKLAKE_CATALOG}.main.t"
    found = parse_stored_text(text, "duckdb", 'my "lake"')
    (expected,) = parse('SELECT \'{DUCKLAKE_CATALOG}.x\' FROM "my ""lake""".main.t')
    assert found == expected
    assert parse_stored_text(
        "{DUCKLAKE_CATALOG}.main.f(start)", "duckdb", "a", is_expression=True
    ).sql() == ('"a".main.f(start)')
    assert parse_stored_text("SELECT * FROM {DUCKLAKE_CATALOG}.main.t", "spark", "a b").sql(
        "spark"
    ) == ("SELECT * FROM `a b`.main.t")


def test_column_names_are_stored_with_special_characters() -> None:
    for names in (["a"], ['a "b"', "c,d", "é"], []):
        assert parse_aliases(format_aliases(names)) == names


# Use of views


def test_view_is_created_read_replaced_renamed_and_dropped(shop: Session) -> None:
    shop.execute("CREATE VIEW v(number) AS SELECT id, name FROM t")
    assert rows(shop, "SELECT number, name FROM v ORDER BY number") == [(1, "one"), (2, "two")]
    shop.execute("CREATE VIEW IF NOT EXISTS v AS SELECT nothing FROM nowhere")
    with pytest.raises(AlreadyExists, match="already exists"):
        shop.execute("CREATE VIEW v AS SELECT 1 AS a")
    shop.execute("CREATE OR REPLACE VIEW v AS SELECT name FROM t WHERE id = 2")
    shop.execute('ALTER VIEW v RENAME TO "Two Names"; ALTER VIEW IF EXISTS v RENAME TO w')
    shop.execute("COMMENT ON VIEW \"two names\" IS 'for a test'")
    assert rows(shop, 'FROM "two names"') == [("two",)]
    shop.execute('DROP VIEW "TWO NAMES"; DROP VIEW IF EXISTS v; DROP VIEW IF EXISTS nope.v')
    assert shop.viewing(shop.attachment("lake")).state.views() == []


def test_view_works_under_other_aliases_in_forks_and_in_the_past(
    shop: Session, metadata: str
) -> None:
    shop.execute("CREATE VIEW s.v AS SELECT t.name FROM t JOIN s.u ON t.id = u.id")
    version = shop.snapshots("lake")[-1].snapshot_id
    shop.execute("CALL ducklake_fork_catalog('sales', 'copy')")
    shop.execute(f"ATTACH '{metadata}' AS \"an alias\" (CATALOG 'sales')")
    shop.execute(f"ATTACH '{metadata}' AS lake_of_fork (CATALOG 'copy')")
    shop.execute("UPDATE lake.t SET name = 'zwei' WHERE id = 2")
    shop.execute("INSERT INTO lake_of_fork.s.u VALUES (1)")
    shop.execute("USE lake_of_fork")
    assert rows(shop, 'FROM "an alias".s.v') == [("zwei",)]
    assert sorted(rows(shop, "FROM s.v")) == [("one",), ("two",)]
    assert rows(shop, f"FROM lake.s.v AT (VERSION => {version})") == [("two",)]


def test_view_may_read_views_but_not_other_catalogs(shop: Session, metadata: str) -> None:
    shop.execute(
        f"ATTACH '{metadata}' AS other (CATALOG 'other', CREATE_IF_NOT_EXISTS true);"
        " CREATE TABLE other.main.w(id INT); INSERT INTO other.main.w VALUES (2)"
    )
    shop.execute("CREATE VIEW a AS SELECT t.id, name FROM t JOIN other.w ON t.id = w.id")
    shop.execute("CREATE VIEW b AS SELECT upper(name) AS big FROM a")
    assert stored(shop, "a").endswith(
        "FROM {DUCKLAKE_CATALOG}.main.t JOIN other.main.w ON t.id = w.id"
    )
    assert rows(shop, "FROM b") == [("TWO",)]


def test_view_of_spark_sql_stays_spark_sql(shop: Session) -> None:
    shop.execute(
        "CREATE VIEW v AS SELECT `id`, size(split(name, '')) AS n FROM `t`", dialect="spark"
    )
    assert stored(shop) == (
        "SELECT `id`, size(split(name, '')) AS n FROM {DUCKLAKE_CATALOG}.main.t"
    )
    assert sorted(rows(shop, "SELECT id, n FROM v")) == [(1, 3), (2, 3)]


def test_invalid_views_are_refused(shop: Session) -> None:
    shop.execute("CREATE VIEW v AS SELECT id FROM t; CREATE VIEW w AS SELECT id FROM v")
    before = shop.snapshots("lake")[-1].snapshot_id
    for statement, kind, error in (
        ("CREATE VIEW x AS SELECT nope FROM t", NotFound, "nope"),
        ("CREATE VIEW x AS SELECT id FROM nope", NotFound, "nope"),
        ("CREATE VIEW x(a, b) AS SELECT id FROM t", InvalidInput, "names 2 columns"),
        ("CREATE OR REPLACE VIEW v AS SELECT id FROM v", InvalidInput, "refers to itself"),
        ("CREATE OR REPLACE VIEW v AS SELECT id FROM w", InvalidInput, "refers to itself"),
        ("CREATE OR REPLACE VIEW t AS SELECT 1 AS a", AlreadyExists, "already exists"),
        ("CREATE VIEW x", InvalidInput, "no query"),
        ("CREATE TABLE v(a INT)", AlreadyExists, "already exists"),
        ("DROP VIEW t", NotFound, "does not exist"),
        ("DROP TABLE v", NotFound, "it is a view"),
        ("ALTER VIEW v RENAME TO t", AlreadyExists, "already exists"),
    ):
        with pytest.raises(kind, match=error):
            shop.execute(statement)
    with pytest.raises(InvalidInput, match="cannot have parameters"):
        shop.execute("CREATE VIEW x AS SELECT id FROM t WHERE id = ?", [1])
    with pytest.raises(InvalidInput, match="cannot read the DataFrame 'df'"):
        shop.execute("CREATE VIEW x AS SELECT * FROM df", frames={"df": shop.sql("SELECT 1 AS a")})
    assert shop.snapshots("lake")[-1].snapshot_id == before


def test_view_created_in_a_transaction_is_rolled_back_with_it(shop: Session) -> None:
    shop.execute("BEGIN; CREATE TABLE x(a INT); CREATE VIEW v AS FROM x; INSERT INTO x VALUES (5)")
    assert rows(shop, "FROM v") == [(5,)]
    shop.execute("ROLLBACK")
    with pytest.raises(NotFound):
        shop.execute("FROM v")


def test_columns_of_views_are_listed(shop: Session) -> None:
    shop.execute(
        "CREATE TABLE gone(x INT); CREATE VIEW broken AS SELECT x FROM gone; DROP TABLE gone;"
        "CREATE VIEW v(number) AS SELECT id, name, 1.5::DECIMAL(4, 1) AS d FROM t;"
        "CREATE VIEW listed AS SELECT table_name, column_name FROM information_schema.columns"
    )
    found = shop.sql(
        "SELECT table_name, column_name, ordinal_position, data_type, is_nullable,"
        " numeric_precision, numeric_scale FROM information_schema.columns"
        " WHERE table_name IN ('v', 'broken', 'listed') ORDER BY 1, 3"
    )
    assert [tuple(row) for row in found.collect()] == [
        ("listed", "table_name", 1, "VARCHAR", "YES", None, None),
        ("listed", "column_name", 2, "VARCHAR", "YES", None, None),
        ("v", "number", 1, "INTEGER", "YES", None, None),
        ("v", "name", 2, "VARCHAR", "YES", None, None),
        ("v", "d", 3, "DECIMAL(4,1)", "YES", 4, 1),
    ]
    columns = (
        "SELECT column_name FROM duckdb_columns() WHERE table_name = 'v' ORDER BY column_index"
    )
    assert rows(shop, columns) == [("number",), ("name",), ("d",)]
