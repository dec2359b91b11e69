"""Names: what is accepted, when two are the same, how they are quoted and become folders.

A name is kept as it was written (in Unicode's composed form), compared without regard to case
within a catalog, and exactly between catalogs. What cannot be seen cannot be in a name: control
characters, direction marks and zero-width characters make twins that no reader can tell apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from forklake.errors import InvalidInput

MAX_NAME_BYTES = 255
# What stored texts of views and macros say instead of the alias of the catalog that they are in.
PLACEHOLDER = "{DUCKLAKE_CATALOG}"
_FOLDER = re.compile(r"[A-Za-z0-9_-]+")
_NOT_IN_CATALOG_NAMES = frozenset("/\\\"'`")


def checked_name(name: str, what: str) -> str:
    """The name in composed form; `what` is the kind of object, for the error."""
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"A {what} name cannot be empty.", remedy="Give it a name.")
    composed = unicodedata.normalize("NFC", name)
    size = len(composed.encode("utf-8", "surrogatepass"))
    if size > MAX_NAME_BYTES:
        raise InvalidInput(
            f"The {what} name {composed[:40] + '…'!r} is {size} bytes long.",
            remedy=f"Use at most {MAX_NAME_BYTES} bytes.",
        )
    if not composed.isprintable():
        raise InvalidInput(
            f"The {what} name {name!a} contains a character that cannot be seen.",
            remedy="Remove control, zero-width and direction characters.",
        )
    if composed != composed.strip():
        raise InvalidInput(
            f"The {what} name {composed!r} begins or ends with a space.", remedy="Remove it."
        )
    return composed


def checked_catalog_name(name: str) -> str:
    """A catalog's name: stricter, because it stands in attach strings, paths and addresses."""
    composed = checked_name(name, "catalog")
    bad = sorted(_NOT_IN_CATALOG_NAMES & set(composed))
    if bad or composed.startswith(".") or composed.endswith("."):
        found = f"contains {' '.join(bad)}" if bad else "begins or ends with a dot"
        raise InvalidInput(
            f"The catalog name {composed!r} {found}.",
            remedy="Use letters, digits, spaces and signs other than / \\ \" ' ` .",
        )
    return composed


def checked_catalog_names(names: Iterable[str]) -> list[str]:
    """Many catalog names at once, each different from the others."""
    checked = [checked_catalog_name(name) for name in names]
    if len(set(checked)) != len(checked):
        twice = next(name for name in checked if checked.count(name) > 1)
        raise InvalidInput(
            f"The catalog name {twice!r} is given twice.", remedy="Name each catalog once."
        )
    return checked


def folded(name: str) -> str:
    """The form under which names within a catalog are compared."""
    return unicodedata.normalize("NFC", name).casefold()


def quoted(name: str) -> str:
    """The name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def folder_for(name: str, uuid: str) -> str:
    """The folder of a named thing: its name where every file system takes it, else its uuid."""
    return f"{name if _FOLDER.fullmatch(name) else uuid}/"
