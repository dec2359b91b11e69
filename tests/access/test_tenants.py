"""PostgreSQL as tenants see it: exactly the rows of their catalog, and none of other tenants."""

from __future__ import annotations

import base64
import hmac
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row

import forklake
from forklake import Catalog, ColumnBounds, ColumnSpec, MacroSpec, Metastore, NewDataFile
from forklake.access import tenants
from forklake.access.access import Access
from forklake.access.callers import LOCAL
from forklake.access.credentials import Claim
from forklake.access.roles import Right
from forklake.access.signing_keys import stored_secret
from forklake.access.tenant_roles import Limits
from forklake.errors import (
    AlreadyExists,
    Forbidden,
    InvalidInput,
    NotFound,
    Unauthenticated,
    Unsupported,
)
from forklake.files.keys import KEY_FILE
from forklake.model.ids import CatalogId, ColumnId
from forklake.model.requests import CreateRequest, ForkRequest
from forklake.store import stock_schema
from forklake.store.access import disable_principal, insert_principal, install
from forklake.store.access_grants import (
    GrantRow,
    PrefixGrant,
    delete_grant,
    write_grant,
    write_prefix_grant,
)
from forklake.store.access_keys import add_signing_key, signing_keys
from forklake.store.advisory_keys import AdvisoryKeys
from forklake.store.database import Lock
from forklake.store.schema.description import Backend
from forklake.store.tenant_views import HIDDEN, VIEWS
from tests.behavior.test_schema import tables_of
from tests.concurrency.raw import FOREVER, KINDS, RawMetastore
from tests.concurrency.worlds import commit, prepare
from tests.fix_metastore import Place

SECRET = "5ca1ab1e" * 8
NOW = datetime.now(UTC)
ALICE, BOB = 1, 2
REFUSED = "Invalid token for this connection."
UNWRITABLE = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.ObjectNotInPrerequisiteState,
)


@dataclass(frozen=True)
class Server:
    """A metastore in its own database, and connections of tenants to it."""

    metastore: Metastore
    dsn: str

    def owner(self) -> psycopg.Connection[dict[str, Any]]:
        return psycopg.connect(self.dsn, row_factory=dict_row, autocommit=True)

    def tenant(
        self, token: str | None, role: str = tenants.ROLE
    ) -> psycopg.Connection[dict[str, Any]]:
        options = "" if token is None else f"-c forklake.token={token}"
        return psycopg.connect(
            self.dsn, user=role, options=options, row_factory=dict_row, autocommit=True
        )

    def claim(self, principal: int, catalog: str) -> Claim:
        catalog_id = self.metastore.catalog(catalog).catalog_id
        rights = frozenset({Right.READ})
        return Claim(principal, catalog_id, rights, int(time.time()) + 600, "000001")

    def token(self, principal: int, catalog: str) -> str:
        return self.claim(principal, catalog).signed(SECRET)

    def is_let_in(self, token: str | None) -> bool:
        with self.tenant(token) as connection:
            try:
                connection.execute("SELECT * FROM tenant.ducklake_catalog")
            except psycopg.errors.InvalidAuthorizationSpecification as refusal:
                return str(refusal.diag.message_primary) != REFUSED
        return True


@pytest.fixture
def server(postgres_dsn: str) -> Iterator[Server]:
    """Yield a metastore with access rules: alice and bob may each read their own catalogs."""
    with forklake.open(f"ducklake:postgres:{postgres_dsn}", create=True) as metastore:
        install(metastore.database)
        add_signing_key(metastore.database, stored_secret(SECRET), NOW)
        for name in ("alice", "bob"):
            made = insert_principal(metastore.database, name, name, is_root=False, now=NOW)
            grant = PrefixGrant(f"{name}:", "admin")
            write_prefix_grant(metastore.database, made.principal_id, grant, None)
        yield Server(metastore, postgres_dsn)


