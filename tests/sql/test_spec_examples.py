"""All examples of the user guide and of the pages on forking, run as they are written there.

Only paths and names of tables differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from forklake import Session
from forklake.errors import ForklakeError, InvalidInput, NotFound
from tests.fix_metastore import Place, postgres_schema


def rows(session: Session, text: str) -> list[tuple[object, ...]]:
    """Return the rows of the last statement of a text."""
    return [tuple(row.values()) for row in session.execute(text).arrow().to_pylist()]


@pytest.fixture
def ducklake(session: Session, metadata: str, tmp_path: Path) -> Session:
    """Return a session with a catalog with a history, attached under the name used in the guide."""
    session.execute(
        f"ATTACH '{metadata}' AS ducklake (CATALOG 'shop', DATA_PATH '{tmp_path / 'data'}',"
        " CREATE_IF_NOT_EXISTS true); USE ducklake;"
        "CREATE SCHEMA analytics; CREATE TABLE orders(id INTEGER, amount DECIMAL(9, 2));"
        "INSERT INTO orders VALUES (1, 10), (2, 20); INSERT INTO orders VALUES (3, 30);"
        "UPDATE orders SET amount = 25 WHERE id = 2; DELETE FROM orders WHERE id = 1"
    )
    return session


@pytest.fixture
def postgres(shared_database: str) -> Iterator[Place]:
    """Yield a place for a metastore in PostgreSQL."""
    with postgres_schema(shared_database) as place:
        yield place


# The user guide: quick start


def test_quick_start_runs(session: Session, tmp_path: Path) -> None:
    text = """
INSTALL ducklake; LOAD ducklake;

-- Attach with required CATALOG name
ATTACH 'ducklake:my_catalog.ducklake' AS my_lake (
    DATA_PATH '/data/files/',
    CATALOG 'my-catalog',
    CREATE_IF_NOT_EXISTS true
);

USE my_lake;
CREATE TABLE test(id INTEGER, name VARCHAR);
INSERT INTO test VALUES (1, 'hello');
"""
    text = text.replace("/data/files/", f"{tmp_path}/files/")
    session.execute(text.replace("my_catalog.ducklake", f"{tmp_path}/my_catalog.ducklake"))
    assert rows(session, "SELECT * FROM test") == [(1, "hello")]
    assert [file.parent for file in (tmp_path / "files").rglob("*.parquet")] == [
        tmp_path / "files" / "my-catalog" / "main" / "test"
    ]


# The usage guide


def test_attach_accepts_every_option(session: Session, metadata: str, tmp_path: Path) -> None:
    session.execute(
        f"""
ATTACH '{metadata}' AS lake (
    CATALOG 'catalog_name',
    DATA_PATH '{tmp_path}/base_path',
    ENCRYPTED AUTOMATIC,
    DATA_INLINING_ROW_LIMIT 0,
    CREATE_IF_NOT_EXISTS true,
    MIGRATE_IF_REQUIRED true,
    OVERRIDE_DATA_PATH false
);
"""
    )
    version = session.snapshots("lake")[-1]
    session.execute(
        f"ATTACH '{metadata}' AS a (CATALOG 'catalog_name', SNAPSHOT_VERSION {version.snapshot_id})"
    )
    session.execute(
        f"ATTACH '{metadata}' AS b (CATALOG 'catalog_name',"
        f" SNAPSHOT_TIME '{version.snapshot_time.isoformat(' ')}')"
    )
    session.execute(
        f"ATTACH '{metadata}' AS c (CATALOG 'catalog_name', DATA_PATH '{tmp_path}/moved',"
        " OVERRIDE_DATA_PATH true)"
    )
    assert session.attachment("c").data_path == f"{tmp_path}/moved/"


def test_statements_of_the_usage_guide_run(lake: Session) -> None:
    lake.execute("CREATE SCHEMA schema_name")
    lake.execute(
        """
