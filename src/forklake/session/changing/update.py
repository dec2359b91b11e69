"""UPDATE: old row versions end, and new versions with the same row ids are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from forklake.engines.spark.changing.assignments import Assignments, literal_values, new_versions
from forklake.engines.spark.remote import persisted
from forklake.engines.spark.writing import align
from forklake.engines.spark.writing.write import append_versions
from forklake.errors import InvalidInput
from forklake.session.changing.row_matches import (
    Condition,
    about,
    aliased,
    filtered,
    joined,
    matching,
    text_of,
)

if TYPE_CHECKING:
    from forklake.session.session import Session


def update(
    session: Session,
    name: str | Sequence[str],
    assignments: Assignments,
    where: Condition | None = None,
    *,
    source: DataFrame | None = None,
    on: Condition | None = None,
    target_alias: str = "target",
    source_alias: str | None = "source",
) -> int:
    """Set columns of the rows for which a condition is true, and return their number.

    With a source, the rows are joined with another DataFrame on a condition, and its columns can be
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
        found = matching(session, change, table, target_alias, narrowed)
        few = found.decided(where) if source is None else None
        values = literal_values(found.target, assignments) if few is not None else None
        if few is not None and values is not None and len(few) <= found.target.inlined_rows:
            if few:
                change.transaction.update_rows(table, [(one, values) for one in few])
            return len(few)
        rows = found.rows(where, on, *assignments.values())
        if source is not None:
            rows = joined(rows, aliased(source, source_alias), on, "inner", table.table_name)
        rows = filtered(rows, where, table.table_name)
        with align.translating(), persisted(rows) as kept:
            versions = new_versions(kept, found.target, assignments, target_alias)
            ended = found.removal().end(kept, refuse_doubles=source is not None)
            if ended.count:
                append_versions(
                    session.engine,
                    change,
                    found.target,
                    versions,
                    ended.count,
                    has_new=ended.has_new,
                )
        return ended.count
