"""Exactly-once writes to Delta tables, for applications that number their writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forklake.catalog.delta_tables import FaceReading
from forklake.delta.actions import Txn
from forklake.delta.stored_actions import find_stored_action

if TYPE_CHECKING:
    from forklake.engines.spark.public_types import DataFrame
    from forklake.session.session import Session


def write_once(
    session: Session,
    df: DataFrame,
    name: str | Sequence[str],
    *,
    app_id: str,
    version: int,
    mode: str = "append",
) -> bool:
    """Write a DataFrame unless the application has already written this version or a later one.

    Return whether it was written. The idempotency key of the commit makes concurrent attempts safe.
    """
    place = session.resolve(name)
    view = place.attachment.catalog.now()
    table = session.find_table(view, place)
    if _last_version(FaceReading(view, table), app_id) >= version:
        return False
    key = f"delta/{int(table.table_id)}/{app_id}/{version}"
    with session.transaction_once(key):
        session.write(df, (place.attachment.alias, place.schema, place.table), mode=mode)
        with session.changing(place.attachment) as change:
            change.transaction.tell_progress(table, app_id, version)
    committed = change.transaction.committed
    return committed is not None and not committed.was_applied_before


def _last_version(reading: FaceReading, app_id: str) -> int:
    """Return the newest version of an application, or -1."""
    last = find_stored_action(reading, Txn, app_id)
    return -1 if last is None else last.version
