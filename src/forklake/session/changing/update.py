"""UPDATE: old row versions end, and new versions with the same row ids are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.engines.assignments import Assignments
from forklake.engines.relations import Expression, Relation
from forklake.errors import InvalidInput
from forklake.session.changing.assignments import literal_values, parse_update
from forklake.session.changing.row_matches import (
    about,
    decide_inlined,
    match_rows,
    record_places,
    text_of,
)

if TYPE_CHECKING:
    from forklake.session.session import Session


def update(
    session: Session,
    name: str | Sequence[str],
    assignments: Assignments,
    where: Expression | None = None,
    *,
    source: Relation | None = None,
    on: Expression | None = None,
    target_alias: str = "target",
    source_alias: str | None = "source",
) -> int:
    """Set columns of the rows for which a condition is true, and return their number.

    With a source, the rows are joined with another relation on a condition, and its columns can be
    used too. Conditions and values refer to the two by their aliases.
    """
    if on is not None and source is None:
        raise InvalidInput(
            "UPDATE has a join condition `on` but no source to join with.",
            remedy="Pass the condition as `where`, or pass a `source`.",
        )
    place = session.resolve(name)
    with session.changing(place.attachment) as change:
        narrowed = text_of(where) if source is None else about(target_alias, where)
        table = session.find_table(change.transaction, place)
        found = match_rows(session, change, table, target_alias, narrowed)
        assigned = parse_update(assignments, found.target)
        few = decide_inlined(found, where) if source is None else None
        values = literal_values(found.target, assigned) if few is not None else None
        if few is not None and values is not None and len(few) <= found.target.inlined_rows:
            if few:
                change.transaction.update_rows(table, [(one, values) for one in few])
            return len(few)
        record_places(found, where, on, *assignments.values())
        return session.engine.writer.update_rows(
            found, assigned, where, source=source, source_alias=source_alias, on=on
        )
