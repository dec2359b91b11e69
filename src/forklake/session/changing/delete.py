"""DELETE and TRUNCATE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.engines.relations import Expression, Relation
from forklake.errors import InvalidInput
from forklake.model.entities import Table
from forklake.model.scans import is_partial
from forklake.session.changing.row_matches import (
    about,
    decide_inlined,
    match_rows,
    record_places,
    text_of,
)

if TYPE_CHECKING:
    from forklake.session.session import Session
    from forklake.session.unit_of_work import UnitOfWork


def delete(
    session: Session,
    name: str | Sequence[str],
    where: Expression | None = None,
    *,
    using: Relation | None = None,
    target_alias: str = "target",
    source_alias: str | None = "source",
) -> int:
    """Delete the rows for which a condition is true, and return their number.

    With `using`, delete the rows for which the condition is true together with some row of another
    relation. The condition refers to the two by their aliases.
    """
    place = session.resolve(name)
    if using is not None and where is None:
        raise InvalidInput(
            f"DELETE FROM '{place}' with USING needs a condition that joins the rows.",
            remedy="Add a WHERE condition (parameter `where`) on both relations.",
        )
    with session.changing(place.attachment) as change:
        table = session.find_table(change.transaction, place)
        if using is None:
            return delete_from(session, change, table, where, alias=target_alias)
        found = match_rows(session, change, table, target_alias, about(target_alias, where))
        record_places(found, where)
        engine = session.engine
        return engine.writer.delete_rows(found, where, using=using, source_alias=source_alias)


def delete_from(
    session: Session,
    change: UnitOfWork,
    table: Table,
    where: Expression | None,
    *,
    alias: str = "target",
) -> int:
    """Delete rows within a change; the condition may use only columns of the table."""
    if _is_always_true(where):
        return _truncate(session, change, table)
    found = match_rows(session, change, table, alias, text_of(where))
    few = decide_inlined(found, where)
    if few is None:
        record_places(found, where)
        return session.engine.writer.delete_rows(found, where)
    if few:
        change.transaction.delete_rows(table, few)
    return len(few)


def truncate(session: Session, name: str | Sequence[str]) -> int:
    """Delete all rows of a table without reading them, and return their number."""
    place = session.resolve(name)
    with session.changing(place.attachment) as change:
        return _truncate(session, change, session.find_table(change.transaction, place))


def _is_always_true(where: Expression | None) -> bool:
    return where is None or (isinstance(where, str) and where.strip().lower() == "true")


def _truncate(session: Session, change: UnitOfWork, table: Table) -> int:
    change.transaction.record_read(table)
    count = _count(session, change, table)
    if count:
        change.transaction.truncate(table)
    return count


def _count(session: Session, change: UnitOfWork, table: Table) -> int:
    """Return the number of rows; the engine counts only if files have rows of later snapshots."""
    view = change.transaction
    files = view.scan_files(table)
    if any(is_partial(file, view.start_snapshot) for file in files):
        return session.engine.tables.count(view, table)
    in_files = sum(one.live_rows for one in files)
    return in_files + len(view.inlined_rows(table))
