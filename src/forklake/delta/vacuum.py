"""Vacuum: delete files below the root of a mirrored Delta table that its log no longer needs.

A file that the lake shares has a link below the root, which keeps its bytes after the lake deletes
its own path. Needed are live files, and files that were removed within the retention period. Paths
that any catalog references are never deleted here: the clean-up of the lake deletes them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from forklake.catalog.catalog import Catalog
from forklake.catalog.expiry import Moment, moment_of
from forklake.catalog.known_files import find_known_files
from forklake.delta.actions import Add, AnyAction, Cdc, Metadata, Remove
from forklake.delta.log.delta_log import DeltaLog, LogVersion
from forklake.delta.log.paths import full_path
from forklake.delta.log.replay import LogState
from forklake.delta.mirror_writer import Mirror
from forklake.errors import Conflict, InvalidInput
from forklake.files.systems import Listed, file_system, is_local, list_files, remove
from forklake.files.vectors import vector_path
from forklake.model.entities import Table

_RETENTION = "delta.deletedFileRetentionDuration"
_DEFAULT = "interval 1 week"
_INTERVAL = re.compile(r"(?:interval\s+)?(\d+)\s+(second|minute|hour|day|week)s?", re.IGNORECASE)


def vacuum_table(
    catalog: Catalog, table: Table, *, older_than: Moment | None = None, dry_run: bool = False
) -> list[str]:
    """Delete the files that the log of a mirrored table no longer needs, and return their paths.

    Args:
        older_than: only files that were removed from the table before this time; by default
            the table property `delta.deletedFileRetentionDuration`, or a week ago.
        dry_run: only return the paths.
    """
    mirror = Mirror(catalog, table)
    if mirror.status.state == "DIVERGED":
        raise Conflict(
            f"Another writer has committed to the Delta table '{table.table_name}' at"
            f" {mirror.location!r}, so its files may be in use.",
            remedy="See `forklake delta check`, and resolve the foreign commits first.",
        )
    # List before reading the log: a listed file that is committed meanwhile is then in the log.
    listed = _list_data_files(mirror.location)
    state, versions = LogState(), []
    for version in DeltaLog(mirror.location).open().versions():
        state.apply(version)
        versions.append(version)
    before = _retention_start(state.metadata) if older_than is None else moment_of(older_than)
    needed = set(_needed_paths(mirror.location, state, versions, before))
    candidates = [one.path for one in listed if one.path not in needed and _is_older(one, before)]
    unneeded = _without_references(catalog, candidates)
    if not dry_run:
        remove(unneeded)
    return unneeded


def _list_data_files(location: str) -> list[Listed]:
    log = f"{location}/_delta_log/"
    return [one for one in list_files(location) if not one.path.startswith(log)]


def _is_older(file: Listed, before: datetime) -> bool:
    """Return whether a file was put at its path before a time.

    A new link shares the modification time of its old file, so local files are compared by their
    status change time.
    """
    appeared = file.modified
    if is_local(file.path):
        changed = os.stat(file_system(file.path)[1]).st_ctime
        appeared = datetime.fromtimestamp(changed, UTC)
    return appeared is not None and appeared < before


def _needed_paths(
    location: str, state: LogState, versions: Iterable[LogVersion], before: datetime
) -> Iterator[str]:
    """Yield the files of live rows, and all files in actions since a time."""
    since = int(before.timestamp() * 1000)
    for add in state.adds.values():
        yield from _action_paths(location, add)
    for version in versions:
        for action in version.actions:
            removed = isinstance(action, Remove) and (action.deletion_timestamp or 0) >= since
            if version.timestamp_ms >= since or removed:
                yield from _action_paths(location, action)


def _action_paths(location: str, action: AnyAction) -> Iterator[str]:
    if isinstance(action, Add | Remove | Cdc):
        yield full_path(location, action.path)
    vector = action.deletion_vector if isinstance(action, Add | Remove) else None
    if vector is not None:
        path = vector_path(vector.storage_type, vector.path_or_inline, location)
        if path is not None:
            yield path


def _without_references(catalog: Catalog, paths: list[str]) -> list[str]:
    """Return the files that no row of any catalog references."""
    if not paths:
        return []
    with catalog.database.reading() as connection:
        known = find_known_files(connection, paths)
    return [path for path in paths if path not in known]


def _retention_start(metadata: Metadata | None) -> datetime:
    """Return the time before which removed files are not needed."""
    text = (metadata.configuration if metadata else {}).get(_RETENTION) or _DEFAULT
    found = _INTERVAL.fullmatch(text.strip())
    if found is None:
        raise InvalidInput(
            f"The table property {_RETENTION} has the value {text!r}, which is not an interval.",
            remedy="Set it to a value such as 'interval 7 days', or pass older_than.",
        )
    return datetime.now(UTC) - timedelta(**{f"{found[2].lower()}s": int(found[1])})
