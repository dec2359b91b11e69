"""Comparing and merging by SQL, from the command line and over HTTP, all without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forklake import Metastore, Session
from forklake.access.callers import LOCAL
from forklake.access.roles import Role
from forklake.crucible.sessions.guard import AccessGuard
from forklake.crucible.settings import Settings
from forklake.errors import Forbidden, InvalidInput, NotFound
from tests.behavior.builders import a_table, append
from tests.cli.conftest import CommandLine
from tests.crucible.served import RunningService, run_service
from tests.merging.test_adopting import insert


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return f"ducklake:{tmp_path / 'meta.db'}"


@pytest.fixture
def dry(uri: str, tmp_path: Path) -> Iterator[Session]:
    """Yield a session that must not start Spark, with a catalog `sales` attached as `lake`."""
    data = str(tmp_path / "data")
    with Session() as session:
        session.attach(uri, "lake", catalog="sales", data_path=data, create_if_not_exists=True)
        session.execute("USE lake; CREATE TABLE t (id BIGINT, name VARCHAR)")
        session.execute("CALL ducklake_fork_catalog('lake', 'agent')")
        session.execute(f"ATTACH '{uri}' AS fork (CATALOG 'agent')")
        yield session
        assert session._engine is None


@pytest.fixture
def metastore(dry: Session) -> Metastore:
    return dry.attachment("lake").metastore


def fill(metastore: Metastore) -> None:
    """Add rows on both sides, and a table in the fork."""
    for name, number in (("sales", 1), ("agent", 2)):
        catalog = metastore.catalog(name)
        insert(catalog, catalog.now().state.table("t"), number)
    agent = metastore.catalog("agent")
    append(agent, a_table(agent, "fresh"), "fresh.parquet")


class TestSql:
    def test_functions_diff_and_merge(self, dry: Session, metastore: Metastore) -> None:
        def rows(text: str) -> list[dict[str, object]]:
            found: list[dict[str, object]] = dry.execute(text).arrow().to_pylist()
            return found

        fill(metastore)
        differences = rows("CALL ducklake_diff('lake', 'fork')")
        assert [(one["name"], one["rows_added"], one["rows_removed"]) for one in differences] == [
            ("main.t", 1, 1),
            ("main.fresh", 10, 0),
        ]
        foreseen = rows("CALL ducklake_merge('agent', dry_run => true)")
        assert {one["snapshot_id"] for one in foreseen} == {None}
        merged = rows("CALL fork.merge(into => 'lake', on_conflict => 'ours')")
        assert [one["name"] for one in merged if one["rows_appended"]] == ["main.t", "main.fresh"]
        assert {one["snapshot_id"] for one in merged} == {
            metastore.catalog("sales").current_snapshot()
        }
        assert rows("CALL ducklake_merge('lake', into => 'fork')") != []
        assert rows("CALL ducklake_diff('lake', 'fork', tables => ['fresh'])") == []

    def test_bad_calls_are_refused(self, dry: Session) -> None:
        for text, kind in (
            ("CALL ducklake_merge('lake')", InvalidInput),
            ("CALL ducklake_merge('nobody')", NotFound),  # language: ok
            ("CALL ducklake_merge('agent', tables => ['nothing'])", NotFound),
            ("CALL ducklake_merge('agent', on_conflict => 'mine')", InvalidInput),
            ("CALL ducklake_diff('lake')", InvalidInput),
            ("BEGIN; CALL ducklake_merge('agent')", InvalidInput),
        ):
            with pytest.raises(kind):
                dry.execute(text)


def test_commands_diff_and_merge(dry: Session, metastore: Metastore, uri: str) -> None:
    cli = CommandLine(uri)
    assert "are identical" in cli.ok("diff", "sales", "agent").out
    fill(metastore)
    found = cli.document("diff", "sales", "agent")
    assert [(one["table"], one["did"], one["added"]) for one in found["tables"]] == [
        ("main.t", "changed", 1),
        ("main.fresh", "added", 10),
    ]
    assert "main.fresh" in cli.ok("diff", "sales", "agent").out
    assert "Dry run" in cli.ok("merge", "agent", "--dry-run").out
    merged = cli.document("merge", "agent", "--table", "t", "--message", "some")
    assert (merged["snapshot_id"], merged["is_partial"]) == (
        metastore.catalog("sales").current_snapshot(),
        True,
    )
    assert "as snapshot" in cli.ok("merge", "agent").out
    assert "already" in cli.ok("merge", "agent").out
    assert cli.error("merge", "sales")[0] == 2
    assert cli.error("merge", "nobody")[0] != 0  # language: ok


@pytest.fixture
def service(uri: str, dry: Session) -> Iterator[RunningService]:
    with run_service(Settings(metastore=uri, expiry_seconds=3600)) as found:
        yield found


def test_routes_check_rights_on_both_sides(service: RunningService, metastore: Metastore) -> None:
    fill(metastore)
    access, alice, bob = (
        service.service.access,
        service.client_of("alice"),
        service.client_of("bob"),
    )
    for name, person, role in (
        ("sales", "alice", Role.WRITER),
        ("agent", "alice", Role.READER),
        ("sales", "bob", Role.READER),
        ("agent", "bob", Role.OWNER),
    ):
        access.grants.add(LOCAL, name, person, role)
    path, body = "/v1/catalogs/sales/merge", {"source": "agent", "message": "done"}
    assert bob.get("/v1/catalogs/sales/diff/agent").json()["tables"][0]["added"] == 1
    # The caller needs write rights on the target, and read rights on the source.
    assert bob.post(path, json=body).status_code == 403
    assert bob.post(path, json=body | {"dry_run": True}).json()["snapshot_id"] is None
    assert alice.post("/v1/catalogs/agent/merge", json={"source": "sales"}).status_code == 403
    assert alice.post(path, json={"source": "nothing"}).status_code == 404
    assert alice.post(path, json=body | {"on_conflict": "mine"}).status_code == 400
    merged = alice.post(path, json=body)
    assert merged.status_code == 200, merged.text
    assert merged.json()["snapshot_id"] == metastore.catalog("sales").current_snapshot()
    newest = metastore.catalog("sales").snapshots(limit=1)[0]
    assert (newest.author, newest.commit_message) == ("alice", "done")
    conflict = bob.post("/v1/catalogs/agent/merge", json={"source": "sales"})
    assert conflict.status_code == 200
    stranger = alice.get("/v1/catalogs/sales/diff/nothing")
    assert stranger.status_code == 404


def test_sessions_of_a_service_check_the_same_rights(
    service: RunningService, metastore: Metastore
) -> None:
    access = service.service.access
    access.grants.add(LOCAL, "sales", "alice", Role.READER)
    guard = AccessGuard(access)
    with guard.act_as(access.authentication.identify(service.keys["alice"])):
        guard.check_read(metastore, "sales")
        with pytest.raises(NotFound):
            guard.check_read(metastore, "agent")
        access.grants.add(LOCAL, "agent", "alice", Role.READER)
        with guard.authorize_merge(metastore, "agent", "sales", dry_run=True):
            pass
        with (
            pytest.raises(Forbidden),
            guard.authorize_merge(metastore, "agent", "sales", dry_run=False),
        ):
            raise AssertionError
