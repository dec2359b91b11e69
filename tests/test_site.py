"""The documentation site, the README and the metadata of the package, without building them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import forklake
from forklake import client, reagent

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
REPOSITORY = "https://github.com/forklake/forklake"
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def links(page: Path) -> list[str]:
    """Return the targets of the links on a page."""
    return _LINK.findall(_FENCED.sub("", page.read_text()))


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as MkDocs and GitHub name them."""
    headings = _HEADING.findall(_FENCED.sub("", page.read_text()))
    plain = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[\s-]+", "-", heading) for heading in plain}


def navigation(entries: list[Any]) -> Iterator[str]:
    """Yield the files below entries of the navigation."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
            continue
        for below in entry.values():
            yield from navigation(below if isinstance(below, list) else [below])


def read_project() -> dict[str, Any]:
    """Return the metadata of the package."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def test_navigation_has_each_page_once() -> None:
    listed = sorted(navigation(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert listed == sorted(str(page.relative_to(DOCS)) for page in PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_links_lead_to_pages_of_the_site(page: Path) -> None:
    for link in links(page):
        if link.startswith("https://"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.is_relative_to(DOCS), f"{link} leaves the site: link to {REPOSITORY}"
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_links_to_the_repository_lead_to_its_files(page: Path) -> None:
    for link in links(page):
        if link.startswith(f"{REPOSITORY}/blob/main/"):
            assert (ROOT / link.removeprefix(f"{REPOSITORY}/blob/main/")).exists(), link


def test_readme_has_absolute_links_for_package_indexes() -> None:
    found = links(ROOT / "README.md")
    assert found
    assert [link for link in found if not link.startswith("https://")] == []


def test_readme_fits_on_a_screen() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 60


def test_changelog_begins_with_the_version_of_the_package() -> None:
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == read_project()["version"]


def test_addresses_of_the_project_are_those_of_the_repository_and_the_site() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    urls = read_project()["urls"]
    assert {urls["Homepage"], urls["Repository"], site["repo_url"]} == {REPOSITORY}
    assert urls["Documentation"] == site["site_url"]


@pytest.mark.parametrize("package", [forklake, client, reagent], ids=lambda one: one.__name__)
def test_public_names_have_docstrings(package: Any) -> None:
    reference = (DOCS / "api" / f"{package.__name__.rpartition('.')[2]}.md").read_text()
    assert f"::: {package.__name__}\n" in reference
    for name in package.__all__:
        assert getattr(package, name).__doc__, name