CREATE TABLE schema_name.table_name (
    column_name INTEGER NOT NULL,
    other VARCHAR DEFAULT 'x'
);
"""
    )
    lake.execute("USE schema_name")
    lake.execute("INSERT INTO table_name (column_name) VALUES (1), (2)")
    lake.execute("INSERT INTO table_name SELECT column_name + 10, 'y' FROM table_name")
    assert rows(
        lake, "SELECT column_name FROM lake.schema_name.table_name WHERE other = 'y' ORDER BY 1"
    ) == [(11,), (12,)]
    version = lake.snapshots("lake")[-1]
    time = version.snapshot_time.isoformat(" ")
    lake.execute("UPDATE table_name SET other = 'z' WHERE column_name = 1")
    lake.execute("DELETE FROM table_name WHERE column_name = 2")
    assert rows(lake, f"SELECT count(*) FROM table_name AT SNAPSHOT {version.snapshot_id};") == [
        (4,)
    ]
    assert rows(lake, f"SELECT count(*) FROM table_name AT TIMESTAMP '{time}';") == [(4,)]
    assert rows(lake, "SELECT count(*) FROM table_name") == [(3,)]
    lake.execute(
        """
ALTER TABLE table_name ADD COLUMN name INTEGER DEFAULT 42;
ALTER TABLE table_name DROP COLUMN other;
ALTER TABLE table_name RENAME COLUMN column_name TO new;
ALTER TABLE table_name ALTER COLUMN name SET DATA TYPE BIGINT;  -- Safe promotions only
"""
    )
    assert rows(lake, "SELECT * FROM table_name ORDER BY new LIMIT 1") == [(1, 42)]
    lake.execute("TRUNCATE TABLE table_name;  -- Faster for full table deletion")
    assert rows(lake, "SELECT count(*) FROM table_name") == [(0,)]
    lake.execute("DROP TABLE IF EXISTS table_name; DROP TABLE IF EXISTS table_name;")


def test_snapshots_can_be_attached_for_time_travel(ducklake: Session, metadata: str) -> None:
    # Before the second insert, the update and the delete.
    first = ducklake.snapshots("ducklake")[-4]
    time = first.snapshot_time.isoformat(" ")
    ducklake.execute(
        f"ATTACH '{metadata}' AS lake (CATALOG 'shop', SNAPSHOT_VERSION {first.snapshot_id});"
    )
    ducklake.execute(f"ATTACH '{metadata}' AS past (CATALOG 'shop', SNAPSHOT_TIME '{time}');")
    for table in (
        "lake.orders",
        "past.orders",
        f"orders AT SNAPSHOT {first.snapshot_id}",
        f"orders AT TIMESTAMP '{time}'",
    ):
        assert rows(ducklake, f"SELECT id FROM {table} ORDER BY id;") == [(1,), (2,)]


def test_encrypted_catalog_writes_encrypted_files(session: Session, metadata: str) -> None:
    attach = (
        f"ATTACH '{metadata}' AS lake (CATALOG 'x', ENCRYPTED true, CREATE_IF_NOT_EXISTS true);"
    )
    session.execute(attach + "USE lake; CREATE TABLE t(a INT); INSERT INTO t VALUES (7)")
    assert rows(session, "SELECT a FROM t") == [(7,)]
    assert rows(
        session, "SELECT value FROM ducklake_options('lake') WHERE option_name = 'encrypted'"
    ) == [("true",)]
    assert rows(
        session, "SELECT data_file_encryption_key FROM ducklake_list_files('lake', 't')"
    ) != [(None,)]


def test_partitioned_table_has_folders(lake: Session, tmp_path: Path) -> None:
    lake.execute(
        """
CREATE TABLE events (
    event_date DATE,
    event_type VARCHAR,
    data VARCHAR
) PARTITION BY (year(event_date), month(event_date));
"""
    )
    lake.execute("INSERT INTO events VALUES ('2024-01-31', 'a', 'x'), ('2024-02-01', 'b', 'y')")
    assert rows(lake, "SELECT event_date FROM events WHERE event_date > DATE '2024-01-31'") == [
        (date(2024, 2, 1),)
    ]
    folders = sorted(file.parent.name for file in (tmp_path / "data").rglob("*.parquet"))
    assert folders == ["month=1", "month=2"]


# Forking


def test_fork_of_the_guide_runs_on_postgresql(
    session: Session, postgres: Place, tmp_path: Path
) -> None:
    text = """
-- Parent catalog with 1TB of data
ATTACH 'ducklake:postgres:...' AS parent (CATALOG 'shared_data', DATA_PATH '/data/');
=
CREATE TABLE parent.main.big_table AS SELECT 1 AS a; CREATE TABLE parent.main.results(a INTEGER);
=
-- Instant fork - no data copying!
SELECT ducklake_fork_catalog('shared_data', 'agent_workspace');

