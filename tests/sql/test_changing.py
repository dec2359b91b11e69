"""INSERT, UPDATE, DELETE, MERGE INTO and TRUNCATE statements."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from forklake import Session
from forklake.errors import InvalidInput, NotFound


def rows(lake: Session, text: str) -> list[tuple[object, ...]]:
    """Return the rows of a query, in its order."""
    return [tuple(row) for row in lake.sql(text).collect()]


def count(lake: Session, text: str) -> int:
    """Return how many rows a statement reports as changed."""
    return int(lake.execute(text).arrow()["Count"][0].as_py())


@pytest.fixture
def items(lake: Session) -> Session:
    """Return a session with a small table."""
    lake.execute(
        "CREATE TABLE items (id INTEGER, name VARCHAR DEFAULT 'none', price DECIMAL(9, 2))"
    )
    lake.execute("INSERT INTO items VALUES (1, 'one', 1.5), (2, 'two', 2.5), (3, NULL, NULL)")
    return lake


# INSERT


def test_inserted_expressions_are_computed_as_in_duckdb(lake: Session) -> None:
    lake.execute(
        "CREATE TABLE t (i INTEGER, d DATE, ts TIMESTAMP, l INTEGER[], s STRUCT(a INTEGER,"
        " b VARCHAR), m MAP(VARCHAR, INTEGER), x DOUBLE, b BLOB, u UUID)"
    )
    inserted = count(
        lake,
        "INSERT INTO t VALUES (7 // 2, DATE '2024-01-31' + 1, TIMESTAMP '2024-01-01' + INTERVAL"
        " 1 HOUR, [1, 1 + 1], {'a': 1, 'b': 'x' || 'y'}, MAP {'k': 5}, 1 / 4, '\\xAA'::BLOB,"
        " '00000000-0000-0000-0000-000000000001')",
    )
    assert inserted == 1
    (row,) = lake.sql("SELECT * FROM t").toArrow().to_pylist()
    assert row["i"] == 3
    assert row["d"] == datetime.date(2024, 2, 1)
    assert row["ts"] == datetime.datetime(2024, 1, 1, 1)  # noqa: DTZ001
    assert row["l"] == [1, 2]
    assert row["s"] == {"a": 1, "b": "xy"}
    assert dict(row["m"]) == {"k": 5}
    assert row["x"] == 0.25
    assert row["b"] == b"\xaa"
    assert row["u"] == "00000000-0000-0000-0000-000000000001"


def test_omitted_columns_get_their_defaults(items: Session) -> None:
    items.execute("INSERT INTO items (price, id) VALUES (9, 4), (DEFAULT, 5)")
    items.execute("INSERT INTO items VALUES (6, DEFAULT, 1)")
    items.execute("INSERT INTO items DEFAULT VALUES")
    items.execute("INSERT INTO items (id) SELECT 7")
    assert rows(items, "SELECT * FROM items WHERE id > 3 OR id IS NULL ORDER BY id") == [
        (4, "none", Decimal("9.00")),
        (5, "none", None),
        (6, "none", Decimal("1.00")),
        (7, "none", None),
        (None, "none", None),
    ]


def test_queries_are_inserted_by_position_or_by_name(items: Session) -> None:
    assert count(items, "INSERT INTO items SELECT id + 10, name, price FROM items") == 3
    assert count(items, "INSERT INTO items BY NAME SELECT 2.25 AS price, 20 AS id") == 1
    assert count(items, "INSERT INTO items (name, id) SELECT 'x', i FROM range(30, 32) r(i)") == 2
    assert count(items, "WITH c AS (SELECT 40 AS i) INSERT INTO items (id) SELECT i FROM c") == 1
    assert rows(items, "SELECT id, name, price FROM items WHERE id > 10 ORDER BY id") == [
        (11, "one", Decimal("1.50")),
        (12, "two", Decimal("2.50")),
        (13, None, None),
        (20, "none", Decimal("2.25")),
        (30, "x", None),
        (31, "x", None),
        (40, "none", None),
    ]


def test_insert_overwrite_replaces_all_rows(items: Session) -> None:
    items.execute("INSERT OVERWRITE items SELECT 1, 'only', 1")
    assert rows(items, "SELECT id, name FROM items") == [(1, "only")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INSERT INTO items VALUES (1, 'x')", "expects 3 values"),
        ("INSERT INTO items (id, nope) VALUES (1, 2)", "no column 'nope'"),
        ("INSERT INTO items (id, ID) VALUES (1, 2)", "named twice"),
        ("INSERT INTO items (id) SELECT 1, 2", "expects 1 values"),
        ("INSERT INTO items (id) SELECT id, name FROM items", "names 1 columns of table"),
        ("INSERT INTO items VALUES ('x', 'y', 1)", "Could not convert"),
        ("INSERT INTO items VALUES (3000000000, 'y', 1)", "out of range"),
    ],
)
def test_misfit_rows_change_nothing(items: Session, text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        items.execute(text)
    assert len(rows(items, "FROM items")) == 3


# UPDATE and DELETE


def test_update_sets_expressions_defaults_and_subqueries(items: Session) -> None:
    assert count(items, "UPDATE items SET price = price * 2, name = DEFAULT WHERE id = 1") == 1
    assert (
        count(
            items,
            "UPDATE items AS i SET name = (SELECT 'n' || max(id) FROM items)"
            " WHERE i.id IN (SELECT id FROM items WHERE price IS NULL)",
        )
        == 1
    )
    assert rows(items, "SELECT id, name, price FROM items ORDER BY id") == [
        (1, "none", Decimal("3.00")),
        (2, "two", Decimal("2.50")),
        (3, "n3", None),
    ]


def test_update_from_joins_other_tables(items: Session) -> None:
    items.execute("CREATE TABLE prices AS SELECT 1 AS id, 100 AS price UNION ALL SELECT 2, 200")
    items.execute("CREATE TABLE factors AS SELECT 2 AS factor")
    changed = count(
        items,
        "UPDATE items SET price = prices.price * factors.factor, name = upper(items.name)"
        " FROM prices, factors WHERE items.id = prices.id AND prices.price > 100",
    )
    assert changed == 1
    assert rows(items, "SELECT name, price FROM lake.main.items WHERE lake.main.items.id = 2") == [
        ("TWO", Decimal("400.00"))
    ]


def test_fields_of_structs_are_set(lake: Session) -> None:
    lake.execute("CREATE TABLE t (id INTEGER, s STRUCT(a INTEGER, b VARCHAR))")
    lake.execute("INSERT INTO t VALUES (1, {'a': 1, 'b': 'x'}), (2, {'a': 2, 'b': 'y'})")
    lake.execute("UPDATE t SET s.a = s.a + 10 WHERE s.b = 'y'")
    assert rows(lake, "SELECT id, s.a, s.b FROM t ORDER BY id") == [(1, 1, "x"), (2, 12, "y")]


def test_delete_by_condition_by_subquery_and_using(items: Session) -> None:
    items.execute("CREATE TABLE gone AS SELECT 2 AS id")
    assert count(items, "DELETE FROM items USING gone WHERE items.id = gone.id") == 1
    assert count(items, "DELETE FROM items WHERE price > (SELECT avg(price) FROM items)") == 0
    assert count(items, "DELETE FROM lake.items WHERE lake.items.name IS NULL") == 1
    assert rows(items, "SELECT id FROM items") == [(1,)]
    assert count(items, "DELETE FROM items") == 1
    assert rows(items, "SELECT id FROM items") == []


def test_truncate_deletes_all_rows(items: Session) -> None:
    assert count(items, "TRUNCATE TABLE items") == 3
    assert rows(items, "SELECT count(*) FROM items") == [(0,)]


def test_row_ids_and_other_virtual_columns_can_be_used(items: Session) -> None:
    assert rows(items, "SELECT rowid, id FROM items ORDER BY rowid") == [(0, 1), (1, 2), (2, 3)]
    assert count(items, "UPDATE items SET name = 'r' WHERE rowid = 1") == 1
    assert rows(items, "SELECT *, rowid FROM items WHERE rowid = 1") == [
        (2, "r", Decimal("2.50"), 1)
    ]
    assert items.sql("SELECT * FROM items WHERE rowid = 1").columns == ["id", "name", "price"]
    ((name,),) = rows(items, "SELECT DISTINCT filename FROM items WHERE id = 1")
    assert str(name).endswith(".parquet")


# MERGE INTO


def test_merge_into_with_all_clauses(items: Session) -> None:
    changed = count(
        items,
        """
        MERGE INTO items AS t
        USING (SELECT * FROM (VALUES (1, 'uno'), (2, 'dos'), (9, 'nueve')) v(id, name)) AS s
        ON t.id = s.id
        WHEN MATCHED AND s.id = 1 THEN UPDATE SET name = s.name, price = t.price + 1
        WHEN MATCHED THEN DELETE
        WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name)
        WHEN NOT MATCHED BY SOURCE THEN UPDATE SET name = 'left'
        """,
    )
    assert changed == 4
    assert rows(items, "SELECT * FROM items ORDER BY id") == [
        (1, "uno", Decimal("2.50")),
        (3, "left", None),
        (9, "nueve", None),
    ]


def test_merge_into_by_name_and_using_columns(items: Session) -> None:
    items.execute("CREATE TABLE news AS SELECT 1 AS id, 'a' AS name, 5.00 AS price")
    items.execute("INSERT INTO news VALUES (8, 'b', 6)")
    changed = count(
        items,
        "MERGE INTO items USING news USING (id)"
        " WHEN MATCHED THEN UPDATE WHEN NOT MATCHED THEN INSERT",
    )
    assert changed == 2
    assert rows(items, "SELECT * FROM items WHERE id IN (1, 8) ORDER BY id") == [
        (1, "a", Decimal("5.00")),
        (8, "b", Decimal("6.00")),
    ]


# Transactions and parameters


def test_statements_of_a_transaction_are_committed_together(items: Session) -> None:
    before = rows(items, "SELECT * FROM items ORDER BY id")
    items.execute("BEGIN; DELETE FROM items WHERE id = 1; INSERT INTO items VALUES (5, 'f', 0)")
    assert rows(items, "SELECT id FROM items ORDER BY id") == [(2,), (3,), (5,)]
    items.execute("ROLLBACK")
    assert rows(items, "SELECT * FROM items ORDER BY id") == before
    items.execute("BEGIN TRANSACTION; DELETE FROM items WHERE id = 1")
    items.execute("UPDATE items SET name = 'z' WHERE id = 2; COMMIT")
    assert rows(items, "SELECT id, name FROM items ORDER BY id") == [(2, "z"), (3, None)]


def test_parameters_of_all_forms_are_accepted(items: Session) -> None:
    assert items.sql("SELECT id FROM items WHERE name = ? AND id < ?", ["two", 9]).collect() == [
        (2,)
    ]
    assert items.sql("SELECT $2 || id FROM items WHERE id = $1", [1, "n"]).collect() == [("n1",)]
    found = items.sql("SELECT id FROM items WHERE name = $name", {"name": "one"}).collect()
    assert found == [(1,)]
    items.execute("INSERT INTO items VALUES (?, ?, ?)", [4, "it's\n\\", Decimal("-1.25")])
    assert rows(items, "SELECT name, price FROM items WHERE id = 4") == [
        ("it's\n\\", Decimal("-1.25"))
    ]
    ordered = "WITH c AS (SELECT ? AS a) SELECT a, ? FROM c WHERE a = ? ORDER BY a LIMIT ?"
    assert items.sql(ordered, ["a", "b", "a", 1]).collect() == [("a", "b")]
    with pytest.raises(InvalidInput, match=r"no value for \$2"):
        items.sql("SELECT ?, ?", [1])
    with pytest.raises(InvalidInput, match=r"no parameter \$2"):
        items.sql("SELECT ?", [1, 2])


def test_prepared_statements_run_repeatedly(items: Session) -> None:
    items.execute("PREPARE find AS SELECT name FROM items WHERE id = $1")
    assert rows(items, "EXECUTE find(2)") == [("two",)]
    assert rows(items, "EXECUTE find(1)") == [("one",)]
    items.execute("DEALLOCATE find")
    with pytest.raises(NotFound, match="prepared as 'find'"):
        items.execute("EXECUTE find(1)")


def test_statements_may_refer_to_dataframes(items: Session) -> None:
    frame = items.engine.spark.createDataFrame([(50, "df")], "id int, name string")
    items.sql("INSERT INTO items BY NAME SELECT * FROM frame", frames={"frame": frame})
    assert rows(items, "SELECT name FROM items WHERE id = 50") == [("df",)]


# Names and NULL


def test_columns_of_joins_are_stored_in_the_order_of_duckdb(lake: Session) -> None:
    lake.execute(
        "CREATE TABLE ja (i INTEGER, j INTEGER); CREATE TABLE jb (j INTEGER, b INTEGER);"
        "INSERT INTO ja VALUES (1, 10); INSERT INTO jb VALUES (10, 100);"
        "CREATE TABLE jc AS SELECT * FROM ja JOIN jb USING (j);"
        "INSERT INTO jc SELECT * FROM ja NATURAL JOIN jb;"
        "CREATE VIEW jv AS SELECT * FROM ja JOIN jb USING (j); INSERT INTO jc FROM jv"
    )
    assert lake.sql("FROM jc").columns == ["i", "j", "b"]
    assert rows(lake, "FROM jc") == [(1, 10, 100)] * 3
    lake.execute("CREATE OR REPLACE TABLE jd AS SELECT * FROM ja JOIN jb ON ja.j = jb.j")
    assert lake.sql("FROM jd").columns == ["i", "j", "j_1", "b"]


@pytest.mark.parametrize("limit", [0, 100])
def test_in_with_null_in_a_subquery_matches_nothing(lake: Session, limit: int) -> None:
    lake.execute(f"CALL lake.set_option('data_inlining_row_limit', {limit})")
    lake.execute(
        "CREATE TABLE t (k INTEGER, f BOOLEAN); INSERT INTO t (k) VALUES (1), (2), (NULL);"
        "CREATE TABLE b (k INTEGER); INSERT INTO b VALUES (2), (3), (NULL);"
        "UPDATE t SET f = k IN (SELECT k FROM b)"
    )
    assert rows(lake, "FROM t ORDER BY k") == [(1, None), (2, True), (None, None)]
    assert count(lake, "DELETE FROM t WHERE (k NOT IN (SELECT k FROM b)) IS NOT NULL") == 1
    merge = (
        "MERGE INTO t USING (SELECT 1 AS k) AS s ON t.k = s.k"
        " WHEN MATCHED AND (t.k IN (SELECT k FROM b)) IS NULL THEN DELETE"
    )
    assert count(lake, merge) == 1
    assert count(lake, "DELETE FROM t WHERE (k IN (SELECT k FROM b)) IS NULL") == 1


def test_several_columns_are_looked_for_in_a_query(lake: Session) -> None:
    lake.execute("CREATE TABLE t AS VALUES (1, 'a'), (1, 'b'), (2, NULL), (NULL, 'a'), (3, 'c')")
    lake.execute("CREATE TABLE old AS VALUES (1, 'a'), (2, NULL), (3, 'c')")
    changed = lake.execute(
        "UPDATE t SET col1 = 'z' WHERE (col0, col1) IN (SELECT * FROM old) AND col0 > 1"
    )
    assert changed.arrow()["Count"].to_pylist() == [1]
    deleted = lake.execute(
        "DELETE FROM t WHERE ((col0, col1) IN (FROM old)) OR (col0, col1) IN (SELECT 3, 'z')"
    )
    assert deleted.arrow()["Count"].to_pylist() == [2]
    assert rows(lake, "FROM t ORDER BY ALL") == [(1, "b"), (2, None), (None, "a")]
