"""Limits on the size of a statement, and cancellation while it is parsed and translated.

Parsing and translation run in Python, which no other thread can interrupt. They therefore check
regularly whether their statement was canceled, and refuse input that would take too long.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from sqlglot import exp

from forklake.errors import InvalidInput
from forklake.model.names import folded

MAX_TOKENS = 250_000  # of a text
MAX_NODES = 25_000  # of a query, after its macros and names are expanded
MAX_SOURCES = 500  # tables of a query, including those of its views and WITH clauses
MAX_GROUPINGS = 4096  # grouping sets of a GROUP BY; CUBE of 12 columns has so many
CHECK_INTERVAL = 500  # steps between two checks for cancellation

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_proceed: ContextVar[Callable[[], None] | None] = ContextVar("proceed", default=None)


@contextmanager
def cancellation_checks(proceed: Callable[[], None]) -> Iterator[None]:
    """Set the function that `check` calls inside of the block, in this thread.

    `proceed` raises an error once the statement is canceled.
    """
    before = _proceed.set(proceed)
    try:
        yield
    finally:
        _proceed.reset(before)


def check_cancellation() -> None:
    """Raise an error if the current statement was canceled."""
    proceed = _proceed.get()
    if proceed is not None:
        proceed()


def check_text(text: str) -> None:
    """Raise InvalidInput if a text has too many tokens to be parsed."""
    if len(text) > MAX_TOKENS and _TOKEN.subn("", _QUOTED.sub("0", text))[1] > MAX_TOKENS:
        raise InvalidInput(
            f"The SQL text has more than {MAX_TOKENS:,} tokens.",
            remedy="Send it in parts; insert many rows from a file or a DataFrame.",
        )


def check_values(values: object) -> None:
    """Raise InvalidInput if values for parameters have too many parts to become a part of a text.

    Each takes about as much memory as a word of a text.
    """
    count, remaining = 0, [values]
    while remaining:
        one = remaining.pop()
        count += 1
        if isinstance(one, Mapping):
            remaining.extend(one.values())
        elif isinstance(one, list | tuple):
            remaining.extend(one)
        if count + len(remaining) > MAX_TOKENS:
            raise InvalidInput(
                f"The parameters have more than {MAX_TOKENS:,} values.",
                remedy="Insert many rows from a file or a DataFrame.",
            )


def check_nodes(count: int) -> None:
    """Raise InvalidInput if a query is too large, or an error if its statement was canceled."""
    check_cancellation()
    if count > MAX_NODES:
        raise InvalidInput(
            f"The query has more than {MAX_NODES:,} expression nodes after its macros and"
            " names were expanded.",
            remedy="Put long lists of values into a table, and call fewer macros.",
        )


def check_groupings(query: exp.Expr) -> None:
    """Raise InvalidInput if a GROUP BY has too many grouping sets; Spark cannot stop planning."""
    for group in query.find_all(exp.Group):
        if math.prod(map(_count_groupings, group.expressions)) > MAX_GROUPINGS:
            raise InvalidInput(
                f"A GROUP BY has more than {MAX_GROUPINGS:,} grouping sets.",
                remedy="Name the sets that you need: GROUP BY GROUPING SETS (…).",
            )


def _count_groupings(node: exp.Expr) -> int:
    match node:
        case exp.Cube():
            return int(2 ** len(node.expressions))
        case exp.Rollup():
            return len(node.expressions) + 1
        case exp.GroupingSets():
            return sum(map(_count_groupings, node.expressions))
    return 1


def count_sources(query: exp.Expr, weights: Mapping[str, int]) -> int:
    """Return the number of tables that a query reads after views and WITH names are expanded.

    `weights` gives the number of tables behind each name that stands for more than one.
    """
    return _count_sources(query, weights, {})


def check_sources(count: int) -> None:
    """Raise InvalidInput if a query reads too many tables."""
    if count > MAX_SOURCES:
        raise InvalidInput(
            f"The query reads more than {MAX_SOURCES} tables, including those of its views and"
            " WITH clauses.",
            remedy="Store the rows of a frequently used view in a table: CREATE TABLE … AS SELECT.",
        )


def _count_sources(node: exp.Expr, weights: Mapping[str, int], counts: Mapping[str, int]) -> int:
    counts = dict(counts)
    with_clause = node.args.get("with_")
    for one in with_clause.expressions if with_clause is not None else ():
        count = _count_sources(one.this, weights, counts)
        check_sources(count)
        counts[folded(one.alias)] = max(1, count)
    total = 0
    for one in node.walk(
        prune=lambda inner: inner is not node and _has_with_clause(inner, with_clause)
    ):
        if one is not node and one is not with_clause and _has_with_clause(one, with_clause):
            total += _count_sources(one, weights, counts)
        elif isinstance(one, exp.Table):
            name = folded(one.name)
            total += counts[name] if name in counts and not one.db else weights.get(one.name, 1)
    return total


def _has_with_clause(node: exp.Expr, with_clause: exp.Expr | None) -> bool:
    return node is with_clause or node.args.get("with_") is not None