def fill(catalog: Catalog, word: str) -> None:
    """Create objects of every kind that contain the word."""
    bounds = ColumnBounds(ColumnId(1), 80, 10, 0, f"{word}-min", f"{word}-max")
    with catalog.transaction() as transaction:
        transaction.create_schema(f"{word}-schema")
        columns = [ColumnSpec(f"{word}-a", "varchar"), ColumnSpec("b", "bigint")]
        table = transaction.create_table(f"{word}-table", columns, partition_by=[("b", "identity")])
        file = NewDataFile(f"{word}.parquet", 10, 1000, bounds=(bounds,), partition_values=("7",))
        transaction.add_data_files(table, [file])
        transaction.insert_rows(table, [{f"{word}-a": f"{word}-row", "b": 1}])
        transaction.create_view(f"{word}-view", f"SELECT '{word}' AS x")
        transaction.create_macro(f"{word}-macro", [MacroSpec(f"'{word}' || x", ["x"])])
        transaction.set_tag(table, "tag", f"{word}-tag")
        transaction.set_column_tag(table, "b", "tag", f"{word}-column-tag")
        transaction.set_option("parquet_compression", "zstd")
        transaction.set_commit_message(author=word, message=f"{word} did it")
    with catalog.transaction(idempotency_key=f"{word}-key") as transaction:
        table = transaction.table(f"{word}-table")
        (found,) = transaction.data_files(table)
        transaction.delete_positions(table, found, [3])


def fill_delta(server: Server, catalog: Catalog, word: str) -> None:
    """Write metastore rows of a Delta table, with words that only this catalog has."""
    table = catalog.now().state.table(f"{word}-table")
    at = catalog.current_snapshot()
    own = f"{catalog.catalog_id}, {table.table_id}, {at}, NULL"
    with server.owner() as connection:
        for statement in (
            f"INSERT INTO dl_tables VALUES ({own}, '{word}', '{word}', 'own')",
            f"INSERT INTO dl_table_versions VALUES ({own}, 0, 1, '{word}', '{word}')",
            f"INSERT INTO dl_actions VALUES ({own}, 0, 'metaData', '', '{word}')",
            "INSERT INTO dl_mirror_status VALUES"
            f" ({catalog.catalog_id}, {table.table_id}, '{word}', 0, 0, '', '', now(), now())",
            "INSERT INTO dl_file_actions SELECT catalog_id, data_file_id, table_id, NULL,"
            f" '{word}' FROM ducklake_data_file WHERE catalog_id = {catalog.catalog_id}",
            "INSERT INTO ducklake_column_mapping VALUES"
            f" ({catalog.catalog_id}, {table.table_id}, {table.table_id}, '{word}', false)",
            "INSERT INTO ducklake_name_mapping VALUES"
            f" ({catalog.catalog_id}, {table.table_id}, 1, '{word}', 1, NULL, false)",
            f"UPDATE ducklake_data_file SET mapping_id = table_id"
            f" WHERE catalog_id = {catalog.catalog_id}",
            "INSERT INTO ducklake_files_scheduled_for_deletion VALUES"
            f" ({catalog.catalog_id}, 99, '{word}', true, now())",
            "INSERT INTO ducklake_expired_snapshots VALUES"
            f" ({catalog.catalog_id}, 1, 2, '2001-01-01')",
        ):
            connection.execute(statement.encode())
        connection.execute("ANALYZE")


def readable(connection: psycopg.Connection[dict[str, Any]]) -> list[sql.Identifier]:
    """Return all tables and views of the database that the connected role may read."""
    rows = connection.execute(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND has_schema_privilege(n.oid, 'USAGE')"
        " AND has_table_privilege(c.oid, 'SELECT')"
    ).fetchall()
    return [sql.Identifier(row["nspname"], row["relname"]) for row in rows]


def mentions(
    connection: psycopg.Connection[dict[str, Any]], word: str, *, in_views: bool = False
) -> set[str]:
    """Return the readable tables and views, or our views only, with a word in any row."""
    found = set()
    names = [sql.Identifier("tenant", view) for view in VIEWS] if in_views else readable(connection)
    for name in names:
        text = sql.SQL("SELECT 1 AS one FROM {} t WHERE t::text ILIKE {} LIMIT 1")
        try:
            rows = connection.execute(text.format(name, sql.Literal(f"%{word}%"))).fetchall()
        except psycopg.errors.InsufficientPrivilege:
            continue
        if rows:
            found.add(name.as_string())
    return found


