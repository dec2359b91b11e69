"""Stock DuckDB, which reads any catalog or fork through the views, and changes nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import duckdb
import psycopg
import pytest

import forklake
from forklake import Catalog, ColumnSpec, MacroSpec, Metastore, NewDataFile, NewDeleteFile
from forklake.access import tenants
from forklake.access.credentials import Claim
from forklake.access.roles import Right
from forklake.access.signing_keys import stored_secret
from forklake.errors import AlreadyExists, NotFound, Unsupported
from forklake.files.deletes import Deleted, write_delete_files
from forklake.model.children import BY_STORED_VALUES
from forklake.model.files import MappedName
from forklake.model.ids import ColumnId
from forklake.store.access import insert_principal, install
from forklake.store.access_grants import PrefixGrant, write_prefix_grant
from forklake.store.access_keys import add_signing_key
from forklake.store.stock_schema import expose
from tests.interop.files import add_rows
from tests.interop.readers import VIEWS, attach, bare_duckdb

SECRET = "5ca1ab1e" * 8


@dataclass(frozen=True)
class Exposed:
    """A metastore with views, and a stock client."""

    metastore: Metastore
    client: duckdb.DuckDBPyConnection
    dsn: str

    def attach(self, catalog: str) -> None:
        attach(self.client, self.dsn, catalog, catalog=catalog)

    def rows(self, text: str) -> list[Any]:
        return sorted(self.client.execute(text).fetchall(), key=str)


@pytest.fixture
def lake(postgres_dsn: str, tmp_path: Path) -> Iterator[Exposed]:
    """Yield a catalog `sales` with one table of three rows."""
    with (
        forklake.open(f"ducklake:postgres:{postgres_dsn}", create=True) as metastore,
        bare_duckdb("postgres_scanner", "ducklake") as client,
    ):
        sales = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
        with sales.transaction() as transaction:
            transaction.create_table("t", [ColumnSpec("id", "bigint"), ColumnSpec("n", "varchar")])
        add_rows(sales, "t", {"id": [1, 2, 3], "n": ["x", "y", None]})
        expose(metastore.database)
        yield Exposed(metastore, client, postgres_dsn)


def test_a_client_follows_changes_and_time_travels(lake: Exposed) -> None:
    sales = lake.metastore.catalog("sales")
    lake.attach("sales")
    before = sales.current_snapshot()
    assert lake.rows("SELECT id FROM sales.t") == [(1,), (2,), (3,)]
    with sales.transaction() as transaction:  # the first deletes of this kind
        table = transaction.table("t")
        (file,) = transaction.data_files(table)
        transaction.delete_positions(table, file, [1])
        transaction.create_view("v", "SELECT count(*) AS c FROM {DUCKLAKE_CATALOG}.main.t")
        transaction.create_macro("twice", [MacroSpec("x * 2", ["x"])])
        transaction.set_tag(table, "comment", "about it")
    assert lake.rows("SELECT id FROM sales.t") == [(1,), (3,)]
    assert lake.rows(f"SELECT id FROM sales.t AT (VERSION => {before})") == [(1,), (2,), (3,)]
    assert lake.rows("SELECT c, sales.twice(c) FROM sales.v") == [(2, 4)]
    assert lake.rows("SELECT comment FROM duckdb_tables() WHERE table_name = 't'") == [
        ("about it",)
    ]
    changes = lake.rows("SELECT changes FROM sales.snapshots()")
    assert ({"tables_created": ["main.t"]},) in changes


def test_macros_with_unsupported_defaults_are_hidden(lake: Exposed) -> None:
    sales = lake.metastore.catalog("sales")
    plain = ["2", "-3000000000", "1.25", "TRUE", "'it''s'", "''"]
    others = ["NULL", "1 + 1", "[1, 2]", "CAST('2020-01-01' AS DATE)", "9" * 30]
    with sales.transaction() as transaction:
        for number, default in enumerate([*plain, *others]):
            macro = MacroSpec("[x, y]", ["x", "y"], {"y": default})
            transaction.create_macro(f"m{number}", [macro])
        transaction.create_macro("spark", [MacroSpec("x", ["x"], dialect="spark")])
    lake.attach("sales")
    for number, default in enumerate(plain):
        made = f"SELECT sales.m{number}({default}) AS v"
        shown = lake.rows(f"SELECT typeof(v), v[1] = v[2] FROM ({made})")
        assert shown == lake.rows(f"SELECT typeof([{default}, {default}]), true"), default
    found = lake.rows("SELECT function_name FROM duckdb_functions() WHERE database_name = 'sales'")
    assert found == [(f"m{number}",) for number in range(len(plain))]


def test_a_fork_of_a_past_snapshot_sees_no_later_changes(lake: Exposed) -> None:
    sales = lake.metastore.catalog("sales")
    for name, mode in (("inherited", "inherit"), ("copied", "copy")):
        lake.metastore.fork("sales", name, mode=mode)
        lake.attach(name)
    with sales.transaction() as transaction:
        transaction.drop_table("t")
    inherited = lake.metastore.catalog("inherited")
    with inherited.transaction() as transaction:
        transaction.rename_column(transaction.table("t"), "n", "name")
        transaction.add_column(transaction.table("t"), ColumnSpec("d", "integer", default="7"))
    add_rows(inherited, "t", {"id": [4], "name": ["z"], "d": [8]})
    found = [(1, "x", 7), (2, "y", 7), (3, None, 7), (4, "z", 8)]
    assert lake.rows("SELECT id, name, d FROM inherited.t") == found
    assert lake.rows("SELECT id, n FROM copied.t") == [(1, "x"), (2, "y"), (3, None)]
    lake.attach("sales")
    with pytest.raises(duckdb.CatalogException):
        lake.rows("FROM sales.t")


def delete_in_file(catalog: Catalog, positions: list[int]) -> None:
    """Delete rows of the only data file by a delete file, which repeats earlier deletes."""
    with catalog.transaction() as transaction:
        table = transaction.table("t")
        (found,) = transaction.scan_files(table)
        folder = f"{catalog.data_path()}/{catalog.table_folder(transaction.state, table)}"
        (made,) = write_delete_files(folder, [Deleted(found.path, positions)])
        new = NewDeleteFile(
            found.file.data_file_id, made.path, made.delete_count, 1, path_is_relative=False
        )
        transaction.add_delete_files(table, [new])


def delete_in_metastore(catalog: Catalog, position: int) -> None:
    """Delete a row of the only data file in the metastore."""
    with catalog.transaction() as transaction:
        table = transaction.table("t")
        (file,) = transaction.data_files(table)
        transaction.delete_positions(table, file, [position])


@pytest.mark.parametrize("mode", ["inherit", "copy"])
def test_deletes_that_move_from_the_metastore_to_files_are_seen_once(
    lake: Exposed, mode: Literal["inherit", "copy"]
) -> None:
    sales = lake.metastore.catalog("sales")
    with sales.transaction() as transaction:
        transaction.truncate(transaction.table("t"))
    add_rows(sales, "t", {"id": list(range(8)), "n": ["x"] * 8})
    delete_in_metastore(sales, 1)
    delete_in_metastore(sales, 2)
    fork = lake.metastore.fork("sales", "fork", mode=mode)
    delete_in_file(fork, [1, 2])  # as a flush does
    delete_in_metastore(fork, 4)
    delete_in_metastore(fork, 5)
    delete_in_file(fork, [1, 2, 4, 5, 6])
    delete_in_metastore(fork, 0)
    lake.attach("fork")
    for snapshot in fork.snapshots()[3:]:
        version = int(snapshot.snapshot_id)
        with lake.metastore.duckdb("fork", version=version) as node:
            node.prepare("FROM t")
            expected = sorted(node.connection.sql("SELECT id FROM t").fetchall(), key=str)
        at = f"AT (VERSION => {version})"
        assert lake.rows(f"SELECT id FROM fork.t {at}") == expected
        assert lake.rows(f"SELECT id FROM fork.t {at} WHERE id > 4") == [
            row for row in expected if row[0] > 4
        ]
        assert lake.rows(f"SELECT count(*) FROM fork.t {at}") == [(len(expected),)]
    assert expected == [(3,), (7,)]


def test_unsupported_rows_fail_instead_of_being_hidden(lake: Exposed) -> None:
    sales = lake.metastore.catalog("sales")
    lake.attach("sales")
    before = sales.current_snapshot()
    with sales.transaction() as transaction:
        transaction.insert_rows(transaction.table("t"), [{"id": 9}, {"id": 10}])
    for text in ("FROM sales.t", "FROM sales.t WHERE id = 9", "SELECT max(id) FROM sales.t"):
        with pytest.raises(duckdb.IOException, match="live in the metastore: flush them"):
            lake.rows(text)
    assert lake.rows("SELECT count(*) FROM sales.t") == [(5,)]
    assert len(lake.rows(f"FROM sales.t AT (VERSION => {before})")) == 3


def test_files_that_need_a_delta_log_fail(lake: Exposed) -> None:
    sales = lake.metastore.catalog("sales")
    lake.metastore.fork("sales", "other")
    with sales.transaction() as transaction:
        transaction.set_unreadable(transaction.table("t"), "It demands something unknown.")
    other = lake.metastore.catalog("other")
    with other.transaction() as transaction:
        table = transaction.table("t")
        names = [MappedName("id", ColumnId(1)), MappedName("n", ColumnId(2), is_partition=True)]
        mapping = transaction.add_name_mapping(table, names, type=BY_STORED_VALUES)
        transaction.add_data_files(table, [NewDataFile("x.parquet", 1, 100, mapping_id=mapping)])
    # A client sends several queries at once, and may get the error that another one failed.
    unreadable = "cannot be read|transaction is aborted"
    for name, stated in (("sales", unreadable), ("other", "are stored beside the files")):
        lake.attach(name)
        for text in (f"FROM {name}.t", f"SELECT max(id) FROM {name}.t WHERE id > 0"):
            with pytest.raises(duckdb.Error, match=stated):
                lake.rows(text)
    with pytest.raises(duckdb.Error, match=unreadable):
        lake.rows("SELECT count(*) FROM sales.t")
    with sales.transaction() as transaction:
        transaction.set_unreadable(transaction.table("t"), None)
    assert len(lake.rows("FROM sales.t")) == 3


WRITES = (
    "INSERT INTO {}.t VALUES (4, 'z')",
    "DELETE FROM {}.t",
    "UPDATE {}.t SET n = 'z'",
    "CREATE TABLE {}.u (a INTEGER)",
    "DROP TABLE {}.t",
    "CALL {}.set_option('parquet_compression', 'zstd')",
)


def test_writes_are_refused(lake: Exposed) -> None:
    before = lake.metastore.catalog("sales").current_snapshot()
    for alias, mode in (("reading", "READ_ONLY"), ("writing", "READ_ONLY false")):
        attach(lake.client, lake.dsn, alias, mode=mode, catalog="sales")
        for statement in WRITES:
            with pytest.raises(duckdb.Error):
                lake.rows(statement.format(alias))
    assert lake.metastore.catalog("sales").current_snapshot() == before
    assert lake.rows("SELECT id FROM writing.t") == [(1,), (2,), (3,)]


def test_a_client_must_name_an_existing_catalog(lake: Exposed) -> None:
    for catalog, given in (("", "does not name a catalog"), ("gone", "There is no catalog 'gone'")):
        with pytest.raises(duckdb.IOException, match=given):
            attach(lake.client, lake.dsn, "lake", catalog=catalog)


def test_a_metastore_in_its_own_schema_has_a_separate_views_schema(
    lake: Exposed, tmp_path: Path
) -> None:
    uri = f"ducklake:postgres:{lake.dsn}"
    with forklake.open(uri, create=True, metadata_schema="My lake") as metastore:
        made = metastore.create_catalog("two words", data_path=str(tmp_path / "other"))
        with made.transaction() as transaction:
            transaction.create_table("t", [ColumnSpec("id", "bigint")])
        add_rows(made, "t", {"id": [7, 8]})
        schema = expose(metastore.database).schema
        assert schema == "My lake_stock"
        with made.transaction() as transaction:
            table = transaction.table("t")
            (file,) = transaction.data_files(table)
            transaction.delete_positions(table, file, [0])
        attach(lake.client, lake.dsn, "other", schema=schema, catalog=r"two\\ words")
        assert lake.rows("FROM other.t") == [(8,)]
    with psycopg.connect(lake.dsn, autocommit=True) as owner:
        owner.execute('DROP SCHEMA "My lake" CASCADE; DROP SCHEMA "My lake_stock" CASCADE')


def test_a_tenant_attaches_its_own_catalog_with_a_token(lake: Exposed) -> None:
    metastore, now = lake.metastore, datetime.now(UTC)
    install(metastore.database)
    add_signing_key(metastore.database, stored_secret(SECRET), now)
    alice = insert_principal(metastore.database, "alice", "alice", is_root=False, now=now)
    grant = PrefixGrant("sales", "reader")
    write_prefix_grant(metastore.database, alice.principal_id, grant, None)
    metastore.create_catalog("theirs", data_path="/elsewhere")
    tenants.set_up(metastore)
    expose(metastore.database, role=tenants.ROLE)  # a second time, with readers
    sales = metastore.catalog("sales").catalog_id
    claim = Claim(
        alice.principal_id, sales, frozenset({Right.READ}), int(time.time()) + 60, "000001"
    )
    attach(lake.client, lake.dsn, "mine", user=tenants.ROLE, token=claim.signed(SECRET))
    assert lake.rows("SELECT id FROM mine.t") == [(1,), (2,), (3,)]
    for settings in ({"catalog": "theirs"}, {"catalog": "sales"}, {"token": "fl1.no"}):
        with pytest.raises(duckdb.IOException, match=r"may read by name|Invalid token"):
            attach(lake.client, lake.dsn, "other", user=tenants.ROLE, **settings)


def test_exposing_needs_postgresql_a_free_schema_and_a_role(lake: Exposed, tmp_path: Path) -> None:
    with (
        forklake.open(f"ducklake:{tmp_path / 'meta.db'}", create=True) as local,
        pytest.raises(Unsupported, match="PostgreSQL only"),
    ):
        expose(local.database)
    with pytest.raises(NotFound, match="The role 'nobody-such' does not exist"):  # language: ok
        expose(lake.metastore.database, role="nobody-such")  # language: ok
    with psycopg.connect(lake.dsn, autocommit=True) as owner:
        owner.execute(f"COMMENT ON SCHEMA {VIEWS} IS 'mine'")
    with pytest.raises(AlreadyExists, match="was not created by Forklake"):
        expose(lake.metastore.database)
