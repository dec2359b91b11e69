"""Imports of DuckLakes of the stock DuckDB extension, row for row and with their history."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

import forklake
from forklake import Metastore, Session
from forklake.errors import AlreadyExists, InvalidInput, NotFound, Unsupported
from forklake.maintenance import import_ducklake, merge_adjacent_files
from tests.cli.conftest import CommandLine
from tests.maintenance.stock import contents, ordered, stock

_TEXTS = pa.list_(pa.string())
VALUES = """i, 'n' || i, {'a': i, 'b': ['x', NULL]}, MAP {'k': i / 2}, uuid(), i, '{"a": 1}',
 TIMESTAMPTZ '2024-01-01 00:00:00.123456+00' + to_days(i::INT), i / 4, '\\xFF\\x00a'::BLOB,
 TIME '01:02:03.5', i % 256, i, i % 2 = 0, i / 3"""
HISTORY = [
    """CREATE TABLE t (id BIGINT, name VARCHAR DEFAULT 'none', s STRUCT(a INT, b VARCHAR[]),
       m MAP(VARCHAR, DOUBLE), u UUID, h HUGEINT, j JSON, at_ TIMESTAMPTZ, d DECIMAL(10, 2),
       b BLOB, c TIME, tiny UTINYINT, big UBIGINT, f BOOLEAN, r FLOAT)""",
    f"INSERT INTO t SELECT {VALUES} FROM range(100) r(i)",
    "INSERT INTO t (id) VALUES (1000), (1001)",
    f"INSERT INTO t SELECT {VALUES} FROM range(2000, 2003) r(i)",
    "DELETE FROM t WHERE id < 5",
    "DELETE FROM t WHERE id BETWEEN 10 AND 40 OR id = 1000",
    "UPDATE t SET name = 'new' WHERE id = 50 OR id = 2001",
    "UPDATE t SET name = 'newer', s = {'a': 9, 'b': []} WHERE id BETWEEN 45 AND 70",
    """BEGIN; ALTER TABLE t ADD COLUMN late INT DEFAULT 7;
       ALTER TABLE t RENAME COLUMN name TO label; COMMIT""",
    "INSERT INTO t (id, label) VALUES (3000, 'after')",
    "INSERT INTO t (id, label) SELECT i, 'p' FROM range(5000, 5020) r(i)",
    """BEGIN; ALTER TABLE t ADD COLUMN s.z INT; ALTER TABLE t ADD COLUMN name VARCHAR;
       ALTER TABLE t ALTER late TYPE BIGINT; COMMIT""",
    "INSERT INTO t (id, name) SELECT i, 'q' FROM range(6000, 6020) r(i)",
    "BEGIN; ALTER TABLE t DROP COLUMN r; ALTER TABLE t ALTER late SET DEFAULT 8; COMMIT",
    "INSERT INTO t (id) VALUES (9999)",
    """BEGIN; CREATE SCHEMA s2; CREATE TABLE s2.p (k INT, v VARCHAR, day DATE);
       ALTER TABLE s2.p SET PARTITIONED BY (k, year(day)); COMMIT""",
    "INSERT INTO s2.p SELECT i % 3, 'v' || i, DATE '2023-12-01' + i::INT FROM range(60) r(i)",
    "DELETE FROM s2.p WHERE k = 2",
    """BEGIN; ALTER TABLE s2.p SET SORTED BY (v DESC); COMMENT ON TABLE t IS 'all sorts';
       CREATE VIEW s2.w AS SELECT v FROM s2.p WHERE k = 1; CREATE MACRO s2.one_more(x) AS x + 1;
       COMMENT ON COLUMN t.id IS 'a number'; CREATE TABLE gone AS SELECT 1 AS i; COMMIT""",
    "ALTER TABLE s2.p RENAME TO q",
    """BEGIN; CALL lake.set_commit_message('ada', 'why'); DROP TABLE gone;
       INSERT INTO s2.q SELECT 1, 'x', NULL FROM range(20); COMMIT""",
    "CALL lake.set_option('target_file_size', '100MB')",
    "CALL lake.set_option('parquet_compression', 'zstd', table_name => 't')",
]
COMPACTION = [
    "CREATE TABLE log (i INT, v VARCHAR)",
    *(f"INSERT INTO log SELECT i, 'v' FROM range({n}, {n + 1500}) r(i)" for n in (0, 2000, 4000)),
    "CALL lake.merge_adjacent_files()",
    "DELETE FROM log WHERE i % 100 = 7",
    "DELETE FROM log WHERE i % 100 = 8",
    "CREATE TABLE few (i INT)",
    *(f"INSERT INTO few SELECT i FROM range({n}, {n + 20}) r(i)" for n in (0, 20, 40)),
    "DELETE FROM few WHERE i IN (3, 25, 47)",
    "CALL lake.merge_adjacent_files()",
    "CALL ducklake_flush_inlined_data('lake')",
    "INSERT INTO few SELECT i FROM range(100, 120) r(i)",
    "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.01)",
    "INSERT INTO log VALUES (-1, 'last')",
]


def make(place: str, folder: Path, statements: list[str], *extensions: str, **options: Any) -> Any:
    """Create a DuckLake with a history, and return its contents as DuckDB reads them."""
    with stock(place, *extensions, DATA_PATH=f"{folder}/", **options) as connection:
        for statement in statements:
            connection.execute(statement)
        return contents(connection, options.get("METADATA_SCHEMA", "main"))


def contents_of_catalog(
    session: Session, name: str, versions: Mapping[int, int]
) -> dict[tuple[int, str], Any]:
    """Return the contents of a catalog in the form of `contents`.

    Tables with the same columns are read by one query.
    """
    catalog = session.attachment(name).catalog
    found: dict[tuple[int, str], list[Any]] = {}
    alike: dict[str, list[Any]] = {}
    for old, new in versions.items():
        state = catalog.at(version=new).state
        for table in state.tables():
            key = old, f"{state.schema_of(table).schema_name}.{table.table_name}"
            found[key] = []
            rows = session.table((name, *key[1].split(".")), version=new)
            label = F.lit(f"{old} {key[1]}").alias("__of")
            alike.setdefault(rows.schema.json(), []).append(rows.select(label, "*"))
    for frames in alike.values():
        for label, *row in (
            r.values() for r in reduce(DataFrame.union, frames).toArrow().to_pylist()
        ):
            old, named = label.split(" ")
            found[int(old), named].append(row)
    return {key: ordered(rows) for key, rows in found.items()}


def compare(session: Session, name: str, expected: dict[tuple[int, str], Any]) -> None:
    catalog = session.attachment(name).catalog
    new = [one.snapshot_id for one in catalog.snapshots()]
    old = sorted({snapshot for snapshot, _ in expected})
    versions = dict(zip(old, new[-len(old) :], strict=True))
    found = contents_of_catalog(session, name, versions)
    assert found.keys() == expected.keys()
    for key, rows in expected.items():
        assert found[key] == rows, key


@pytest.fixture
def target(metadata: str) -> Any:
    """Yield a metastore to import into."""
    with forklake.open(metadata, create=True) as metastore:
        yield metastore


def test_a_ducklake_is_read_row_for_row_at_every_snapshot(
    session: Session, target: Metastore, metadata: str, tmp_path: Path
) -> None:
    place = tmp_path / "lake.ducklake"
    expected = make(str(place), tmp_path / "theirs", HISTORY)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    done = import_ducklake(target, f"ducklake:{place}", "theirs", data_path=str(tmp_path / "d"))
    session.attach(metadata, "theirs", catalog="theirs")
    compare(session, "theirs", expected)
    kept = {path: path.stat().st_mtime_ns for path in before if "meta.db" not in path.name}
    assert kept == {path: before[path] for path in kept}
    assert (done.tables, done.snapshots) == (3, 1 + max(snapshot for snapshot, _ in expected))

    catalog = done.catalog
    state = catalog.refresh()
    table = state.table("t")
    assert state.tags(table.table_id) == {"comment": "all sorts"}
    assert state.column_tags(state.column(table, "id")) == {"comment": "a number"}
    assert [row.transform for row in state.partitioning(state.table("q", "s2"))] == [
        "identity",
        "year",
    ]
    assert [key.is_descending for key in state.sort_order(state.table("q", "s2"))] == [True]
    assert state.view("w", "s2").sql.startswith("SELECT")
    assert state.macro("one_more", "s2") is not None
    assert state.option("parquet_compression", table)[0] == "zstd"
    assert state.column(table, "late").default_value == "8"
    assert [(one.author, one.commit_message) for one in catalog.snapshots() if one.author] == [
        ("ada", "why")
    ]
    for name, schema in (("t", "main"), ("q", "s2")):
        found = state.table(name, schema)
        counted = catalog.now().statistics(found).record_count
        assert counted == len(expected[max(s for s, _ in expected), f"{schema}.{name}"])

    # Writes continue after the import, and imported files are unchanged.
    session.use("theirs")
    session.insert("t", [{"id": 10_000, "label": "ours"}])
    session.delete("t", "id BETWEEN 60 AND 5005")
    session.update("s2.q", {"v": "'changed'"}, "k = 1")
    session.add_column("t", "more", "int32", default="3")
    count = len(expected[done.snapshots - 1, "main.t"])
    gone = sum(60 <= int(row[0]) <= 5005 for row in expected[done.snapshots - 1, "main.t"])
    assert session.table("t").count() == count + 1 - gone
    assert session.table("t").where("id = 10000 AND label = 'ours' AND more = 3").count() == 1
    assert {row.v for row in session.table("s2.q").where("k = 1").collect()} == {"changed"}
    merge_adjacent_files(session, "theirs")
    assert session.table("t").count() == count + 1 - gone
    target.fork("theirs", "fork")
    catalog.expire_snapshots(older_than=dt.datetime.now(dt.UTC))
    target.drop_catalog("fork")
    target.reclaim_dropped(cleanup_all=True)
    catalog.cleanup_old_files(cleanup_all=True)
    catalog.delete_orphaned_files(cleanup_all=True)
    assert all(path.exists() for path in before)
    with stock(str(place)) as connection:
        assert contents(connection) == expected


def test_merged_and_added_files_of_a_ducklake_are_read_unchanged(
    session: Session, target: Metastore, metadata: str, tmp_path: Path
) -> None:
    place = tmp_path / "lake.ducklake"
    foreign = tmp_path / "foreign" / "day=2024-01-31" / "f.parquet"
    foreign.parent.mkdir(parents=True)
    nested = pa.array([{"X": 5, "y": ["a"]}], pa.struct([("X", pa.int16()), ("y", _TEXTS)]))
    pq.write_table(pa.table({"S": nested, "ID": pa.array([1], pa.int32())}), foreign)
    adding = [
        "CREATE TABLE ext (id BIGINT, s STRUCT(x INT, y VARCHAR[]), day DATE, more INT)",
        f"CALL ducklake_add_data_files('lake', 'ext', '{foreign}', allow_missing => true)",
        "ALTER TABLE ext RENAME COLUMN id TO number",
    ]
    expected = make(str(place), tmp_path / "theirs", [*HISTORY[:11], *adding, *COMPACTION])
    with pytest.raises(InvalidInput, match="was merged by DuckLake from several files"):
        import_ducklake(target, f"ducklake:{place}", "theirs")
    import_ducklake(target, f"ducklake:{place}", "theirs", data_path=str(tmp_path / "data"))
    session.attach(metadata, "theirs", catalog="theirs")
    compare(session, "theirs", expected)
    for table, key in (("t", "id"), ("log", "i"), ("few", "i")):
        with stock(str(place)) as connection:
            theirs = connection.sql(f"SELECT {key}, rowid FROM {table}").fetchall()
        rows = session.table(f"theirs.main.{table}", virtual=["rowid"]).select(key, "rowid")
        assert sorted(map(tuple, rows.collect())) == sorted(theirs)


# Absent in versions before 1.0.
OLD = [
    "ALTER TABLE ducklake_schema_versions DROP COLUMN table_id",
    "ALTER TABLE ducklake_column DROP COLUMN default_value_type",
    "ALTER TABLE ducklake_column DROP COLUMN default_value_dialect",
    "ALTER TABLE ducklake_data_file RENAME COLUMN partial_max TO partial_file_info",
    "ALTER TABLE ducklake_delete_file DROP COLUMN partial_max",
    *(f"DROP TABLE ducklake_{name}" for name in ("macro", "macro_impl", "macro_parameters")),
    *(f"DROP TABLE ducklake_{name}" for name in ("sort_info", "sort_expression")),
    "DROP TABLE ducklake_file_variant_stats",
    "UPDATE ducklake_metadata SET value = '0.3' WHERE key = 'version'",
]


def test_an_old_ducklake_is_imported_by_command(
    session: Session, target: Metastore, metadata: str, tmp_path: Path
) -> None:
    place = tmp_path / "lake.ducklake"
    expected = make(str(place), tmp_path / "theirs", HISTORY[:11])
    with duckdb.connect(str(place)) as connection:
        for statement in OLD:
            connection.execute(statement)
    run = CommandLine(metadata)
    done = run.ok("import-ducklake", f"ducklake:{place}", "--as", "old")
    assert "Imported" in done.out
    assert "1 table" in done.out
    again = run("import-ducklake", f"ducklake:{place}", "--as", "old")
    assert "already exists" in again.err
    session.attach(metadata, "old", catalog="old")
    compare(session, "old", expected)


def test_ducklakes_with_expired_snapshots_and_moved_files_are_imported(
    session: Session, target: Metastore, metadata: str, tmp_path: Path
) -> None:
    place, folder = tmp_path / "lake.ducklake", tmp_path / "theirs"
    expire = "CALL ducklake_expire_snapshots('lake', versions => [0, 1, 2, 3, 5, 6])"
    expected = make(str(place), folder, [*HISTORY[:8], expire])
    shutil.move(folder, tmp_path / "moved")
    with pytest.raises(NotFound):
        import_ducklake(target, f"ducklake:{place}", "theirs")
    moved = str(tmp_path / "moved")
    import_ducklake(target, f"ducklake:{place}", "theirs", source_data_path=moved)
    session.attach(metadata, "theirs", catalog="theirs")
    compare(session, "theirs", expected)


def test_a_ducklake_in_postgresql_is_imported(
    session: Session, target: Metastore, metadata: str, shared_database: str, tmp_path: Path
) -> None:
    import psycopg

    schema = f"stock_{tmp_path.name.replace('-', '_')}"
    with psycopg.connect(shared_database, autocommit=True) as administrator:
        administrator.execute(f"CREATE SCHEMA {schema}".encode())
        place = f"postgres:{shared_database}"
        try:
            expected = make(
                place, tmp_path / "theirs", HISTORY[:11], "postgres_scanner", METADATA_SCHEMA=schema
            )
            import_ducklake(target, f"ducklake:{place}", "theirs", metadata_schema=schema)
        finally:
            administrator.execute(f"DROP SCHEMA {schema} CASCADE".encode())
    session.attach(metadata, "theirs", catalog="theirs")
    compare(session, "theirs", expected)


def test_the_history_is_imported_on_every_backend(metastore: Metastore, tmp_path: Path) -> None:
    place = tmp_path / "lake.ducklake"
    expected = make(str(place), tmp_path / "theirs", [*HISTORY[:11], *COMPACTION[:6]])
    metastore.create_catalog("other")
    data_path = str(tmp_path / "data")
    done = import_ducklake(metastore, f"ducklake:{place}", "theirs", data_path=data_path)
    with stock(str(place)) as connection:
        times = connection.sql("SELECT epoch_us(snapshot_time) FROM lake.snapshots()").fetchall()
    snapshots = done.catalog.snapshots()
    assert [round(one.snapshot_time.timestamp() * 1e6) for one in snapshots] == [
        one for (one,) in times
    ]
    for (old, name), rows in expected.items():
        seen = done.catalog.at(version=snapshots[old].snapshot_id)
        table = seen.state.table(name.removeprefix("main."))
        files = seen.scan_files(table)
        live = sum(one.file.record_count - one.deleted_rows for one in files) + len(
            seen.inlined_rows(table)
        )
        assert (live, seen.statistics(table).record_count) == (len(rows), len(rows)), (old, name)
    (storage,) = metastore.storage(["theirs"])
    shared = sum(path.stat().st_size for path in (tmp_path / "theirs").rglob("*.parquet"))
    own = sum(path.stat().st_size for path in (tmp_path / "data").rglob("*.parquet"))
    assert (storage.private_bytes, storage.freed_bytes) == (own, own)
    assert 0 < storage.shared_bytes <= shared
    fork = metastore.fork("theirs", "fork", at=snapshots[3].snapshot_id)
    assert len(fork.now().inlined_rows(fork.now().state.table("t"))) == 2
    assert sum(one.catalog_name == "theirs" for one in metastore.catalogs()) == 1


def test_unsupported_ducklakes_are_refused(target: Metastore, tmp_path: Path) -> None:
    place = tmp_path / "lake.ducklake"
    make(str(place), tmp_path / "theirs", ["CREATE TABLE t (i INT)"])
    target.create_catalog("taken")
    with pytest.raises(AlreadyExists):
        import_ducklake(target, f"ducklake:{place}", "taken")
    with pytest.raises(Unsupported, match="the file does not exist"):
        import_ducklake(target, f"ducklake:{tmp_path / 'none.ducklake'}", "new")
    other = tmp_path / "other.duckdb"
    with duckdb.connect(str(other)) as connection:
        connection.execute("CREATE TABLE t (i INT)")
    with pytest.raises(NotFound, match="does not hold a DuckLake"):
        import_ducklake(target, f"ducklake:{other}", "new")
    with stock(str(place)) as connection:
        connection.execute("CREATE TABLE odd (v VARIANT)")
    with pytest.raises(Unsupported, match="'v' of table 'odd' has an unsupported type: variant"):
        import_ducklake(target, f"ducklake:{place}", "new")
    with duckdb.connect(str(place)) as connection:
        connection.execute("UPDATE ducklake_metadata SET value = '9.9' WHERE key = 'version'")
    with pytest.raises(Unsupported, match=r"version 9\.9"):
        import_ducklake(target, f"ducklake:{place}", "new")
    assert [one.catalog_name for one in target.catalogs()] == ["taken"]