def test_no_query_sees_rows_of_other_tenants(server: Server) -> None:
    for name, word in (("alice", "alpha"), ("bob", "bravo")):
        catalog = server.metastore.create_catalog(f"{name}:{word}", data_path="/data")
        fill(catalog, word)
        fill_delta(server, catalog, word)
        server.metastore.fork(f"{name}:{word}", f"{name}:{word}-fork")
        catalog.extend(timedelta(hours=1))
    made = tenants.set_up(server.metastore)
    assert made.is_hardened
    bob = server.metastore.catalog("bob:bravo").catalog_id
    for seeing in ("alice:alpha", "alice:alpha-fork"):
        with server.tenant(server.token(ALICE, seeing)) as connection:
            assert mentions(connection, "bravo", in_views=seeing != "alice:alpha") == set()
            seen = mentions(connection, "alpha", in_views=True)
            assert {f'"tenant"."{view}"' for view in _WITH_WORD} <= seen
            for view in VIEWS:
                owners = connection.execute(f"SELECT * FROM tenant.{view}").fetchall()
                assert all(row.get("catalog_id") != bob for row in owners), view
                assert owners or view in _EMPTY[seeing], view
            _check_functions_reveal_nothing(connection, bob)
    with server.tenant(server.token(BOB, "bob:bravo")) as connection:
        assert mentions(connection, "alpha", in_views=True) == set()


# Views with the word of the tenant, and views without rows in the catalogs of the test.
_WITH_WORD = (
    "ducklake_catalog ducklake_schema ducklake_table ducklake_column ducklake_view ducklake_tag"
    " ducklake_column_tag ducklake_data_file ducklake_macro ducklake_macro_impl"
    " ducklake_file_column_stats ducklake_snapshot_changes ducklake_column_mapping"
    " ducklake_name_mapping dl_tables dl_table_versions dl_actions dl_file_actions"
).split()
_NEVER = {
    "ducklake_catalog_hold",
    "ducklake_catalog_merge",
    "ducklake_delete_file",
    "ducklake_tombstone",
}
_EMPTY = {
    "alice:alpha": _NEVER,
    "alice:alpha-fork": _NEVER
    | {
        "ducklake_catalog_lease",
        "ducklake_files_scheduled_for_deletion",
        "ducklake_idempotency_key",
        "dl_mirror_status",
    },
}


def _check_functions_reveal_nothing(
    connection: psycopg.Connection[dict[str, Any]], bob: int
) -> None:
    rows = connection.execute(
        "SELECT p.oid::regprocedure::text AS name FROM pg_proc p JOIN pg_namespace n"
        " ON n.oid = p.pronamespace WHERE has_function_privilege(p.oid, 'EXECUTE')"
        " AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
    ).fetchall()
    assert sorted(row["name"] for row in rows) == [
        "tenant.catalog_id()",
        "tenant.ducklake_inlined_rows(bigint)",
    ]
    for table_id in range(40):
        text = "SELECT * FROM tenant.ducklake_inlined_rows(%s)"
        for row in connection.execute(text, (table_id,)).fetchall():
            assert row["catalog_id"] != bob
            assert "alpha-row" in row["values"].values()
    for statement in (
        "SELECT * FROM pg_stat_activity",
        "SELECT pg_terminate_backend(1)",
        "SELECT pg_advisory_lock(1)",
        "SELECT * FROM pg_locks",
        "SELECT lo_create(0)",
        "SET transaction_read_only = off; CREATE TEMP TABLE mine (x int)",
        "SET transaction_read_only = off; CREATE TABLE public.mine (x int)",
        "SET transaction_read_only = off; CREATE SCHEMA mine",
        "SELECT tenant.may_read(1, 1)",
        "SELECT tenant.signature('', '')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.encode())


def test_tables_of_the_metastore_cannot_be_accessed_directly(server: Server) -> None:
    server.metastore.create_catalog("alice:one")
    tenants.set_up(server.metastore)
    with server.tenant(server.token(ALICE, "alice:one")) as connection:
        connection.execute("SET default_transaction_read_only = off")
        rows = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
            " AND relkind IN ('r', 'v', 'S')"
        ).fetchall()
        assert len(rows) > 45
        for row in rows:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM public.{row['relname']}".encode())
        for view in VIEWS:
            for statement in (f"DELETE FROM tenant.{view}", f"INSERT INTO tenant.{view} SELECT"):
                with pytest.raises(
                    (
                        psycopg.errors.InsufficientPrivilege,
                        psycopg.errors.ObjectNotInPrerequisiteState,
                    )
                ):
                    connection.execute(statement.encode())


