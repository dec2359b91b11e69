"""Changes by forms without scripts, and forged forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklake.access.callers import LOCAL
from forklake.access.roles import Role
from tests.crucible.pages.lakes import fill
from tests.crucible.pages.visits import Visit, parse_page
from tests.crucible.served import RunningService


@pytest.fixture
def lake(open_service: RunningService, tmp_path: Path) -> RunningService:
    """Return a service without rules and with a filled lake."""
    fill(open_service.service.home, str(tmp_path / "data"), odd=False)
    return open_service


def test_a_catalog_is_created_forked_renamed_and_dropped(lake: RunningService) -> None:
    visit, home = Visit(lake), lake.service.home
    made = visit.send("/new", "/new", name="shop & son")
    assert made.headers["location"] == "/catalogs/shop%20%26%20son"

    fork = "/catalogs/sales/fork"
    forked = visit.send(f"{fork}?at=9", fork, name="week", life="in one week")
    assert forked.headers["location"] == "/catalogs/week"
    assert home.catalog("week").row.fork_snapshot == 9
    assert "expires in 6 d" in visit.page("/catalogs/week").text

    rename = "/catalogs/week/rename"
    assert visit.send(rename, rename, name="then").headers["location"] == "/catalogs/then"
    drop = "/catalogs/then/drop"
    assert "does not match the name of the catalog" in visit.send(drop, drop, confirm="week").text
    assert home.find("then") is not None
    assert visit.send(drop, drop, confirm="then").headers["location"] == "/"
    assert home.find("then") is None


def test_errors_are_shown_in_the_form(lake: RunningService) -> None:
    visit = Visit(lake)
    cases = (
        ("/new", {"name": "sales"}, 409, "already exists"),
        ("/new", {"name": "a/b"}, 400, "contains /"),
        ("/catalogs/sales/fork", {"name": "empty"}, 409, "already exists"),
        ("/catalogs/sales/fork", {"name": "x", "at": "soon"}, 400, "is not a snapshot id"),
        ("/catalogs/sales/fork", {"name": "x", "at": "9" * 18}, 404, "No snapshot found"),
        ("/catalogs/sales/rename", {"name": "empty"}, 409, "already exists"),
        ("/catalogs/sales/options", {"option": "target_file_size", "value": "big"}, 400, "big"),
        ("/catalogs/sales/sql", {"sql": " "}, 200, "The SQL text is empty"),
        (
            "/catalogs/sales/sql",
            {"sql": "SELECT 1; DROP TABLE orders", "explain": "yes"},
            200,
            "Only a single query can be explained",
        ),
        ("/catalogs/sales/sql", {"sql": "SELEC", "explain": "yes"}, 200, "at this position"),
    )
    for address, values, status, reported in cases:
        answer = visit.send(address, address, **values)
        assert answer.status_code == status, (address, answer.text)
        assert reported in parse_page(address, answer).text


def test_options_are_set_and_maintenance_is_started(lake: RunningService) -> None:
    visit = Visit(lake)
    options = "/catalogs/sales/options"
    visit.send(options, options, option="target_file_size", value="64MB")
    assert ("target_file_size", "64000000", "catalog") in lake.service.home.catalog(
        "sales"
    ).options()
    page = "/catalogs/empty/maintenance"
    assert visit.send(page, f"{page}/expire").headers["location"] == page
    assert "Expire snapshots" in visit.page(page).text


def test_runs_from_a_page_are_in_the_audit_of_the_catalog(service: RunningService) -> None:
    alice = service.client_of("alice")
    alice.post("/v1/catalogs", json={"name": "alice-shop"}).raise_for_status()
    page = "/catalogs/alice-shop/maintenance"
    Visit(service, service.keys["alice"]).send(page, f"{page}/expire")
    (newest, *_) = alice.get("/v1/catalogs/alice-shop/audit").json()["entries"]
    assert (newest["operation"], newest["object"]) == ("maintenance.run", "alice-shop.expire")


def test_grants_are_given_and_revoked(service: RunningService) -> None:
    service.client_of("alice").post("/v1/catalogs", json={"name": "alice-shop"}).raise_for_status()
    alice = Visit(service, service.keys["alice"])
    page = "/catalogs/alice-shop/grants"
    grant = {"csrf": alice.page(page).form("/sign-out").values["csrf"], "principal": "bob"}
    alice.client.post(page, data={**grant, "role": "reader"})
    bob = Visit(service, service.keys["bob"])
    assert "alice-shop" in bob.page("/").text
    assert bob.get(page).status_code == 403
    alice.client.post(page, data=grant)
    assert bob.get("/catalogs/alice-shop").status_code == 404
    assert alice.client.post(page, data={**grant, "role": "king"}).status_code == 400


def test_forms_with_a_foreign_csrf_token_are_refused(lake: RunningService) -> None:
    visit, other = Visit(lake), Visit(lake)
    token = other.page("/new").form("/new").values["csrf"]
    visit.page("/new")
    for values in ({}, {"csrf": ""}, {"csrf": "x" * 64}, {"csrf": token}):
        answer = visit.client.post("/new", data={**values, "name": "evil"})
        assert answer.status_code == 403
    bare = lake.client().post("/new", data={"csrf": token, "name": "evil"})
    assert bare.status_code == 403
    assert lake.service.home.find("evil") is None


def test_a_service_without_rules_accepts_local_host_names_only(lake: RunningService) -> None:
    client = lake.client()
    for host, status in (
        ("localhost:1", 200),
        ("127.0.0.1", 200),
        ("[::1]", 200),
        ("evil.example", 403),
    ):
        for address in ("/", "/catalogs/sales", "/v1/catalogs"):
            assert client.get(address, headers={"Host": host}).status_code == status


def test_signing_in_and_out_works(service: RunningService) -> None:
    key = service.keys["alice"]
    visit = Visit(service)
    wrong = visit.send("/sign-in", "/sign-in", credential=key[:-4] + "wxyz")
    assert wrong.status_code == 401
    assert key[:-4] not in wrong.text
    before = visit.client.cookies["forklake"]
    signed = visit.send("/sign-in?next=/sessions", "/sign-in", credential=key)
    assert signed.headers["location"] == "/sessions"
    cookie = signed.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert visit.client.cookies["forklake"] != before
    assert key not in visit.client.cookies["forklake"]
    assert "alice" in visit.page("/").text
    assert visit.send("/", "/sign-out").headers["location"] == "/sign-in"
    assert visit.get("/").status_code == 303


def test_sign_in_never_redirects_to_other_sites(service: RunningService) -> None:
    visit = Visit(service)
    for next in ("//evil.example", "https://evil.example", "/\\evil.example", "x", "/a\tb"):
        answer = visit.send("/sign-in", "/sign-in", credential=service.keys["bob"], next=next)
        assert answer.headers["location"] == "/"


def test_a_revoked_key_ends_the_sign_in(service: RunningService) -> None:
    access = service.service.access
    visit = Visit(service, service.keys["bob"])
    visit.page("/")
    (key,) = access.keys.list(LOCAL, "bob")
    access.keys.revoke(LOCAL, "bob", key.key_id)
    service.service.forget_callers()
    assert visit.get("/").status_code == 303


def test_readers_cannot_send_forms_that_they_are_not_shown(
    service: RunningService, tmp_path: Path
) -> None:
    fill(service.service.home, str(tmp_path / "data"), odd=False)
    service.service.access.grants.add(LOCAL, "sales", "bob", Role.READER)
    bob = Visit(service, service.keys["bob"])
    page = bob.page("/catalogs/sales")
    assert not any(one.endswith("/drop") for one in page.links)
    token = page.form("/sign-out").values["csrf"]
    for address, values in (
        ("drop", {"confirm": "sales"}),
        ("fork", {"name": "bob-fork"}),
        ("rename", {"name": "bob-sales"}),
        ("options", {"option": "target_file_size", "value": "1MB"}),
        ("grants", {"principal": "bob", "role": "owner"}),
        ("maintenance/expire", {}),
    ):
        answer = bob.client.post(f"/catalogs/sales/{address}", data={"csrf": token, **values})
        assert answer.status_code == 403, address
    assert service.service.home.find("sales") is not None