-- Attach the fork with its own DATA_PATH for new writes
ATTACH 'ducklake:postgres:...' AS workspace (CATALOG 'agent_workspace', DATA_PATH '/data/');

-- Fork can read all parent's data
SELECT * FROM workspace.main.big_table;  -- Reads parent's parquet files

-- Fork's writes go to its own location
INSERT INTO workspace.main.results VALUES (5);  -- Writes to /data/agent_workspace/
"""
    options = f"METADATA_SCHEMA '{postgres.metadata_schema}',"
    text = text.replace("/data/'", f"{tmp_path}/data/'").replace("(CATALOG", f"({options} CATALOG")
    text = text.replace("'ducklake:postgres:...'", f"'{postgres.uri}'")
    parent, tables, fork = text.split("=\n", 2)
    session.execute(parent.replace("/data/')", "/data/', CREATE_IF_NOT_EXISTS true)"))
    session.execute(tables)
    session.execute(fork)
    assert rows(session, "SELECT a FROM workspace.main.big_table") == [(1,)]
    assert rows(session, "SELECT a FROM workspace.main.results") == [(5,)]
    assert rows(session, "SELECT a FROM parent.main.results") == []
    written = [file.relative_to(tmp_path / "data").parts for file in tmp_path.rglob("*.parquet")]
    assert sorted(parts[:3] for parts in written) == [
        ("agent_workspace", "main", "results"),
        ("shared_data", "main", "big_table"),
    ]


def test_fork_can_have_its_own_data_path(ducklake: Session, metadata: str, tmp_path: Path) -> None:
    call = "CALL ducklake_fork_catalog('parent_catalog', 'new_catalog_name', '/new/data/path');"
    call = call.replace("/new/data/path", f"{tmp_path}/new").replace("parent_catalog", "shop")
    created = ducklake.execute(call).arrow().to_pylist()
    assert [row["catalog_name"] for row in created] == ["new_catalog_name"]
    ducklake.execute(f"ATTACH '{metadata}' AS fork_a (CATALOG 'new_catalog_name');")
    ducklake.execute("INSERT INTO fork_a.main.orders VALUES (4, 40)")
    assert len(list((tmp_path / "new").rglob("*.parquet"))) == 1
    assert rows(
        ducklake,
        "SELECT count(*), count(p.id) FROM fork_a.orders f LEFT JOIN ducklake.orders p"
        " ON f.id = p.id;",
    ) == [(3, 2)]
    assert (
        rows(
            ducklake,
            "SELECT * FROM fork_a.orders f JOIN ducklake.orders p ON f.id = p.id ORDER BY 1;",
        )[0][0]
        == 2
    )


def test_transactions_are_snapshots(lake: Session) -> None:
    lake.execute("CREATE TABLE t(a INT)")
    before = len(lake.snapshots("lake"))
    lake.execute(
        """
-- Auto-commit (default): 3 statements = 3 transactions = 3 snapshots
INSERT INTO t VALUES (1);  -- snapshot N+1
INSERT INTO t VALUES (2);  -- snapshot N+2
INSERT INTO t VALUES (3);  -- snapshot N+3
"""
    )
    assert len(lake.snapshots("lake")) == before + 3
    lake.execute(
        """