def test_views_hide_keys_of_encrypted_files(server: Server) -> None:
    catalog = server.metastore.create_catalog("alice:one", data_path="/data")
    fill(catalog, "alpha")
    with catalog.transaction() as transaction:
        table = transaction.table("alpha-table")
        file = NewDataFile("secret.parquet", 10, 1000, encryption_key="canary-of-the-key")
        transaction.add_data_files(table, [replace(file, partition_values=("7",))])
    with server.owner() as connection:
        for table_name in ("ducklake_data_file", "ducklake_delete_file"):
            text = f"UPDATE {table_name} SET encryption_key = 'canary-of-the-key'"
            connection.execute(text.encode())
    tenants.set_up(server.metastore)
    stock_schema.expose(server.metastore.database, role=tenants.ROLE)
    with server.tenant(server.token(ALICE, "alice:one")) as connection:
        assert mentions(connection, "secret.parquet") >= {
            '"tenant"."ducklake_data_file"',
            '"forklake_stock"."ducklake_data_file"',
        }
        showing = mentions(connection, "canary-of-the-key")
        assert showing <= {'"pg_catalog"."pg_stat_activity"'}  # the statement that searches for it


def test_a_copy_of_the_database_does_not_allow_forging_service_tokens(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "kek").write_text(base64.b64encode(b"k" * 32).decode())
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "kek"))
    metastore = server.metastore
    metastore.create_catalog("alice:one")
    access = Access(metastore)
    access.init()  # wraps the key that was created without a key file
    tenants.set_up(metastore)
    with server.owner() as connection:
        ((stored,),) = [
            (row["secret"],)
            for row in connection.execute("SELECT secret FROM crucible_signing_key").fetchall()
        ]
    assert SECRET not in stored
    token = server.token(ALICE, "alice:one")
    assert server.is_let_in(token)
    assert access.authentication.identify(token).name == "alice"
    stolen = stored.split(" ")[1]
    claim = server.claim(ALICE, "alice:one")
    for text in (claim.signed(stolen), forged(claim, stolen)):
        with pytest.raises(Unauthenticated):
            access.authentication.identify(text)


def forged(claim: Claim, secret: str) -> str:
    """Return a token whose signatures all use one secret."""
    text = claim.text()
    for _ in range(2):
        digest = hmac.digest(bytes.fromhex(secret), text.encode(), "sha256")
        text += "." + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return text


