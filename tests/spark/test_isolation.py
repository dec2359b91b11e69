"""Concurrent transactions on one catalog: those that commit have the outcome of a serial order."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from forklake import Session
from forklake.errors import Conflict, ForklakeError, InvalidInput, NotFound
from tests.concurrency.interruptions import once_at

SETUP = """
    CREATE TABLE t (id INTEGER, v INTEGER);
    CREATE TABLE u (id INTEGER, v INTEGER);
    INSERT INTO t VALUES (1, 10), (2, 20);
    INSERT INTO u VALUES (1, 1)
"""
REBUILD = "CREATE OR REPLACE TABLE t AS SELECT * FROM t"
RENAMED = "CREATE TABLE n AS SELECT * FROM t; DROP TABLE t; ALTER TABLE n RENAME TO t"
UPSERT = (
    "MERGE INTO t USING (SELECT 9 AS id, {} AS v) AS s ON t.id = s.id"
    " WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
)
# Pairs that, run at the same time, have an outcome of no serial order.
ANOMALIES = {
    "rebuild and insert": (REBUILD, "INSERT INTO t VALUES (7, 0)"),
    "rebuild and delete": (REBUILD, "DELETE FROM t WHERE id = 1"),
    "rebuild and update": (REBUILD, "UPDATE t SET v = 0 WHERE id = 1"),
    "rebuild and truncate": (REBUILD, "TRUNCATE t"),
    "rename and insert": (RENAMED, "INSERT INTO t VALUES (7, 0)"),
    "upserts": (UPSERT.format(1), UPSERT.format(2)),
    "next id": ("INSERT INTO t SELECT max(id) + 1, 0 FROM t",) * 2,
    "not exists": ("INSERT INTO t SELECT 9, 9 WHERE NOT EXISTS (SELECT 1 FROM t WHERE id = 9)",)
    * 2,
    "write skew": (
        "UPDATE t SET v = (SELECT sum(v) FROM u)",
        "UPDATE u SET v = (SELECT sum(v) FROM t)",
    ),
    "replace where": (
        "INSERT INTO t REPLACE WHERE id = 9 SELECT 9, 1",
        "INSERT INTO t REPLACE WHERE id = 9 SELECT 9, 2",
    ),
    "read, then insert": (
        "SELECT * FROM u; INSERT INTO t VALUES (8, 8)",
        "DELETE FROM u WHERE id = 1",
    ),
}


@pytest.fixture(params=[0, 100], ids=["files", "inlined"])
def pair(lake: Session, request: pytest.FixtureRequest) -> Iterator[tuple[Session, Session]]:
    """Two sessions on one catalog."""
    lake.sql(f"CALL lake.set_option('data_inlining_row_limit', {request.param})")
    lake.sql(SETUP)
    with lake.cursor() as other:
        other.use("lake")
        yield lake, other


def rows(session: Session, table: str = "t") -> list[tuple[int, int]]:
    """Return the rows of a table in order."""
    return sorted(tuple(row) for row in session.sql(f"SELECT id, v FROM {table}").collect())


def begin(session: Session, text: str) -> None:
    session.sql("BEGIN")
    session.sql(text).collect()


@pytest.mark.parametrize("name", ANOMALIES)
def test_second_commit_of_an_anomaly_is_a_conflict(
    pair: tuple[Session, Session], name: str
) -> None:
    one, other = pair
    mine, theirs = ANOMALIES[name]
    begin(one, mine)
    other.sql(theirs)
    expected = rows(other), rows(other, "u")
    with pytest.raises(Conflict):
        one.sql("COMMIT")
    assert (rows(other), rows(other, "u")) == expected


def test_snapshot_isolation_does_not_check_reads(pair: tuple[Session, Session]) -> None:
    one, other = pair
    one.sql("SET isolation_level = 'snapshot'")
    mine, theirs = ANOMALIES["next id"]
    begin(one, mine)
    other.sql(theirs)
    one.sql("COMMIT")
    assert [row[0] for row in rows(one)] == [1, 2, 3, 3]
    with pytest.raises(InvalidInput, match="serializable, snapshot"):
        one.sql("SET isolation_level = 'none'")
    one.sql("RESET isolation_level")
    begin(one, mine)
    other.sql(theirs)
    with pytest.raises(Conflict):
        one.sql("COMMIT")


def test_catalog_option_chooses_snapshot_isolation(pair: tuple[Session, Session]) -> None:
    one, other = pair
    one.sql("CALL lake.set_option('isolation_level', 'snapshot')")
    mine, theirs = ANOMALIES["not exists"]
    begin(one, mine)
    other.sql(theirs)
    one.sql("COMMIT")
    assert [row[0] for row in rows(one)] == [1, 2, 9, 9]


@pytest.mark.parametrize(
    "theirs",
    [
        "INSERT INTO t VALUES (7, 0)",
        "CALL lake.merge_adjacent_files()",
        "CALL lake.flush_inlined_data()",
        "INSERT INTO u VALUES (7, 0)",
    ],
)
def test_blind_appends_never_conflict(pair: tuple[Session, Session], theirs: str) -> None:
    one, other = pair
    begin(one, "INSERT INTO t VALUES (8, 0)")
    other.sql(theirs).collect()
    one.sql("COMMIT")
    assert (8, 0) in rows(other)


# Reads of something else than rows, or by other names; the other side inserts.
HIDDEN_READS = {
    "renamed columns": "SELECT * FROM t AS x(v, id) WHERE id = 30",
    "info": "SELECT * FROM lake.table_info('t')",
    "files": "SELECT * FROM ducklake_list_files('lake', 't')",
    "snapshots": "SELECT max(snapshot_id) FROM lake.snapshots()",
    "shown snapshots": "SHOW SNAPSHOTS",
    "size": "SELECT estimated_size FROM duckdb_tables()",
    "metastore": "SELECT max(snapshot_id) FROM __ducklake_metadata_lake.ducklake_snapshot",
    "future": "SELECT * FROM t AT (TIMESTAMP => TIMESTAMP '2100-01-01')",
    "future changes": "SELECT * FROM lake.table_changes('t', 0, TIMESTAMP '2100-01-01')",
    "second alias": "SELECT max(id) FROM twin.t",
    "summary": "SUMMARIZE t",
    "plan": "EXPLAIN SELECT * FROM t",
}


@pytest.mark.parametrize("name", HIDDEN_READS)
def test_read_conflicts_with_an_insert_however_it_is_written(lake: Session, name: str) -> None:
    lake.sql(SETUP)
    lake.attach(lake.attachment("lake").uri, "twin", catalog="sales")
    with lake.cursor() as other:
        other.use("lake")
        begin(lake, HIDDEN_READS[name])
        lake.sql("INSERT INTO u VALUES (8, 8)")
        other.sql("INSERT INTO t VALUES (3, 30)")
        with pytest.raises(Conflict, match="inserted rows into table 't'"):
            lake.sql("COMMIT")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT filename FROM t",
        "DELETE FROM t WHERE file_row_number > 1",
        "UPDATE t SET v = file_index WHERE file_row_number > 1",
        "MERGE INTO t USING u ON t.id = u.id AND t.file_row_number > 1 WHEN MATCHED THEN DELETE",
    ],
)
def test_read_of_file_names_conflicts_with_compaction(lake: Session, text: str) -> None:
    lake.sql(SETUP)
    lake.sql("INSERT INTO t VALUES (3, 30)")
    with lake.cursor() as other:
        other.use("lake")
        begin(lake, text)
        lake.sql("INSERT INTO u VALUES (8, 8)")
        other.sql("CALL lake.merge_adjacent_files()")
        with pytest.raises(Conflict, match="merged files of table 't'"):
            lake.sql("COMMIT")


# Names that were looked up and not found, or that need not exist.
MISSING = {
    "drop": ("DROP TABLE IF EXISTS n", "CREATE TABLE n (id INTEGER)"),
    "drop view": ("DROP VIEW IF EXISTS n", "CREATE VIEW n AS SELECT 1 AS x"),
    "drop macro": ("DROP MACRO IF EXISTS n", "CREATE MACRO n() AS 1"),
    "drop schema": ("DROP SCHEMA IF EXISTS n", "CREATE SCHEMA n"),
    "drop in a schema": ("DROP TABLE IF EXISTS n.n", "CREATE SCHEMA n"),
    "alter": ("ALTER TABLE IF EXISTS n ADD COLUMN c INTEGER", "CREATE TABLE n (id INTEGER)"),
    "create": ("CREATE TABLE IF NOT EXISTS t (id INTEGER)", "ALTER TABLE t RENAME TO n"),
    "create as": ("CREATE TABLE IF NOT EXISTS t AS SELECT 1 AS id", "ALTER TABLE t RENAME TO n"),
    "create view": ("CREATE VIEW IF NOT EXISTS w AS SELECT 2 AS x", "DROP VIEW w"),
    "create macro": ("CREATE MACRO IF NOT EXISTS m() AS 2", "DROP MACRO m"),
    "add column": ("ALTER TABLE t ADD COLUMN IF NOT EXISTS v INTEGER", "ALTER TABLE t DROP v"),
    "drop column": ("ALTER TABLE t DROP COLUMN IF EXISTS c", "ALTER TABLE t ADD COLUMN c INTEGER"),
    "table in a schema": ("SELECT * FROM s.x", "ALTER SCHEMA s RENAME TO s2"),
    "insert into a schema": ("INSERT INTO s.x VALUES (1)", "ALTER SCHEMA s RENAME TO s2"),
}


@pytest.mark.parametrize("name", MISSING)
def test_lookup_of_a_name_conflicts_with_its_change(lake: Session, name: str) -> None:
    lake.sql(f"{SETUP}; CREATE SCHEMA s; CREATE TABLE s.x (id INTEGER)")
    lake.sql("CREATE VIEW w AS SELECT 1 AS x; CREATE MACRO m() AS 1")
    mine, theirs = MISSING[name]
    with lake.cursor() as other:
        other.use("lake")
        begin(lake, mine)
        lake.sql("INSERT INTO u VALUES (8, 8)")
        other.sql(theirs)
        with pytest.raises(Conflict):
            lake.sql("COMMIT")


def test_failed_lookup_conflicts_with_the_creation_of_the_name(lake: Session) -> None:
    lake.sql(SETUP)
    with lake.cursor() as other:
        other.use("lake")
        lake.sql("BEGIN")
        with pytest.raises(NotFound):
            lake.sql("SELECT * FROM n")
        lake.sql("INSERT INTO u VALUES (8, 8)")
        other.sql("CREATE TABLE n (id INTEGER)")
        with pytest.raises(Conflict, match=r"created table 'main\.n'"):
            lake.sql("COMMIT")


# Independent pairs on the same tables.
INDEPENDENT = {
    "read of another key": ("SELECT * FROM t WHERE id = 5", "INSERT INTO t VALUES (6, 0)"),
    "read of a range": (
        "SELECT sum(v) FROM t WHERE v BETWEEN 50 AND 60",
        "DELETE FROM t WHERE id = 2",
    ),
    "read of nulls": ("SELECT * FROM t WHERE v IS NULL", "INSERT INTO t VALUES (6, 0)"),
    "read in a join": (
        "SELECT * FROM t JOIN u ON t.id = u.id WHERE t.id = 1 AND u.v < 5",
        "INSERT INTO t VALUES (6, 0); INSERT INTO u VALUES (6, 6)",
    ),
    "read of the past": ("SELECT * FROM t AT (VERSION => 3)", "DELETE FROM t WHERE id = 1"),
    "past changes": ("SELECT * FROM lake.table_changes('t', 0, 3)", "DELETE FROM t WHERE id = 1"),
    "other table": ("SELECT * FROM u", "DELETE FROM t WHERE id = 1"),
    "delete": ("DELETE FROM t WHERE id = 1", "INSERT INTO t VALUES (6, 0)"),
    "update": ("UPDATE t SET v = 0 WHERE id = 1", "INSERT INTO t VALUES (6, 0)"),
    "replace where": (
        "INSERT INTO t REPLACE WHERE id = 9 SELECT 9, 1",
        "INSERT INTO t VALUES (6, 0)",
    ),
    "delete of other rows": ("DELETE FROM t WHERE id = 5", "DELETE FROM t WHERE id = 1"),
    "view": ("CREATE VIEW w AS SELECT * FROM t", "INSERT INTO t VALUES (6, 0)"),
    "own snapshot": ("SELECT * FROM lake.current_snapshot()", "INSERT INTO t VALUES (6, 0)"),
    "listing": ("SHOW TABLES", "INSERT INTO t VALUES (6, 0)"),
    "compaction": ("SELECT * FROM t", "CALL lake.merge_adjacent_files()"),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent_transactions_both_commit(pair: tuple[Session, Session], name: str) -> None:
    one, other = pair
    mine, theirs = INDEPENDENT[name]
    begin(one, mine)
    one.sql("INSERT INTO u VALUES (8, 8)")
    other.sql(theirs).collect()
    one.sql("COMMIT")
    assert (8, 8) in rows(other, "u")


def test_read_below_a_bound_conflicts_with_nan_only_above_it(lake: Session) -> None:
    lake.sql("CREATE TABLE f (x DOUBLE); CREATE TABLE u (id INTEGER, v INTEGER)")
    lake.sql("INSERT INTO f VALUES (1.0)")
    with lake.cursor() as other:
        other.use("lake")
        begin(lake, "SELECT * FROM f WHERE x > 100.0; INSERT INTO u VALUES (1, 1)")
        other.sql("INSERT INTO f VALUES ('nan'::DOUBLE)")  # NaN is greater than all numbers
        with pytest.raises(Conflict):
            lake.sql("COMMIT")


def test_reads_cover_columns_that_files_lack(pair: tuple[Session, Session]) -> None:
    one, other = pair
    one.sql("ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 4; ALTER TABLE t RENAME COLUMN v TO w")
    one.sql("ALTER TABLE t ALTER COLUMN id TYPE BIGINT")
    begin(one, "SELECT count(*) FROM t WHERE c = 4 AND w = 10 AND id = 1")
    one.sql("INSERT INTO u VALUES (8, 8)")
    other.sql("DELETE FROM t WHERE id = 1")  # a row that is older than the column
    with pytest.raises(Conflict):
        one.sql("COMMIT")


def test_statement_in_autocommit_is_retried_after_a_conflict(
    pair: tuple[Session, Session],
) -> None:
    one, other = pair
    one.set_commit_message("ada", "next id")
    with once_at("commit.begun", lambda: other.sql("INSERT INTO t VALUES (9, 0)")) as happened:
        one.sql("INSERT INTO t SELECT max(id) + 1, 0 FROM t")
    assert happened.is_set()
    assert [row[0] for row in rows(one)] == [1, 2, 9, 10]
    assert one.snapshots("lake")[-1].commit_message == "next id"


def test_method_outside_of_a_transaction_raises_the_conflict(pair: tuple[Session, Session]) -> None:
    one, other = pair
    before = rows(one)
    with (
        once_at("commit.begun", lambda: other.sql("INSERT INTO t VALUES (9, 0)")),
        pytest.raises(Conflict, match="inserted rows into table 't'"),
    ):
        one.update("t", {"v": "v + 1"}, "id > 0")
    assert rows(one) == [*before, (9, 0)]


@pytest.mark.slow
def test_retried_statements_in_autocommit_lose_no_rows(
    pair: tuple[Session, Session],
) -> None:
    one, other = pair
    is_over = threading.Event()
    failures: list[ForklakeError] = []

    def rebuild() -> None:
        try:
            while not is_over.is_set():
                other.sql(REBUILD)
        except ForklakeError as failure:
            failures.append(failure)

    thread = threading.Thread(target=rebuild)
    thread.start()
    try:
        for number in range(100, 106):
            one.sql(f"INSERT INTO t VALUES ({number}, 0)")
            one.sql(UPSERT.format(number))
    finally:
        is_over.set()
        thread.join()
    assert failures == []
    found = [row[0] for row in rows(one)]
    assert found == [1, 2, 9, *range(100, 106)]
