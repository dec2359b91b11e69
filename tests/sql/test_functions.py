"""Functions and procedures of the lake: by full name and shorthand, in CALL, FROM and SELECT."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from forklake import Session
from forklake.errors import AlreadyExists, Forbidden, InvalidInput, NotFound
from forklake.sql.functions.registry import FUNCTIONS, find_function

Row = tuple[Any, ...]


def called(session: Session, text: str) -> list[Row]:
    """Return the rows of a statement."""
    return [tuple(row.values()) for row in session.execute(text).arrow().to_pylist()]


def columns(session: Session, text: str) -> list[str]:
    """Return the columns of a statement."""
    return list(session.execute(text).arrow().schema.names)


# CALL


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS)))
def test_every_function_has_two_names(dry: Session, name: str) -> None:
    full, short = (
        find_function(dry, (f"DuckLake_{name}",)),
        find_function(dry, ("LAKE", name.upper())),
    )
    assert full is not None
    assert short is not None
    assert short.alias == "lake"
    assert full.function is short.function is FUNCTIONS[name]
    assert find_function(dry, ("lake", "main", name)) == short
    assert find_function(dry, (name,)) is None
    assert find_function(dry, ("other", name)) is None
    assert find_function(dry, ("lake", "s2", name)) is None


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("", "snapshots"),
        ("", "options"),
        ("", "table_info"),
        ("", "settings"),
        ("'t'", "list_files"),
    ],
)
def test_both_names_return_the_same(dry: Session, arguments: str, name: str) -> None:
    full = ", ".join(filter(None, ["'lake'", arguments]))
    assert called(dry, f"CALL lake.{name}({arguments})") == called(
        dry, f"CALL ducklake_{name}({full})"
    )


def test_snapshots_list_their_changes(dry: Session) -> None:
    dry.execute('CREATE TABLE s2."My Table" (k INTEGER)')
    dry.execute("CALL lake.set_commit_message('ann', 'why', extra_info => '{}')")
    dry.execute("DROP TABLE s2.u")
    found = dry.execute("CALL lake.snapshots()").arrow()
    assert found.schema.names == [
        "snapshot_id",
        "snapshot_time",
        "schema_version",
        "changes",
        "author",
        "commit_message",
        "commit_extra_info",
    ]
    assert str(found.schema.field("changes").type) == "map<string, list<item: string>>"
    assert found["snapshot_id"].to_pylist() == [1, 2, 3, 4, 5, 6, 7]
    assert [dict(one) for one in found["changes"].to_pylist()] == [
        {"schemas_created": ["main"]},
        {"tables_created": ["main.t"]},
        {"inlined_insert": ["2"]},
        {"schemas_created": ["s2"]},
        {"tables_created": ["s2.u"]},
        {"tables_created": ['s2."My Table"']},
        {"tables_dropped": ["4"]},
    ]
    assert [one[4:] for one in called(dry, "CALL lake.snapshots()")][-2:] == [
        (None, None, None),
        ("ann", "why", "{}"),
    ]
    times = found["snapshot_time"].to_pylist()
    assert times == sorted(times)
    assert times[-1] <= datetime.now(UTC)


def test_current_and_last_committed_snapshot(dry: Session) -> None:
    assert called(dry, "CALL lake.current_snapshot()") == [(5,)]
    assert called(dry, "CALL lake.last_committed_snapshot()") == [(5,)]
    assert columns(dry, "CALL lake.last_committed_snapshot()") == ["id"]
    with dry.cursor() as other:
        assert called(other, "CALL lake.last_committed_snapshot()") == [(None,)]
        other.execute("BEGIN; INSERT INTO t VALUES (3, 'z')")
        assert called(other, "CALL lake.current_snapshot()") == [(5,)]
        assert called(other, "CALL lake.last_committed_snapshot()") == [(None,)]
        dry.execute("CREATE TABLE v (k INTEGER)")
        assert called(other, "CALL lake.current_snapshot()") == [(5,)]
        other.execute("COMMIT")
        assert called(other, "CALL lake.last_committed_snapshot()") == [(7,)]
    assert called(dry, "CALL lake.last_committed_snapshot()") == [(6,)]
    assert called(dry, "CALL lake.current_snapshot()") == [(7,)]


def test_table_info_of_one_and_of_all(dry: Session) -> None:
    assert columns(dry, "CALL lake.table_info()") == [
        "table_name",
        "schema_id",
        "table_id",
        "table_uuid",
        "file_count",
        "file_size_bytes",
        "delete_file_count",
        "delete_file_size_bytes",
    ]
    everything = called(dry, "CALL lake.table_info()")
    assert [(row[0], row[1], row[2]) for row in everything] == [("t", 1, 2), ("u", 3, 4)]
    for text in ("'u', schema => 's2'", "'s2.u'", "schema => 's2'"):
        assert called(dry, f"CALL lake.table_info({text})") == everything[1:]
    dry.execute("USE lake.s2")  # names without a schema refer to the current one
    assert called(dry, "CALL lake.table_info('u')") == everything[1:]


def test_catalogs_and_settings_are_listed(dry: Session, tmp_path: Path) -> None:
    dry.execute("CALL lake.fork_catalog('a')")
    found = called(dry, "CALL ducklake_catalogs()")
    assert [(row[0], row[1], *row[3:]) for row in found] == [
        (5, "a", 0, 6, None),
        (0, "sales", None, 1, None),
    ]
    assert called(dry, "CALL lake.catalogs()") == found
    other = f"ducklake:{tmp_path / 'other.db'}"
    dry.attach(other, "other", catalog="b", create_if_not_exists=True)
    assert [row[1] for row in called(dry, "CALL ducklake_catalogs()")] == ["a", "sales", "b"]
    assert [row[1] for row in called(dry, "CALL other.catalogs()")] == ["b"]
    (settings,) = dry.execute("CALL lake.settings()").arrow().to_pylist()
    assert settings["catalog_type"] == "sqlite"
    assert settings["data_path"] == f"{tmp_path / 'data'}/"
    assert settings["catalog_name"] == "sales"
    assert settings["metadata_catalog"] == "__ducklake_metadata_lake"
    assert settings["read_only"] is False


# Forks


def test_forks_are_created_by_alias_and_by_name(dry: Session, tmp_path: Path) -> None:
    assert called(dry, "CALL ducklake_fork_catalog('lake', 'a')") == [(5, "a", True)]
    assert called(dry, "CALL ducklake_fork_catalog('sales', 'b')") == [(6, "b", True)]
    assert called(dry, "CALL ducklake_fork_catalog('b', 'c', mode => 'copy')") == [(7, "c", True)]
    assert called(dry, "CALL lake.fork_catalog('a', if_not_exists => true)") == [(5, "a", False)]
    with pytest.raises(AlreadyExists, match="'a' already exists"):
        dry.execute("CALL lake.fork_catalog('a')")
    folder = str(tmp_path / "elsewhere")
    dry.execute(f"CALL ducklake_fork_catalog('lake', 'd', '{folder}')")
    metadata = f"ducklake:{tmp_path / 'meta.db'}"
    dry.attach(metadata, "forked", catalog="d")
    assert dry.attachment("forked").data_path == f"{folder}/"
    assert called(dry, "CALL forked.table_info()") == called(dry, "CALL lake.table_info()")


def test_forks_cannot_be_created_inside_a_transaction(dry: Session) -> None:
    dry.execute("BEGIN; INSERT INTO t VALUES (3, 'z')")
    with pytest.raises(InvalidInput, match="cannot be created inside a transaction"):
        dry.execute("CALL lake.fork_catalog('x')")
    dry.execute("COMMIT; CALL lake.fork_catalog('x')")


def test_forks_of_past_snapshots(dry: Session, tmp_path: Path) -> None:
    metadata = f"ducklake:{tmp_path / 'meta.db'}"
    dry.attach(metadata, "old", catalog="sales", snapshot_version=2)
    dry.execute("CALL lake.fork_catalog('at_two', at => 2); CALL old.fork_catalog('pinned')")
    for name in ("at_two", "pinned"):
        dry.attach(metadata, name, catalog=name)
        assert called(dry, f"SHOW TABLES FROM {name}") == [("t",)]
    with pytest.raises(NotFound, match="No snapshot found at version 99"):
        dry.execute("CALL lake.fork_catalog('no', at => 99)")


# Wrong arguments

WRONG = [
    ("lake.snapshots(1)", InvalidInput, r"lake.snapshots takes no positional arguments, not 1"),
    ("ducklake_snapshots()", InvalidInput, r"requires the argument 'catalog'"),
    ("ducklake_snapshots(NULL)", InvalidInput, "does not accept NULL for 'catalog'"),
    ("ducklake_snapshots(1)", InvalidInput, "expects the name of an attached catalog .* not 1"),
    ("ducklake_snapshots('lak')", NotFound, "Did you mean 'lake'"),
    ("ducklake_current_snapshot('lake', 2)", InvalidInput, "at most 1 positional argument,"),
    ("lake.last_committed_snapshot(a => 1)", InvalidInput, "has no argument 'a'"),
    ("lake.options('x')", InvalidInput, r"Write lake.options\(\)"),
    ("lake.list_files()", InvalidInput, "requires the argument 'table_name'"),
    ("lake.list_files('nope')", NotFound, "'lake.main.nope' does not exist"),
    ("lake.list_files('a.b.c')", InvalidInput, "expects a table or schema.table for 'table_name'"),
    ("lake.list_files('t', schema => 'no')", NotFound, "Schema 'lake.no' does not exist"),
    ("lake.list_files('s2.u', schema => 's2')", InvalidInput, "is given as well"),
    ("lake.list_files('t', table_name => 't')", InvalidInput, "'table_name' twice"),
    ("lake.list_files('t', schema => 's', schema => 's')", InvalidInput, "twice"),
    ("lake.list_files('t', snapshot_version => 'x')", InvalidInput, "expects BIGINT for"),
    ("lake.list_files('t', snapshot_version => true)", InvalidInput, "expects BIGINT for"),
    ("lake.list_files('t', snapshot_version => 99)", NotFound, "No snapshot found at version 99"),
    ("lake.list_files('t', snapshot_version => 1)", NotFound, "does not exist"),
    ("lake.list_files('t', snapshot_time => 'soon')", InvalidInput, "expects TIMESTAMP for"),
    (
        "lake.list_files('t', snapshot_version => 3, snapshot_time => now())",
        InvalidInput,
        "both a snapshot_version and a snapshot_time",
    ),
    ("lake.table_info('nope')", NotFound, "'lake.main.nope' does not exist"),
    ("lake.table_info(schema => 'nope')", NotFound, "Schema 'nope' does not exist"),
    ("lake.table_changes('t')", InvalidInput, "requires the argument 'start_snapshot'"),
    ("lake.table_changes('t', 1)", InvalidInput, "requires the argument 'end_snapshot'"),
    ("lake.table_insertions('t', 1, 2, 3, 4)", InvalidInput, "at most 3 positional arguments,"),
    ("lake.table_deletions('t', 'x', 2)", InvalidInput, "BIGINT or TIMESTAMP for 'start_snapshot'"),
    ("lake.table_changes('main', 't', 1, [2])", InvalidInput, "for 'end_snapshot'"),
    ("lake.table_changes('main', 's2.u', 1, 2)", InvalidInput, "is given as well"),
    ("ducklake_catalogs('nope')", NotFound, "No catalog is attached as 'nope'"),
    ("ducklake_settings('nope')", NotFound, "No catalog is attached as 'nope'"),
    ("lake.settings(verbose => true)", InvalidInput, "has no argument 'verbose'"),
    ("ducklake_fork_catalog('lake')", InvalidInput, "requires the argument 'new_name'"),
    ("ducklake_fork_catalog('nope', 'x')", NotFound, "Catalog 'nope' does not exist"),
    ("lake.fork_catalog('a/b')", InvalidInput, "contains /"),
    ("lake.fork_catalog('x', mode => 'clone')", InvalidInput, "fork mode 'clone' does not exist"),
    ("lake.fork_catalog('x', at => '2')", InvalidInput, "expects BIGINT for 'at'"),
    ("lake.fork_catalog('x', if_not_exists => 1)", InvalidInput, "expects BOOLEAN for"),
    ("lake.set_commit_message('a')", InvalidInput, "requires the argument 'commit_message'"),
    ("lake.set_commit_message('a', 1)", InvalidInput, "expects VARCHAR for 'commit_message'"),
    ("lake.set_option('parquet_version')", InvalidInput, "requires the argument 'value'"),
    (
        "lake.expire_snapshots(versions => [1], older_than => now())",
        InvalidInput,
        "cannot specify both 'versions' and 'older_than'",
    ),
    ("lake.expire_snapshots(versions => 1)", InvalidInput, r"expects BIGINT\[\] for 'versions'"),
    ("lake.expire_snapshots(versions => ['a'])", InvalidInput, r"expects BIGINT\[\]"),
    ("lake.expire_snapshots(older_than => NULL)", InvalidInput, "NULL for 'older_than'"),
    ("lake.expire_snapshots(dry_run => NULL)", InvalidInput, "NULL for 'dry_run'"),
    ("lake.merge_adjacent_files('nope')", NotFound, "does not exist"),
    ("lake.merge_adjacent_files(max_compacted_files => 0)", InvalidInput, "to 1 or more"),
    ("lake.merge_adjacent_files(max_compacted_files => -1)", InvalidInput, "BIGINT of 0 or more"),
    (
        "lake.merge_adjacent_files(min_file_size => 9, max_file_size => 9)",
        InvalidInput,
        r"min_file_size \(9\) must be less than max_file_size \(9\)",
    ),
    ("lake.rewrite_data_files(delete_threshold => 1.5)", InvalidInput, "must be between 0 and 1"),
    ("lake.rewrite_data_files('t', 's2')", InvalidInput, "at most 1 positional argument,"),
    ("lake.flush_inlined_data('t')", InvalidInput, "takes no positional arguments"),
    ("lake.flush_inlined_data(schema_name => 'no')", NotFound, "Schema 'no' does not exist"),
    ("lake.add_data_files('t')", InvalidInput, "requires the argument 'path'"),
    ("lake.add_data_files('t', [])", InvalidInput, "No file to add was given"),
    ("lake.add_data_files('t', [1])", InvalidInput, r"expects VARCHAR or VARCHAR\[\] for 'path'"),
    ("lake.add_data_files('nope', 'a.parquet')", NotFound, "does not exist"),
    (
        "lake.cleanup_old_files(cleanup_all => true, older_than => now())",
        InvalidInput,
        "cleanup_all and older_than exclude each other",
    ),
    (
        "lake.delete_orphaned_files(cleanup_all => true, older_than => INTERVAL 1 DAY)",
        InvalidInput,
        "cleanup_all and older_than exclude each other",
    ),
    ("lake.delete_orphaned_files(older_than => 'soon')", InvalidInput, "TIMESTAMP or INTERVAL"),
    ("lake.snapshot()", NotFound, "Did you mean 'lake.snapshots'"),
    ("ducklake_snapshot('lake')", NotFound, "Did you mean 'ducklake_snapshots'"),
    ("nope.snapshots()", NotFound, "No catalog is attached as 'nope'"),
    ("lake.s2.snapshots()", NotFound, "'lake.s2.snapshots' does not exist"),
    ("lake.snapshots(a)", InvalidInput, "is not constant"),
]


@pytest.mark.parametrize(("call", "kind", "message"), WRONG, ids=[one[0] for one in WRONG])
def test_wrong_arguments_are_named_and_change_nothing(
    dry: Session, call: str, kind: type[Exception], message: str
) -> None:
    before = called(dry, "CALL ducklake_catalogs()"), called(dry, "CALL lake.snapshots()")
    with pytest.raises(kind, match=message):
        dry.execute(f"CALL {call}")
    assert (called(dry, "CALL ducklake_catalogs()"), called(dry, "CALL lake.snapshots()")) == before


# Procedures that need no Spark, and find nothing to do in a new catalog.
CLEANING = [
    "ducklake_expire_snapshots('lake', older_than := INTERVAL '30 days')",
    "lake.expire_snapshots(versions => NULL)",
    "ducklake_cleanup_old_files('lake')",
    "lake.cleanup_old_files(older_than => TIMESTAMP '2024-01-01', dry_run => true)",
    "lake.delete_orphaned_files(cleanup_all => true)",
]


@pytest.mark.parametrize("call", CLEANING)
def test_maintenance_of_a_new_catalog_finds_nothing(dry: Session, call: str) -> None:
    assert called(dry, f"CALL {call}") == []


def test_snapshots_expire_and_their_files_are_removed(lake: Session, tmp_path: Path) -> None:
    lake.execute("CREATE TABLE gone (i INTEGER); INSERT INTO gone VALUES (1); DROP TABLE gone")
    lake.execute("CREATE TABLE kept AS SELECT 1 AS i")
    before = sorted((tmp_path / "data").rglob("*.parquet"))
    newest = lake.snapshots("lake")[-1].snapshot_id
    expired = called(lake, "CALL lake.expire_snapshots(older_than => now())")
    assert [row[0] for row in expired][-1] == newest - 1
    removed = called(lake, "CALL lake.cleanup_old_files(cleanup_all => true)")
    assert len(removed) == 1
    assert [path for path in before if not path.exists()] == [Path(str(removed[0][0]))]
    assert lake.sql("FROM kept").count() == 1
    with pytest.raises(InvalidInput, match="inside a transaction"):
        lake.execute("BEGIN; CALL lake.expire_snapshots(older_than => now())")
    lake.execute("ROLLBACK")


def test_files_are_merged_rewritten_and_flushed(lake: Session) -> None:
    lake.execute("CREATE TABLE small (i INTEGER, v VARCHAR)")
    for start in (0, 10, 20):
        lake.execute(f"INSERT INTO small SELECT i, 'v' FROM range({start}, {start + 10}) r(i)")
    assert called(lake, "CALL ducklake_merge_adjacent_files('lake', 'main.small')") == [
        ("main", "small", 3, 1)
    ]
    lake.execute("DELETE FROM small WHERE i % 2 = 0")
    assert called(lake, "CALL lake.rewrite_data_files('small', delete_threshold => 0.5)") == [
        ("main", "small", 1, 1)
    ]
    lake.execute("CALL lake.set_option('data_inlining_row_limit', 10, table_name => 'small')")
    lake.execute("INSERT INTO small VALUES (100, 'in the metastore')")
    assert called(lake, "CALL ducklake_flush_inlined_data('lake')") == [("main", "small", 1)]
    assert lake.sql("SELECT count(*) FROM small").collect() == [(16,)]
    done = lake.execute("CHECKPOINT lake").arrow()["operation"].to_pylist()
    assert done[0] == "flush_inlined_data"
    assert done[-1] == "delete_orphaned_files"


def test_procedures_refuse_read_only_catalogs(dry: Session, tmp_path: Path) -> None:
    dry.attach(f"ducklake:{tmp_path / 'meta.db'}", "fixed", catalog="sales", read_only=True)
    for call in (
        "set_option('parquet_version', 1)",
        "set_commit_message('a', 'b')",
        "expire_snapshots()",
        "merge_adjacent_files()",
        "cleanup_old_files()",
    ):
        with pytest.raises(Forbidden, match="read-only"):
            dry.execute(f"CALL fixed.{call}")


def test_macros_cannot_be_called(dry: Session) -> None:
    dry.execute("CREATE MACRO plus(a) AS a + 1; CREATE MACRO several() AS TABLE SELECT 1 AS x")
    for name in ("plus", "lake.main.several"):
        with pytest.raises(InvalidInput, match=f"The macro '{name}' cannot be called"):
            dry.execute(f"CALL {name}()")


# In queries


def rows(lake: Session, text: str) -> list[Row]:
    """Return the rows of a query."""
    return [tuple(row) for row in lake.sql(text).collect()]


def test_functions_can_be_used_in_queries(lake: Session) -> None:
    lake.execute("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2)")
    found = """
        SELECT lake.current_snapshot() AS now, last.id, s.snapshot_id, s.changes['tables_created'],
               (SELECT count(*) FROM ducklake_catalogs()) AS catalogs, f.data_file_size_bytes > 0
        FROM ducklake_snapshots('lake') AS s
        JOIN lake.last_committed_snapshot() AS last ON s.snapshot_id < last.id
        CROSS JOIN ducklake_list_files('lake', 't', schema => 'main') AS f
        WHERE s.snapshot_id > 1
    """
    assert rows(lake, found) == [(3, 3, 2, ["main.t"], 1, True)]
    assert rows(lake, "SELECT ducklake_current_snapshot('lake')") == [(3,)]
    assert rows(lake, "SELECT lake.current_snapshot() + 1") == [(4,)]
    assert rows(lake, "SELECT ducklake_fork_catalog('sales', 'x')") == [(3, "x", True)]
    assert rows(lake, "SELECT catalog_id FROM lake.fork_catalog('y')") == [(4,)]
    option = "FROM lake.options() SELECT value WHERE option_name = 'parquet_compression'"
    assert rows(lake, option) == [("snappy",)]
    with pytest.raises(InvalidInput, match="returns rows, not a single value"):
        lake.sql("SELECT 1, lake.snapshots()")


def test_change_feeds_in_both_forms(lake: Session) -> None:
    lake.execute("CALL lake.set_option('data_inlining_row_limit', 10)")
    lake.execute("CREATE SCHEMA s; CREATE TABLE s.t (a INTEGER, b VARCHAR)")
    lake.execute("INSERT INTO s.t VALUES (1, 'x'), (2, 'y'); UPDATE s.t SET b = 'z' WHERE a = 1")
    lake.execute("DELETE FROM s.t WHERE a = 2")
    times = [one.snapshot_time for one in lake.snapshots("lake")]
    changed = [
        (5, 0, "insert", 1, "x"),
        (5, 1, "insert", 2, "y"),
        (6, 0, "update_postimage", 1, "z"),
        (6, 0, "update_preimage", 1, "x"),
        (7, 1, "delete", 2, "y"),
    ]
    since, until = (f"TIMESTAMPTZ '{times[at].isoformat()}'" for at in (4, 6))
    for call in (
        "ducklake_table_changes('lake', 's', 't', 1, 7)",
        "lake.table_changes('s.t', 1, 7)",
        f"lake.table_changes('s', 't', {since}, {until})",
    ):
        assert sorted(rows(lake, f"SELECT * FROM {call}")) == changed, call
    inserted = "SELECT a, b FROM lake.table_insertions('s', 't', 6, 7)"
    deleted = "CALL ducklake_table_deletions('lake', 's', 't', 7, 7)"
    assert rows(lake, inserted) == [(1, "z")]
    assert called(lake, deleted) == [(2, "y")]
    both = "FROM lake.table_deletions('s', 't', 5, 7) AS d ORDER BY a"
    assert rows(lake, both) == [(1, "x"), (2, "y")]
    assert rows(lake, f"SELECT *, snapshot_id, d.rowid {both}") == [(1, "x", 6, 0), (2, "y", 7, 1)]
    lake.use("lake.s")
    assert sorted(called(lake, "CALL lake.table_changes('t', 1, 7)")) == changed
    with pytest.raises(NotFound, match=r"'lake\.s\.nope' does not exist"):
        lake.sql("SELECT * FROM lake.table_changes('nope', 1, 7)")


def test_files_of_a_table_are_listed_now_and_in_the_past(lake: Session, tmp_path: Path) -> None:
    lake.execute(
        "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2); DELETE FROM t WHERE a = 1"
    )
    assert columns(lake, "CALL lake.list_files('t')") == [
        "data_file",
        "data_file_size_bytes",
        "data_file_footer_size",
        "data_file_encryption_key",
        "delete_file",
        "delete_file_size_bytes",
        "delete_file_footer_size",
        "delete_file_encryption_key",
    ]
    (now,) = called(lake, "CALL lake.list_files('t')")
    (then,) = called(lake, "CALL lake.list_files('t', snapshot_version => 3)")
    assert now[:4] == then[:4]
    assert then[4:] == (None, None, None, None)
    for path, size in ((now[0], now[1]), (now[4], now[5])):
        assert path.startswith(str(tmp_path / "data" / "sales" / "main" / "t"))
        assert Path(path).stat().st_size == size
    time = lake.snapshots("lake")[2].snapshot_time.isoformat()
    at = f"CALL lake.list_files('t', snapshot_time => TIMESTAMPTZ '{time}')"
    assert called(lake, at) == [then]
    (info,) = called(lake, "CALL lake.table_info('t')")
    assert info[4:] == (1, now[1], 1, now[5])
