"""The pages in a real browser: they load without a complaint, and the main tasks work by clicking
and by keys alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from forklake.crucible.settings import Settings
from tests.crucible.pages.browsing import PHONE, WIDE, browser, find_browser
from tests.crucible.pages.lakes import fill
from tests.crucible.served import RunningService, run_service

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

    from forklake.engines.spark.engine import Engine

FOUND = find_browser()
pytestmark = [
    pytest.mark.external,
    pytest.mark.skipif(FOUND is None, reason="there is no Chromium on this machine"),
]
LONG = "SELECT count(*) FROM range(100000000000) WHERE range * 7 % 11 = 3"
ADDRESSES = (
    "/",
    "/new",
    "/sessions",
    "/audit",
    "/service",
    "/nowhere",
    "/catalogs/sales",
    "/catalogs/sales/sql",
    "/catalogs/sales/forks",
    "/catalogs/sales/snapshots",
    "/catalogs/sales/storage",
    "/catalogs/sales/options",
    "/catalogs/sales/mirrors",
    "/catalogs/sales/maintenance",
    "/catalogs/sales/grants",
    "/catalogs/sales/fork",
    "/catalogs/sales/table?name=orders",
    "/catalogs/sales/view?schema=reports&name=by_region",
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Yield one browser for all tests."""
    assert FOUND is not None
    with browser(FOUND) as found:
        yield found


def _settings(folder: str) -> Settings:
    return Settings(metastore=f"ducklake:{folder}/meta.db", create=True, data_path=folder)


