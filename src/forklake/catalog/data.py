"""Changing data: files, delete files, rows and deletes that live in the metastore."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forklake.catalog.draft import Draft
from forklake.catalog.reading import Snapshotted
from forklake.errors import InvalidInput
from forklake.model.changes import Change, ChangeKind
from forklake.model.children import ColumnMapping, NameMapping
from forklake.model.entities import DataFile, DeleteFile, InlinedDelete, InlinedRow, Table
from forklake.model.files import NewDataFile, NewDeleteFile, NewInlinedRow
from forklake.model.ids import ColumnId, DataFileId, DeleteFileId, MappingId
from forklake.model.plan import TableWork

# Rows of an open transaction show ids from here on until they are committed.
LOCAL_ROW_IDS = 10**18


class DataChanges:
    """The part of a transaction that changes what tables hold."""

    _draft: Draft

    def _ready(self) -> Draft:
        raise NotImplementedError

    def _require(self, table: Table) -> None:
        """NotFound if the table is gone."""
        raise NotImplementedError

    def _committed(self) -> Snapshotted:
        """The catalog without this transaction's changes."""
        raise NotImplementedError

    def _work(self, table: Table, *kinds: ChangeKind) -> TableWork:
        self._require(table)
        for kind in kinds:
            if table.table_id >= 0:
                self._draft.data_changes.add(Change(kind, table.table_id))
        return self._draft.work_on(table)

    # Data files

    def add_data_files(
        self,
        table: Table,
        files: Iterable[NewDataFile],
        *,
        change: ChangeKind = ChangeKind.INSERTED,
    ) -> list[DataFileId]:
        """Add data files. Reads nothing: it may follow whatever others commit meanwhile."""
        staged = [(DataFileId(self._draft.file_ids.take()), file) for file in files]
        for _, file in staged:
            if file.record_count < 0 or file.file_size_bytes < 0:
                raise InvalidInput(
                    f"The data file {file.path!r} has a negative count or size.",
                    remedy="Read them from its footer.",
                )
        if staged:
            self._work(table, change).data_files.extend(staged)
        return [number for number, _ in staged]

    def end_data_files(
        self,
        table: Table,
        files: Sequence[DataFile],
        *,
        change: ChangeKind = ChangeKind.DELETED,
    ) -> None:
        """End whole data files, with the deletes that applied to them."""
        self._ready()
        work = self._work(table, change)
        gone = {file.data_file_id for file in files}
        work.data_files = [one for one in work.data_files if one[0] not in gone]
        work.delete_files = [one for one in work.delete_files if one[1].data_file_id not in gone]
        work.inlined_deletes = [one for one in work.inlined_deletes if one[0] not in gone]
        committed = [file for file in files if file.data_file_id >= 0]
        if not committed:
            return
        ids = [file.data_file_id for file in committed]
        delete_files, inlined = self._committed_deletes(table, ids)
        work.ended_delete_files.extend(delete_files)
        work.ended_inlined_deletes.extend(inlined)
        work.ended_files.extend(committed)

    def replace_data_files(
        self,
        table: Table,
        old: Sequence[DataFile],
        new: Iterable[NewDataFile],
        *,
        change: ChangeKind,
    ) -> list[DataFileId]:
        """Put other files in the place of some, for compaction: the rows stay the same."""
        self.end_data_files(table, old, change=change)
        return self.add_data_files(table, new, change=change)

    def add_delete_files(self, table: Table, files: Sequence[NewDeleteFile]) -> None:
        """Add delete files; each holds all deleted positions of its data file so far."""
        self._ready()
        work = self._work(table, ChangeKind.DELETED)
        ids = [file.data_file_id for file in files if file.data_file_id >= 0]
        previous, inlined = self._committed_deletes(table, ids)
        work.ended_delete_files.extend(previous)
        work.ended_inlined_deletes.extend(inlined)
        # What this transaction deleted from the same files before is in the new ones too.
        again = {file.data_file_id for file in files}
        work.delete_files = [one for one in work.delete_files if one[1].data_file_id not in again]
        work.inlined_deletes = [one for one in work.inlined_deletes if one[0] not in again]
        work.delete_files += [(DeleteFileId(self._draft.file_ids.take()), file) for file in files]

    def truncate(self, table: Table) -> None:
        """End everything that a table holds, at no cost per file."""
        self._ready()
        work = self._work(table, ChangeKind.DELETED)
        self._draft.tables[table.table_id] = TableWork(columns=work.columns, truncates=True)

    def delete_positions(self, table: Table, file: DataFile, positions: Iterable[int]) -> None:
        """Delete rows of a data file by position, recorded in the metastore."""
        self._ready()
        work = self._work(table, ChangeKind.INLINED_DELETE)
        known = {row.row_position for row in self._committed_deletes(table, [file.data_file_id])[1]}
        known.update(place for number, place in work.inlined_deletes if number == file.data_file_id)
        fresh = sorted(set(positions) - known)
        if fresh and not 0 <= fresh[0] <= fresh[-1] < file.record_count:
            raise InvalidInput(
                f"The data file {file.path!r} has no row at one of the positions"
                f" {fresh[0]} to {fresh[-1]}.",
                remedy=f"Positions are 0 to {file.record_count - 1}.",
            )
        work.inlined_deletes += [(file.data_file_id, place) for place in fresh]

    def _committed_deletes(
        self, table: Table, ids: Sequence[DataFileId]
    ) -> tuple[list[DeleteFile], list[InlinedDelete]]:
        """The deletes in force for some data files that this transaction has not ended."""
        if table.table_id < 0 or not ids or max(ids) < 0:
            return [], []
        work = self._draft.work_on(table)
        files, inlined = self._committed().deletes_of(table, ids)
        return (
            [row for row in files if row not in work.ended_delete_files],
            [row for row in inlined if row not in work.ended_inlined_deletes],
        )

    # Rows in the metastore

    def insert_rows(self, table: Table, rows: Iterable[Mapping[str, Any]]) -> int:
        """Keep rows in the metastore; values by column name. Returns how many."""
        columns = {column.column_name: column for column in self._ready().state.columns(table)}
        staged: list[NewInlinedRow] = []
        for row in rows:
            unknown = sorted(set(row) - set(columns))
            if unknown:
                raise InvalidInput(
                    f"Table '{table.table_name}' has no column '{unknown[0]}'.",
                    remedy="Columns are: " + ", ".join(columns),
                )
            for name, column in columns.items():
                if row.get(name) is None and not column.nulls_allowed:
                    raise InvalidInput(
                        f"NOT NULL constraint failed: {table.table_name}.{name}",
                        remedy="Give the column a value.",
                    )
            values = {ColumnId(columns[name].column_id): value for name, value in row.items()}
            staged.append(NewInlinedRow(values))
        if staged:
            self._work(table, ChangeKind.INLINED_INSERT).inlined_rows.extend(staged)
        return len(staged)

    def delete_rows(self, table: Table, rows: Sequence[InlinedRow]) -> None:
        """Delete rows that live in the metastore."""
        self._ready()
        work = self._work(table, ChangeKind.INLINED_DELETE)
        local = {row.row_id - LOCAL_ROW_IDS for row in rows if row.row_id >= LOCAL_ROW_IDS}
        work.inlined_rows = [
            row for position, row in enumerate(work.inlined_rows) if position not in local
        ]
        committed = [row for row in rows if row.row_id < LOCAL_ROW_IDS]
        work.ended_rows.extend(committed)

    def update_rows(
        self, table: Table, rows: Sequence[tuple[InlinedRow, Mapping[str, Any]]]
    ) -> None:
        """Change values of rows that live in the metastore; they keep their row ids."""
        columns = {
            column.column_name: column.column_id for column in self._ready().state.columns(table)
        }
        committed = [(row, values) for row, values in rows if row.row_id < LOCAL_ROW_IDS]
        self.delete_rows(table, [row for row, _ in committed])
        work = self._work(table, ChangeKind.INLINED_INSERT, ChangeKind.INLINED_DELETE)
        for row, values in committed:
            changed = dict(row.values) | {columns[name]: value for name, value in values.items()}
            work.inlined_rows.append(NewInlinedRow(changed, row.row_id))

    # Mappings

    def add_name_mapping(self, table: Table, names: Sequence[tuple[str, ColumnId]]) -> MappingId:
        """How the columns of files that others wrote are called."""
        mapping_id = MappingId(self._draft.file_ids.take())
        self._ready()
        self._draft.add_children(
            [
                ColumnMapping(mapping_id=mapping_id, table_id=table.table_id),
                *(
                    NameMapping(
                        mapping_id=mapping_id,
                        column_id=position,
                        source_name=name,
                        target_field_id=column_id,
                    )
                    for position, (name, column_id) in enumerate(names)
                ),
            ]
        )
        return mapping_id

    # Reading, with what is staged

    def data_files(self, table: Table) -> list[DataFile]:
        """The data files of a table as this transaction sees them."""
        self._ready()
        work = self._draft.tables.get(table.table_id)
        found: list[DataFile] = []
        if table.table_id >= 0 and not (work and work.truncates):
            ended = {file.data_file_id for file in work.ended_files} if work else set()
            committed = self._committed().data_files(table)
            found = [file for file in committed if file.data_file_id not in ended]
        if work:
            found += [
                DataFile(
                    table_id=table.table_id,
                    data_file_id=number,
                    path=file.path,
                    path_is_relative=file.path_is_relative,
                    record_count=file.record_count,
                    file_size_bytes=file.file_size_bytes,
                    footer_size=file.footer_size,
                )
                for number, file in work.data_files
            ]
        return found

    def inlined_rows(self, table: Table) -> list[InlinedRow]:
        """The rows in the metastore as this transaction sees them."""
        self._ready()
        work = self._draft.tables.get(table.table_id)
        found: list[InlinedRow] = []
        if table.table_id >= 0 and not (work and work.truncates):
            ended = {row.row_id for row in work.ended_rows} if work else set()
            committed = self._committed().inlined_rows(table)
            found = [row for row in committed if row.row_id not in ended]
        for position, row in enumerate(work.inlined_rows if work else ()):
            found.append(
                InlinedRow(
                    table_id=table.table_id,
                    row_id=row.row_id if row.row_id is not None else LOCAL_ROW_IDS + position,
                    stored_in="",
                    values=row.values,
                )
            )
        return found
