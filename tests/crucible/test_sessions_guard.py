"""Access control of sessions: users act within their rights, and only on the lake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlglot import exp

from forklake import ColumnSpec, Metastore, NewDataFile
from forklake.access.callers import LOCAL, Caller
from forklake.access.roles import OPERATIONS, Right
from forklake.crucible.sessions import guard
from forklake.crucible.sessions.guard import AccessGuard
from forklake.crucible.sessions.roots import require_inside
from forklake.errors import Forbidden, NotFound, Unauthenticated
from forklake.model.requests import CreateRequest
from forklake.sql.dispatch import load_handlers
from forklake.sql.functions import registry
from forklake.sql.guard import FUNCTIONS, STATEMENTS
from tests.access.conftest import World
from tests.crucible.fix_sessions import Person, open_session
from tests.crucible.forbidden import FORBIDDEN
from tests.crucible.served import RunningService

CANARY = "canary-7f3a"
REFUSALS = {"forbidden", "unsupported", "invalid_input", "not_found"}


def test_every_statement_and_function_maps_to_an_operation() -> None:
    assert STATEMENTS.keys() == load_handlers().keys()
    assert FUNCTIONS.keys() == registry.FUNCTIONS.keys()
    for operation in {*STATEMENTS.values(), *FUNCTIONS.values(), "session.open"}:
        assert isinstance(OPERATIONS[operation], Right)
    changing = {one.name for one in registry.FUNCTIONS.values() if one.changes_data}
    assert {name for name in changing if FUNCTIONS[name] == "statement.read"} == {
        "fork_catalog",
        "merge",
    }


def snapshots(running: RunningService) -> tuple[int, int]:
    """Return the snapshots of both catalogs, and check that there are no others."""
    metastore = running.service.home
    names = sorted(row.catalog_name for row in metastore.all_catalogs())
    assert names == ["alice-sales", "bob-sales"]
    return tuple(metastore.catalog(name).now().snapshot_id for name in names)  # type: ignore[return-value]


def test_forbidden_statements_are_refused_and_do_nothing(
    spark_service: RunningService, tmp_path: Path
) -> None:
    file = tmp_path / "there.csv"
    file.write_text(f"a,b\n1,{CANARY}\n")
    bob = open_session(spark_service.client_of("bob"), "bob-sales")
    bob.run_successfully(f"CREATE TABLE secret (s VARCHAR); INSERT INTO secret VALUES ('{CANARY}')")
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    alice.run_successfully(
        "CREATE TABLE t (id INTEGER, s VARCHAR); INSERT INTO t VALUES (1, 'mine')"
    )
    before, listed = snapshots(spark_service), sorted(tmp_path.iterdir())
    words = {
        "file": str(file),
        "folder": str(tmp_path),
        "uri": spark_service.service.settings.metastore,
    }
    wrong = []
    for text in FORBIDDEN:
        sql = text
        for word, value in words.items():
            sql = sql.replace("{" + word + "}", value)
        found = alice.run(sql)
        is_refused = found["state"] == "failed" and found["error"]["code"] in REFUSALS
        if not is_refused or CANARY in json.dumps(found):
            wrong.append((sql, found["state"], found["error"]))
        alice.run("DROP MACRO IF EXISTS way_out")  # it may be created, but not called
    assert not wrong
    assert alice.rows("SELECT * FROM t") == [[1, "mine"]]
    names = alice.rows("SHOW TABLES")
    assert names == [["t"]]
    assert snapshots(spark_service)[1] == before[1]
    assert sorted(tmp_path.iterdir()) == listed
    assert alice.client.get(alice.path).json()["current"] == ["lake", "main"]


def test_the_audit_records_forbidden_statements(spark_service: RunningService) -> None:
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    uri = spark_service.service.settings.metastore
    tried = {
        "SELECT * FROM read_csv('/etc/passwd')": "/etc/passwd",
        "FROM '/etc/shadow.csv'": "/etc/shadow.csv",
        "SELECT * FROM read_parquet('s3://me:word@there/x?key=y')": "s3://there/x",
        "SELECT * FROM __ducklake_metadata_lake.dl_tables": "__ducklake_metadata_lake.dl_tables",
        f"ATTACH '{uri}' AS other (CATALOG 'bob-sales')": "ATTACH",
        "ATTACH 'alice-sales' AS other (DATA_PATH '/tmp')": "ATTACH",
        "CALL ducklake_fork_catalog('lake', 'alice-x', '/tmp')": "alice-sales with a data path",
        "ATTACH 'bob-sales' AS other": "bob-sales",
    }
    for sql, what in tried.items():
        assert alice.run_failing(sql) in {"forbidden", "not_found"}, sql
        (newest,) = spark_service.service.access.audit.list(LOCAL, limit=1)
        assert (newest.principal, newest.object, newest.outcome) == ("alice", what, "denied"), sql


def test_keys_of_encrypted_files_are_not_shown(spark_service: RunningService) -> None:
    root = spark_service.service.home
    catalog = root.catalog("alice-sales")
    with catalog.transaction() as transaction:
        table = transaction.create_table("secret", [ColumnSpec("a", "int64")])
        file = NewDataFile("secret.parquet", 10, 1000, encryption_key="canary-of-the-key")
        transaction.add_data_files(table, [file])
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    for sql in (
        "FROM ducklake_list_files('lake', 'secret')",
        "FROM lake.list_files('secret')",
        "WITH f AS (FROM ducklake_list_files('lake', 'secret')) SELECT * FROM f",
    ):
        found = json.dumps(alice.rows(sql))
        assert "secret.parquet" in found
        assert "canary-of-the-key" not in found


def test_texts_and_names_are_never_evaluated(spark_service: RunningService) -> None:
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    call = "reflect('java.lang.System', 'getenv', 'PATH')"
    hostile = [
        f"\\', {call} --",
        f"', {call} --",
        f"\\\\', {call}, '",
        f"`, {call} AS `x",
        f'", {call} AS "x',
        f"*/ {call} /*",
        f"${{{call}}}",
        f"\n{call}\n",
    ]
    literals = ", ".join("'" + one.replace("'", "''") + "'" for one in hostile)
    names = [one.replace('"', '""').replace("\n", " ") for one in hostile]
    named = ", ".join(f'{number} AS "{name}"' for number, name in enumerate(names))
    comments = f"/* */ -- {call}\n"
    assert alice.rows(f"SELECT {comments} {literals}") == [hostile]
    assert alice.rows("SELECT " + ", ".join("?" * len(hostile)), parameters=hostile) == [hostile]
    assert alice.rows(f"SELECT * FROM (SELECT {named})") == [list(range(len(hostile)))]


def test_a_default_cannot_call_spark_functions(spark_service: RunningService) -> None:
    client = spark_service.client_of("alice")
    tables = "/v1/catalogs/alice-sales/schemas/main/tables"
    call = "reflect('java.lang.System', 'getProperty', 'user.home')"
    hostile = [
        ({"list": "varchar"}, f"[{call}]"),
        ({"struct": [{"name": "a", "type": "varchar"}]}, f"{{'a': {call}}}"),
        ({"map": {"key": "int32", "value": "varchar"}}, f"MAP {{1: {call}}}"),
        ("int64", call),
    ]
    for kind, default in hostile:
        one = {"name": "x", "type": kind, "default": default}
        made = client.post(tables, json={"name": "evil", "columns": [one]})
        assert made.json()["error"]["code"] in {"unsupported", "invalid_input"}, made.text
    columns = [{"name": "id", "type": "int64"}, {"name": "x", "type": hostile[0][0]}]
    assert client.post(tables, json={"name": "t", "columns": columns}).status_code == 201
    set_later = client.patch(f"{tables}/t/columns/x", json={"default": hostile[0][1]})
    assert set_later.json()["error"]["code"] == "unsupported"
    added = {"name": "y", "type": hostile[0][0], "default": "[]"}
    assert client.post(f"{tables}/t/columns", json=added).status_code == 422
    # A text default is never evaluated.
    text = {"name": "z", "type": "varchar", "default": call}
    assert client.post(f"{tables}/t/columns", json=text).status_code == 201
    alice = open_session(client, "alice-sales", alias="lake")
    alice.run_successfully("INSERT INTO t (id) SELECT i FROM range(1) AS r(i)")
    assert alice.rows("SELECT * FROM t") == [[0, None, call]]


def test_the_spark_dialect_is_disabled(spark_service: RunningService) -> None:
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    assert alice.run_failing("SELECT 1", dialect="spark") == "forbidden"
    # Views that were defined in another session do not bypass it.
    catalog = spark_service.service.home.catalog("alice-sales")
    with catalog.transaction() as transaction:
        transaction.create_view(
            "escape", "SELECT reflect('java.lang.System', 'getenv', 'PATH')", dialect="spark"
        )
        transaction.create_view(
            "peek", "SELECT * FROM __ducklake_metadata_lake.ducklake_catalog", dialect="duckdb"
        )
    assert alice.run_failing("SELECT * FROM lake.escape") == "forbidden"
    assert alice.run_failing("SELECT * FROM lake.peek") == "forbidden"


@pytest.fixture
def cautious(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check rights for every statement, without a cache."""
    monkeypatch.setattr(guard, "KNOWN_SECONDS", 0.0)