def test_tenants_cannot_take_the_locks_that_commits_wait_for(server: Server) -> None:
    server.metastore.create_catalog("alice:one")
    assert tenants.set_up(server.metastore).is_hardened
    with server.tenant(server.token(ALICE, "alice:one")) as connection:
        for statement in (
            "SELECT pg_advisory_lock(1)",
            "SELECT pg_try_advisory_lock_shared(1, 2)",
            "SELECT * FROM pg_locks",
            "SELECT pg_logical_emit_message(false, '', 'x')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())


def test_lock_keys_are_derived_from_a_secret_of_the_metastore(server: Server) -> None:
    catalog = server.metastore.create_catalog("alice:one", data_path="/data")
    without_secret = AdvisoryKeys("public")
    numbers = (0, int(catalog.catalog_id), 1)
    computed = [without_secret.key(lock, number) for lock in Lock for number in numbers]
    with server.owner() as connection:
        connection.execute("SELECT pg_advisory_lock(key) FROM unnest(%s) key", (computed,))
        fill(catalog, "alpha")  # waits for none of them
    uri = f"ducklake:postgres:{server.dsn}"
    with forklake.open(uri) as other:
        of_another_process = other.database._keys  # type: ignore[attr-defined]
        own = server.metastore.database._keys  # type: ignore[attr-defined]
        for lock in Lock:
            assert of_another_process.key(lock, 7) == own.key(lock, 7)
            assert -(2**63) <= own.key(lock, 7) < 2**63


def test_the_setup_hardens_the_database_unless_disabled(server: Server) -> None:
    server.metastore.create_catalog("alice:one")
    assert not tenants.set_up(server.metastore, harden=False).is_hardened
    with server.tenant(server.token(ALICE, "alice:one")) as connection:
        connection.execute("SELECT pg_advisory_lock(1)")
    assert tenants.set_up(server.metastore).is_hardened


def test_roles_that_commit_without_owning_the_metastore_keep_their_locks(server: Server) -> None:
    with role(server, "lake_service"):
        with server.owner() as connection:
            connection.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO lake_service")
            connection.execute("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO lake_service")
        tenants.set_up(server.metastore)
        dsn = server.dsn.replace("user=postgres", "user=lake_service")
        with forklake.open(f"ducklake:postgres:{dsn}") as metastore:
            catalog = metastore.create_catalog("alice:one", data_path="/data")
            with catalog.transaction() as transaction:
                transaction.create_table("t", [ColumnSpec("x", "int")])
            assert [row.table_name for row in catalog.now().state.tables("main")] == ["t"]


@contextmanager
def role(server: Server, name: str, options: str = "") -> Iterator[None]:
    """Create a login role, which is removed at the end."""
    with server.owner() as connection:
        connection.execute(f"DROP ROLE IF EXISTS {name}".encode())
        connection.execute(f"CREATE ROLE {name} LOGIN {options}".encode())
    yield
    with server.owner() as connection:
        connection.execute(f"DROP OWNED BY {name} CASCADE".encode())
        connection.execute(f"DROP ROLE {name}".encode())


def test_members_of_the_tenant_role_have_its_limits(server: Server) -> None:
    server.metastore.create_catalog("alice:one")
    tenants.set_up(server.metastore)
    token = server.token(ALICE, "alice:one")
    with role(server, "acme", f"IN ROLE {tenants.ROLE}"):
        with (
            pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="statement_timeout"),
            server.tenant(token, "acme") as connection,
        ):
            connection.execute("SELECT * FROM tenant.ducklake_catalog")
        assert tenants.set_up(server.metastore).unlimited == ()
        with server.tenant(token, "acme") as connection:
            assert connection.execute("SELECT * FROM tenant.ducklake_catalog").fetchall()
            for name in tenants_limits():
                shown = connection.execute(f"SHOW {name}".encode()).fetchone()
                assert shown == {name: "1min"}
                connection.execute(f"SET {name} = '61s'".encode())
                with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match=name):
                    connection.execute("SELECT * FROM tenant.ducklake_catalog")
                connection.execute(f"SET {name} = '59s'".encode())
            assert connection.execute("SELECT * FROM tenant.ducklake_catalog").fetchall()
        with server.owner() as connection:
            text = "SELECT rolconnlimit FROM pg_roles WHERE rolname = 'acme'"
            assert connection.execute(text).fetchall() == [{"rolconnlimit": 64}]


def tenants_limits() -> tuple[str, ...]:
    """Return the settings that limit tenants."""
    return ("statement_timeout", "idle_in_transaction_session_timeout")


def test_stricter_limits_of_a_member_are_kept(server: Server) -> None:
    server.metastore.create_catalog("alice:one")
    with role(server, "acme", "CONNECTION LIMIT 3"):
        with server.owner() as connection:
            connection.execute("ALTER ROLE acme SET statement_timeout = 5000")
        tenants.set_up(server.metastore)
        with server.owner() as connection:
            connection.execute(f"GRANT {tenants.ROLE} TO acme".encode())
        tenants.set_up(server.metastore)
        with server.tenant(server.token(ALICE, "alice:one"), "acme") as connection:
            shown = connection.execute("SHOW statement_timeout").fetchone()
            assert shown == {"statement_timeout": "5s"}
            (found,) = connection.execute(
                "SELECT rolconnlimit FROM pg_roles WHERE rolname = 'acme'"
            ).fetchall()
            assert found == {"rolconnlimit": 3}


