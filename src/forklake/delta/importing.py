"""A Delta table becomes a table of a catalog: its files stay, its history comes along.

First the whole log is read and checked, then it is read again and its versions are committed, many
at a time: a log that is not right changes nothing, and what is kept in memory grows with the files
that are live, not with the log. A table that is there already goes on from its newest version, so
that an import which was cut short is simply run again, and following a log is the same thing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from posixpath import abspath, basename

from forklake.catalog.catalog import Catalog
from forklake.catalog.faces import FaceReading, find_face
from forklake.catalog.reading import Snapshotted
from forklake.delta.actions import Metadata
from forklake.delta.checking import LogCheck
from forklake.delta.live import LiveFiles
from forklake.delta.loading import Loader
from forklake.delta.log.reading import DeltaLog
from forklake.delta.stating import stated
from forklake.errors import AlreadyExists, Conflict, Forbidden, InvalidInput
from forklake.files.systems import file_system, is_local
from forklake.model.entities import Table
from forklake.model.faces import FaceMode
from forklake.model.fields import UNREADABLE
from forklake.model.kinds import TAG


class Stage(StrEnum):
    """What an import does: one after the other."""

    CHECKING = "checking"
    LOADING = "loading"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a stage has got: versions of those that there are, and the files that they add."""

    stage: Stage
    versions: int
    total: int
    files: int


Watcher = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Imported:
    """A table that was imported: how many versions came, and the files it has now."""

    schema: str
    table: str
    first_version: int
    version: int
    loaded: int
    files: int


def import_delta(
    catalog: Catalog,
    location: str,
    name: str | None = None,
    *,
    schema: str = "main",
    ignore_features: bool = False,
    progress: Watcher = lambda at: None,
) -> Imported:
    """Make a table of the Delta table at a location, or bring one that was made up to date.

    Args:
        ignore_features: let rows be read though the log demands something unknown of readers, or
            says nothing of it. They may be wrong.
    """
    root = canonical_location(location)
    target = (schema, name or basename(root))
    log = DeltaLog(root).open()
    loader = Loader(catalog, target, root, ignore_features=ignore_features)
    after, check = _resumed(catalog, loader, log, target, ignore_features=ignore_features)
    total = log.latest_version - after
    check.run(log, after, _Count(Stage.CHECKING, total, progress).add)
    del check  # what it knows of files is much
    count = _Count(Stage.LOADING, total, progress)
    first = next((one.number for one in log.versions(after)), after + 1)
    loader.load(log.versions(after), count.add)
    return Imported(*target, first, log.latest_version, count.versions, len(loader.live))


@dataclass(slots=True)
class _Count:
    """Counts the versions of a stage."""

    stage: Stage
    total: int
    watcher: Watcher
    versions: int = 0
    files: int = 0

    def add(self, files: int) -> None:
        self.versions += 1
        self.files += files
        self.watcher(Progress(self.stage, self.versions, self.total, self.files))


def canonical_location(location: str) -> str:
    """The one form of a table's location: in full, without a slash at its end."""
    return abspath(file_system(location)[1]) if is_local(location) else location.rstrip("/")


def _resumed(
    catalog: Catalog,
    loader: Loader,
    log: DeltaLog,
    target: tuple[str, str],
    *,
    ignore_features: bool,
) -> tuple[int, LogCheck]:
    """The version that the table has, -1 if there is none yet, and the check of what follows."""
    seen = catalog.now()
    table = _table_there(seen, target, log.root)
    if table is None:
        return -1, LogCheck(log.root)
    if ignore_features and seen.state.get(TAG, (table.table_id, UNREADABLE)) is not None:
        raise InvalidInput(
            f"The table '{table.table_name}' was imported without ignoring features.",
            remedy="Import it under another name.",
        )
    reading = FaceReading(seen, table)
    loader.resume(seen, table)
    at = reading.latest().version
    _require_continued(loader, log, reading, at)
    metadata = stated(reading, Metadata)
    assert metadata is not None  # the first version said it
    return at, LogCheck(log.root, metadata, LiveFiles(loader.live.vectors.items()))


def _table_there(seen: Snapshotted, target: tuple[str, str], location: str) -> Table | None:
    """The table that was made of the log; AlreadyExists if the name is something else's."""
    schema, name = target
    found = seen.state.find_relation(name, schema) if seen.state.find_schema(schema) else None
    if found is None:
        return None
    face = find_face(seen.state, found) if isinstance(found, Table) else None
    is_here = face is not None and face.catalog_id == seen.state.catalog_id
    if face is None or not isinstance(found, Table) or not is_here or face.location != location:
        raise AlreadyExists(
            f"Table or view '{schema}.{name}' already exists, and is not the Delta table at"
            f" {location!r}.",
            remedy="Import it under another name.",
        )
    if face.mode != FaceMode.FOLLOW:
        raise Forbidden(
            f"The table '{schema}.{name}' does not follow the Delta log at {location!r}: it is"
            " changed here, and its log is written from here.",
            remedy="Read it as it is, or import the log under another name.",
        )
    return found


def _require_continued(loader: Loader, log: DeltaLog, reading: FaceReading, at: int) -> None:
    """Conflict if the log is not the one any more that the table was made of."""
    found = next(log.versions(at - 1), None)
    if found is None:
        fault = f"it ends at version {log.latest_version}, and the table is at version {at}"
    elif found.number == at and not loader.has_loaded(reading, found):
        fault = f"it has another version {at} than the table"
    else:
        return
    raise Conflict(
        f"The Delta log at {log.root!r} was rewritten: {fault}.",
        remedy="Drop the table, then import it again.",
        version=at,
    )
