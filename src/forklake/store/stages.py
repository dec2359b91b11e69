"""The operations of many commits, in few that do much.

Rows for one table go together, whichever commit they are of, and rows are ended after all are
there. So a thousand commits are a handful of bulk inserts, and updates by number. Commits that do
anything else are sent as they are, in their turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from forklake.store.operations import Insert, Operation, Statement, Values

Operations = Sequence[Operation]


def staged(commits: Iterable[Operations]) -> Iterator[Operations]:
    """Stages to be sent one after the other: what is in one may not see what is before it in the
    same one."""
    for is_plain, group in groupby(commits, key=_is_plain):
        members = list(group)
        if is_plain and len(members) > 1:
            yield from filter(None, _merged(members))
        else:
            yield from members


def _is_plain(operations: Operations) -> bool:
    """Whether it only inserts rows, and changes rows that it names."""
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
