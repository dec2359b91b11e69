"""Dotted names such as `lake.main."my orders"`, and suggestions for names that do not exist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from forklake.errors import InvalidInput
from forklake.model.names import folded, quoted

# A part in double quotes or backticks, doubled inside, or bare; then a dot or the end.
_PART = re.compile(r'\s*(?:"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|([^."`]*[^."`\s]))\s*(\.|$)')


def split_name(name: str | Sequence[str]) -> tuple[str, ...]:
    """Return the parts of a name; a sequence is returned as its parts.

    >>> split_name('lake.main."my.table"')
    ('lake', 'main', 'my.table')
    """
    if not isinstance(name, str):
        return tuple(name)
    parts: list[str] = []
    position, follows = 0, "."
    while follows:
        match = _PART.match(name, position)
        if match is None:
            raise InvalidInput(
                f"The name {name!r} cannot be read.",
                remedy="Write catalog.schema.table, with double quotes around parts that contain"
                " dots, spaces or quotes.",
            )
        double, back, bare, follows = match.groups()
        parts.append((double or "").replace('""', '"') or (back or "").replace("``", "`") or bare)
        position = match.end()
    return tuple(parts)


def joined_name(parts: Sequence[str]) -> str:
    """Return a name of several parts as one text, with quotes where needed.

    >>> joined_name(('lake', 'main', 'my.table'))
    'lake.main."my.table"'
    """
    return ".".join(part if part.isidentifier() else quoted(part) for part in parts)


def perhaps(name: str, candidates: Iterable[str], *, what: str) -> str:
    """Return a remedy for a name that does not exist: similar names, or the existing ones."""
    known = {folded(one): one for one in candidates}
    near = get_close_matches(folded(name), known, n=3, cutoff=0.6)
    if near:
        return "Did you mean " + " or ".join(f"'{known[one]}'" for one in near) + "?"
    if not known:
        return f"No {what} exist yet."
    shown = sorted(known.values())
    more = f" and {len(shown) - 10} more" if len(shown) > 10 else ""
    return f"The {what} are: {', '.join(shown[:10])}{more}."
