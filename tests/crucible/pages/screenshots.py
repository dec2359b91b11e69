"""Pictures of docs/pages.md, taken by `python -m tests.crucible.pages.screenshots docs/images`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize

from forklake.crucible.settings import Settings
from tests.crucible.pages.browsing import PHONE, WIDE, browser, find_browser
from tests.crucible.pages.lakes import fill
from tests.crucible.served import RunningService, run_service

LONG: ViewportSize = {"width": 1180, "height": 1230}
# name of the picture -> address, theme, size of the window
PICTURES: dict[str, tuple[str, str, ViewportSize]] = {
    "catalogs": ("/", "light", WIDE),
    "snapshots": ("/catalogs/agent-03/snapshots", "light", WIDE),
    "storage": ("/catalogs/sales/storage", "dark", WIDE),
    "table": ("/catalogs/sales/table?name=orders", "light", LONG),
    "catalog-phone": ("/catalogs/sales", "light", PHONE),
    "snapshots-phone": ("/catalogs/agent-03/snapshots", "dark", PHONE),
}
TRIPS = """CREATE TABLE trips AS
SELECT range AS trip, 'city ' || (range % 7) AS city, range * 1.25 AS distance,
       DATE '2026-01-01' + CAST(range % 300 AS INT) AS day
FROM range(5000)"""
QUERY = """SELECT city, count(*) AS trips, sum(distance) AS distance, max(day) AS newest
FROM trips
GROUP BY city
ORDER BY distance DESC"""


def main(folder: Path) -> None:
    """Take all pictures."""
    path = find_browser()
    assert path is not None, "there is no Chromium on this machine"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        settings = Settings(metastore=f"ducklake:{data}/m.db", create=True, data_path=data)
        with run_service(settings, with_rules=False) as service, browser(path) as chromium:
            fill(service.service.home, data, odd=False)
            service.service.home.fork("empty", "city-trips")
            for name, (address, theme, size) in PICTURES.items():
                page = _window(chromium, service, theme, size)
                page.goto(address)
                _take(page, folder / f"{name}.png")
            _tree(_window(chromium, service, "light"), folder)
            _fork(_window(chromium, service, "dark"), folder)
            _query(_window(chromium, service, "light"), folder)


def _window(
    chromium: Browser, service: RunningService, theme: str, size: ViewportSize = WIDE
) -> Page:
    context = chromium.new_context(
        base_url=service.address,
        viewport=size,
        color_scheme="dark" if theme == "dark" else "light",
    )
    page = context.new_page()
    page.set_default_timeout(120_000)
    return page


def _take(page: Page, path: Path) -> None:
    page.screenshot(path=str(path))
    assert path.stat().st_size <= 150_000, path


def _tree(page: Page, folder: Path) -> None:
    page.goto("/catalogs/sales/forks")
    for name in ("agent-03", "agent-03-retry"):
        page.locator("summary", has_text=name).last.press("Enter")
    page.get_by_text("agent-03-retry-2").wait_for()
    page.evaluate("document.activeElement.blur()")
    _take(page, folder / "tree.png")


def _fork(page: Page, folder: Path) -> None:
    page.goto("/catalogs/sales")
    page.get_by_role("link", name="Fork", exact=True).click()
    page.get_by_label("Name of the fork").fill("agent-09")
    _take(page, folder / "fork.png")


def _query(page: Page, folder: Path) -> None:
    page.goto("/catalogs/city-trips/sql")
    sql = page.locator("#sql")
    sql.fill(TRIPS)
    sql.press("Control+Enter")
    page.get_by_text("5,000 rows changed").wait_for()
    for text in (f"{QUERY} LIMIT 6", QUERY):  # the second time Spark is warm
        sql.fill(text)
        sql.press("Control+Enter")
        page.get_by_text("6 rows" if "LIMIT" in text else "7 rows").wait_for()
    _take(page, folder / "sql.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
