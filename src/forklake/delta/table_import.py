"""Import of a Delta table into a catalog, with its history; its files are shared, not copied.

The whole log is read and validated first, then read again and committed in batches of versions. So
an invalid log changes nothing, and memory grows with the number of live files, not with the log. If
the table exists, the import continues from its newest version: an interrupted import is resumed by
running it again, and the same function follows a log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from posixpath import abspath, basename

from forklake.catalog.catalog import Catalog
from forklake.catalog.delta_tables import FaceReading, find_face
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.delta.actions import Metadata
from forklake.delta.live import LiveFiles
from forklake.delta.log.delta_log import DeltaLog
from forklake.delta.log_loader import LogLoader
from forklake.delta.log_validation import LogCheck
from forklake.delta.stored_actions import find_stored_action
from forklake.errors import AlreadyExists, Conflict, Forbidden, InvalidInput
from forklake.files.systems import file_system, is_local
from forklake.model.delta_tables import FaceMode
from forklake.model.entities import Table
from forklake.model.fields import UNREADABLE
from forklake.model.kinds import TAG


class ImportStage(StrEnum):
    """The stages of an import, in order."""

    CHECKING = "checking"
    LOADING = "loading"


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """Progress of a stage: versions done, total versions, and the files added so far."""

    stage: ImportStage
    versions: int
    total: int
    files: int


ProgressCallback = Callable[[ImportProgress], None]


@dataclass(frozen=True, slots=True)
class DeltaImportResult:
    """Result of an import: the range of loaded versions, and the number of live files."""

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
    progress: ProgressCallback = lambda at: None,
) -> DeltaImportResult:
    """Import the Delta table at a location, or update a table that was imported from it.

    Args:
        ignore_features: make rows readable even if the log requires unknown reader features or has
            no protocol. Query results may then be wrong.
    """
    root = canonical_location(location)
    target = (schema, name or basename(root))
    log = DeltaLog(root).open()
    loader = LogLoader(catalog, target, root, ignore_features=ignore_features)
    after, check = _resume(catalog, loader, log, target, ignore_features=ignore_features)
    total = log.latest_version - after
    check.run(log, after, _ProgressCounter(ImportStage.CHECKING, total, progress).add)
    del check  # frees its large set of file keys
    count = _ProgressCounter(ImportStage.LOADING, total, progress)
    first = next((one.number for one in log.versions(after)), after + 1)
    loader.load(log.versions(after), count.add)
    return DeltaImportResult(*target, first, log.latest_version, count.versions, len(loader.live))


@dataclass(slots=True)
class _ProgressCounter:
    """Counter of the versions of a stage, which calls the watcher."""

    stage: ImportStage
    total: int
    callback: ProgressCallback
    versions: int = 0
    files: int = 0

    def add(self, files: int) -> None:
        self.versions += 1
        self.files += files
        self.callback(ImportProgress(self.stage, self.versions, self.total, self.files))


def canonical_location(location: str) -> str:
    """Return the unique form of a table location: absolute, without a trailing slash."""
    return abspath(file_system(location)[1]) if is_local(location) else location.rstrip("/")


def _resume(
    catalog: Catalog,
    loader: LogLoader,
    log: DeltaLog,
    target: tuple[str, str],
    *,
    ignore_features: bool,
) -> tuple[int, LogCheck]:
    """Return the version of the existing table, or -1, and the check of the versions after it."""
    seen = catalog.now()
    table = _find_imported_table(seen, target, log.root)
    if table is None:
        return -1, LogCheck(log.root)
    if ignore_features and seen.state.get(TAG, (table.table_id, UNREADABLE)) is not None:
        raise InvalidInput(
            f"The table '{table.table_name}' was imported without ignore_features, which cannot be"
            " changed.",
            remedy="Import the Delta table under another name.",
        )
    reading = FaceReading(seen, table)
    loader.resume(seen, table)
    at = reading.latest().version
    _require_same_log(loader, log, reading, at)
    metadata = find_stored_action(reading, Metadata)
    assert metadata is not None  # the first version has metadata
    return at, LogCheck(log.root, metadata, LiveFiles(loader.live.vectors.items()))


def _find_imported_table(
    seen: SnapshotReads, target: tuple[str, str], location: str
) -> Table | None:
    """Return the table imported from the log. Raise AlreadyExists if the name is used otherwise."""
    schema, name = target
    found = seen.state.find_relation(name, schema) if seen.state.find_schema(schema) else None
    if found is None:
        return None
    delta_table = find_face(seen.state, found) if isinstance(found, Table) else None
    is_here = delta_table is not None and delta_table.catalog_id == seen.state.catalog_id
    if (
        delta_table is None
        or not isinstance(found, Table)
        or not is_here
        or delta_table.location != location
    ):
        raise AlreadyExists(
            f"Table or view '{schema}.{name}' already exists, and is not the Delta table at"
            f" {location!r}.",
            remedy="Import the Delta table under another name.",
        )
    if delta_table.mode != FaceMode.FOLLOW:
        raise Forbidden(
            f"The table '{schema}.{name}' does not follow the Delta log at {location!r}: Forklake"
            " is its writer.",
            remedy="Import the log under another name.",
        )
    return found


def _require_same_log(loader: LogLoader, log: DeltaLog, reading: FaceReading, at: int) -> None:
    """Raise Conflict if the log is no longer the one that the table was imported from."""
    found = next(log.versions(at - 1), None)
    if found is None:
        fault = f"it ends at version {log.latest_version}, but the table is at version {at}"
    elif found.number == at and not loader.has_loaded(reading, found):
        fault = f"its version {at} differs from the one in the table"
    else:
        return
    raise Conflict(
        f"The Delta log at {log.root!r} was rewritten: {fault}.",
        remedy="Drop the table, and import it again.",
        version=at,
    )