READS = (
    "SELECT count(*) FROM t",
    "DESCRIBE t",
    "SHOW TABLES",
    "SELECT * FROM ducklake_snapshots('lake')",
    "FROM ducklake_table_info('lake')",
)
WRITES = (
    "INSERT INTO t VALUES (2, 'x')",
    "UPDATE t SET s = 'y' WHERE id = 2",
    "DELETE FROM t WHERE id = 2",
    "CREATE TABLE u (id INTEGER)",
    "ALTER TABLE u ADD COLUMN x INTEGER",
    "COMMENT ON TABLE u IS 'x'",
    "CREATE VIEW v AS SELECT * FROM t",
    "DROP VIEW v",
    "DROP TABLE u",
    "CALL ducklake_set_commit_message('lake', 'me', 'why')",
)
UPKEEP = (
    "CALL ducklake_set_option('lake', 'target_file_size', '1MB')",
    "CALL ducklake_expire_snapshots('lake', dry_run => true)",
    "CALL lake.flush_inlined_data()",
    "SELECT * FROM ducklake_list_files('lake', 't')",
    "CHECKPOINT lake",
)


def test_roles_decide_what_statements_may_do(spark_service: RunningService, cautious: None) -> None:
    root = spark_service.service.access
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    alice.run_successfully(
        "CREATE TABLE t (id INTEGER, s VARCHAR); INSERT INTO t VALUES (1, 'mine')"
    )
    allowed: dict[str, list[tuple[str, ...]]] = {
        "reader": [READS],
        "writer": [READS, WRITES],
        "admin": [READS, WRITES, UPKEEP],
    }
    for role, groups in allowed.items():
        root.grants.add(LOCAL, "alice-sales", "bob", role)
        bob = open_session(spark_service.client_of("bob"), "alice-sales", alias="lake")
        for group in (READS, WRITES, UPKEEP):
            states = {
                sql: (found["state"], (found["error"] or {}).get("code"))
                for sql, found in ((sql, bob.run(sql)) for sql in group)
            }
            if group in groups:
                assert {state for state, _ in states.values()} == {"done"}, (role, states)
            else:
                # A writer cannot find what it was not allowed to create.
                assert {code for _, code in states.values()} <= {"forbidden", "not_found"}, states
                assert "done" not in {state for state, _ in states.values()}
    audited = {(one.operation, one.outcome) for one in root.audit.list(LOCAL, limit=1000)}
    assert {("session.open", "done"), ("statement.write", "done")} <= audited
    assert {("maintenance.run", "done"), ("maintenance.run", "denied")} <= audited


