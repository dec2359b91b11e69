"""Input of scans: data files with their deletes and resolved paths."""

from __future__ import annotations

from dataclasses import dataclass

from forklake.errors import Unsupported
from forklake.model.entities import DataFile, DeleteFile, InlinedRow
from forklake.model.ids import UNCOMMITTED, SnapshotId

_PARTIAL = "partial_max:"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A data file and its deleted rows, as stored in the metastore."""

    file: DataFile
    delete_file: DeleteFile | None = None
    deleted_positions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScanFile:
    """A data file and its deleted rows, with resolved paths.

    A file staged by the open transaction has a negative id and begins at UNCOMMITTED.
    """

    file: DataFile
    path: str
    delete_file: DeleteFile | None = None
    delete_path: str | None = None
    deleted_positions: tuple[int, ...] = ()

    @property
    def has_deletes(self) -> bool:
        """Whether it has deleted rows."""
        return self.delete_file is not None or bool(self.deleted_positions)

    @property
    def deleted_rows(self) -> int:
        """Number of its deleted rows."""
        in_file = self.delete_file.delete_count if self.delete_file is not None else 0
        return in_file + len(self.deleted_positions)

    @property
    def live_rows(self) -> int:
        """Number of its rows that are not deleted."""
        return self.file.record_count - self.deleted_rows


def is_partial(file: ScanFile, snapshot: SnapshotId) -> bool:
    """Return whether a file may contain rows that are newer than a snapshot."""
    return _newest_row(file) > snapshot


def _newest_row(file: ScanFile) -> int:
    """Return the newest snapshot of the rows in a merged file; UNCOMMITTED for other files."""
    info = file.file.partial_file_info
    if info is None:
        return UNCOMMITTED
    if not info.startswith(_PARTIAL):
        raise Unsupported(
            f"The file {file.path!r} has unsupported information about its snapshots: {info!r}.",
            remedy="Rewrite the file with the program that wrote it.",
        )
    return int(info.removeprefix(_PARTIAL))


@dataclass(frozen=True, slots=True)
class Outline:
    """Summary of the data files of a table: their number and total bytes.

    Only files that need special treatment are listed: files with deleted rows, with a column
    mapping, with rows of several snapshots, or from before a given snapshot.
    """

    count: int
    size: int
    special: tuple[ScanFile, ...]


@dataclass(frozen=True, slots=True)
class DeletedRows:
    """Rows of a data file that a snapshot deleted: rows in `before` that are not in `after`.

    `after` is None if the snapshot ended the whole file.
    """

    snapshot_id: SnapshotId
    before: ScanFile
    after: ScanFile | None


@dataclass(frozen=True, slots=True)
class TableChanges:
    """Changes to the rows of a table from one snapshot to another, both included.

    All parts are in the order of snapshots; for added files and inserted rows it is the one in
    which they begin. An updated row is deleted and inserted in one snapshot under one row id.

    Args:
        added: data files that began, with the rows that the same snapshot deleted from them, and
            older files that may contain rows of these snapshots.
        deleted: rows that were deleted from data files, after the snapshot that added the file.
        inserted_rows: inlined rows that began.
        deleted_rows: inlined rows that ended, each with the snapshot that ended it.
        rewrites: snapshots that only moved rows: compactions and flushes of inlined rows.
        mixed: snapshots that moved some rows, and also inserted or deleted rows.
    """

    added: tuple[ScanFile, ...]
    deleted: tuple[DeletedRows, ...]
    inserted_rows: tuple[InlinedRow, ...]
    deleted_rows: tuple[tuple[SnapshotId, InlinedRow], ...]
    rewrites: frozenset[SnapshotId]
    mixed: frozenset[SnapshotId]
