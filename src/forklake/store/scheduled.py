"""Files scheduled for deletion: noted here until their grace period is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from forklake.model.ids import CatalogId
from forklake.store.database import Connection, Database
from forklake.store.operations import Insert
from forklake.store.times import as_time

_COLUMNS = ("catalog_id", "data_file_id", "path", "path_is_relative", "schedule_start")


@dataclass(frozen=True, slots=True)
class ScheduledFile:
    """A file that nobody needs any more, and since when."""

    data_file_id: int
    path: str
    path_is_relative: bool
    schedule_start: datetime


def schedule(database: Database, catalog_id: CatalogId, files: Sequence[ScheduledFile]) -> None:
    """Note files; one that is noted already keeps its first time."""
    rows = [
        (catalog_id, file.data_file_id, file.path, file.path_is_relative, file.schedule_start)
        for file in files
    ]
    with database.writing() as connection:
        for first in range(0, len(rows), 1000):
            batch = rows[first : first + 1000]
            connection.run(
                [
                    Insert(
                        "ducklake_files_scheduled_for_deletion",
                        _COLUMNS,
                        batch,
                        skips_existing=True,
                    )
                ]
            )
        connection.commit()


def list_scheduled(connection: Connection, catalog_id: CatalogId) -> list[ScheduledFile]:
    """The files of a catalog that wait to be removed, oldest first."""
    time = connection.dialect.time("schedule_start")
    rows = connection.fetch(
        f"SELECT data_file_id, path, path_is_relative, {time}"
        " FROM ducklake_files_scheduled_for_deletion WHERE catalog_id = :catalog"
        " ORDER BY schedule_start, data_file_id",
        catalog=catalog_id,
    )
    return [
        ScheduledFile(number, path, is_relative, as_time(moment))
        for number, path, is_relative, moment in rows
    ]
