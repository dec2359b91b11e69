"""New delete files of a table, each with all deleted row positions of its data file so far.

They are written in parallel, by threads of this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from forklake.engines.changes import PendingChange
from forklake.engines.targets import Target
from forklake.files import keys
from forklake.files.deletes import Deleted, WrittenDeleteFile, read_positions, write_delete_files
from forklake.files.footers import Footer
from forklake.files.systems import in_parallel
from forklake.model.files import NewDeleteFile
from forklake.model.ids import DataFileId
from forklake.model.scans import ScanFile
from forklake.store.phases import reached


@dataclass(frozen=True)
class DeleteFiles:
    """Writer of delete files for a table, as part of a change."""

    change: PendingChange
    target: Target

    def add(self, files: Sequence[tuple[ScanFile, pa.Array]]) -> None:
        """Add a delete file for each of some data files with newly deleted positions."""
        self.change.transaction.add_delete_files(self.target.table, self.written(files))

    def written(self, files: Sequence[tuple[ScanFile, pa.Array]]) -> list[NewDeleteFile]:
        """Write a delete file for each data file, without adding it to the transaction."""
        everything = in_parallel(lambda item: self._with_old(*item), files)
        own_keys = [keys.new_key() if self.target.is_encrypted else None for _ in files]
        deletes = [
            Deleted(file.path, positions, key)
            for (file, _), positions, key in zip(files, everything, own_keys, strict=True)
        ]
        written = write_delete_files(self.target.folder, deletes)
        self.change.wrote(one.path for one in written)
        reached("delete.files")
        return [
            self.describe(file.file.data_file_id, one.path, one.delete_count, one, key)
            for (file, _), one, key in zip(files, written, own_keys, strict=True)
        ]

    def _with_old(self, file: ScanFile, positions: pa.Array) -> pa.Array:
        """Return the positions together with those of the same file that were deleted before."""
        parts = [positions, pa.array(file.deleted_positions, pa.int64())]
        if file.delete_path is not None:
            parts.append(read_positions(file.delete_path, file.path, key=self.old_key(file)))
        return pa.concat_arrays(parts)

    # Keys

    @cached_property
    def _key_encryption_key(self) -> keys.Key | None:
        return keys.load_key_encryption_key()

    def old_key(self, file: ScanFile) -> keys.Key | None:
        """Return the key of the delete file that a data file has; None if it is not encrypted."""
        stored = file.delete_file.encryption_key if file.delete_file is not None else None
        return None if stored is None else keys.unwrap(stored, self._key_encryption_key)

    def describe(
        self,
        number: DataFileId,
        path: str,
        count: int,
        sizes: WrittenDeleteFile | Footer,
        key: keys.Key | None,
    ) -> NewDeleteFile:
        """Return the metadata of a new delete file for the data file with this number."""
        return NewDeleteFile(
            number,
            self.target.stored(path),
            count,
            sizes.file_size_bytes,
            sizes.footer_size,
            encryption_key=None if key is None else keys.wrap(key, self._key_encryption_key),
        )