def test_the_setup_creates_tenant_roles_with_limits(server: Server) -> None:
    server.metastore.create_catalog("alice:one")
    with role(server, "acme"), pytest.raises(AlreadyExists, match="acme"):
        tenants.set_up(server.metastore, members=["acme"])
    limits = Limits(statement_seconds=5, idle_seconds=7, connections=2)
    with role(server, "small"):
        tenants.set_up(server.metastore, role="small", members=["acme"], limits=limits)
        with server.tenant(server.token(ALICE, "alice:one"), "acme") as connection:
            assert connection.execute("SELECT * FROM tenant.ducklake_catalog").fetchall()
            assert connection.execute("SHOW statement_timeout").fetchone() == {
                "statement_timeout": "5s"
            }
        with server.owner() as connection:
            connection.execute("DROP ROLE acme")
    for bad in ({"statement_seconds": 0}, {"connections": 0}, {"idle_seconds": 10**9}):
        with pytest.raises(InvalidInput):
            Limits(**bad)


def test_every_table_has_a_view_or_is_listed_as_hidden(server: Server) -> None:
    assert set(tables_of(Backend.POSTGRESQL)) == set(VIEWS) | HIDDEN
    made = tenants.set_up(server.metastore)
    assert set(made.views) == set(VIEWS)


def test_plain_sql_over_the_views_is_exact_in_forks(server: Server) -> None:
    prepare(server.metastore)
    commit(server.metastore, 1)
    server.metastore.materialize("loose-2")
    tenants.set_up(server.metastore)
    raw = RawMetastore(Place("postgresql", f"ducklake:postgres:{server.dsn}"))
    for name in ("base", "branch", "loose-1-child", "loose-2", "gone-1-child"):
        catalog = server.metastore.catalog(name)
        write_prefix_grant(server.metastore.database, ALICE, PrefixGrant("", "reader"), None)
        with server.tenant(server.token(ALICE, name)) as connection:
            for kind in KINDS:
                now = f"SELECT * FROM tenant.{kind.table} WHERE end_snapshot IS NULL"
                if kind.table == "ducklake_metadata":
                    now += " AND catalog_id IS NOT NULL"
                found = connection.execute(now.encode()).fetchall()
                expected = raw.visible(kind, catalog.catalog_id, FOREVER)
                assert _keys(found) == _keys(expected), (name, kind.table)
            table = catalog.now().state.table("events")
            rows = connection.execute(
                "SELECT row_id FROM tenant.ducklake_inlined_rows(%s) WHERE end_snapshot IS NULL",
                (table.table_id,),
            ).fetchall()
            inlined = catalog.now().inlined_rows(table)
            assert sorted(row["row_id"] for row in rows) == sorted(one.row_id for one in inlined)


