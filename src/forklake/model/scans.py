"""What a scan reads: data files, each with its deletes, their paths resolved."""

from __future__ import annotations

from dataclasses import dataclass

from forklake.errors import Unsupported
from forklake.model.entities import DataFile, DeleteFile, InlinedRow
from forklake.model.ids import UNCOMMITTED, SnapshotId

_PARTIAL = "partial_max:"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A data file and the rows of it that are deleted, as the metastore has them."""

    file: DataFile
    delete_file: DeleteFile | None = None
    deleted_positions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScanFile:
    """A data file and the rows of it that are deleted.

    A file that the open transaction staged has a negative id and begins at UNCOMMITTED.
    """

    file: DataFile
    path: str
    delete_file: DeleteFile | None = None
    delete_path: str | None = None
    deleted_positions: tuple[int, ...] = ()

    @property
    def has_deletes(self) -> bool:
        """Whether rows of it are deleted."""
        return self.delete_file is not None or bool(self.deleted_positions)

    @property
    def deleted_rows(self) -> int:
        """How many rows of it are deleted."""
        in_file = self.delete_file.delete_count if self.delete_file is not None else 0
        return in_file + len(self.deleted_positions)

    @property
    def live_rows(self) -> int:
        """How many rows are not deleted."""
        return self.file.record_count - self.deleted_rows


def is_partial(file: ScanFile, snapshot: SnapshotId) -> bool:
    """Whether a file may have rows that came after a snapshot."""
    return _newest_row(file) > snapshot


def _newest_row(file: ScanFile) -> int:
    """The newest snapshot whose rows are in a file, if it was put together from several."""
    info = file.file.partial_file_info
    if info is None:
        return UNCOMMITTED
    if not info.startswith(_PARTIAL):
        raise Unsupported(
            f"The file {file.path!r} says {info!r} about its snapshots, which is not understood.",
            remedy="Rewrite the file with the program that wrote it.",
        )
    return int(info.removeprefix(_PARTIAL))


@dataclass(frozen=True, slots=True)
class Outline:
    """The data files of a table without a list of them: how many, of how many bytes.

    Only those that are not read like all others are listed: files with deleted rows, with names of
    their own, with rows of several snapshots, or from before a given snapshot.
    """

    count: int
    size: int
    special: tuple[ScanFile, ...]


@dataclass(frozen=True, slots=True)
class DeletedRows:
    """Rows of a data file that a snapshot deleted: those that `after` lacks, of those in `before`.

    `after` is None where the snapshot ended the whole file.
    """

    snapshot_id: SnapshotId
    before: ScanFile
    after: ScanFile | None


@dataclass(frozen=True, slots=True)
class TableChanges:
    """What happened to the rows of a table from one snapshot to another, both included.

    Things are in the order of their snapshots: added files and inserted rows tell theirs by their
    begin. A row that is changed is deleted and inserted in one snapshot under one row id.

    Args:
        added: data files that began, with what the same snapshot deleted from them, and older
            ones that may hold rows of these snapshots.
        deleted: rows of data files that were deleted, after the snapshot that added the file.
        inserted_rows: rows of the metastore that began.
        deleted_rows: rows of the metastore that ended, and when.
        rewrites: snapshots that only moved rows: merged files, or wrote out inlined rows.
        mixed: snapshots that moved some rows, and also inserted or deleted some.
    """

    added: tuple[ScanFile, ...]
    deleted: tuple[DeletedRows, ...]
    inserted_rows: tuple[InlinedRow, ...]
    deleted_rows: tuple[tuple[SnapshotId, InlinedRow], ...]
    rewrites: frozenset[SnapshotId]
    mixed: frozenset[SnapshotId]