-- Explicit transaction: 3 statements = 1 transaction = 1 snapshot
BEGIN;
INSERT INTO t VALUES (1);
INSERT INTO t VALUES (2);
INSERT INTO t VALUES (3);
COMMIT;  -- snapshot N+1 (just one)
"""
    )
    assert len(lake.snapshots("lake")) == before + 4
    assert rows(lake, "SELECT count(*) FROM t") == [(6,)]


# Functions


def test_query_functions_run(ducklake: Session) -> None:
    last = int(ducklake.snapshots("ducklake")[-1].snapshot_id)
    assert rows(ducklake, "SELECT max(snapshot_id) FROM ducklake_snapshots('ducklake')") == [
        (last,)
    ]
    assert rows(ducklake, "SELECT * FROM ducklake_current_snapshot('ducklake')") == [(last,)]
    assert rows(ducklake, "SELECT * FROM ducklake_last_committed_snapshot('ducklake')") == [(last,)]
    assert rows(ducklake, "SELECT count(*) FROM ducklake_options('ducklake')")[0][0] == 17
    assert rows(ducklake, "SELECT count(*) FROM ducklake_list_files('ducklake', 'orders')")[0][0]
    assert rows(ducklake, "SELECT table_name FROM ducklake_table_info('ducklake', 'orders')") == [
        ("orders",)
    ]
    for name, expected in (("changes", 6), ("insertions", 4), ("deletions", 2)):
        function = f"ducklake_table_{name}('ducklake', 'main', 'orders', 1, {last})"
        assert rows(ducklake, f"SELECT count(*) FROM {function}") == [(expected,)], name
    for text in ("SELECT * FROM ducklake.snapshots()", "CALL ducklake.snapshots()"):
        assert rows(ducklake, text) == rows(
            ducklake, "SELECT * FROM ducklake_snapshots('ducklake')"
        )


def test_procedures_run(ducklake: Session) -> None:
    assert rows(ducklake, "CALL ducklake_fork_catalog('ducklake', 'new_name')")[0][1] == "new_name"
    ducklake.execute("CALL ducklake_set_option('ducklake', 'parquet_compression', 'zstd')")
    ducklake.execute(
        "BEGIN; INSERT INTO orders VALUES (9, 9);"
        "CALL ducklake_set_commit_message('ducklake', 'author', 'message'); COMMIT"
    )
    snapshot = ducklake.snapshots("ducklake")[-1]
    assert (snapshot.author, snapshot.commit_message) == ("author", "message")


def test_maintenance_functions_run(ducklake: Session) -> None:
    before = rows(ducklake, "SELECT * FROM orders ORDER BY ALL")
    for statement in (
        "CALL ducklake.merge_adjacent_files()",
        "CALL ducklake_merge_adjacent_files('ducklake', 'main.orders')",
        "CALL ducklake_merge_adjacent_files('ducklake', 'orders')",
        "CALL ducklake.rewrite_data_files()",
        "CALL ducklake_rewrite_data_files('ducklake', 'orders')",
        "CALL ducklake_flush_inlined_data('ducklake')",
        "CALL ducklake_expire_snapshots('ducklake', older_than := INTERVAL '30 days')",
        "CALL ducklake_cleanup_old_files('ducklake')",
        "CALL ducklake_delete_orphaned_files('ducklake')",
    ):
        ducklake.execute(statement)
        assert rows(ducklake, "SELECT * FROM orders ORDER BY ALL") == before, statement


def test_example_workflows_run(ducklake: Session) -> None:
    history = rows(
        ducklake, "SELECT snapshot_id, snapshot_time, changes FROM ducklake.snapshots();"
    )
    assert len(history) == len(ducklake.snapshots("ducklake"))
    first, last = history[0][0], history[-1][0]
    changes = rows(
        ducklake,
        f"SELECT * FROM ducklake.table_changes('main', 'orders', {first}, {last})"
        " ORDER BY snapshot_id;",
    )
    numbers = [int(str(change[0])) for change in changes]
    assert numbers == sorted(numbers)
    ducklake.execute(
        "CALL ducklake.set_option('parquet_compression', 'zstd', schema => 'analytics');"
    )
    ducklake.execute(
        """
CALL ducklake.set_option('target_file_size', '512MB');
CALL ducklake.set_option('parquet_row_group_size_bytes', '128MB');
"""
    )
    found = rows(
        ducklake,
        "SELECT option_name, scope, scope_entry FROM ducklake.options() WHERE scope IS NOT NULL"
        " ORDER BY option_name",
    )
    assert ("parquet_compression", "SCHEMA", "analytics") in found


# Errors


def test_errors_of_the_guide_are_raised(session: Session, metadata: str) -> None:
    session.execute(f"ATTACH '{metadata}' AS a (CATALOG 'x', CREATE_IF_NOT_EXISTS true)")
    for statement, kind, message in (
        (
            f"ATTACH '{metadata}' AS b",
            InvalidInput,
            "CATALOG is required. Please provide CATALOG when attaching the database.",
        ),
        (f"ATTACH '{metadata}' AS b (CATALOG 'y')", NotFound, "Catalog 'y' does not exist"),
    ):
        with pytest.raises(ForklakeError) as raised:
            session.execute(statement)
        assert type(raised.value) is kind
        assert raised.value.message == message


# The metastore itself


def test_metadata_is_read_in_sql(session: Session, metadata: str) -> None:
    session.execute(
        f"ATTACH '{metadata}' AS lake (CATALOG 'my-catalog', CREATE_IF_NOT_EXISTS true,"
        " METADATA_CATALOG 'ducklake'); USE lake; CREATE TABLE t(a INT); INSERT INTO t VALUES (1)"
    )
    assert (
        len(
            rows(
                session,
                """
