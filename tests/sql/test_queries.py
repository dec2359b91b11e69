"""Names in queries: time travel, WITH, views, other catalogs, and the Spark dialect."""

from __future__ import annotations

import pytest

from forklake import Session
from forklake.errors import InvalidInput, NotFound
from tests.spark.cluster_job import files_read
from tests.sql.test_changing import rows


@pytest.fixture
def history(lake: Session) -> tuple[Session, list[int]]:
    """Return a session with a table of a few versions, and their snapshots."""
    lake.execute("CREATE TABLE t (id INTEGER)")
    versions = []
    for number in range(3):
        lake.execute("INSERT INTO t VALUES (?)", [number])
        versions.append(int(lake.snapshots("lake")[-1].snapshot_id))
    return lake, versions


def test_every_spelling_of_time_travel_works(history: tuple[Session, list[int]]) -> None:
    lake, (first, second, _) = history
    then = lake.snapshots("lake")[-2].snapshot_time.isoformat(" ")
    for clause, expected in [
        (f"AT SNAPSHOT {first}", 1),
        (f"AT (VERSION => {first} + 0)", 1),
        (f"VERSION AS OF {second}", 2),
        (f"FOR VERSION AS OF {second}", 2),
        (f"AT TIMESTAMP '{then}'", 2),
        (f"AT (TIMESTAMP => TIMESTAMPTZ '{then}')", 2),
        (f"TIMESTAMP AS OF '{then}'", 2),
        ("AT (TIMESTAMP => now())", 3),
    ]:
        assert rows(lake, f"SELECT count(*) FROM t {clause}") == [(expected,)], clause
        assert rows(lake, f"SELECT count(x.id) FROM lake.main.t {clause} AS x") == [(expected,)]
    both = f"SELECT count(*) FROM t a JOIN t AT (VERSION => {first}) b ON a.id = b.id"
    assert rows(lake, both) == [(1,)]


def test_invalid_times_are_refused(history: tuple[Session, list[int]]) -> None:
    lake, _ = history
    with pytest.raises(NotFound, match="No snapshot found at version 99"):
        lake.sql("FROM t AT (VERSION => 99)")
    with pytest.raises(InvalidInput, match=r"cannot be read AT \(VERSION"):
        lake.sql("FROM t AT (VERSION => 'x')")
    with pytest.raises(InvalidInput, match="not constant"):
        lake.sql("FROM t AT (VERSION => id)")


def test_names_of_with_take_precedence_over_tables(history: tuple[Session, list[int]]) -> None:
    lake, _ = history
    assert rows(lake, "WITH t AS (SELECT 7 AS id) SELECT id FROM t") == [(7,)]
    assert rows(lake, "WITH t AS (SELECT max(id) AS id FROM t) SELECT id FROM t") == [(2,)]
    nested = "SELECT (WITH t AS (SELECT 9 AS id) SELECT id FROM t), max(id) FROM t"
    assert rows(lake, nested) == [(9, 2)]
    later = "WITH a AS (SELECT id FROM t), t AS (SELECT 5 AS id) SELECT count(*) FROM a, t"
    assert rows(lake, later) == [(3,)]
    recursive = (
        "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 4)"
        " SELECT count(*) FROM t"
    )
    assert rows(lake, recursive) == [(4,)]


def test_one_statement_sees_one_snapshot(history: tuple[Session, list[int]]) -> None:
    lake, _ = history
    other = lake.cursor()
    frame = lake.sql(
        "SELECT a.n, b.n FROM (SELECT count(*) n FROM t) a, (SELECT count(*) n FROM t) b"
    )
    other.execute("INSERT INTO lake.t VALUES (100)")
    assert [tuple(row) for row in frame.collect()] == [(3, 3)]
    other.close()


def test_columns_are_found_by_all_qualified_names(history: tuple[Session, list[int]]) -> None:
    lake, _ = history
    text = "SELECT lake.main.t.id, main.t.id, t.id, id, T.ID FROM lake.main.t WHERE main.t.id = 2"
    assert rows(lake, text) == [(2, 2, 2, 2, 2)]


def test_tables_of_several_catalogs_are_joined(history: tuple[Session, list[int]]) -> None:
    lake, _ = history
    lake.fork("lake", "other", attach_as="other")
    lake.execute("DELETE FROM other.t WHERE id = 0")
    text = "SELECT count(*) FROM lake.t a LEFT JOIN other.t b USING (id) WHERE b.id IS NULL"
    assert rows(lake, text) == [(1,)]
    lake.execute("INSERT INTO other.t SELECT id + 10 FROM lake.t")
    assert rows(lake, "SELECT count(*) FROM other.t") == [(5,)]
    assert rows(lake, "SELECT count(*) FROM lake.t") == [(3,)]


