"""What the service does with Spark besides sessions: views are checked, files are merged."""

from __future__ import annotations

from tests.crucible.fix_sessions import opened
from tests.crucible.served import Running

C = "/v1/catalogs/alice-work"
S = f"{C}/schemas/main"


def test_views_and_maintenance_work_on_rows(sparked: Running) -> None:
    alice = sparked.of("alice")
    alice.post("/v1/catalogs", json={"name": "alice-work"})
    person = opened(alice, "alice-work", alias="lake")
    person.done("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    person.done("INSERT INTO t SELECT range FROM range(5)")

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
    assert sparked.of("bob").get(f"{C}/maintenance/runs").status_code == 404
