"""DESCRIBE, SHOW, SUMMARIZE and EXPLAIN."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklake import Session
from forklake.errors import InvalidInput, NotFound, Unsupported
from tests.sql.test_functions import called, columns, rows

# column -> its type, null and default in the output of DESCRIBE
DESCRIBED = {
    "a BIGINT NOT NULL": ("BIGINT", "NO", None),
    "b VARCHAR DEFAULT 'it''s'": ("VARCHAR", "YES", "'it''s'"),
    "c DECIMAL(18, 3) DEFAULT 1.5": ("DECIMAL(18,3)", "YES", "1.500"),
    'd STRUCT(x INTEGER, "y z" FLOAT)': ('STRUCT(x INTEGER, "y z" FLOAT)', "YES", None),
    "e INTEGER[]": ("INTEGER[]", "YES", None),
    "f MAP(VARCHAR, INTEGER)": ("MAP(VARCHAR, INTEGER)", "YES", None),
    "g TIMESTAMPTZ": ("TIMESTAMP WITH TIME ZONE", "YES", None),
    "h TIMESTAMP_S": ("TIMESTAMP_S", "YES", None),
    "i DATE DEFAULT DATE '2024-01-31'": ("DATE", "YES", "'2024-01-31'"),
    "j HUGEINT": ("HUGEINT", "YES", None),
    "k UTINYINT DEFAULT 7": ("UTINYINT", "YES", "7"),
    "l UUID": ("UUID", "YES", None),
    "m JSON": ("JSON", "YES", None),
    "n BLOB": ("BLOB", "YES", None),
    "o BOOLEAN DEFAULT true": ("BOOLEAN", "YES", "true"),
    "p DOUBLE": ("DOUBLE", "YES", None),
    "q TIME": ("TIME", "YES", None),
    "r STRUCT(s MAP(INTEGER, STRUCT(t VARCHAR[])))[]": (
        "STRUCT(s MAP(INTEGER, STRUCT(t VARCHAR[])))[]",
        "YES",
        None,
    ),
}


def test_describe_shows_types_as_in_duckdb(dry: Session) -> None:
    dry.execute(f"CREATE TABLE wide ({', '.join(DESCRIBED)})")
    expected = [
        (column.split()[0], kind, null, None, default, None)
        for column, (kind, null, default) in DESCRIBED.items()
    ]
    assert called(dry, "DESCRIBE wide") == expected
    names = ["column_name", "column_type", "null", "key", "default", "extra"]
    assert columns(dry, "DESCRIBE wide") == names
    for text in (
        "SHOW wide",
        "DESC lake.main.wide",
        "DESCRIBE TABLE wide",
        "SHOW COLUMNS FROM wide",
    ):
        assert called(dry, text) == expected, text


def test_describe_at_a_snapshot_and_in_a_transaction(dry: Session) -> None:
    dry.execute("BEGIN; ALTER TABLE t ADD COLUMN c DOUBLE")
    assert [row[0] for row in called(dry, "DESCRIBE t")] == ["a", "b", "c"]
    assert [row[0] for row in called(dry, "DESCRIBE t AT (VERSION => 3)")] == ["a", "b"]
    dry.execute("ROLLBACK")
    assert [row[0] for row in called(dry, "DESCRIBE t")] == ["a", "b"]


def test_describe_of_queries_views_and_files(lake: Session, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("p,q\n1,a\n")
    lake.execute("CREATE TABLE t (a UBIGINT, b TIME); CREATE VIEW v AS SELECT b, a AS n FROM t")

    def described(text: str) -> list[tuple[str, str]]:
        return [(row[0], row[1]) for row in called(lake, f"DESCRIBE {text}")]

    assert described("v") == [("b", "TIME"), ("n", "DECIMAL(20,0)")]
    assert described("SELECT 1 AS x, NULL AS y, [1.5] AS z, {'k': 'v'} AS s, now() AS w") == [
        ("x", "INTEGER"),
        ("y", "INTEGER"),
        ("z", "DECIMAL(2,1)[]"),
        ("s", "STRUCT(k VARCHAR)"),
        ("w", "TIMESTAMP WITH TIME ZONE"),
    ]
    assert described(f"'{tmp_path / 'x.csv'}'") == [("p", "BIGINT"), ("q", "VARCHAR")]
    with pytest.raises(NotFound, match=r"'lake\.main\.nope' does not exist"):
        lake.execute("DESCRIBE nope")


def test_show_lists_all_kinds_of_objects(dry: Session) -> None:
    dry.execute("CREATE MACRO plus(a) AS a + 1; CREATE MACRO all_t() AS TABLE SELECT * FROM t")
    for text, expected in {
        "SHOW TABLES": [("t",)],
        "SHOW TABLES FROM lake": [("t",), ("u",)],
        "SHOW TABLES FROM s2": [("u",)],
        "SHOW TABLES FROM lake.s2": [("u",)],
        "SHOW TABLES FROM lake LIKE 'u%'": [("u",)],
        "SHOW TABLES LIKE 'T'": [],
        "SHOW SCHEMAS LIKE 's_'": [("lake", "s2", False)],
        "SHOW VIEWS": [],
        "SHOW DATABASES": [("lake",)],
        "SHOW CATALOGS": [("lake",)],
        "SHOW SCHEMAS": [("lake", "main", True), ("lake", "s2", False)],
        "SHOW SCHEMAS FROM lake": [("lake", "main", True), ("lake", "s2", False)],
        "SHOW MACROS": [("all_t", "table"), ("plus", "scalar")],
        "SHOW ALL TABLES": [
            ("lake", "main", "t", ["a", "b"], ["INTEGER", "VARCHAR"], False),
            ("lake", "s2", "u", ["k"], ["BIGINT"], False),
        ],
    }.items():
        assert called(dry, text) == expected, text
    assert called(dry, "SHOW SNAPSHOTS FROM lake") == called(dry, "CALL lake.snapshots()")
    functions = {row[0]: row[2] for row in called(dry, "SHOW FUNCTIONS")}
    assert functions["ducklake_snapshots"] is False
    assert functions["ducklake_fork_catalog"] is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SHOW TABLES FROM nope", "Schema 'lake.nope' does not exist"),
        ("SHOW TABLES FROM lake.nope", "The schemas of 'lake' are: main, s2"),
        ("SHOW TABLES FROM nope.main", "No catalog is attached as 'nope'"),
        ("SHOW SCHEMAS FROM nope", "No catalog is attached as 'nope'"),
    ],
)
def test_show_of_missing_objects_is_an_error(dry: Session, text: str, message: str) -> None:
    with pytest.raises(NotFound, match=message):
        dry.execute(text)


def test_show_without_a_catalog_is_an_error() -> None:
    with Session() as session:
        assert called(session, "SHOW DATABASES") == []
        with pytest.raises(NotFound, match="No catalog is current"):
            session.execute("SHOW TABLES")
        with pytest.raises(InvalidInput, match="does not name a table"):
            session.execute("SHOW COLUMNS")


def test_summarize_shows_statistics_of_columns(lake: Session) -> None:
    lake.execute("CREATE TABLE t (a INTEGER, b VARCHAR, m MAP(VARCHAR, INTEGER))")
    lake.execute("INSERT INTO t VALUES (1, 'x', MAP {'k': 1}), (3, 'y', NULL), (NULL, 'z', NULL)")
    names = "column_name, column_type, min, max, approx_unique, avg, std, q25, q50, q75, count"
    assert columns(lake, "SUMMARIZE t") == [*names.split(", "), "null_percentage"]
    found = [(*row[:-1], str(row[-1])) for row in called(lake, "SUMMARIZE t")]
    assert found == [
        ("a", "INTEGER", "1", "3", 2, "2.0", "1.4142135623730951", "1", "1", "3", 3, "33.33"),
        ("b", "VARCHAR", "x", "z", 3, None, None, None, None, None, 3, "0.00"),
        ("m", "MAP(VARCHAR, INTEGER)", *(None,) * 8, 3, "66.67"),
    ]
    (empty,) = called(lake, "SUMMARIZE SELECT a FROM t WHERE a > 5")
    assert empty[2:4] == (None, None)
    assert empty[-2:] == (0, None)


def test_explain_shows_the_plan(lake: Session) -> None:
    lake.execute("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2)")
    before = called(lake, "CALL lake.snapshots()")
    ((key, plan),) = called(lake, "EXPLAIN SELECT * FROM t WHERE a = 1")
    assert key == "physical_plan"
    assert "EqualTo(a,1)" in plan
    ((key, plan),) = called(lake, "EXPLAIN ANALYZE SELECT * FROM t")
    assert key == "analyzed_plan"
    assert "Rows: 2" in plan
    assert "Total time: " in plan
    with pytest.raises(Unsupported, match="EXPLAIN of INSERT"):
        lake.execute("EXPLAIN INSERT INTO t VALUES (3)")
    with pytest.raises(NotFound, match=r"'lake\.main\.nope' does not exist"):
        lake.execute("EXPLAIN SELECT * FROM nope")
    for text in (
        "EXPLAIN ANALYZE SELECT * FROM lake.fork_catalog('x')",
        "DESCRIBE SELECT lake.set_option('parquet_version', 1)",
    ):
        with pytest.raises(InvalidInput, match="which changes data"):
            lake.execute(text)
    assert called(lake, "CALL lake.snapshots()") == before
    assert rows(lake, "SELECT count(*) FROM t") == [(2,)]
