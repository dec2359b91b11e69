"""Limits on the size of a statement, and its cancellation while it is read.

Reading a statement is work of Python, which no other thread can interrupt: so it checks by itself
whether its statement was cancelled, and refuses what would take long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from sqlglot import exp

from forklake.errors import InvalidInput
from forklake.model.names import folded

MOST_TOKENS = 250_000  # words and signs of a text
MOST_NODES = 25_000  # of a query, with what its macros and names stand for
MOST_SOURCES = 500  # tables of a query, with those of its views and of names that WITH defines
INTERVAL = 500  # steps between two checks

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_proceed: ContextVar[Callable[[], None] | None] = ContextVar("proceed", default=None)


@contextmanager
def checking(proceed: Callable[[], None]) -> Iterator[None]:
    """Call a function, which raises an error once the statement is cancelled, every now and then.

    It is called in this thread, while statements are read inside of the block.
    """
    before = _proceed.set(proceed)
    try:
        yield
    finally:
        _proceed.reset(before)


def check() -> None:
    """Raise the error of a statement that was cancelled."""
    proceed = _proceed.get()
    if proceed is not None:
        proceed()


def check_text(text: str) -> None:
    """Raise InvalidInput if a text has too many words and signs to be read."""
    if len(text) > MOST_TOKENS and _TOKEN.subn("", _QUOTED.sub("0", text))[1] > MOST_TOKENS:
        raise InvalidInput(
            f"The text has more than {MOST_TOKENS:,} words and signs.",
            remedy="Send it in parts; insert many rows from a file or a DataFrame.",
        )


def check_nodes(count: int) -> None:
    """Raise InvalidInput if a query has become too large, or the error of a cancelled statement."""
    check()
    if count > MOST_NODES:
        raise InvalidInput(
            f"The query has more than {MOST_NODES:,} parts, with what its macros and the names"
            " in it stand for.",
            remedy="Put long lists of values into a table, and call fewer macros.",
        )


def count_sources(query: exp.Expr, weights: Mapping[str, int]) -> int:
    """Return how many tables a query reads when views and WITH are replaced by what they are.

    `weights` are of tables that stand for more than one, by name.
    """
    return _count_sources(query, weights, {})


def check_sources(count: int) -> None:
    """Raise InvalidInput if a query reads too many tables."""
    if count > MOST_SOURCES:
        raise InvalidInput(
            f"The query reads more than {MOST_SOURCES} tables, with those of its views and of"
            " names that WITH defines.",
            remedy="Write the rows of a view that is used often into a table.",
        )


def _count_sources(node: exp.Expr, weights: Mapping[str, int], known: Mapping[str, int]) -> int:
    known = dict(known)
    defined = node.args.get("with_")
    for one in defined.expressions if defined is not None else ():
        count = _count_sources(one.this, weights, known)
        check_sources(count)
        known[folded(one.alias)] = max(1, count)
    total = 0
    for one in node.walk(prune=lambda inner: inner is not node and _has_names(inner, defined)):
        if one is not node and one is not defined and _has_names(one, defined):
            total += _count_sources(one, weights, known)
        elif isinstance(one, exp.Table):
            name = folded(one.name)
            total += known[name] if name in known and not one.db else weights.get(one.name, 1)
    return total


def _has_names(node: exp.Expr, defined: exp.Expr | None) -> bool:
    return node is defined or node.args.get("with_") is not None
