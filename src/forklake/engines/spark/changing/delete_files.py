"""New delete files written by executors: one task per data file.

For positions that are too many to be collected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, StringType, StructField, StructType

from forklake.engines.local.delete_files import DeleteFiles
from forklake.engines.row_matches import FILE, POSITION
from forklake.engines.spark.routes import PARTITION_PREFIX, ListedFile
from forklake.files import keys
from forklake.files.footers import read_footers
from forklake.model.ids import DataFileId
from forklake.model.scans import ScanFile
from forklake.store.phases import reached

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

_FIELD_IDS = {"file_path": 2147483646, "pos": 2147483645}
_FOLDER = "deletes"  # of files that executors write, each below the number of its data file
_NUMBER = PARTITION_PREFIX + "data_file"


@dataclass(frozen=True)
class ExecutorDeleteFiles:
    """Writer of delete files for a table by the Parquet writer of Spark."""

    engine: Engine
    files: DeleteFiles

    def add(self, changed: Sequence[ScanFile], rows: DataFrame) -> None:
        """Add delete files for rows with the columns FILE and POSITION."""
        job_key = keys.new_key() if self.files.target.is_encrypted else None
        paths = self.engine.write(
            self._contents(changed, rows),
            self.files.target.folder + _FOLDER,
            field_ids=_FIELD_IDS,
            partition_by=[_NUMBER],
            job_key=job_key,
        )
        self.files.change.wrote(paths)
        reached("delete.files")
        own_keys = {path: keys.derived_key(job_key, path) for path in paths} if job_key else {}
        footers = read_footers(paths, {}, keys=own_keys)
        self.files.change.transaction.add_delete_files(
            self.files.target.table,
            [
                self.files.describe(
                    _number_in(path), path, footer.record_count, footer, own_keys.get(path)
                )
                for path, footer in zip(paths, footers, strict=True)
            ],
        )

    def _contents(self, changed: Sequence[ScanFile], rows: DataFrame) -> DataFrame:
        """Return the rows of the delete files, with all rows of one file in one task."""
        names = self.engine.spark.createDataFrame(
            pa.table([_numbers(changed), [one.path for one in changed]], names=[FILE, "path"]),
            StructType([StructField(FILE, LongType()), StructField("path", StringType())]),
        )
        return (
            rows.select(FILE, POSITION)
            .union(self._old_positions(changed))
            .join(F.broadcast(names), FILE)
            .repartition(F.col(FILE))
            .sortWithinPartitions(FILE, POSITION)
            .select(
                F.col("path").alias("file_path"),
                F.col(POSITION).alias("pos"),
                F.col(FILE).alias(_NUMBER),
            )
        )

    def _old_positions(self, changed: Sequence[ScanFile]) -> DataFrame:
        """Return the positions deleted before, from the metastore and the old delete files."""
        pairs = [(one.file.data_file_id, at) for one in changed for at in one.deleted_positions]
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
                self.files.old_key(one),
            )
            for one in changed
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


def _numbers(files: Sequence[ScanFile]) -> pa.Array:
    return pa.array([one.file.data_file_id for one in files], pa.int64())


def _number_in(path: str) -> DataFileId:
    """Return the number of the data file, which is in the folder name of its delete file."""
    return DataFileId(int(path.rsplit("/", 2)[1].partition("=")[2]))