def _keys(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return rows without their end, which differs after changes of an ancestor."""
    return sorted(
        tuple(str(value) for name, value in sorted(row.items()) if name != "end_snapshot")
        for row in rows
    )


def test_only_valid_tokens_are_accepted(server: Server) -> None:
    metastore = server.metastore
    metastore.create_catalog("alice:one")
    metastore.create_catalog("bob:two")
    tenants.set_up(metastore)
    good = server.claim(ALICE, "alice:one")
    token = good.signed(SECRET)
    assert server.is_let_in(token)
    other = metastore.catalog("bob:two").catalog_id
    refused: list[str | None] = [
        None,
        "",
        "nonsense",
        token[:-1],
        token + "A",
        token.rpartition(".")[0],
        token.replace("fl2", "fl1"),
        _with_other_signature(token),
        good.signed("00" * 32),
        replace(good, catalog_id=other).signed(SECRET),
        replace(good, catalog_id=CatalogId(12345)).signed(SECRET),
        replace(good, principal_id=BOB).signed(SECRET),
        replace(good, principal_id=99).signed(SECRET),
        replace(good, expires_at=int(time.time()) - 1).signed(SECRET),
        replace(good, expires_at=int(time.time()) + 31 * 24 * 3600).signed(SECRET),
        replace(good, expires_at=10**18 - 1).signed(SECRET),
        replace(good, kid="000009").signed(SECRET),
        replace(good, rights=frozenset({Right.WRITE})).signed(SECRET),
        token.replace(".r.", ".rw."),
        token.replace(f".{good.expires_at}.", f".{good.expires_at + 1}."),
        token.replace(f".{good.catalog_id}.", f".{other}.", 1),
        ".".join([replace(good, catalog_id=CatalogId(other)).text(), *token.split(".")[-2:]]),
    ]
    assert [one for one in refused if server.is_let_in(one)] == []


def _with_other_signature(token: str) -> str:
    """Return the token with one character changed in the signature that PostgreSQL verifies."""
    *claim, signature, last = token.split(".")
    return ".".join([*claim, ("B" if signature[0] == "A" else "A") + signature[1:], last])


def test_events_that_invalidate_a_token(server: Server) -> None:
    metastore, database = server.metastore, server.metastore.database
    metastore.create_catalog("alice:one")
    metastore.create_catalog("shared:base")
    metastore.fork("shared:base", "alice:fork")
    tenants.set_up(metastore)
    token = server.token(ALICE, "alice:fork")
    assert not server.is_let_in(token)  # the parent is not hers to read
    base = metastore.catalog("shared:base").row
    write_grant(database, base, GrantRow(ALICE, "reader", None))
    assert server.is_let_in(token)
    delete_grant(database, base, ALICE)
    assert not server.is_let_in(token)
    metastore.drop_catalog("shared:base")
    assert server.is_let_in(token)

    own = server.token(ALICE, "alice:one")
    add_signing_key(database, stored_secret("22" * 32), NOW)
    assert server.is_let_in(own)  # signed with the key before the newest
    add_signing_key(database, stored_secret("33" * 32), NOW)
    assert [kid for kid, _ in _signing_keys(metastore)] == ["000003", "000002"]
    assert not server.is_let_in(own)
    newest = replace(server.claim(ALICE, "alice:one"), kid="000003").signed("33" * 32)
    assert server.is_let_in(newest)
    disable_principal(database, ALICE, NOW)
    assert not server.is_let_in(newest)


def _signing_keys(metastore: Metastore) -> list[tuple[str, str]]:
    with metastore.database.reading() as connection:
        return signing_keys(connection)


def test_postgresql_and_services_agree_about_read_rights(server: Server) -> None:
    seed = int(os.environ.get("FORKLAKE_SEED", "20260119"))
    chance, metastore = random.Random(seed), server.metastore
    access = Access(metastore)
    people = [access.principals.create(LOCAL, f"p{number}", "x") for number in range(4)]
    people.append(access.principals.create(LOCAL, "root", "x", is_root=True))
    callers = [access.principals.act_as(LOCAL, one.name) for one in people]
    tenants.set_up(metastore)
    access.catalogs.create(LOCAL, CreateRequest(["a-0", "b-0"]))
    names, count = ["a-0", "b-0"], 0
    with server.owner() as connection:
        for step in range(int(os.environ.get("FORKLAKE_STEPS", "60"))):
            name, person = chance.choice(names), chance.choice(people[:4]).name
            match chance.randrange(8):
                case 0 | 1:
                    count += 1
                    new = f"{chance.choice('ab')}-{count}"
                    mode = chance.choice(["inherit", "copy"])
                    access.catalogs.fork(LOCAL, ForkRequest(name, [new], mode=mode))
                    names.append(new)
                case 2 | 3 | 4:
                    access.grants.add(
                        LOCAL, name, person, chance.choice(["reader", "forker", "admin"])
                    )
                case 5:
                    with suppress(NotFound):
                        access.grants.revoke(LOCAL, name, person)
                case 6:
                    prefix = chance.choice(["", "a-", "b-", "a-1"])
                    access.prefixes.revoke(LOCAL, prefix, person)
                    if chance.random() < 0.5:
                        access.prefixes.add(LOCAL, prefix, person, "reader")
                case 7 if len(names) > 2:
                    access.catalogs.drop(LOCAL, [name])
                    names.remove(name)
            ids = {one: metastore.catalog(one).catalog_id for one in names}
            text = "SELECT tenant.may_read(%s, %s) AS allowed"
            for person_row, caller in zip(people, callers, strict=True):
                by_service = access.authorization.rights(caller, names)
                for one in names:
                    row = connection.execute(text, (person_row.principal_id, ids[one])).fetchone()
                    allowed = Right.READ in by_service[one]
                    assert row == {"allowed": allowed}, (seed, step, person_row.name, one)


def test_later_changes_of_an_ancestor_are_hidden(server: Server) -> None:
    base = server.metastore.create_catalog("alice:base", data_path="/data")
    fill(base, "before")
    server.metastore.fork("alice:base", "alice:fork")
    tenants.set_up(server.metastore)
    with base.transaction() as transaction:
        transaction.drop_table("before-table")
        transaction.create_table("omega-table", [ColumnSpec("x", "int")])
    server.metastore.rename_catalog("alice:base", "alice:omega")
    with server.tenant(server.token(ALICE, "alice:fork")) as connection:
        assert mentions(connection, "omega", in_views=True) == set()
        rows = connection.execute("SELECT end_snapshot FROM tenant.ducklake_table").fetchall()
        assert rows == [{"end_snapshot": None}]


def test_repeated_setup_keeps_tokens_valid_and_strangers_out(server: Server) -> None:
    metastore = server.metastore
    metastore.create_catalog("alice:one")
    first = tenants.set_up(metastore)
    assert tenants.set_up(metastore) == first
    assert server.is_let_in(server.token(ALICE, "alice:one"))
    with server.owner() as connection:
        connection.execute("CREATE SCHEMA taken")
    with pytest.raises(AlreadyExists):
        tenants.set_up(metastore, schema="taken")
    with pytest.raises(InvalidInput):
        tenants.set_up(metastore, role="postgres")


def test_the_owner_of_a_metastore_need_not_be_a_superuser(server: Server) -> None:
    with server.owner() as connection:
        connection.execute("DROP ROLE IF EXISTS lake_owner")
        connection.execute("CREATE ROLE lake_owner LOGIN CREATEROLE")
        connection.execute("CREATE SCHEMA lake AUTHORIZATION lake_owner")
    uri = f"ducklake:postgres:{server.dsn.replace('user=postgres', 'user=lake_owner')}"
    with server.owner() as connection:
        connection.execute(
            sql.SQL("GRANT CREATE ON DATABASE {} TO lake_owner").format(
                sql.Identifier(connection.info.dbname)
            )
        )
    with forklake.open(uri, create=True, metadata_schema="lake") as metastore:
        install(metastore.database)
        made = tenants.set_up(metastore, role="lake_tenant", harden=False)
        assert (made.schema, made.is_hardened) == ("lake_tenant", False)
        assert any("pg_stat_get_activity" in statement for statement in made.hardening)
        with pytest.raises(Forbidden, match="--no-harden"):
            tenants.set_up(metastore, role="lake_tenant")
        with server.owner() as connection:
            for statement in made.hardening:
                connection.execute(statement.encode())
        assert tenants.set_up(metastore, role="lake_tenant").is_hardened
    uri = f"ducklake:postgres:{server.dsn}"
    with forklake.open(uri, metadata_schema="lake") as metastore:
        assert tenants.set_up(metastore, role="lake_tenant").is_hardened
    with server.owner() as connection:
        owners = connection.execute(
            "SELECT DISTINCT viewowner FROM pg_views WHERE schemaname = 'lake_tenant'"
        ).fetchall()
        assert owners == [{"viewowner": "lake_owner"}]
    with server.owner() as connection:
        connection.execute("DROP OWNED BY lake_owner CASCADE")
        connection.execute("DROP OWNED BY lake_tenant CASCADE")
        connection.execute("DROP ROLE lake_tenant")
        connection.execute("DROP ROLE lake_owner")


def test_the_setup_needs_postgresql_and_tokens(postgres_dsn: str, metadata: str) -> None:
    with forklake.open(metadata, create=True) as metastore, pytest.raises(Unsupported):
        tenants.set_up(metastore)
    uri = f"ducklake:postgres:{postgres_dsn}"
    with (
        forklake.open(uri, create=True) as metastore,
        pytest.raises(NotFound, match="no tables for access rules"),
    ):
        tenants.set_up(metastore)
