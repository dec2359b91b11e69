"""Access to Delta tables in a session: by name or by location, at any of their versions."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from forklake.catalog.delta_tables import FaceReading
from forklake.delta.table_import import canonical_location
from forklake.errors import InvalidInput, NotFound
from forklake.model.entities import Table
from forklake.model.kinds import DELTA_TABLE, TABLE
from forklake.store.delta_tables import milliseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forklake.engines.spark.public_types import DataFrame
    from forklake.session.session import Session


def delta_table(
    session: Session,
    name: str | Sequence[str],
    *,
    version: int | None = None,
    timestamp: datetime | None = None,
) -> DataFrame:
    """Return the rows of a Delta table: the newest ones, or those of a Delta version or time."""
    if version is not None and timestamp is not None:
        raise InvalidInput(
            "A Delta table is read either at a version or at a timestamp, not at both.",
            remedy="Pass `version` or `timestamp`.",
        )
    place = session.resolve(_resolve_location(session, name))
    if timestamp is not None:  # it may be later than the last commit, so any commit conflicts
        session.record_everything(place.attachment)
    view = place.attachment.catalog.now()
    table = session.find_table(view, place)
    reading = FaceReading(view, table)
    parts = (place.attachment.alias, place.schema, place.table)
    if version is None and timestamp is None:
        return session.table(parts)
    if version is not None:
        found = reading.version(version)
    else:
        assert timestamp is not None
        if timestamp.tzinfo is None:
            raise InvalidInput(
                f"The timestamp {timestamp} has no time zone.",
                remedy="Pass a datetime with a time zone, such as one with tzinfo=UTC.",
            )
        found = reading.version_at(milliseconds(timestamp))
    return session.table(parts, version=found.begin_snapshot)


def _resolve_location(session: Session, name: str | Sequence[str]) -> str | Sequence[str]:
    """Return the name of the table at a location. Names without a slash are returned unchanged."""
    if not isinstance(name, str) or "/" not in name:
        return name
    location = canonical_location(name)
    for attachment in session.attachments():
        state = attachment.catalog.now().state
        for delta_table in state.rows(DELTA_TABLE):
            table = state.get(TABLE, (delta_table.table_id,))
            if delta_table.location == location and isinstance(table, Table):
                return (attachment.alias, state.schema_of(table).schema_name, table.table_name)
    raise NotFound(
        f"No attached catalog has the Delta table at {location!r}.",
        remedy="Import it first: `forklake delta import`.",
    )