def test_a_revoked_right_ends_at_once(spark_service: RunningService, cautious: None) -> None:
    access = spark_service.service.access
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    alice.run_successfully(
        "CREATE TABLE t (id INTEGER, s VARCHAR); INSERT INTO t VALUES (1, 'mine')"
    )
    access.grants.add(LOCAL, "alice-sales", "bob", "writer")
    bob = open_session(spark_service.client_of("bob"), "bob-sales", alias="own")
    bob.run_successfully("ATTACH 'alice-sales' AS lake")
    bob.run_successfully("BEGIN")
    bob.run_successfully("INSERT INTO lake.t VALUES (2, 'bob')")
    access.grants.add(LOCAL, "alice-sales", "bob", "reader")
    assert bob.run_failing("COMMIT") == "forbidden"
    bob.run_successfully("ROLLBACK")
    assert bob.rows("SELECT count(*) FROM lake.t") == [[1]]
    access.grants.revoke(LOCAL, "alice-sales", "bob")
    assert bob.run_failing("SELECT count(*) FROM lake.t") == "not_found"
    assert bob.run_failing("SELECT * FROM ducklake_snapshots('lake')") == "not_found"
    assert [row[0] for row in bob.rows("SHOW DATABASES")] == ["own"]
    # A new catalog of the same name is not the old one.
    access.grants.add(LOCAL, "alice-sales", "bob", "writer")
    bob.run_successfully("SELECT count(*) FROM lake.t")
    access.catalogs.drop(LOCAL, ["alice-sales"])
    access.catalogs.create(LOCAL, CreateRequest(["alice-sales"]))
    access.grants.add(LOCAL, "alice-sales", "bob", "writer")
    assert bob.run_failing("SELECT count(*) FROM lake.t") == "not_found"


