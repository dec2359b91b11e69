"""Files scheduled for deletion once their grace period is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from forklake.model.ids import CatalogId
from forklake.model.kinds import Kind
from forklake.store.database import Connection, Database
from forklake.store.deadlock_retry import again_if_undone
from forklake.store.operations import Insert, Statement
from forklake.store.schema.file_tables import FILES_SCHEDULED_FOR_DELETION
from forklake.store.times import as_time

_NAME = "ducklake_files_scheduled_for_deletion"
_COLUMNS = FILES_SCHEDULED_FOR_DELETION.column_names


@dataclass(frozen=True, slots=True)
class ScheduledFile:
    """File that no snapshot needs any more, and since when."""

    data_file_id: int
    path: str
    path_is_relative: bool
    schedule_start: datetime


@again_if_undone
def schedule(database: Database, catalog_id: CatalogId, files: Sequence[ScheduledFile]) -> None:
    """Schedule files for deletion. Those scheduled already keep their first time."""
    rows = [
        (catalog_id, file.data_file_id, file.path, file.path_is_relative, file.schedule_start)
        for file in files
    ]
    with database.writing() as connection:
        for first in range(0, len(rows), 1000):
            batch = rows[first : first + 1000]
            connection.run([Insert(_NAME, _COLUMNS, batch, skips_existing=True)])
        connection.commit()


def schedule_text(kind: Kind, among: str) -> str:
    """Return the statement that schedules files of the catalog :catalog at the time :now.

    `among` is a condition on their rows.
    """
    return (
        f"INSERT INTO {_NAME} ({', '.join(_COLUMNS)}) SELECT catalog_id, {kind.entity}, path,"
        f" path_is_relative, :now FROM {kind.name} WHERE catalog_id = :catalog AND {among}"
        " ON CONFLICT DO NOTHING"
    )


def list_scheduled(
    connection: Connection, catalog_id: CatalogId, *, before: datetime | None = None
) -> list[ScheduledFile]:
    """Return a catalog's files scheduled for deletion (before a time), oldest first."""
    time = connection.dialect.time("schedule_start")
    limit = "" if before is None else " AND schedule_start < :before"
    rows = connection.fetch(
        f"SELECT data_file_id, path, path_is_relative, {time} FROM {_NAME}"
        f" WHERE catalog_id = :catalog{limit} ORDER BY schedule_start, data_file_id",
        catalog=catalog_id,
        **({} if before is None else {"before": before}),
    )
    return [
        ScheduledFile(number, path, is_relative, as_time(moment))
        for number, path, is_relative, moment in rows
    ]


def unschedule(
    connection: Connection, catalog_id: CatalogId, files: Sequence[ScheduledFile]
) -> Statement:
    """Return the statement that removes files from the schedule."""
    numbers = [file.data_file_id for file in files]
    among = connection.dialect.any_of("data_file_id", "files")
    return Statement(
        f"DELETE FROM {_NAME} WHERE catalog_id = :catalog AND {among}",
        {"catalog": catalog_id, "files": connection.dialect.array(numbers)},
    )
