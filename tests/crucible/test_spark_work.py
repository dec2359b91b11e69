"""Work of the service with Spark besides sessions: checking views, merging files."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from forklake import merging
from forklake.access.callers import LOCAL
from forklake.crucible import maintenance_runs
from forklake.crucible.maintenance_runs import MaintenanceRequest, Operation
from forklake.crucible.settings import Settings
from tests.crucible.fix_sessions import open_session
from tests.crucible.served import RunningService, run_service

C = "/v1/catalogs/alice-work"
S = f"{C}/schemas/main"


def test_views_and_maintenance_work_on_rows(spark_service: RunningService) -> None:
    alice = spark_service.client_of("alice")
    alice.post("/v1/catalogs", json={"name": "alice-work"})
    person = open_session(alice, "alice-work", alias="lake")
    person.run_successfully("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    person.run_successfully("INSERT INTO t SELECT range FROM range(5)")

    view = {"name": "a view", "sql": "SELECT count(*) AS n FROM t"}
    made = alice.post(f"{S}/views", json=view)
    assert made.status_code == 201, made.text
    assert alice.post(f"{S}/views", json=view).status_code == 409
    assert alice.post(f"{S}/views", json={**view, "if_not_exists": True}).status_code == 201
    assert alice.post(f"{S}/views", json={**view, "or_replace": True}).status_code == 201
    assert alice.post(f"{S}/views", json={"name": "v", "sql": "FROM gone"}).status_code == 404
    forbidden = {"name": "v", "sql": "SELECT * FROM read_csv('/etc/passwd')"}
    assert alice.post(f"{S}/views", json=forbidden).status_code in (400, 403)
    assert [one["name"] for one in alice.get(f"{S}/views").json()["views"]] == ["a view"]
    assert person.rows('SELECT n FROM "a view"') == [[15]]

    first = alice.get(f"{S}/tables/t/files?limit=1").json()
    second = alice.get(f"{S}/tables/t/files", params={"after": first["next"]}).json()
    assert (len(first["files"]), len(second["files"]), second["next"]) == (1, 1, None)
    for operation in ("merge", "rewrite", "flush"):
        run = alice.post(f"{C}/maintenance/{operation}", json={"wait_seconds": 30}).json()
        assert run["state"] == "done", run
    assert len(alice.get(f"{S}/tables/t/files").json()["files"]) == 1
    was = alice.get(f"{S}/tables/t/files", params={"snapshot": first["snapshot"]}).json()
    assert len(was["files"]) == 2
    assert person.rows("SELECT count(*) FROM t") == [[15]]
    runs = alice.get(f"{C}/maintenance/runs").json()["runs"]
    assert [run["operation"] for run in runs] == ["flush", "rewrite", "merge"]
    assert {run["state"] for run in runs} == {"done"}
    assert spark_service.client_of("bob").get(f"{C}/maintenance/runs").status_code == 404


def test_requests_that_wait_for_spark_do_not_block_others(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def endless(*_: object, **__: object) -> merging.Diff:
        begun.set()
        assert may_end.wait(60)
        return merging.Diff("a", "b", is_by_row_id=True)

    monkeypatch.setattr(merging, "diff", endless)
    monkeypatch.setitem(maintenance_runs._PLAIN, Operation.EXPIRE, lambda *_: len(str(endless())))
    few = settings.model_copy(update={"threads": 2})
    with run_service(few, with_rules=False) as service, ThreadPoolExecutor(4) as pool:
        client = service.client()
        client.post("/v1/batch/create", json={"names": ["a", "b"]}).raise_for_status()
        path, body = "/v1/catalogs/a/maintenance/expire", {"wait_seconds": 30}
        try:
            requested = [pool.submit(client.get, "/v1/catalogs/a/diff/b") for _ in range(2)]
            requested += [pool.submit(client.post, path, json=body) for _ in range(2)]
            assert begun.wait(60)
            assert client.get("/v1/catalogs", timeout=20).status_code == 200
            assert not any(one.done() for one in requested)
        finally:
            may_end.set()
        assert [one.result().status_code for one in requested] == [200, 200, 202, 202]


def test_queued_runs_are_limited_per_catalog(
    spark_service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = threading.Event()
    monkeypatch.setitem(maintenance_runs._PLAIN, Operation.EXPIRE, lambda *_: int(may_end.wait(60)))
    home, runs = spark_service.service.home, spark_service.service.maintenance_runs
    runs.start(
        home.catalog("bob-sales"), MaintenanceRequest(Operation.EXPIRE)
    )  # all other runs wait for it
    alice = spark_service.client_of("alice")
    path = "/v1/catalogs/alice-sales/maintenance/expire"
    try:
        for _ in range(maintenance_runs.MOST_WAITING):
            assert alice.post(path, json={}).json()["state"] == "queued"
        assert alice.post(path, json={}).json()["error"]["code"] == "quota_exceeded"
        runs.start(home.catalog("bob-sales"), MaintenanceRequest(Operation.EXPIRE))
    finally:
        may_end.set()
    found = spark_service.service.access.audit.list(LOCAL, catalog="alice-sales", limit=1)
    assert [(one.operation, one.outcome) for one in found] == [("maintenance.run", "failed")]
