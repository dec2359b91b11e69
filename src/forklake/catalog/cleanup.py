"""Clean-up: deletion of files that no snapshot can see any more.

A file is never deleted while a row of any catalog refers to it. This is checked again under a lock,
in the transaction that removes the files from the schedule. Files are deleted before it commits, so
an interrupted clean-up leaves them on the schedule, and the next one continues.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from forklake.catalog.expiry import Moment, moment_of, moment_of_option
from forklake.catalog.known_files import find_known_files
from forklake.errors import InvalidInput
from forklake.files.paths import resolve
from forklake.store import table_cache
from forklake.store.database import Connection, Lock
from forklake.store.heads import head_statement
from forklake.store.phases import reached
from forklake.store.scheduled import ScheduledFile, list_scheduled, unschedule
from forklake.store.table_cache import Known

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog

T = TypeVar("T")
# Files per transaction.
BATCH = 1_000
# Files of a folder that are compared with the metastore in one query.
_LISTED = 10_000
_SUFFIX = ".parquet"


def cleanup_old_files(
    catalog: Catalog,
    *,
    older_than: Moment | None = None,
    cleanup_all: bool = False,
    dry_run: bool = False,
) -> list[str]:
    """Delete files that were scheduled for deletion before a time; return their paths.

    Args:
        older_than: the time; defaults to the option `delete_older_than`.
        cleanup_all: delete all scheduled files.
        dry_run: only return the paths.
    """
    before = _limit(catalog, older_than, cleanup_all)
    with catalog.database.reading() as connection:
        waiting = list_scheduled(connection, catalog.catalog_id, before=before)
        if dry_run:
            return _removable(catalog, connection, waiting)
    return remove_scheduled(catalog, waiting)


def remove_scheduled(catalog: Catalog, waiting: Sequence[ScheduledFile]) -> list[str]:
    """Delete scheduled files, in batches; return the paths of the deleted ones."""
    removed: list[str] = []
    for batch in _batches(waiting, BATCH):
        with catalog.database.writing() as connection:
            connection.run(connection.lock(Lock.SWEEP))
            reached("cleanup.locked")
            paths = _removable(catalog, connection, batch)
            _remove(paths)
            reached("cleanup.removed")
            # Also files that are still in use: they are scheduled again when their last row goes.
            connection.commit([unschedule(connection, catalog.catalog_id, batch)])
            reached("cleanup.committed")
        removed += paths
    return removed


def _removable(
    catalog: Catalog, connection: Connection, files: Sequence[ScheduledFile]
) -> list[str]:
    """Return the full paths of those files that no row refers to."""
    full = {file.data_file_id: _full(catalog, file) for file in files}
    numbers = table_cache.known_numbers(connection, list(full))
    own: list[str] = []
    added: list[str] = []
    for file in files:
        if file.data_file_id not in numbers:
            (own if file.path_is_relative else added).append(full[file.data_file_id])
    # A file in the folder of its catalog can be in use elsewhere only if another catalog added it.
    # An added file that the catalog owns can lie anywhere, also in the folder of another catalog.
    kept = find_known_files(connection, own, Known.FOREIGN)
    kept |= find_known_files(connection, added, Known.TABLES)
    return [path for path in full.values() if path in {*own, *added} - kept]


def _full(catalog: Catalog, file: ScheduledFile) -> str:
    return (
        resolve(catalog.data_path(), file.path, is_relative=True)
        if file.path_is_relative
        else file.path
    )


def delete_orphaned_files(
    catalog: Catalog,
    *,
    older_than: Moment | None = None,
    cleanup_all: bool = False,
    dry_run: bool = False,
) -> list[str]:
    """Delete files in the folder of a catalog that no row refers to; return their paths.

    Such files are left behind by writes that never finished. Files of running writes look the same,
    so only files last changed before a given time are considered. Folders of Delta and Iceberg
    tables are skipped: their own logs refer to their files. Arguments as of `cleanup_old_files`.
    """
    from forklake.files.file_search import files_outside_of_tables
    from forklake.files.systems import list_files

    before = _limit(catalog, older_than, cleanup_all)
    if catalog.row.data_path is None:
        return []  # the catalog has no folder
    folder = resolve(catalog.data_path(), catalog.row.path, is_relative=True)
    listed = [
        file.path
        for file in files_outside_of_tables(list_files(folder))
        if file.path.endswith(_SUFFIX)
        and (before is None or (file.modified is not None and file.modified < before))
    ]
    unknown: list[str] = []
    with catalog.database.reading() as connection:
        for batch in _batches(listed, _LISTED):
            stored = {_stored(catalog, path): path for path in batch}
            found = table_cache.known_paths(connection, list(stored), catalog.catalog_id)
            unknown += [path for one, path in stored.items() if one not in found]
    removed: list[str] = []
    for batch in _batches(unknown, BATCH):
        removed += _remove_unknown(catalog, batch, dry_run=dry_run)
    return removed


def _remove_unknown(catalog: Catalog, paths: Sequence[str], *, dry_run: bool) -> list[str]:
    """Delete those files that no catalog refers to. Commits of this catalog wait meanwhile."""
    with catalog.database.writing() as connection:
        removing = connection.dialect.for_removal
        connection.run([head_statement(connection, catalog.catalog_id, removing)])
        connection.run(connection.lock(Lock.SWEEP))
        reached("orphans.locked")
        found = find_known_files(connection, paths)
        unknown = [path for path in paths if path not in found]
        if not dry_run:
            _remove(unknown)
            reached("orphans.removed")
    return unknown


def _remove(paths: Sequence[str]) -> None:
    from forklake.files import systems  # imports pyarrow, which most uses of a catalog do not need

    systems.remove(paths)


def _stored(catalog: Catalog, path: str) -> str:
    """Return the stored form of a full path."""
    return path.removeprefix(catalog.data_path().rstrip("/") + "/")


def _limit(catalog: Catalog, older_than: Moment | None, cleanup_all: bool) -> datetime | None:
    """Return the time before which files may be deleted; None for all files."""
    if cleanup_all and older_than is not None:
        raise InvalidInput(
            "The options cleanup_all and older_than exclude each other.",
            remedy="Use only one of them.",
        )
    if cleanup_all:
        return None
    return (
        moment_of_option(catalog, "delete_older_than")
        if older_than is None
        else moment_of(older_than)
    )


def _batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for first in range(0, len(items), size):
        yield items[first : first + size]