def test_queued_statements_check_their_caller_again(metastore: Metastore) -> None:
    world = World(metastore)
    world.access.catalogs.create(world.alice, CreateRequest(["alice-1"]))
    token = world.access.authentication.identify(
        world.access.tokens.create(world.alice, "alice-1", [Right.READ], 60)
    )
    asking = AccessGuard(world.access)

    def run(caller: Caller) -> None:
        with asking.act_as(caller), asking.authorize_statement(exp.Query):
            pass

    for caller in (token, world.alice, world.bob, LOCAL):
        run(caller)
    world.clock.advance(60)
    with pytest.raises(Unauthenticated):
        run(token)
    world.access.principals.disable(world.root, "alice")
    with pytest.raises(Unauthenticated):
        run(world.alice)
    run(world.bob)


def test_forks_and_catalog_lists_respect_rights(spark_service: RunningService) -> None:
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    fork = "CALL ducklake_fork_catalog('lake', 'alice-fork')"
    assert alice.rows(fork)[0][1:] == ["alice-fork", True]
    assert alice.run_failing(fork) == "already_exists"
    assert alice.run_failing("CALL ducklake_fork_catalog('lake', 'bob-fork')") == "forbidden"
    assert alice.run_failing("CALL ducklake_fork_catalog('lake', 'bob-sales')") == "forbidden"
    listed = alice.rows("SELECT catalog_name FROM ducklake_catalogs() ORDER BY 1")
    assert listed == [["alice-fork"], ["alice-sales"]]
    address = spark_service.service.home.database.address
    for sql in ("SELECT * FROM duckdb_databases()", "SELECT * FROM ducklake_settings('lake')"):
        assert address not in json.dumps(alice.rows(sql))
    alice.run_successfully("ATTACH 'alice-fork' AS f (READ_ONLY); USE f")
    assert alice.run_failing("CREATE TABLE t (id INTEGER)") == "forbidden"


def test_a_session_is_visible_to_its_owner_only(spark_service: RunningService) -> None:
    alice = open_session(spark_service.client_of("alice"), "alice-sales")
    number = alice.run_successfully("SELECT 42 AS x")["statement"]
    token = alice.client.post(
        "/v1/catalogs/alice-sales/tokens", json={"rights": ["read"], "seconds": 60}
    ).json()["token"]
    for other in (
        spark_service.client_of("bob"),
        spark_service.client_of("root"),
        spark_service.client(token),
    ):
        thief = Person(other, alice.session)
        for ask, path in (
            (other.get, thief.path),
            (other.delete, thief.path),
            (other.get, f"{thief.path}/statements"),
            (other.get, f"{thief.path}/statements/{number}"),
            (other.get, f"{thief.path}/statements/{number}/rows"),
            (other.post, f"{thief.path}/statements/{number}/cancel"),
        ):
            found = ask(path)
            unknown = ask(path.replace(alice.session, "x" * len(alice.session)))
            assert found.status_code == unknown.status_code == 404
            bodies = [one.json()["error"] for one in (found, unknown)]
            assert [one.pop("request_id") for one in bodies]
            assert bodies[0] == bodies[1]
        assert other.get("/v1/sessions").json() == {"sessions": []}
    assert alice.run_successfully("SELECT 1")
    bob = spark_service.client_of("bob").post("/v1/sessions", json={"catalog": "alice-sales"})
    nobody = spark_service.client_of("bob").post("/v1/sessions", json={"catalog": "alice-nothing"})
    assert bob.status_code == nobody.status_code == 404


def test_only_files_below_allowed_folders_are_read(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "deep", outside):
        folder.mkdir(parents=True)
        (folder / "x.csv").write_text("a\n1\n")
    (root / "link.csv").symlink_to(outside / "x.csv")
    (root / "door").symlink_to(outside)
    inside = [str(root / "deep/x.csv"), f"{root}/*/x.csv", str(root / "deep")]
    require_inside(inside[:1] + inside[2:], [str(root)])
    for path in (
        str(outside / "x.csv"),
        f"{root}/../outside/x.csv",
        f"{root}/deep/../../outside/x.csv",
        str(root / "link.csv"),
        str(root / "door/x.csv"),
        f"{root}/*/x.csv",  # through the link `door`
        f"{root}side/x.csv",
        f"file://{root}/deep/x.csv",
        "/etc/passwd",
        "s3://bucket/x.csv",
        f"{root}/deep/x.csv\0",
        "*",
    ):
        with pytest.raises((Forbidden, NotFound)):
            require_inside([path], [str(root)])
    with pytest.raises(Forbidden):
        require_inside(inside[:1], [])
