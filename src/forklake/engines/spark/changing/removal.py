"""Removal of rows that were found: whole files, positions in files, and inlined rows.

Row positions take a few bytes each and are brought to the driver unless there are very many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from forklake.catalog.data import LOCAL_ROW_IDS
from forklake.engines.changes import PendingChange
from forklake.engines.local.delete_files import DeleteFiles
from forklake.engines.row_matches import FILE, POSITION, ROW
from forklake.engines.spark.changing.delete_files import ExecutorDeleteFiles
from forklake.engines.spark.remote import persisted
from forklake.engines.spark.writing import align
from forklake.engines.targets import Target
from forklake.errors import InvalidInput
from forklake.model.ids import DataFileId
from forklake.model.scans import ScanFile

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

# More positions than this are not collected on the driver.
MOST_POSITIONS = 20_000_000


@dataclass(frozen=True, slots=True)
class Ended:
    """Number of rows that were ended, and whether the transaction itself had added some of them."""

    count: int
    has_new: bool


@dataclass(frozen=True)
class Removal:
    """Removal of rows from some files of a table and from its inlined rows."""

    engine: Engine
    change: PendingChange
    target: Target
    files: Sequence[ScanFile]

    def end(self, rows: DataFrame, *, refuse_doubles: bool = False) -> Ended:
        """End rows, given by their columns FILE, POSITION and ROW.

        With `refuse_doubles`, raise InvalidInput if a row occurs twice.
        """
        places = rows.select(FILE, POSITION, ROW)
        with align.translating():
            if sum(one.file.record_count for one in self.files) <= MOST_POSITIONS:
                return self._end_few(places.toArrow(), refuse_doubles)
            with persisted(places) as kept:
                if kept.count() <= MOST_POSITIONS:
                    return self._end_few(kept.toArrow(), refuse_doubles)
                return self._end_many(kept, refuse_doubles)

    def _end_few(self, places: pa.Table, refuse_doubles: bool) -> Ended:
        in_files = places.filter(pc.is_valid(places[FILE]))
        grouped = in_files.group_by(FILE).aggregate([(POSITION, "list")])
        found = {
            DataFileId(number.as_py()): positions.values
            for number, positions in zip(grouped[FILE], grouped[f"{POSITION}_list"], strict=True)
        }
        row_ids = places.filter(pc.is_null(places[FILE]))[ROW].to_pylist()
        if refuse_doubles:
            _refuse_doubles(
                len(set(row_ids)) < len(row_ids)
                or any(pc.count_distinct(one).as_py() < len(one) for one in found.values())
            )
        rest = self._without_whole_files({number: len(one) for number, one in found.items()})
        deletes = [(file, found[file.file.data_file_id]) for file in rest]
        if places.num_rows <= self.target.inlined_rows:
            for file, positions in deletes:
                self.change.transaction.delete_positions(
                    self.target.table, file.file, positions.to_pylist()
                )
        elif deletes:
            self._delete_files.add(deletes)
        return self._end_inlined(row_ids, list(found), places.num_rows)

    def _end_many(self, places: DataFrame, refuse_doubles: bool) -> Ended:
        in_files = places.where(F.col(FILE).isNotNull())
        inlined = places.where(F.col(FILE).isNull()).select(ROW).collect()
        if refuse_doubles:
            doubles = places.groupBy(FILE, POSITION, ROW).count().where("count > 1")
            _refuse_doubles(not doubles.isEmpty())
        counts = {
            DataFileId(int(row[FILE])): int(row["count"])
            for row in in_files.groupBy(FILE).count().collect()
        }
        rest = self._without_whole_files(counts)
        if rest:
            numbers = [int(one.file.data_file_id) for one in rest]
            writer = ExecutorDeleteFiles(self.engine, self._delete_files)
            writer.add(rest, in_files.where(F.col(FILE).isin(numbers)))
        row_ids = [int(row[ROW]) for row in inlined]
        return self._end_inlined(row_ids, list(counts), sum(counts.values()) + len(row_ids))

    @property
    def _delete_files(self) -> DeleteFiles:
        return DeleteFiles(self.change, self.target)

    @cached_property
    def _by_number(self) -> dict[DataFileId, ScanFile]:
        return {one.file.data_file_id: one for one in self.files}

    def _without_whole_files(self, counts: Mapping[DataFileId, int]) -> list[ScanFile]:
        """End the files of which no row remains, and return the other files."""
        whole: list[ScanFile] = []
        rest: list[ScanFile] = []
        for number, count in counts.items():
            file = self._by_number[number]
            left = file.live_rows - count
            (rest if left else whole).append(file)
        if whole:
            self.change.transaction.end_data_files(self.target.table, [one.file for one in whole])
        return rest

    def _end_inlined(
        self, row_ids: Sequence[int], files: Sequence[DataFileId], count: int
    ) -> Ended:
        """End the inlined rows too, and return the result."""
        transaction, table = self.change.transaction, self.target.table
        if row_ids:
            wanted = set(row_ids)
            transaction.delete_rows(
                table, [row for row in transaction.inlined_rows(table) if row.row_id in wanted]
            )
        has_new = any(number < 0 for number in files) or any(
            row_id >= LOCAL_ROW_IDS for row_id in row_ids
        )
        return Ended(count, has_new)


def _refuse_doubles(has_doubles: bool) -> None:
    if has_doubles:
        raise InvalidInput(
            "A row of the table is matched by more than one row of the source.",
            remedy="Make the rows of the source unique, or match on more columns.",
        )