@pytest.fixture(scope="module")
def lake(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Yield a service with a filled lake and without rules, on the Spark of the tests."""
    folder = str(tmp_path_factory.mktemp("lake"))
    with run_service(_settings(folder), with_rules=False) as found:
        fill(found.service.home, folder)
        yield found


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """Collect the messages of the browser console, of which there must be none."""
    found: list[str] = []
    yield found
    assert not found


def opened(
    chromium: Browser, address: str, complaints: list[str], size: ViewportSize = WIDE
) -> Page:
    """Return a new window of a visitor without cookies."""
    page = chromium.new_context(base_url=address, viewport=size, color_scheme="light").new_page()
    page.set_default_timeout(60_000)
    page.on("console", lambda stated: complaints.append(stated.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return page


@pytest.fixture
def page(chromium: Browser, lake: RunningService, complaints: list[str]) -> Iterator[Page]:
    """Yield a window."""
    found = opened(chromium, lake.address, complaints)
    yield found
    found.context.close()


def test_every_page_loads_and_fits_a_phone(
    chromium: Browser, lake: RunningService, complaints: list[str]
) -> None:
    phone = opened(chromium, lake.address, complaints, PHONE)
    for address in ADDRESSES:
        phone.goto(address)
        width = phone.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], address
        assert phone.locator("h1, dialog h2").count() == 1, address
    phone.context.close()
    expected = [one for one in complaints if "404" in one]  # of the missing page
    assert len(expected) == 1
    complaints.remove(expected[0])


def test_search_then_fork_then_drop_by_clicking(
    page: Page, lake: RunningService, complaints: list[str]
) -> None:
    page.goto("/")
    page.get_by_role("searchbox").press_sequentially("agent-03")
    page.wait_for_url("**/?prefix=agent-03")
    page.wait_for_function("document.querySelectorAll('#found tbody tr').length === 3")
    page.get_by_role("link", name="agent-03-retry", exact=True).first.click()
    page.get_by_role("link", name="Fork", exact=True).click()
    page.locator("dialog:modal").get_by_label("Name of the fork").fill("sales")
    page.get_by_role("button", name="Fork").click()
    page.get_by_role("alert").filter(has_text="already exists").wait_for()
    assert "409" in complaints.pop()  # browsers log every unsuccessful response
    page.get_by_label("Name of the fork").fill("by hand")
    page.get_by_label("Expires").select_option("in one day")
    page.get_by_role("button", name="Fork").click()
    page.wait_for_url("**/catalogs/by%20hand")
    assert lake.service.home.catalog("by hand").expires_at() is not None
    page.get_by_role("link", name="Drop").click()
    page.get_by_label("Type by hand to confirm").fill("by hand")
    page.get_by_role("button", name="Drop").click()
    page.wait_for_url(lake.address + "/")
    assert lake.service.home.find("by hand") is None


def test_the_fork_tree_opens_branch_by_branch(page: Page) -> None:
    page.goto("/catalogs/sales/forks")
    page.locator("summary", has_text="agent-03").click(position={"x": 200, "y": 10})
    page.locator("summary", has_text="agent-03-retry").click(position={"x": 250, "y": 10})
    page.get_by_role("link", name="agent-03-retry-2").click()
    page.wait_for_url("**/catalogs/agent-03-retry-2")


def test_sql_works_with_the_keyboard_alone(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("/")
    page.keyboard.type("empty")
    page.wait_for_url("**/?prefix=empty")
    page.wait_for_function("document.querySelectorAll('#found tbody tr').length === 1")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/catalogs/empty")
    page.keyboard.press("f")
    page.locator("dialog:modal input#name:focus").wait_for()
    page.keyboard.type("typed")
    page.keyboard.press("Enter")
    page.wait_for_url("**/catalogs/typed")
    page.keyboard.press("s")
    page.locator("#sql:focus").wait_for()
    page.keyboard.type("CREATE TABLE t AS SELECT range AS n, '<b>' || range AS t FROM range(250)")
    page.keyboard.press("Control+Enter")
    page.get_by_text("250 rows changed").wait_for()
    page.keyboard.press("Control+A")
    page.keyboard.type("SELECT n, t FROM t ORDER BY n")
    page.keyboard.press("Control+Enter")
    page.get_by_text("1\u2013100").wait_for()
    assert page.locator("#result tbody tr").first.inner_text().split() == ["0", "<b>0"]
    page.get_by_role("link", name="Next").press("Enter")
    page.get_by_text("101\u2013200").wait_for()


def test_plans_errors_and_cancelling_work(page: Page) -> None:
    page.goto("/catalogs/last-week/sql")
    sql, run = page.locator("#sql"), page.get_by_role("button", name="Run")
    sql.fill("SELECT range AS n FROM range(9)")
    page.get_by_role("button", name="Explain").click()
    page.locator("pre.plan", has_text="Physical Plan").wait_for()
    sql.fill("SELECT nothing FROM range(9)")
    run.click()
    page.get_by_role("alert").filter(has_text="nothing").wait_for()
    sql.fill(LONG)
    run.click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("alert").filter(has_text="was cancelled").wait_for()
    page.get_by_role("link", name="Sessions").click()
    page.locator("tr", has_text="last-week").get_by_role("link").click()
    assert page.locator(".chip").all_inner_texts() == ["cancelled", "failed", "done"]
    page.get_by_role("link", name="EXPLAIN").click()
    page.locator("pre.plan").wait_for()
    page.go_back()
    page.get_by_role("button", name="Close").click()
    page.wait_for_url("**/sessions")
    assert page.locator("tr", has_text="last-week").count() == 0


def test_the_theme_is_kept_on_other_pages(page: Page) -> None:
    page.goto("/")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.get_by_role("button", name="Switch between light and dark").click()
    dark = page.evaluate(colour)
    assert dark != light
    page.goto("/service")
    assert page.evaluate(colour) == dark


def test_signing_in_and_out_works(
    chromium: Browser, service: RunningService, complaints: list[str]
) -> None:
    service.client_of("alice").post("/v1/catalogs", json={"name": "alice-shop"}).raise_for_status()
    page = opened(chromium, service.address, complaints)
    page.goto("/catalogs/alice-shop/forks")
    page.get_by_label("API key").fill(service.keys["alice"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/catalogs/alice-shop/forks")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")
    page.go_back()
    page.wait_for_url("**/sign-in*")
    page.context.close()
