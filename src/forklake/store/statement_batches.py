"""Combination of the operations of many commits into few statement batches.

Inserts into one table are combined, whichever commit they belong to, and rows are ended after all
inserts. So a thousand commits are a handful of bulk inserts, and updates by number. Commits with
any other operation are sent unchanged, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from forklake.store.operations import Insert, Operation, Statement, Values

Operations = Sequence[Operation]


def staged(commits: Iterable[Operations]) -> Iterator[Operations]:
    """Yield batches to be sent one after the other.

    The order of the operations within a batch does not matter.
    """
    for is_plain, group in groupby(commits, key=_is_plain):
        members = list(group)
        if is_plain and len(members) > 1:
            yield from filter(None, _merged(members))
        else:
            yield from members


def _is_plain(operations: Operations) -> bool:
    """Return whether a commit only inserts rows and changes rows that it identifies by number."""
    return all(
        one.names_rows
        if isinstance(one, Statement)
        else isinstance(one, Insert) and not one.skips_existing
        for one in operations
    )


def _merged(commits: Iterable[Operations]) -> tuple[Operations, Operations]:
    rows: dict[tuple[str, tuple[str, ...]], list[Values]] = {}
    updates: list[Statement] = []
    for operation in (one for operations in commits for one in operations):
        if isinstance(operation, Insert):
            rows.setdefault((operation.table, operation.columns), []).extend(operation.rows)
        elif isinstance(operation, Statement):
            updates.append(operation)
    inserts = [Insert(*place, values) for place, values in rows.items()]
    return inserts, sorted(updates, key=lambda one: one.sql)