def test_errors_for_wrong_names_suggest_similar_ones(history: tuple[Session, list[int]]) -> None:
    lake, _ = history
    lake.execute("CREATE TABLE customers (id INTEGER)")
    with pytest.raises(NotFound, match=r"Table 'lake\.main\.customer' does not exist") as raised:
        lake.sql("FROM customer")
    assert "customers" in str(raised.value.remedy)
    with pytest.raises(NotFound, match="nope"):
        lake.sql("SELECT nope FROM t")
    with pytest.raises(NotFound, match="neither a schema nor an attached catalog 'nope'"):
        lake.sql("FROM nope.t")


def test_queries_in_the_spark_dialect(history: tuple[Session, list[int]]) -> None:
    lake, (first, *_) = history

    def spark(text: str) -> list[tuple[object, ...]]:
        return [tuple(row) for row in lake.sql(text, dialect="spark").collect()]

    # Lists begin with index 0 in Spark.
    assert spark("SELECT array(1, 2, 3)[0], size(array(1)), `id` FROM t WHERE id = 2") == [
        (1, 1, 2)
    ]
    assert spark(f"SELECT count(*) FROM t VERSION AS OF {first}") == [(1,)]
    lake.sql("CREATE TABLE s (a INT, d DATE) PARTITIONED BY (year(d))", dialect="spark")
    lake.sql("INSERT INTO s VALUES (1, DATE'2024-05-01'), (2, DATE'2025-05-01')", dialect="spark")
    lake.sql("INSERT INTO s SELECT id, current_date() FROM t", dialect="spark")
    lake.sql("UPDATE s SET a = a + 100 WHERE d < '2025-01-01'", dialect="spark")
    lake.sql("DELETE FROM s WHERE a < 2", dialect="spark")
    lake.sql(
        "MERGE INTO s USING t ON s.a = t.id WHEN MATCHED THEN DELETE"
        " WHEN NOT MATCHED THEN INSERT (a) VALUES (t.id)",
        dialect="spark",
    )
    assert spark("SELECT a FROM s ORDER BY a") == [(0,), (1,), (101,)]
    with pytest.raises(InvalidInput, match="SQL dialect 'mysql'"):
        lake.sql("SELECT 1", dialect="mysql")


def test_texts_with_several_statements_and_with_none(lake: Session) -> None:
    kinds = [result.kind for result in lake.run("CREATE TABLE a (i INT); -- note\n; FROM a;")]
    assert kinds == ["CREATE TABLE", "SELECT"]
    with pytest.raises(InvalidInput, match="no statement"):
        lake.sql("-- nothing")


def test_predicates_prune_files(lake: Session) -> None:
    lake.execute("CREATE TABLE many (id INTEGER, v VARCHAR)")
    for start in range(0, 40, 10):
        lake.execute(f"INSERT INTO many SELECT i, 'v' || i FROM range({start}, {start + 10}) r(i)")
    frame = lake.sql("SELECT v FROM many WHERE id BETWEEN 12 AND 13 AND v LIKE 'v1%'")
    assert files_read(frame) == 1
    assert sorted(row.v for row in frame.collect()) == ["v12", "v13"]


def test_values_are_a_statement_of_their_own(lake: Session) -> None:
    found = lake.sql("VALUES (1, 'a'), (2, NULL) ORDER BY col0 DESC LIMIT 1")
    assert found.columns == ["col0", "col1"]
    assert [tuple(row) for row in found.collect()] == [(2, None)]
    lake.execute("CREATE TABLE t AS VALUES (1, {'a': 1, 'b': 2})")
    lake.execute("CREATE VIEW v AS VALUES ({'a': 3})")
    assert rows(lake, "SELECT col0, col1.b FROM t") == [(1, 2)]
    assert rows(lake, "SELECT col0.a FROM v") == [(3,)]
    assert rows(lake, "DESCRIBE VALUES (1)")[0][:2] == ("col0", "INTEGER")


def test_structs_of_constants_may_be_null(lake: Session) -> None:
    lake.execute("CREATE TABLE t AS SELECT i AS id FROM range(2) AS r(i)")
    text = (
        "SELECT CASE WHEN id = 1 THEN {'a': 1, 'b': {'c': 'x'}} END AS s,"
        " [CASE WHEN id = 1 THEN {'a': 1} END] AS s, lag({'a': 2}) OVER (ORDER BY id) AS l"
        " FROM t ORDER BY id"
    )
    found = lake.sql(text).toArrow()
    assert found.column_names == ["s", "s", "l"]
    assert [one.to_pylist() for one in found.columns] == [
        [None, {"a": 1, "b": {"c": "x"}}],
        [[None], [{"a": 1}]],
        [None, {"a": 2}],
    ]
