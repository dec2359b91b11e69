"""Tables of the lake published as Delta tables: other readers see the results of all statements."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from forklake import Catalog, Session
from forklake.catalog.delta_tables import FaceReading
from forklake.delta.publication import publish_table
from forklake.errors import Unsupported
from tests.delta.mirrored import commit_info, logged_versions, status_of
from tests.delta.readers import Rows, canonical_rows, read_everywhere

# The others refuse deletion vectors or renamed columns.
WITH_ALL_FEATURES = {"deltalake", "duckdb"}


def catalog_of(session: Session, alias: str = "lake") -> Catalog:
    """Return the catalog of an alias."""
    return session.attachment(alias).catalog


def publish(session: Session, table: str, root: Path, alias: str = "lake") -> str:
    """Publish a table, and return its location."""
    publish_table(catalog_of(session, alias), table, "main", str(root))
    return str(root)


def rows_of(session: Session, table: str) -> Rows:
    """Return the rows that Spark sees."""
    return canonical_rows(session.sql(f"SELECT * FROM {table}").toArrow())


def assert_same(session: Session, table: str, root: str, *, is_plain: bool = False) -> None:
    """Check that the readers of files see the rows that Spark sees."""
    expected = rows_of(session, table)
    for name, found in read_everywhere(root).items():
        if is_plain or name in WITH_ALL_FEATURES or isinstance(found, Counter):
            assert found == expected, name


def test_readers_see_all_changes_of_a_table(lake: Session, tmp_path: Path) -> None:
    lake.sql("CREATE TABLE t (id BIGINT, name VARCHAR, price DECIMAL(10,2), day DATE)")
    lake.sql(
        "INSERT INTO t SELECT range, 'n' || range::VARCHAR, range / 4,"
        " DATE '2024-01-01' + range::INT FROM range(20)"
    )
    root = publish(lake, "t", tmp_path / "delta" / "t")
    lake.sql("INSERT INTO t SELECT range, NULL, 1.25, NULL FROM range(100, 105)")
    assert_same(lake, "t", root, is_plain=True)
    for statement in (
        "DELETE FROM t WHERE id % 5 = 0",
        "UPDATE t SET name = 'x' WHERE id < 4",
        "MERGE INTO t USING (SELECT 6 AS id UNION ALL SELECT 700) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET price = 9 WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
        "ALTER TABLE t RENAME name TO label",
        "ALTER TABLE t ADD COLUMN extra INTEGER",
        "INSERT INTO t VALUES (5000, 'z', 1.0, NULL, 7)",
        "ALTER TABLE t DROP COLUMN day",
        "CALL lake.merge_adjacent_files()",
    ):
        lake.sql(statement)
        assert status_of(catalog_of(lake), "t").state == "CURRENT", statement
        assert_same(lake, "t", root)
    expected = rows_of(lake, "t")
    assert read_everywhere(root, version=1)["duckdb"] == canonical_rows(
        lake.delta("t", version=1).toArrow()
    )
    assert canonical_rows(lake.delta(root).toArrow()) == expected


def test_tables_changed_in_one_commit_share_a_transaction_group(
    lake: Session, tmp_path: Path
) -> None:
    roots = {}
    for name in ("orders", "items"):
        lake.sql(f"CREATE TABLE {name} AS SELECT 1::BIGINT AS id")
        roots[name] = publish(lake, name, tmp_path / "delta" / name)
    with lake.transaction():
        lake.sql("INSERT INTO orders VALUES (2)")
        lake.sql("DELETE FROM items")
    groups = [commit_info(Path(root), 1)["transactionGroup"] for root in roots.values()]
    seen = catalog_of(lake).now()
    faces = [FaceReading(seen, seen.state.table(name)).face for name in roots]
    assert groups[0] == groups[1]
    assert {one["tableId"] for one in groups[0]["participants"]} == {one.delta_id for one in faces}
    for name, root in roots.items():
        assert_same(lake, name, root, is_plain=True)


def test_a_fork_is_published_beside_its_parent(lake: Session, tmp_path: Path) -> None:
    lake.sql("CREATE TABLE t AS SELECT range AS id, 'p' AS name FROM range(10)")
    parent = publish(lake, "t", tmp_path / "delta" / "parent")
    lake.sql("INSERT INTO t VALUES (50, 'p')")
    lake.fork("lake", "agent", attach_as="agent")
    lake.sql("DELETE FROM agent.t WHERE id < 3")
    fork = publish(lake, "t", tmp_path / "delta" / "fork", "agent")
    lake.sql("INSERT INTO agent.t VALUES (60, 'f')")
    lake.sql("INSERT INTO t VALUES (70, 'p')")
    assert_same(lake, "t", parent, is_plain=True)
    assert_same(lake, "agent.t", fork)
    assert [number for number, _ in logged_versions(Path(fork))] == [0, 1, 2, 3, 4]
    assert sum(rows_of(lake, "t").values()) == 12
    assert sum(rows_of(lake, "agent.t").values()) == 9


def test_merges_and_compaction_are_published_at_once(lake: Session, tmp_path: Path) -> None:
    """Fork merges and compaction commit without a session transaction."""
    lake.sql("CREATE TABLE t AS SELECT i AS id FROM range(2) AS r(i); INSERT INTO t VALUES (2)")
    root = publish(lake, "t", tmp_path / "delta" / "t")
    lake.fork("lake", "agent", attach_as="agent")
    lake.sql("INSERT INTO agent.t VALUES (3); DELETE FROM agent.t WHERE id = 1")
    for number, statement in enumerate(
        (
            "CALL ducklake_merge('agent')",
            "CALL lake.merge_adjacent_files()",
            "CALL lake.rewrite_data_files(delete_threshold => 0)",
        ),
        start=1,
    ):
        lake.sql(statement)
        assert [one for one, _ in logged_versions(Path(root))] == list(range(number + 1)), statement
        assert_same(lake, "t", root)


def test_tables_that_delta_cannot_represent_are_refused(lake: Session, tmp_path: Path) -> None:
    lake.sql("CREATE TABLE t AS SELECT 1::BIGINT AS id")
    lake.sql("ALTER TABLE t ADD COLUMN more INTEGER DEFAULT 7")
    with pytest.raises(Unsupported, match="lack the column 'more'"):
        publish(lake, "t", tmp_path / "delta" / "t")
    lake.sql("CALL lake.set_option('data_inlining_row_limit', 10)")
    lake.sql("CREATE TABLE small (id BIGINT)")
    lake.sql("INSERT INTO small VALUES (1)")
    with pytest.raises(Unsupported, match="has inlined rows"):
        publish(lake, "small", tmp_path / "delta" / "small")
    assert not (tmp_path / "delta").exists()
    lake.sql("CALL ducklake_flush_inlined_data('lake')")
    root = publish(lake, "small", tmp_path / "delta" / "small")
    lake.sql("INSERT INTO small VALUES (2)")
    assert_same(lake, "small", root)
    with pytest.raises(Unsupported, match="cannot get the default '7' for the new column 'more'"):
        lake.sql("ALTER TABLE small ADD COLUMN more INTEGER DEFAULT 7")
    lake.sql("ALTER TABLE small ADD COLUMN more INTEGER")
    lake.sql("ALTER TABLE small ALTER more SET DEFAULT 7")
    lake.sql("INSERT INTO small (id) VALUES (3)")
    assert_same(lake, "small", root)


def test_files_with_other_column_names_are_refused(lake: Session, tmp_path: Path) -> None:
    files = tmp_path / "k=a"
    files.mkdir()
    pq.write_table(pa.table({"id": [1]}), files / "same.parquet")
    pq.write_table(pa.table({"ID": [1]}), files / "other.parquet")
    for name, options in (("other", ""), ("same", ", hive_partitioning => true")):
        columns = "id BIGINT, k VARCHAR" if options else "id BIGINT"
        lake.sql(f"CREATE TABLE {name} ({columns})")
        path = f"{files}/{name}.parquet"
        lake.sql(f"CALL ducklake_add_data_files('lake', '{name}', '{path}'{options})")
        with pytest.raises(Unsupported, match="look up the column by this name"):
            publish(lake, name, tmp_path / "delta" / name)
    lake.sql("CREATE TABLE plain (id BIGINT)")
    lake.sql(f"CALL ducklake_add_data_files('lake', 'plain', '{files}/same.parquet')")
    root = publish(lake, "plain", tmp_path / "delta" / "plain")
    assert_same(lake, "plain", root, is_plain=True)
