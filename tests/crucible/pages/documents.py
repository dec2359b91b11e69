"""Strictly parsed HTML pages, with their text, links, forms and problems."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_VOID_IN_SVG = frozenset("path circle line rect".split())
_OPTIONAL = frozenset("html head body".split())


@dataclass
class Form:
    """A form: its target and its values."""

    action: str
    method: str
    values: dict[str, str] = field(default_factory=dict)


class Document(HTMLParser):
    """A page. `problems` lists what a strict reader would object to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.links: list[str] = []
        self.forms: list[Form] = []
        self.headings: list[str] = []
        self.source = text
        self.text = ""
        self._open: list[str] = []
        self._ids: set[str] = set()
        self._labels: set[str] = set()
        self._inputs: list[tuple[str, dict[str, str]]] = []
        self.feed(text)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self._open]
        self.problems += [
            f"{tag} {found} has no label"
            for tag, found in self._inputs
            if found.get("id") not in self._labels
        ]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if len(found) != len(attrs):
            self.problems.append(f"<{tag}> has an attribute twice: {attrs}")
        self._check(tag, found)
        self.links += [found[name] for name in ("href", "hx-get") if name in found]
        if tag == "form":
            self.forms.append(Form(found.get("action", ""), found.get("method", "get")))
        if tag == "input" and self.forms and "form" in self._open:
            self.forms[-1].values[found.get("name", "")] = found.get("value", "")
        if tag == "label":
            self._labels.add(found.get("for", ""))
        is_hidden = found.get("type") == "hidden" or "hidden" in found
        if tag in ("input", "textarea", "select") and not is_hidden:
            self._inputs.append((tag, found))
        if tag not in _VOID | _VOID_IN_SVG:
            self._open.append(tag)

    def _check(self, tag: str, found: dict[str, str]) -> None:
        """Record whatever the content security policy forbids, and duplicate ids."""
        if "style" in found or tag == "style" or any(name.startswith("on") for name in found):
            self.problems.append(f"<{tag}> has a style or a script in it: {found}")
        if tag == "script" and not found.get("src", "").startswith("/static/"):
            self.problems.append("a script is not a file of ours")
        if "id" in found and found["id"] in self._ids:
            self.problems.append(f"two things have the id {found['id']!r}")
        self._ids.add(found.get("id", ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID | _VOID_IN_SVG:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID_IN_SVG:
            return
        if not self._open or self._open[-1] != tag:
            self.problems.append(f"</{tag}> ends {self._open[-1:]}")
        elif tag != "html":
            self._open.pop()
        else:
            self._open.clear()

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._open and self._open[-1] == "h1":
            self.headings.append(data)

    def form(self, action: str) -> Form:
        """Return the form with an action."""
        return next(one for one in self.forms if one.action == action)
