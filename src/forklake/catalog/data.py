"""Changes of data: data files, delete files, inlined rows and inlined deletes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from forklake.catalog.draft import Draft
from forklake.catalog.snapshot_reads import NameMappings, SnapshotReads, scan_file
from forklake.errors import InvalidInput
from forklake.model.changes import Change, ChangeKind
from forklake.model.children import BY_NAME, ColumnMapping, NameMapping
from forklake.model.entities import DataFile, DeleteFile, InlinedDelete, InlinedRow, Table
from forklake.model.fields import Field
from forklake.model.files import MappedName, NewDataFile, NewDeleteFile, NewInlinedRow
from forklake.model.ids import UNCOMMITTED, ColumnId, DataFileId, DeleteFileId, MappingId
from forklake.model.inlined_values import checked, initial_value, shown
from forklake.model.kinds import COLUMN
from forklake.model.plan import TableWork
from forklake.model.predicates import Anything, Predicate, may_match, question
from forklake.model.scans import FoundFile, ScanFile

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog

# Rows added by an open transaction show ids from here on until it commits.
LOCAL_ROW_IDS = 10**18


class DataChanges:
    """The part of a transaction that changes the data of tables."""

    _catalog: Catalog
    _draft: Draft

    def _ready(self) -> Draft:
        raise NotImplementedError

    def _require(self, table: Table) -> None:
        """Raise NotFound if the table was dropped."""
        raise NotImplementedError

    def committed_view(self) -> SnapshotReads:
        """Return the catalog without the changes of this transaction."""
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
        """Add data files. This reads nothing, so concurrent changes of rows do not conflict."""
        staged = [(DataFileId(self._draft.file_ids.take()), file) for file in files]
        for _, file in staged:
            if file.record_count < 0 or file.file_size_bytes < 0:
                raise InvalidInput(
                    f"The data file {file.path!r} has a negative count or size.",
                    remedy="Take both from the footer of the file.",
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
        deletes: Sequence[DeleteFile] | None = None,
    ) -> None:
        """End whole data files together with their deletes.

        Args:
            deletes: delete files of these data files, if known; otherwise they are looked up.
        """
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
        delete_files, inlined = self._committed_deletes(table, ids, deletes)
        work.ended_delete_files.extend(delete_files)
        work.ended_inlined_deletes.extend(inlined)
        work.ended_files.extend(committed)

    def compact(
        self,
        table: Table,
        change: ChangeKind,
        *,
        files: Sequence[DataFile] = (),
        rows: Sequence[InlinedRow] = (),
        data_files: Iterable[NewDataFile] = (),
        delete_files: Sequence[NewDeleteFile] = (),
    ) -> None:
        """Replace files, inlined rows and deletes by new files with the same visible rows.

        Args:
            change: kind of the compaction.
            files: data files to end, together with their deletes.
            rows: inlined rows to end.
            data_files: new files with these rows, which carry their row ids and snapshots.
            delete_files: new delete files of other data files, in place of their current ones.
        """
        if files:
            self.end_data_files(table, files, change=change)
        if rows:
            self.delete_rows(table, rows, change=change)
        self.add_data_files(table, data_files, change=change)
        if delete_files:
            self.add_delete_files(table, delete_files, change=change)

    def add_delete_files(
        self,
        table: Table,
        files: Sequence[NewDeleteFile],
        *,
        change: ChangeKind = ChangeKind.DELETED,
        deletes: Sequence[DeleteFile] | None = None,
    ) -> list[DeleteFileId]:
        """Add delete files. Each contains all deleted positions of its data file and replaces the
        current deletes of that file.

        Args:
            deletes: current delete files of these data files, if known; else they are looked up.
        """
        self._ready()
        work = self._work(table, change)
        ids = [file.data_file_id for file in files if file.data_file_id >= 0]
        previous, inlined = self._committed_deletes(table, ids, deletes)
        work.ended_delete_files.extend(previous)
        work.ended_inlined_deletes.extend(inlined)
        # The new delete files also contain what this transaction deleted before in these files.
        again = {file.data_file_id for file in files}
        work.delete_files = [one for one in work.delete_files if one[1].data_file_id not in again]
        work.inlined_deletes = [one for one in work.inlined_deletes if one[0] not in again]
        staged = [(DeleteFileId(self._draft.file_ids.take()), file) for file in files]
        work.delete_files += staged
        return [number for number, _ in staged]

    def truncate(self, table: Table) -> None:
        """End all rows of a table, without a cost per file."""
        self._ready()
        work = self._work(table, ChangeKind.DELETED)
        self._draft.tables[table.table_id] = TableWork(columns=work.columns, truncates=True)

    def delete_positions(self, table: Table, file: DataFile, positions: Iterable[int]) -> None:
        """Delete rows of a data file by position, as inlined deletes."""
        self._ready()
        work = self._work(table, ChangeKind.INLINED_DELETE)
        known = {row.row_position for row in self._committed_deletes(table, [file.data_file_id])[1]}
        known.update(place for number, place in work.inlined_deletes if number == file.data_file_id)
        fresh = sorted(set(positions) - known)
        if fresh and not 0 <= fresh[0] <= fresh[-1] < file.record_count:
            raise InvalidInput(
                f"The data file {file.path!r} has no row at one of the positions"
                f" {fresh[0]} to {fresh[-1]}.",
                remedy=f"Valid positions are 0 to {file.record_count - 1}.",
            )
        work.inlined_deletes += [(file.data_file_id, place) for place in fresh]

    def _committed_deletes(
        self,
        table: Table,
        ids: Sequence[DataFileId],
        known: Sequence[DeleteFile] | None = None,
    ) -> tuple[list[DeleteFile], list[InlinedDelete]]:
        """Return the committed deletes of data files, without those this transaction has ended."""
        if known is not None:
            return list(known), []
        if table.table_id < 0 or not ids or max(ids) < 0:
            return [], []
        work = self._draft.work_on(table)
        files, inlined = self.committed_view().deletes_of(table, ids)
        return (
            [row for row in files if row not in work.ended_delete_files],
            [row for row in inlined if row not in work.ended_inlined_deletes],
        )

    # Inlined rows

    def insert_rows(
        self,
        table: Table,
        rows: Iterable[Mapping[str, Any]],
        row_ids: Iterable[int | None] = (),
    ) -> int:
        """Insert inlined rows, given as values by column name; return their number.

        Args:
            row_ids: for each row the id of the row that it is a new version of, or None if new.
        """
        fields = {field.name: field for field in self._ready().state.fields(table)}
        staged = [
            NewInlinedRow(_checked_row(table, fields, row), row_id)
            for row, row_id in zip_longest(rows, row_ids)
        ]
        if staged:
            self._work(table, ChangeKind.INLINED_INSERT).inlined_rows.extend(staged)
        return len(staged)

    def delete_rows(
        self,
        table: Table,
        rows: Sequence[InlinedRow],
        *,
        change: ChangeKind = ChangeKind.INLINED_DELETE,
    ) -> None:
        """Delete inlined rows."""
        self._ready()
        work = self._work(table, change)
        staged = {row.row_id for row in rows if _is_staged(row)}
        work.inlined_rows = [
            row
            for position, row in enumerate(work.inlined_rows)
            if _shown_id(row, position) not in staged
        ]
        work.ended_rows.extend(row for row in rows if not _is_staged(row))

    def update_rows(
        self, table: Table, rows: Sequence[tuple[InlinedRow, Mapping[str, Any]]]
    ) -> None:
        """Change values of inlined rows, which keep their row ids."""
        fields = {field.name: field for field in self._ready().state.fields(table)}
        changes = [
            (row, _checked_row(table, fields, _named(fields, row) | dict(values)))
            for row, values in rows
        ]
        kinds = (ChangeKind.INLINED_INSERT, ChangeKind.INLINED_DELETE)
        work = self._work(table, *kinds)
        staged = {row.row_id: values for row, values in changes if _is_staged(row)}
        work.inlined_rows = [
            NewInlinedRow(staged.get(_shown_id(row, position), row.values), row.row_id)
            for position, row in enumerate(work.inlined_rows)
        ]
        for row, values in changes:
            if not _is_staged(row):
                work.ended_rows.append(row)
                work.inlined_rows.append(NewInlinedRow(values, row.row_id))

    # Mappings

    def add_name_mapping(
        self,
        table: Table,
        names: Sequence[MappedName | tuple[str, ColumnId]],
        *,
        is_owned: bool = False,
        type: str = BY_NAME,
    ) -> MappingId:
        """Add a mapping of names in foreign files to columns, or return an equal existing one.

        Args:
            is_owned: the table owns the files and deletes them when they are not needed any more.
            type: source of the values of columns that are not in the files.
        """
        self._ready()
        wanted = [MappedName(*one) for one in names]
        asked = ColumnMapping(
            mapping_id=MappingId(0), table_id=table.table_id, is_owned=is_owned, type=type
        )
        for mapping_id, (mapping, found) in self.name_mappings(table).items():
            same = replace(asked, mapping_id=mapping_id, catalog_id=mapping.catalog_id)
            if mapping == same and [row.mapped_name for row in found] == wanted:
                return mapping_id
        mapping_id = MappingId(self._draft.file_ids.take())
        self._draft.add_children(
            [
                replace(asked, mapping_id=mapping_id),
                *(NameMapping.of(mapping_id, position, one) for position, one in enumerate(wanted)),
            ]
        )
        return mapping_id

    def name_mappings(self, table: Table) -> NameMappings:
        """Return all mappings of a table, including those of this transaction."""
        state = self._ready().state
        staged = [one for one in self._draft.children if isinstance(one, ColumnMapping)]
        committed = self.committed_view().name_mappings(table) if table.table_id >= 0 else {}
        return committed | {
            one.mapping_id: (one, state.children(NameMapping, one.mapping_id))
            for one in staged
            if one.table_id == table.table_id
        }

    def name_mapping(self, mapping_id: MappingId) -> tuple[ColumnMapping, list[NameMapping]]:
        """Return a mapping and its names."""
        if mapping_id >= 0:
            return self.committed_view().name_mapping(mapping_id)
        state = self._ready().state
        return (
            state.children(ColumnMapping, mapping_id)[0],
            state.children(NameMapping, mapping_id),
        )

    # Reads, including staged changes

    def _work_seen(self, table: Table) -> TableWork:
        """Return the data changes of a table, for reading only."""
        self._ready()
        return self._draft.tables.get(table.table_id) or TableWork(columns=())

    def data_files(self, table: Table) -> list[DataFile]:
        """Return the data files of a table as this transaction sees them."""
        work = self._work_seen(table)
        found: list[DataFile] = []
        if table.table_id >= 0 and not work.truncates:
            ended = {file.data_file_id for file in work.ended_files}
            committed = self.committed_view().data_files(table)
            found = [file for file in committed if file.data_file_id not in ended]
        return found + [file for file, _ in _staged_files(table, work)]

    def scan_files(self, table: Table, predicate: Predicate | None = None) -> list[ScanFile]:
        """Return the data files that may have rows matching a predicate, as this transaction sees
        them."""
        work = self._work_seen(table)
        found: list[FoundFile] = []
        if table.table_id >= 0 and not work.truncates:
            ended = {file.data_file_id for file in work.ended_files}
            committed = self.committed_view().found_files(table, predicate)
            found = [one for one in committed if one.file.data_file_id not in ended]
        nodes = self._draft.state.beneath(COLUMN, table.table_id)
        types = {row.column_id: row.column_type for row in nodes}
        asked = question(predicate, types) if predicate is not None else Anything()
        found += [
            FoundFile(file)
            for file, new in _staged_files(table, work)
            if may_match(asked, {bound.column_id: bound for bound in new.bounds})
        ]
        return [scan_file(self._catalog.paths, one) for one in _with_staged_deletes(found, work)]

    def inlined_rows(self, table: Table) -> list[InlinedRow]:
        """Return the inlined rows of a table as this transaction sees them."""
        work = self._work_seen(table)
        found: list[InlinedRow] = []
        fields = self._draft.state.fields(table)
        if table.table_id >= 0 and not work.truncates:
            ended = {row.row_id for row in work.ended_rows}
            committed = self.committed_view().inlined_rows(table, fields)
            found = [row for row in committed if row.row_id not in ended]
        for position, row in enumerate(work.inlined_rows):
            found.append(
                InlinedRow(
                    table_id=table.table_id,
                    row_id=_shown_id(row, position),
                    stored_in="",
                    values={
                        field.column_id: shown(field, row.values[field.column_id])
                        if field.column_id in row.values
                        else initial_value(field)
                        for field in fields
                    },
                )
            )
        return found


def _checked_row(
    table: Table, fields: Mapping[str, Field], row: Mapping[str, Any]
) -> dict[ColumnId, Any]:
    """Return a validated value for each column; NULL for columns that the row lacks."""
    unknown = sorted(set(row) - set(fields))
    if unknown:
        raise InvalidInput(
            f"Table '{table.table_name}' has no column '{unknown[0]}'.",
            remedy="Columns are: " + ", ".join(fields) + ".",
        )
    for name, field in fields.items():
        if row.get(name) is None and not field.nulls_allowed:
            raise InvalidInput(
                f"NOT NULL constraint failed: {table.table_name}.{name}",
                remedy="Set a value for this column.",
            )
    return {field.column_id: checked(field, row.get(name)) for name, field in fields.items()}


def _named(fields: Mapping[str, Field], row: InlinedRow) -> dict[str, Any]:
    return {name: row.values.get(field.column_id) for name, field in fields.items()}


def _is_staged(row: InlinedRow) -> bool:
    return row.begin_snapshot == UNCOMMITTED


def _shown_id(row: NewInlinedRow, position: int) -> int:
    return row.row_id if row.row_id is not None else LOCAL_ROW_IDS + position


def _staged_files(table: Table, work: TableWork) -> list[tuple[DataFile, NewDataFile]]:
    """Return new files as rows, in the form that readers see before the commit."""
    found = []
    next_row_id = LOCAL_ROW_IDS + len(work.inlined_rows)
    for order, (number, new) in enumerate(work.data_files):
        file = DataFile(
            table_id=table.table_id,
            data_file_id=number,
            file_order=order,
            path=new.path,
            path_is_relative=new.path_is_relative,
            file_format=new.file_format,
            record_count=new.record_count,
            file_size_bytes=new.file_size_bytes,
            footer_size=new.footer_size,
            row_id_start=next_row_id if new.row_ids else None,
            partition_id=new.partition_id,
            encryption_key=new.encryption_key,
            partial_file_info=new.partial_file_info,
            mapping_id=new.mapping_id,
        )
        next_row_id += new.record_count if new.row_ids else 0
        found.append((file, new))
    return found


def _with_staged_deletes(found: Sequence[FoundFile], work: TableWork) -> list[FoundFile]:
    """Return files with the deletes as of this transaction.

    A new delete file replaces all other deletes of its data file.
    """
    replaced = {new.data_file_id: (number, new) for number, new in work.delete_files}
    ended_files = {row.delete_file_id for row in work.ended_delete_files}
    ended = {(row.data_file_id, row.row_position) for row in work.ended_inlined_deletes}
    added: dict[DataFileId, list[int]] = {}
    for data_file_id, position in work.inlined_deletes:
        added.setdefault(data_file_id, []).append(position)
    seen = []
    for one in found:
        number, file = one.file.data_file_id, one.delete_file
        if file is not None and file.delete_file_id in ended_files:
            file = None
        if number in replaced:
            file = _staged_delete_file(one.file, *replaced[number])
        kept = [place for place in one.deleted_positions if (number, place) not in ended]
        positions = tuple(sorted([*kept, *added.get(number, ())]))
        seen.append(FoundFile(one.file, file, positions))
    return seen


def _staged_delete_file(file: DataFile, number: DeleteFileId, new: NewDeleteFile) -> DeleteFile:
    return DeleteFile(
        table_id=file.table_id,
        delete_file_id=number,
        data_file_id=file.data_file_id,
        path=new.path,
        path_is_relative=new.path_is_relative,
        format=new.format,
        delete_count=new.delete_count,
        file_size_bytes=new.file_size_bytes,
        footer_size=new.footer_size,
        encryption_key=new.encryption_key,
    )
