"""Removal of rows that were found: whole files, positions in files, and inlined rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from forklake.catalog.data import LOCAL_ROW_IDS
from forklake.engines.local.delete_files import DeleteFiles
from forklake.engines.row_matches import FILE, POSITION, ROW, Matching
from forklake.errors import InvalidInput
from forklake.model.ids import DataFileId
from forklake.model.scans import ScanFile


@dataclass(frozen=True, slots=True)
class Ended:
    """Number of rows that were ended, and whether the transaction itself had added some of them."""

    count: int
    has_new: bool


@dataclass(frozen=True)
class Removal:
    """Removal of rows from some files of a table and from its inlined rows."""

    found: Matching

    def end(self, places: pa.Table, *, refuse_doubles: bool = False) -> Ended:
        """End rows, given by their columns FILE, POSITION and ROW.

        With `refuse_doubles`, raise InvalidInput if a row occurs twice.
        """
        in_files = places.filter(pc.is_valid(places[FILE]))
        grouped = in_files.group_by(FILE).aggregate([(POSITION, "list")])
        found = {
            DataFileId(number.as_py()): positions.values
            for number, positions in zip(grouped[FILE], grouped[f"{POSITION}_list"], strict=True)
        }
        row_ids = places.filter(pc.is_null(places[FILE]))[ROW].to_pylist()
        if refuse_doubles:
            refuse_duplicates(
                len(set(row_ids)) < len(row_ids)
                or any(pc.count_distinct(one).as_py() < len(one) for one in found.values())
            )
        rest = self.end_whole_files({number: len(one) for number, one in found.items()})
        deletes = [(file, found[file.file.data_file_id]) for file in rest]
        if places.num_rows <= self.found.target.inlined_rows:
            for file, positions in deletes:
                self.found.change.transaction.delete_positions(
                    self.found.target.table, file.file, positions.to_pylist()
                )
        elif deletes:
            self.delete_files.add(deletes)
        return self.end_inlined(row_ids, list(found), places.num_rows)

    @property
    def delete_files(self) -> DeleteFiles:
        """Writer of delete files for the table."""
        return DeleteFiles(self.found.change, self.found.target)

    @cached_property
    def _by_number(self) -> dict[DataFileId, ScanFile]:
        return {one.file.data_file_id: one for one in self.found.files}

    def end_whole_files(self, counts: Mapping[DataFileId, int]) -> list[ScanFile]:
        """End the files of which no row remains, and return the other files."""
        whole: list[ScanFile] = []
        rest: list[ScanFile] = []
        for number, count in counts.items():
            file = self._by_number[number]
            left = file.live_rows - count
            (rest if left else whole).append(file)
        if whole:
            self.found.change.transaction.end_data_files(
                self.found.target.table, [one.file for one in whole]
            )
        return rest

    def end_inlined(self, row_ids: Sequence[int], files: Sequence[DataFileId], count: int) -> Ended:
        """End the inlined rows too, and return the result."""
        transaction, table = self.found.change.transaction, self.found.target.table
        if row_ids:
            wanted = set(row_ids)
            transaction.delete_rows(
                table, [row for row in transaction.inlined_rows(table) if row.row_id in wanted]
            )
        has_new = any(number < 0 for number in files) or any(
            row_id >= LOCAL_ROW_IDS for row_id in row_ids
        )
        return Ended(count, has_new)


def refuse_duplicates(has_doubles: bool) -> None:
    """Raise InvalidInput if a row of the table was found more than once."""
    if has_doubles:
        raise InvalidInput(
            "A row of the table is matched by more than one row of the source.",
            remedy="Make the rows of the source unique, or match on more columns.",
        )
