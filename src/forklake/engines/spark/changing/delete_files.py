"""New delete files of a table, each with all deleted row positions of its data file so far.

The driver writes them in parallel. If there are too many positions to collect them, executors write
them with the Parquet writer of Spark: one task per data file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, StringType, StructField, StructType

from forklake.engines.spark.engine import PARTITION_PREFIX, Engine, ListedFile
from forklake.engines.spark.reading.scan import FILE, POSITION
from forklake.engines.targets import Target
from forklake.files import keys
from forklake.files.deletes import Deleted, WrittenDeleteFile, read_positions, write_delete_files
from forklake.files.footers import Footer, read_footers
from forklake.files.systems import in_parallel
from forklake.model.files import NewDeleteFile
from forklake.model.ids import DataFileId
from forklake.model.scans import ScanFile
from forklake.session.work import Change
from forklake.store.phases import reached

_FIELD_IDS = {"file_path": 2147483646, "pos": 2147483645}
_FOLDER = "deletes"  # of files that executors write, each below the number of its data file
_NUMBER = PARTITION_PREFIX + "data_file"


@dataclass(frozen=True)
class DeleteFiles:
    """Writer of delete files for a table, as part of a change."""

    engine: Engine
    change: Change
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
            self._new(file.file.data_file_id, one.path, one.delete_count, one, key)
            for (file, _), one, key in zip(files, written, own_keys, strict=True)
        ]

    def _with_old(self, file: ScanFile, positions: pa.Array) -> pa.Array:
        """Return the positions together with those of the same file that were deleted before."""
        parts = [positions, pa.array(file.deleted_positions, pa.int64())]
        if file.delete_path is not None:
            parts.append(read_positions(file.delete_path, file.path, key=self._old_key(file)))
        return pa.concat_arrays(parts)

    def add_by_executors(self, files: Sequence[ScanFile], rows: DataFrame) -> None:
        """Add delete files for rows with the columns FILE and POSITION, written by executors."""
        job_key = keys.new_key() if self.target.is_encrypted else None
        paths = self.engine.write(
            self._contents(files, rows),
            self.target.folder + _FOLDER,
            field_ids=_FIELD_IDS,
            partition_by=[_NUMBER],
            job_key=job_key,
        )
        self.change.wrote(paths)
        reached("delete.files")
        own_keys = {path: keys.derived_key(job_key, path) for path in paths} if job_key else {}
        footers = read_footers(paths, {}, keys=own_keys)
        self.change.transaction.add_delete_files(
            self.target.table,
            [
                self._new(_number_in(path), path, footer.record_count, footer, own_keys.get(path))
                for path, footer in zip(paths, footers, strict=True)
            ],
        )

    def _contents(self, files: Sequence[ScanFile], rows: DataFrame) -> DataFrame:
        """Return the rows of the delete files, with all rows of one file in one task."""
        names = self.engine.spark.createDataFrame(
            pa.table([_numbers(files), [one.path for one in files]], names=[FILE, "path"]),
            StructType([StructField(FILE, LongType()), StructField("path", StringType())]),
        )
        return (
            rows.select(FILE, POSITION)
            .union(self._old_positions(files))
            .join(F.broadcast(names), FILE)
            .repartition(F.col(FILE))
            .sortWithinPartitions(FILE, POSITION)
            .select(
                F.col("path").alias("file_path"),
                F.col(POSITION).alias("pos"),
                F.col(FILE).alias(_NUMBER),
            )
        )

    def _old_positions(self, files: Sequence[ScanFile]) -> DataFrame:
        """Return the positions deleted before, from the metastore and the old delete files."""
        pairs = [(one.file.data_file_id, at) for one in files for at in one.deleted_positions]
        kept = self.engine.spark.createDataFrame(
            pa.table(
                [pa.array([pair[at] for pair in pairs], pa.int64()) for at in (0, 1)],
                names=[FILE, POSITION],
            ),
            StructType([StructField(FILE, LongType()), StructField(POSITION, LongType())]),
        )
        listed = [
            ListedFile(
                one.delete_path,
                one.delete_file.file_size_bytes,
                (int(one.file.data_file_id),),
                self._old_key(one),
            )
            for one in files
            if one.delete_file is not None and one.delete_path is not None
        ]
        if not listed:
            return kept
        in_files = self.engine.relation(
            StructType([StructField("pos", LongType())]),
            StructType([StructField(FILE, LongType())]),
            lambda _: listed,
            size=sum(one.size for one in listed),
        )
        return kept.union(in_files.select(FILE, "pos"))

    # Keys

    @cached_property
    def _key_encryption_key(self) -> keys.Key | None:
        return keys.load_key_encryption_key()

    def _old_key(self, file: ScanFile) -> keys.Key | None:
        stored = file.delete_file.encryption_key if file.delete_file is not None else None
        return None if stored is None else keys.unwrap(stored, self._key_encryption_key)

    def _new(
        self,
        number: DataFileId,
        path: str,
        count: int,
        sizes: WrittenDeleteFile | Footer,
        key: keys.Key | None,
    ) -> NewDeleteFile:
        return NewDeleteFile(
            number,
            self.target.stored(path),
            count,
            sizes.file_size_bytes,
            sizes.footer_size,
            encryption_key=None if key is None else keys.wrap(key, self._key_encryption_key),
        )


def _numbers(files: Sequence[ScanFile]) -> pa.Array:
    return pa.array([one.file.data_file_id for one in files], pa.int64())


def _number_in(path: str) -> DataFileId:
    """Return the number of the data file, which is in the folder name of its delete file."""
    return DataFileId(int(path.rsplit("/", 2)[1].partition("=")[2]))