-- List catalogs
SELECT catalog_id, catalog_uuid, catalog_name, begin_snapshot
FROM ducklake.ducklake_catalog
WHERE end_snapshot IS NULL;
""",
            )
        )
        == 1
    )
    assert rows(
        session,
        """
-- Lookup by catalog name
SELECT t.table_name, s.schema_name
FROM ducklake.ducklake_table t
JOIN ducklake.ducklake_schema s ON t.catalog_id = s.catalog_id AND t.schema_id = s.schema_id
JOIN ducklake.ducklake_catalog c ON t.catalog_id = c.catalog_id
WHERE c.catalog_name = 'my-catalog'
  AND c.end_snapshot IS NULL
  AND t.end_snapshot IS NULL
  AND s.end_snapshot IS NULL;
""",
    ) == [("t", "main")]
    assert rows(
        session,
        """
SELECT count(*) FROM ducklake.ducklake_data_file df
JOIN ducklake.ducklake_table t ON df.catalog_id = t.catalog_id AND df.table_id = t.table_id
""",
    ) == [(1,)]
    for query in (
        "SELECT next_catalog_id FROM ducklake.ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1",
        "SELECT * FROM ducklake.ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1",
        "SELECT * FROM ducklake.ducklake_data_file WHERE begin_snapshot <= 50",
        "SELECT * FROM ducklake.ducklake_catalog"
        " WHERE begin_snapshot <= 50 AND (end_snapshot IS NULL OR end_snapshot > 50)",
    ):
        assert len(rows(session, query)) == 1, query


def test_two_metastores_share_one_database(
    session: Session, shared_database: str, tmp_path: Path
) -> None:
    with postgres_schema(shared_database) as one, postgres_schema(shared_database) as two:
        text = """
ATTACH 'ducklake:shared.db' AS ducklake_1 (METADATA_SCHEMA 'metadata_s1', CATALOG 'cat1');
ATTACH 'ducklake:shared.db' AS ducklake_2 (METADATA_SCHEMA 'metadata_s2', CATALOG 'cat2');
"""
        text = text.replace("'ducklake:shared.db'", f"'{one.uri}'")
        text = text.replace("metadata_s1", str(one.metadata_schema))
        text = text.replace("metadata_s2", str(two.metadata_schema))
        new = f", CREATE_IF_NOT_EXISTS true, DATA_PATH '{tmp_path}/data')"
        with pytest.raises(ForklakeError):
            session.execute(text)
        session.execute(text.replace(")", new))
        session.execute("CREATE TABLE ducklake_1.main.t(a INT)")
        assert rows(session, "SELECT catalog_name FROM ducklake_catalogs('ducklake_2')") == [
            ("cat2",)
        ]
        session.close()  # before the schemas are dropped


def test_indexes_of_the_guides_exist_on_postgresql(postgres: Place, shared_database: str) -> None:
    with Session() as session:
        session.execute(
            f"ATTACH '{postgres.uri}' AS lake (METADATA_SCHEMA '{postgres.metadata_schema}',"
            " CATALOG 'x', DATA_PATH '/data/', CREATE_IF_NOT_EXISTS true)"
        )
    with psycopg.connect(shared_database) as connection:
        schema = sql.Identifier(str(postgres.metadata_schema))
        connection.execute(sql.SQL("SET search_path TO {}").format(schema))
        connection.execute(
            """
CREATE INDEX idx_schema_catalog ON ducklake_schema(catalog_id);
CREATE INDEX idx_table_catalog ON ducklake_table(catalog_id);
CREATE INDEX idx_data_file_catalog ON ducklake_data_file(catalog_id);
CREATE INDEX idx_snapshot_id ON ducklake_snapshot(snapshot_id DESC);

-- of the pages on forking
CREATE INDEX idx_snapshot_global ON ducklake_snapshot(snapshot_id DESC);
CREATE INDEX idx_data_file_snapshot ON ducklake_data_file(catalog_id, begin_snapshot, end_snapshot);
CREATE INDEX idx_data_file_id ON ducklake_data_file(data_file_id);
"""
        )
        found = connection.execute(
            "SELECT count(*) FROM pg_indexes WHERE schemaname = %s AND indexname LIKE 'idx_%%'",
            [str(postgres.metadata_schema)],
        ).fetchone()
    assert found == (7,)
