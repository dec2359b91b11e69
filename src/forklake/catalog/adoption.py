"""Adoption of objects from another catalog: they become part of this one under the same ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forklake.catalog.draft import Draft
from forklake.model.changes import Change, ChangeKind
from forklake.model.children import Child
from forklake.model.entities import Row, Table
from forklake.model.files import NewDataFile, NewDeleteFile, NewInlinedRow
from forklake.model.ids import ColumnId
from forklake.model.merges import AdoptedFile, MergeNote, RowIds
from forklake.model.plan import TableWork


class Adopting:
    """The part of a transaction that adopts definitions, files and rows of another catalog."""

    _draft: Draft
    merge: MergeNote | None

    def _ready(self) -> Draft:
        raise NotImplementedError

    def _work(self, table: Table, *kinds: ChangeKind) -> TableWork:
        raise NotImplementedError

    def note_merge(self, note: MergeNote) -> None:
        """Record the source of this merge: the catalog, the snapshot and the tables."""
        self._ready().data_changes.add(Change(ChangeKind.MERGED_FROM, note.source_id))
        self.merge = note

    # Definitions

    def adopt(self, rows: Iterable[Row], children: Iterable[Child] = ()) -> None:
        """Adopt definitions in place of those with the same ids. Their children exist already."""
        draft = self._ready()
        draft.know(children)
        for row in rows:
            draft.put(row)

    def retire(self, rows: Iterable[Row]) -> None:
        """End definitions; a table ends with everything that belongs to it."""
        draft = self._ready()
        for row in rows:
            if isinstance(row, Table):
                draft.drop_table(row)
            else:
                draft.end(row)

    # Data

    def reserve_row_ids(self, table: Table, ids: RowIds) -> None:
        """Reserve as many row ids as the other catalog has assigned to new rows."""
        self._ready()
        self._work(table).row_ids = ids

    def adopt_files(self, table: Table, files: Sequence[AdoptedFile], first: int) -> None:
        """Add data files with their deletes. Rows that carry no id get one of the reserved ids.

        Args:
            first: the row id, in the other catalog, that maps to the first reserved id.
        """
        if not files:
            return
        work = self._work(table, ChangeKind.INSERTED)
        for one in files:
            number = one.file.data_file_id
            work.data_files.append((number, _new_file(one, first)))
            if one.delete_file is not None:
                new = _new_delete_file(one)
                work.delete_files.append((one.delete_file.delete_file_id, new))
            work.inlined_deletes += [(number, place) for place in one.deleted_positions]

    def adopt_rows(
        self, table: Table, rows: Iterable[tuple[int, Mapping[ColumnId, Any]]], first: int
    ) -> int:
        """Add inlined rows of another catalog, given with their ids there; return their number.

        Args:
            first: the row id, in the other catalog, that maps to the first reserved id.
        """
        new = [NewInlinedRow(dict(values), row_id_offset=number - first) for number, values in rows]
        if new:
            self._work(table, ChangeKind.INLINED_INSERT).inlined_rows.extend(new)
        return len(new)


def _new_file(one: AdoptedFile, first: int) -> NewDataFile:
    file = one.file
    return NewDataFile(
        file.path,
        file.record_count,
        file.file_size_bytes,
        file.footer_size,
        file.path_is_relative,
        file.file_format,
        one.bounds,
        file.partition_id,
        encryption_key=file.encryption_key,
        partial_file_info=file.partial_file_info,
        mapping_id=file.mapping_id,
        row_ids=file.row_id_start is not None,
        row_id_offset=None if file.row_id_start is None else file.row_id_start - first,
    )


def _new_delete_file(one: AdoptedFile) -> NewDeleteFile:
    file = one.delete_file
    assert file is not None
    return NewDeleteFile(
        file.data_file_id,
        file.path,
        file.delete_count,
        file.file_size_bytes,
        file.footer_size,
        file.path_is_relative,
        file.format,
        file.encryption_key,
    )
