"""Functions that read the change feed of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from forklake.sql.functions.places import table_place

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.session.attachments import Attachment
    from forklake.sql.session import Session

Moment: TypeAlias = int | datetime


def _feed(name: str) -> Callable[..., DataFrame]:
    """Return the SQL function that calls the session method `name`."""

    def run(
        session: Session,
        catalog: Attachment,
        table_name: Sequence[str],
        start_snapshot: Moment,
        end_snapshot: Moment,
        schema_name: str | None = None,
    ) -> DataFrame:
        place = table_place(session, catalog, table_name, schema_name)
        read: Callable[..., Any] = getattr(session, name)
        found: DataFrame = read(place, start_snapshot, end_snapshot)
        return found

    return run


table_changes = _feed("table_changes")
table_insertions = _feed("table_insertions")
table_deletions = _feed("table_deletions")
