"""Names: validation, comparison, quoting, and the folders named after them.

A name is stored as written (in Unicode composed form), compared case-insensitively within a
catalog, and exactly between catalogs. Control characters, direction marks and zero-width characters
are refused: with them, two names could look the same and still be different.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from forklake.errors import InvalidInput

MAX_NAME_BYTES = 255
# Text in stored views and macros that stands for the alias of their catalog.
PLACEHOLDER = "{DUCKLAKE_CATALOG}"
_FOLDER = re.compile(r"[A-Za-z0-9_-]+")
_NOT_IN_CATALOG_NAMES = frozenset("/\\\"'`")


def checked_name(name: str, what: str) -> str:
    """Return a name in composed form; raise InvalidInput if it is not acceptable.

    Args:
        what: kind of object, for the message.
    """
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"A {what} name cannot be empty.", remedy="Choose a name.")
    composed = unicodedata.normalize("NFC", name)
    size = len(composed.encode("utf-8", "surrogatepass"))
    if size > MAX_NAME_BYTES:
        raise InvalidInput(
            f"The {what} name {composed[:40] + '…'!r} is {size} bytes long.",
            remedy=f"Use at most {MAX_NAME_BYTES} bytes.",
        )
    if not composed.isprintable():
        raise InvalidInput(
            f"The {what} name {name!a} contains a character that is not printable.",
            remedy="Remove control, zero-width and direction characters.",
        )
    if composed != composed.strip():
        raise InvalidInput(
            f"The {what} name {composed!r} begins or ends with a space.",
            remedy="Remove the space.",
        )
    return composed


def checked_catalog_name(name: str) -> str:
    """Return the name of a catalog in composed form; raise InvalidInput if it is not acceptable.

    The rules are stricter than for other names: it is used in attach strings, paths and addresses.
    """
    composed = checked_name(name, "catalog")
    bad = sorted(_NOT_IN_CATALOG_NAMES & set(composed))
    if bad or composed.startswith(".") or composed.endswith("."):
        found = f"contains {' '.join(bad)}" if bad else "begins or ends with a dot"
        raise InvalidInput(
            f"The catalog name {composed!r} {found}.",
            remedy="Do not use these characters, nor a dot at the start or end: / \\ \" ' `",
        )
    return composed


def checked_catalog_names(names: Iterable[str]) -> list[str]:
    """Return many catalog names in composed form; raise InvalidInput if two are equal."""
    checked = [checked_catalog_name(name) for name in names]
    if len(set(checked)) != len(checked):
        twice = next(name for name in checked if checked.count(name) > 1)
        raise InvalidInput(
            f"The catalog name {twice!r} is given twice.", remedy="Name each catalog once."
        )
    return checked


def folded(name: str) -> str:
    """Return the form in which names within a catalog are compared."""
    return unicodedata.normalize("NFC", name).casefold()


def quoted(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def folder_for(name: str, uuid: str) -> str:
    """Return the folder of an object: its name if every file system accepts it, else its UUID."""
    return f"{name if _FOLDER.fullmatch(name) else uuid}/"
