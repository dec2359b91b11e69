"""Ranges of snapshots, as the change feed of a table is requested."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.engines.change_range import ChangeRange
from forklake.errors import InvalidInput
from forklake.model.names import folded
from forklake.model.scans import TableChanges
from forklake.session.attachments import moment

if TYPE_CHECKING:
    from forklake.session.session import Session

Bound = int | datetime | str

_ADDED_COLUMNS = frozenset({"snapshot_id", "rowid", "change_type"})
_NO_CHANGES = TableChanges((), (), (), (), frozenset(), frozenset())


def find_changes(
    session: Session, name: str | Sequence[str], start: Bound, end: Bound
) -> ChangeRange:
    """Return the changes of a table from one snapshot or timestamp to another, both included."""
    first, last = _bound(start), _bound(end)
    if _is_before(last, first):
        raise InvalidInput(
            f"The range of changes from {start} to {end} ends before it starts.",
            remedy="Pass the earlier bound first; both are included.",
        )
    version = last if isinstance(last, int) else None
    time = last if isinstance(last, datetime) else None
    place = session.resolve(name, version=version, timestamp=time)
    seen = session.viewing(place.attachment, version=version, timestamp=time)
    assert isinstance(seen, SnapshotReads)
    table = session.find_table(seen, place)
    for field in seen.state.fields(table):
        if folded(field.name) in _ADDED_COLUMNS:
            raise InvalidInput(
                f"Table '{place}' has a column {field.name!r}, which is also the name of a column"
                " of the change feed.",
                remedy="Rename the column of the table.",
            )
    catalog = place.attachment.catalog
    begin = first if isinstance(first, int) else catalog.first_snapshot_since(first)
    changes = _NO_CHANGES
    if begin is not None and begin <= seen.snapshot_id:
        changes = catalog.table_changes(seen, table, begin)
    return ChangeRange(seen, table, changes, begin or 0)


def _bound(bound: Bound) -> int | datetime:
    """Return a snapshot number or a timestamp."""
    if not isinstance(bound, int):
        return moment(bound)
    if bound < 0 or isinstance(bound, bool):
        raise InvalidInput(
            f"{bound!r} is not a snapshot.",
            remedy="Use a snapshot number, or a timestamp.",
        )
    return bound


def _is_before(one: int | datetime, other: int | datetime) -> bool:
    """Return whether a bound is before another; False if one is a number and one a timestamp."""
    match one, other:
        case int(), int():
            return one < other
        case datetime(), datetime():
            return one < other
    return False
