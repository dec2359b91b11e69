"""Functions that read the change feed of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from forklake.sql.functions.places import qualify_table_name

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.session.attachments import Attachment
    from forklake.sql.session import Session

FeedBound: TypeAlias = int | datetime


def _build_feed_function(name: str) -> Callable[..., DataFrame]:
    """Return the SQL function that calls the session method `name`."""

    def run(
        session: Session,
        catalog: Attachment,
        table_name: Sequence[str],
        start_snapshot: FeedBound,
        end_snapshot: FeedBound,
        schema_name: str | None = None,
    ) -> DataFrame:
        place = qualify_table_name(session, catalog, table_name, schema_name)
        read: Callable[..., Any] = getattr(session, name)
        rows: DataFrame = read(place, start_snapshot, end_snapshot)
        return rows

    return run


table_changes = _build_feed_function("table_changes")
table_insertions = _build_feed_function("table_insertions")
table_deletions = _build_feed_function("table_deletions")
