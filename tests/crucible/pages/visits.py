"""Visits of pages without a browser: they keep cookies, follow links and fill in forms."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import httpx

from tests.crucible.pages.documents import Document
from tests.crucible.served import RunningService

_NAMED = re.compile(r"^/(catalogs|sessions)/[^/?]+")
_ALIKE = 2  # visited pages of each kind


class Visit:
    """A visitor of the pages of a service, signed in or not."""

    def __init__(self, running: RunningService, key: str | None = None) -> None:
        self.client = running.client()
        self.client.headers["Accept"] = "text/html"
        if key is not None:
            answer = self.send("/sign-in", "/sign-in", credential=key)
            assert answer.status_code == 303, answer.text

    def get(self, address: str, **headers: str) -> httpx.Response:
        """Return the response of an address."""
        return self.client.get(address, headers=headers)

    def page(self, address: str) -> Document:
        """Return a page that must exist and have no problems."""
        answer = self.get(address)
        assert answer.status_code == 200, (address, answer.status_code, answer.text[-800:])
        return parse_page(address, answer)

    def send(self, address: str, action: str, **values: str) -> httpx.Response:
        """Fill in the form with this action on a page, and return the response."""
        form = Document(self.get(address).text).form(action)
        return self.client.post(action, data={**form.values, **values})

    def crawl(self, *starts: str) -> dict[str, Document]:
        """Return all pages that links lead to, of each kind only a few."""
        waiting, found = list(starts or ("/",)), dict[str, Document]()
        kinds: Counter[str] = Counter()
        while waiting:
            address = waiting.pop(0)
            kind = kind_of(address)
            if address in found or kinds[kind] >= _ALIKE:
                continue
            kinds[kind] += 1
            found[address] = self.page(address)
            waiting += [one for one in found[address].links if is_page(one)]
        return found


def parse_page(address: str, answer: httpx.Response) -> Document:
    """Return the parsed page of a response, which must have no problems."""
    document = Document(answer.text)
    assert not document.problems, (address, document.problems)
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert answer.headers["x-request-id"]
    return document


def kind_of(address: str) -> str:
    """Return the kind of an address, without the names in it."""
    path, _, query = address.partition("?")
    requested = sorted(part.partition("=")[0] for part in query.split("&"))
    return _NAMED.sub(r"/\1/…", path) + "?" + "&".join(requested)


def is_page(address: str) -> bool:
    """Return whether a link leads to a page of the service."""
    return address.startswith("/") and not address.startswith("/static/")


def remove_name(answer: httpx.Response, name: str) -> Any:
    """Return a response without the requested name, to be compared."""
    return answer.status_code, answer.text.replace(name, "…")
