"""Clean-up: files that nobody can see any more are removed from storage.

Nothing is removed that any row of any catalog knows. That is looked up again under a lock, inside
the transaction that takes the files off the list of those that wait; files are removed before it
commits, so that whoever is cut short leaves them on the list, and the next clean-up goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from forklake.catalog.expiry import Moment, moment_of, moment_of_option
from forklake.catalog.known_files import find_known_files
from forklake.errors import InvalidInput
from forklake.files.paths import resolve
from forklake.store import known
from forklake.store.database import Connection, Lock
from forklake.store.heads import head_statement
from forklake.store.known import Known
from forklake.store.phases import reached
from forklake.store.scheduled import ScheduledFile, list_scheduled, unschedule

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog

T = TypeVar("T")
# Files in a transaction.
BATCH = 1_000
# Files of a folder that are compared with the metastore at once.
_LISTED = 10_000
_SUFFIX = ".parquet"


def cleanup_old_files(
    catalog: Catalog,
    *,
    older_than: Moment | None = None,
    cleanup_all: bool = False,
    dry_run: bool = False,
) -> list[str]:
    """Remove files that were noted for removal before a moment; returns their paths.

    Args:
        older_than: the moment. Without it, the option `delete_older_than` says.
        cleanup_all: all of them, however young.
        dry_run: only tell which ones it would be.
    """
    before = _limit(catalog, older_than, cleanup_all)
    with catalog.database.reading() as connection:
        waiting = list_scheduled(connection, catalog.catalog_id, before=before)
        if dry_run:
            return _removable(catalog, connection, waiting)
    return remove_scheduled(catalog, waiting)


def remove_scheduled(catalog: Catalog, waiting: Sequence[ScheduledFile]) -> list[str]:
    """Remove files that wait for it; returns their paths."""
    removed: list[str] = []
    for batch in _batches(waiting, BATCH):
        with catalog.database.writing() as connection:
            connection.run(connection.lock(Lock.SWEEP))
            reached("cleanup.locked")
            paths = _removable(catalog, connection, batch)
            _remove(paths)
            reached("cleanup.removed")
            # Also those that are still known: when their last row goes, they are noted again.
            connection.commit([unschedule(connection, catalog.catalog_id, batch)])
            reached("cleanup.committed")
        removed += paths
    return removed


def _removable(
    catalog: Catalog, connection: Connection, files: Sequence[ScheduledFile]
) -> list[str]:
    """The full paths of those of some files that no row knows."""
    full = {file.data_file_id: _full(catalog, file) for file in files}
    numbers = known.known_numbers(connection, list(full))
    own: list[str] = []
    added: list[str] = []
    for file in files:
        if file.data_file_id not in numbers:
            (own if file.path_is_relative else added).append(full[file.data_file_id])
    # A file of a catalog's folder can only be another's that added it. One that was added and
    # handed over can lie anywhere, also in the folder of another catalog.
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
    """Remove files of a catalog's own folder that nobody knows; returns their paths.

    Such files are left by writes that never finished. Those of writes under way look the same: only
    files last changed before a moment are looked at. Folders of Delta and Iceberg tables are left
    alone: their own logs name their files. Arguments as of `cleanup_old_files`.
    """
    from forklake.files.finding import files_outside_of_tables
    from forklake.files.systems import list_files

    before = _limit(catalog, older_than, cleanup_all)
    if catalog.row.data_path is None:
        return []  # it has no folder
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
            found = known.known_paths(connection, list(stored), catalog.catalog_id)
            unknown += [path for one, path in stored.items() if one not in found]
    removed: list[str] = []
    for batch in _batches(unknown, BATCH):
        removed += _remove_unknown(catalog, batch, dry_run=dry_run)
    return removed


def _remove_unknown(catalog: Catalog, paths: Sequence[str], *, dry_run: bool) -> list[str]:
    """Remove those of some files that no catalog knows. Commits of this one wait meanwhile."""
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
    from forklake.files import systems  # loads Arrow, which most uses of a catalog need not

    systems.remove(paths)


def _stored(catalog: Catalog, path: str) -> str:
    """A full path as rows have it."""
    return path.removeprefix(catalog.data_path().rstrip("/") + "/")


def _limit(catalog: Catalog, older_than: Moment | None, cleanup_all: bool) -> datetime | None:
    """The moment before which files may go; None if all may."""
    if cleanup_all and older_than is not None:
        raise InvalidInput(
            "Files are chosen by either cleanup_all OR older_than, and not by both.",
            remedy="Give one of them.",
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
