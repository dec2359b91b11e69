"""All pages: on an empty and on a filled service, for users with and without rights."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.routing import APIRoute

from forklake.access.callers import LOCAL
from forklake.access.roles import Role
from forklake.crucible.pages.installation import PAGES
from tests.crucible.pages.lakes import ODD, ODD_NAMES, fill
from tests.crucible.pages.visits import Visit, kind_of, remove_name
from tests.crucible.served import RunningService

# The pages of a catalog, and other pages that are linked.
TABS = ("forks", "snapshots", "storage", "options", "mirrors", "maintenance", "grants", "sql")


def test_an_empty_service_has_pages(open_service: RunningService) -> None:
    found = Visit(open_service).crawl()
    assert {"/", "/new", "/sessions", "/audit", "/service"} <= set(found)
    assert "No catalogs yet" in found["/"].text


def test_every_link_works_and_no_name_is_markup(
    open_service: RunningService, tmp_path: Path
) -> None:
    fill(open_service.service.home, str(tmp_path / "data"))
    visit = Visit(open_service)
    found = visit.crawl()
    kinds = {kind_of(address) for address in found}
    assert {f"/catalogs/…/{tab}?" for tab in TABS} <= kinds
    assert {"/catalogs/…/table?name&schema", "/catalogs/…/view?name&schema"} <= kinds
    for name in ODD_NAMES:
        assert name in found["/"].text
        visit.page(f"/catalogs/{quote(name, safe='')}/table?name={quote('a/b?c=d&e')}")
    odd = f"/catalogs/{quote(ODD)}"
    for address in visit.crawl(odd, f"{odd}/forks"):
        assert ODD not in visit.get(address).text


def test_a_table_page_shows_all_details(open_service: RunningService, tmp_path: Path) -> None:
    fill(open_service.service.home, str(tmp_path / "data"), odd=False)
    page = Visit(open_service).page("/catalogs/sales/table?name=orders")
    reported = " ".join(page.text.split())
    for expected in (
        "partitioned by region",
        "list(struct(item varchar, count int32))",
        "as it stands on the invoice",
        "region = south",
        "sales/main/orders/region=east/part-002.parquet",
        "two orders were wrong",
    ):
        assert expected in reported
    (rest,) = {one for one in page.links if "offset=" in one}
    assert "sales/main/orders/merged.parquet" in Visit(open_service).page(rest).text
    then = Visit(open_service).page("/catalogs/sales/table?name=orders&snapshot=5")
    assert "State at snapshot 5" in then.text
    assert "part-002.parquet" in then.text
    assert "part-003.parquet" not in then.text


def test_catalogs_are_listed_page_by_page(open_service: RunningService, tmp_path: Path) -> None:
    names = sorted(f"many-{number:03}" for number in range(120))
    home = open_service.service.home
    home.create_catalogs(["other"], data_path=str(tmp_path / "data"))
    home.create_catalogs(names, data_path=str(tmp_path / "data"))
    home.fork_many("other", [f"fork-{number}" for number in range(60)])
    visit, address, found = Visit(open_service), "/?prefix=many-", list[str]()
    while address:
        links = visit.page(address).links
        found += [one.removeprefix("/catalogs/") for one in links if "/many-" in one]
        address = next((one for one in links if "after=" in one), "")
    assert found == names
    forks = visit.page("/catalogs/other/forks").links
    rest = visit.get(next(one for one in forks if "branch?after=" in one)).text
    assert (
        sum("/catalogs/fork-" in one for one in forks) + rest.count('href="/catalogs/fork-') == 60
    )


def test_strangers_have_to_sign_in(service: RunningService) -> None:
    visit = Visit(service)
    for address in ("/", "/catalogs/a?snapshot=1", "/sessions", "/audit", "/service"):
        answer = visit.get(address)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/sign-in")
        part = visit.get(address, **{"HX-Request": "true"})
        assert part.headers["hx-redirect"].startswith("/sign-in")
    visit.page(visit.get("/catalogs/a?snapshot=1").headers["location"])


@pytest.fixture
def service_with_lake(service: RunningService, tmp_path: Path) -> RunningService:
    """Return a service with a lake in which alice may read `sales` and owns `alice-shop`."""
    fill(service.service.home, str(tmp_path / "data"), odd=False)
    service.service.access.grants.add(LOCAL, "sales", "alice", Role.READER)
    service.client_of("alice").post("/v1/catalogs", json={"name": "alice-shop"}).raise_for_status()
    return service


def test_users_see_their_catalogs_and_all_links_work(service_with_lake: RunningService) -> None:
    alice = Visit(service_with_lake, service_with_lake.keys["alice"]).crawl()
    assert "alice-shop" in alice["/"].text
    assert "agent-03" not in "".join(page.text for page in alice.values())
    assert not any("/sales/fork?" in address or "/sales/drop" in address for address in alice)
    assert "/catalogs/alice-shop/drop" in alice
    root = Visit(service_with_lake, service_with_lake.keys["root"]).crawl(
        "/audit", "/catalogs/sales/grants"
    )
    assert "alice-shop" in root["/audit"].text
    for page in [*alice.values(), *root.values()]:
        assert not any(key in page.source for key in service_with_lake.keys.values())


def test_no_page_reveals_hidden_forks(service_with_lake: RunningService) -> None:
    home, access = service_with_lake.service.home, service_with_lake.service.access
    home.fork_many("sales", [f"secret-{number:03}" for number in range(200)])
    access.grants.add(LOCAL, "sales", "alice", Role.FORKER)
    alice = Visit(service_with_lake, service_with_lake.keys["alice"])
    mine = [f"alice-{number:02}" for number in range(60)]
    service_with_lake.client_of("alice").post(
        "/v1/catalogs/sales/forks", json={"names": mine}
    ).raise_for_status()
    address, found = "/catalogs/sales/forks", list[str]()
    while address:
        page = alice.page(address)
        assert "secret-" not in page.source
        assert "forks of" not in page.text  # the number of forks is not shown
        found += [one for one in mine if f"/catalogs/{one}" in page.links]
        address = next((one for one in page.links if "forks?after=" in one), "")
    assert found == mine
    assert "secret-" not in alice.page("/catalogs/sales/storage").source
    assert "alice-00" in alice.page("/catalogs/sales/storage").text
    root = Visit(service_with_lake, service_with_lake.keys["root"]).page("/catalogs/sales/forks")
    assert "forks of sales" in root.text


OF_CATALOGS = [
    route
    for module in PAGES
    for route in module.routes.routes
    if isinstance(route, APIRoute) and route.path.startswith("/catalogs/{catalog}")
]


def test_hidden_and_missing_catalogs_look_the_same(service_with_lake: RunningService) -> None:
    bob = Visit(service_with_lake, service_with_lake.keys["bob"])
    token = bob.page("/").form("/sign-out").values["csrf"]
    assert len(OF_CATALOGS) >= 20
    for route in OF_CATALOGS:
        path = route.path.replace("{operation}", "expire")
        for method in route.methods or ():
            hidden, missing = (
                bob.client.request(
                    method,
                    path.replace("{catalog}", name),
                    params={"name": "orders"} if method == "GET" else None,
                    data={"csrf": token, "sql": "SELECT 1"} if method == "POST" else None,
                )
                for name in ("sales", "nomad")
            )
            assert hidden.status_code == 404, path
            assert remove_name(hidden, "sales") == remove_name(missing, "nomad")


def test_unknown_addresses_show_a_not_found_page(open_service: RunningService) -> None:
    visit = Visit(open_service)
    for address in ("/nowhere", "/catalogs/none", "/sessions/none", "/catalogs/none/sql?session=x"):
        answer = visit.get(address)
        assert answer.status_code == 404
        assert "<h1>Not Found</h1>" in answer.text
    for bad in ("/catalogs/x?snapshot=many", "/audit?catalog=none", "/static/none.js"):
        assert visit.get(bad).status_code in (400, 404)
    assert visit.get("/v1/nowhere").json()["error"]["code"] == "not_found"


BAD = (
    "",
    "\0",
    "\ud7ff",
    "%",
    "'; --",
    "../..",
    "\u202e",
    "x" * 5000,
    "-1",
    str(2**63),
    "1e400",
    "NaN",
)
ASKING = (
    "/?prefix={}",
    "/?after={}",
    "/catalogs/sales?snapshot={}",
    "/catalogs/sales/table?name={}",
    "/catalogs/sales/table?name=orders&schema={}",
    "/catalogs/sales/table?name=orders&offset={}",
    "/catalogs/sales/view?name={}",
    "/catalogs/sales/forks?after={}",
    "/catalogs/sales/snapshots?before={}",
    "/catalogs/sales/fork?at={}",
    "/catalogs/sales/sql?session={}&statement={}",
    "/catalogs/{}/storage",
    "/sessions/{}",
    "/audit?catalog={}",
    "/audit?after={}",
    "/sign-in?next={}",
    "/static/{}",
)


def test_no_query_parameter_breaks_a_page(open_service: RunningService, tmp_path: Path) -> None:
    fill(open_service.service.home, str(tmp_path / "data"), odd=False)
    visit = Visit(open_service)
    for address in ASKING:
        for value in BAD:
            answer = visit.get(address.replace("{}", quote(value, safe="")))
            assert answer.status_code < 500, (address, value, answer.text)
