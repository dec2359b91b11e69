"""Scans: the rows of a table at a snapshot, or in a transaction, as a DataFrame.

All plain files of Forklake are one relation with physical names, read by Spark itself. Other files
are relations of their own, combined by a union: files with deleted rows, files of other writers,
files from before a type promotion that Spark does not read, files with rows of later snapshots.
These are listed when the DataFrame is created. Plain files are listed when Spark plans a query,
with its filters, so that files without matching rows are not read from the metastore. The rows are
always those of the snapshot at which the DataFrame was created.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import lru_cache, partial, reduce
from itertools import repeat
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    BooleanType,
    DataType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from forklake.catalog.catalog_view import CatalogView
from forklake.engines.file_groups import Group, GroupedFiles
from forklake.engines.layouts import Layout, folder_values, mapped
from forklake.engines.pushdown import predicate_of
from forklake.engines.row_matches import FILE, POSITION, ROW
from forklake.engines.spark.long_numbers import cast_long_numbers
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.reading.inlined import inlined_frame
from forklake.engines.spark.reading.projection import (
    filled_here,
    folder_column,
    project_column,
    schema_of,
)
from forklake.engines.spark.remote import analysed
from forklake.engines.spark.routes import FileDeletes, IsDeleted, ListedFile
from forklake.engines.spark.types import shown_field
from forklake.errors import Corruption, InvalidInput
from forklake.files import keys
from forklake.model.entities import InlinedRow, Table
from forklake.model.fields import Field
from forklake.model.files import LINEAGE, ROW_ID, SNAPSHOT_ID, UNREAD_VECTOR
from forklake.model.ids import UNCOMMITTED, ColumnId
from forklake.model.names import folded
from forklake.model.scans import ScanFile
from forklake.model.values import from_text

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

_VIRTUAL: dict[str, DataType] = {
    "rowid": LongType(),
    "snapshot_id": LongType(),
    "filename": StringType(),
    "file_row_number": LongType(),
    "file_index": LongType(),
}
_POSITIONS: dict[str, DataType] = {FILE: LongType(), POSITION: LongType(), ROW: LongType()}
# Columns that files store only for moved rows; also the names by which they are requested.
_ROW_IDS, _SNAPSHOTS = {"rowid", ROW, ROW_ID}, {"snapshot_id", SNAPSHOT_ID}

# Values that are the same for all rows of a file. Columns of tables do not have these names.
_FILE, _ROW_START, _BEGAN = "_ducklake_file", "_ducklake_row_start", "_ducklake_began"
_PATH, _INDEX = "_ducklake_path", "_ducklake_index"
_POSITION = "_metadata.row_index"
_KEPT_LISTINGS = 4
# The Parquet reader compares zeros in dictionaries by sign: it would skip 0.0 for -0.0.
_ZEROS_DIFFER = {"parquet.filter.dictionary.enabled": "false"}
# Most writers leave NaN, the highest number, out of bounds. The native file format checks which
# filters that concerns. Without it, Spark must not skip parts of such files.
_NAN_UNSEEN = {
    "parquet.filter.stats.enabled": "false",
    "parquet.filter.columnindex.enabled": "false",
}


def scan(
    engine: Engine,
    view: CatalogView,
    table: Table,
    *,
    where: str | None = None,
    virtual: Sequence[str] = (),
    positions: bool = False,
    files: Sequence[ScanFile] | None = None,
) -> DataFrame:
    """Return the rows of a table: its columns, then the requested virtual columns.

    With `positions`, add FILE, the id of the data file, and POSITION, the row number in it,
    both null for inlined rows, and ROW, the row id. With `files`, read only those, and the
    inlined rows.
    """
    fields = view.state.fields(table)
    asked = _asked(virtual, positions, fields, table)
    if files is None and where is not None:
        wanted = predicate_of([where], fields, zone=zone_of(engine.spark))
        files = view.scan_files(table, wanted) if wanted is not None else None
    grouped = GroupedFiles(view, table, fields, files)
    reading = _GroupReader(engine, view, fields, asked, grouped)
    branches = [reading.branch(group) for group in grouped.sizes]
    rows = view.inlined_rows(table)
    if rows or not branches:
        branches.append(inlined_frame(engine.spark, fields, rows, asked, grouped.count))
    whole = reduce(DataFrame.union, branches)
    return whole if where is None else _filter_rows(whole, where, table)


def shown_schema(view: CatalogView, table: Table, *, virtual: Sequence[str] = ()) -> StructType:
    """Return the columns that `scan` returns."""
    fields = view.state.fields(table)
    own = [shown_field(field) for field in fields]
    return StructType([*own, *_asked(virtual, False, fields, table)])


def scan_chosen(
    engine: Engine,
    view: CatalogView,
    table: Table,
    files: Sequence[ScanFile],
    *,
    virtual: Sequence[str] = (),
    positions: bool = False,
    constants: Sequence[Constant] = (),
) -> list[DataFrame]:
    """Return the rows of some files of a table, as frames to be united.

    The columns are those of `scan`, then constants, which have one value per file. The files
    may have ended, and a file may occur more than once.
    """
    fields = view.state.fields(table)
    asked = _asked(virtual, positions, fields, table)
    grouped = GroupedFiles(view, table, fields, files)
    reading = _GroupReader(engine, view, fields, asked, grouped, constants)
    return [reading.branch(group) for group in grouped.sizes]


def scan_to_move(
    engine: Engine,
    view: CatalogView,
    table: Table,
    files: Sequence[ScanFile] = (),
    rows: Sequence[InlinedRow] = (),
) -> DataFrame:
    """Return rows of files and inlined rows as new files store them.

    They have physical names, and keep their row ids and snapshots. The inlined rows must have
    been read with the fields `as_stored`.
    """
    fields = tuple(field.as_stored() for field in view.state.fields(table))
    lineage = [StructField(name, LongType()) for name in LINEAGE]
    grouped = GroupedFiles(view, table, fields, files)
    reading = _GroupReader(engine, view, fields, lineage, grouped)
    frames = [reading.branch(group) for group in grouped.sizes]
    if rows:
        frames.append(inlined_frame(engine.spark, fields, rows, lineage, len(files)))
    return reduce(DataFrame.union, frames)


def deleted_test(engine: Engine, files: Iterable[tuple[int, ScanFile]]) -> IsDeleted:
    """Return a function (number of a file, position of a row) -> whether the row is deleted."""
    key_encryption_key = keys.load_key_encryption_key()
    deletes, own_keys = [], {}
    for number, file in files:
        _require_known_deletes(file)
        deletes.append(FileDeletes(number, file.path, file.delete_path, file.deleted_positions))
        stored = file.delete_file.encryption_key if file.delete_file is not None else None
        if stored is not None and file.delete_path is not None:
            own_keys[file.delete_path] = keys.unwrap(stored, key_encryption_key)
    return engine.deleted(deletes, keys=own_keys)


def _require_known_deletes(file: ScanFile) -> None:
    if file.delete_file is not None and file.delete_file.format == UNREAD_VECTOR:
        raise Corruption(
            f"The deleted rows of {file.path!r} are unknown: the deletion vector in"
            f" {file.delete_path!r} was missing or damaged when the table was imported.",
            remedy="Restore the deletion vector, drop the table and import it again; or read"
            " another version.",
            path=file.delete_path,
        )


def has_nulls(engine: Engine, view: CatalogView, table: Table, path: Sequence[str]) -> bool:
    """Return whether some row has NULL in a column, or in a field of a struct that is not NULL."""
    names = [quoted(name) for name in path]
    where = f"{'.'.join(names)} IS NULL"
    if len(names) > 1:
        where += f" AND {'.'.join(names[:-1])} IS NOT NULL"
    return not scan(engine, view, table, where=where).isEmpty()


def zone_of(spark: SparkSession) -> tzinfo | None:
    """Return the time zone of a Spark session; None if Python does not have it."""
    name = str(spark.conf.get("spark.sql.session.timeZone"))
    if name in {"UTC", "Etc/UTC", "GMT", "Z"}:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _asked(
    virtual: Sequence[str], positions: bool, fields: Sequence[Field], table: Table
) -> list[StructField]:
    taken = {folded(field.name) for field in fields}
    for name in virtual:
        if name not in _VIRTUAL:
            raise InvalidInput(
                f"Virtual column {name!r} does not exist.",
                remedy=f"Use one of: {', '.join(_VIRTUAL)}.",
            )
        if name in taken:
            raise InvalidInput(
                f"Table '{table.table_name}' has a column {name!r}, which hides the virtual column"
                " of that name.",
                remedy="Rename the column of the table.",
            )
    kinds = _VIRTUAL | _POSITIONS
    names = [*dict.fromkeys(virtual), *(_POSITIONS if positions else ())]
    return [StructField(name, kinds[name]) for name in names]


def _filter_rows(rows: DataFrame, where: str, table: Table) -> DataFrame:
    try:
        return analysed(rows.where(cast_long_numbers(where)))
    except AnalysisException as reason:
        raise InvalidInput(
            f"The condition {where!r} cannot be used on table '{table.table_name}':"
            f" {str(reason).splitlines()[0]}",
            remedy="Write a condition on its columns in Spark SQL.",
        ) from None


@dataclass(frozen=True, slots=True)
class Constant:
    """Column with one value for all rows of a file, computed for a list of files."""

    name: str
    type: DataType
    values: Callable[[Sequence[ScanFile]], Iterable[object]]


class _FolderValues:
    """Values of columns that are not stored in files, loaded once for all such columns."""

    def __init__(self, layout: Layout, grouped: GroupedFiles) -> None:
        self._layout = layout
        self._grouped = grouped
        self._last: tuple[Sequence[ScanFile], list[dict[ColumnId, str | None]]] = ((), [])

    def of(self, files: Sequence[ScanFile]) -> list[dict[ColumnId, str | None]]:
        known, values = self._last  # one tuple: Spark may list in several threads
        if files is not known:
            seen, table = self._grouped.committed, self._grouped.table
            values = folder_values(self._layout, seen, table, files)
            self._last = (files, values)
        return values


class _GroupReader:
    """Relations for the files of a table, group by group."""

    def __init__(
        self,
        engine: Engine,
        view: CatalogView,
        fields: tuple[Field, ...],
        asked: Sequence[StructField],
        files: GroupedFiles,
        further: Sequence[Constant] = (),
    ) -> None:
        self._engine = engine
        self._view = view
        self._fields = fields
        self._asked = asked
        self._files = files
        self._further = further
        self._key_encryption_key = keys.load_key_encryption_key()

    # Listing

    def _list(
        self,
        group: Group,
        layout: Layout,
        constants: Sequence[Constant],
        filters: Sequence[str],
    ) -> list[ListedFile]:
        """Return the files of a group that may have rows which pass the filters of Spark."""
        wanted = predicate_of(filters, layout.in_files, physical=True, zone=UTC)
        files = self._files.matching(group, wanted)
        columns = [constant.values(files) for constant in constants]
        rows = zip(*columns, strict=True) if columns else repeat((), len(files))
        return [
            ListedFile(
                file.path, file.file.file_size_bytes, row, self._key(file.file.encryption_key)
            )
            for file, row in zip(files, rows, strict=True)
        ]

    def _key(self, stored: str | None) -> keys.Key | None:
        return None if stored is None else keys.unwrap(stored, self._key_encryption_key)

    # Relations

    def branch(self, group: Group) -> DataFrame:
        """Return the rows of a group."""
        layout = Layout(self._files.layout(group))
        if group.mapping_id is not None:
            layout = mapped(layout, *self._view.name_mapping(group.mapping_id))
        constants = self._constants(group, layout)
        # Spark lists several times in a query, and again in each query.
        listed = lru_cache(_KEPT_LISTINGS)(partial(self._list, group, layout, constants))
        rows = self._engine.relation(
            StructType([*schema_of(layout), *self._internal_columns(group, layout)]),
            StructType([StructField(one.name, one.type) for one in constants]),
            lambda filters: listed(tuple(filters)),
            size=self._files.sizes[group],
            options=self._options(layout),
        )
        if group.has_deletes:
            numbered = [(one.file.data_file_id, one) for one in self._files.with_deletes(group)]
            is_deleted = deleted_test(self._engine, numbered)
            rows = rows.where(~is_deleted(F.col(_FILE), F.col(_POSITION)))
        if group.is_partial:
            rows = rows.where(F.col(SNAPSHOT_ID) <= self._files.snapshot_id)
        shown = [project_column(layout, field, _is_in_file) for field in self._fields]
        virtual = [self._virtual(one.name, layout) for one in self._asked]
        return rows.select(*shown, *virtual, *(one.name for one in self._further))

    def _options(self, layout: Layout) -> dict[str, str]:
        """Return the options that restrict which parts of files the Parquet reader may skip."""
        if not _has_floats(layout.fields):
            return {}
        return _ZEROS_DIFFER if self._engine.is_native else _ZEROS_DIFFER | _NAN_UNSEEN

    def _internal_columns(self, group: Group, layout: Layout) -> list[StructField]:
        asked = {one.name for one in self._asked}
        names = [ROW_ID] if asked & _ROW_IDS else []
        if layout.tells_snapshots and (asked & _SNAPSHOTS or group.is_partial):
            names.append(SNAPSHOT_ID)
        return [StructField(name, LongType()) for name in names]

    def _constants(self, group: Group, layout: Layout) -> list[Constant]:
        asked = {one.name for one in self._asked}
        found = list(self._further)
        if group.has_deletes or FILE in asked:
            found.append(Constant(_FILE, LongType(), each(lambda one: one.file.data_file_id)))
        if asked & _ROW_IDS:
            found.append(Constant(_ROW_START, LongType(), each(lambda one: one.file.row_id_start)))
        if asked & _SNAPSHOTS:
            found.append(Constant(_BEGAN, LongType(), each(_began)))
        if "filename" in asked:
            found.append(Constant(_PATH, StringType(), each(lambda one: one.path)))
        if "file_index" in asked:
            number = each(lambda one: self._files.numbers[one.file.data_file_id])
            found.append(Constant(_INDEX, LongType(), number))
        loaded = _FolderValues(layout, self._files)
        found += [
            Constant(
                folder_column(column), StringType(), partial(self._folder_texts, loaded, column)
            )
            for column in layout.folders
        ]
        found += [
            Constant(_presence(one), BooleanType(), partial(self._files.which_have, one))
            for one in (field.column_id for field in filled_here(self._fields))
        ]
        return found

    def _folder_texts(
        self, loaded: _FolderValues, column: ColumnId, files: Sequence[ScanFile]
    ) -> list[str | None]:
        """Return for each file the text of a column that is not stored in it; bytes are in hex."""
        texts = [one.get(column) for one in loaded.of(files)]
        if next(one.type for one in self._fields if one.column_id == column) != "blob":
            return texts
        return [None if text is None else from_text("blob", text).hex() for text in texts]

    def _virtual(self, name: str, layout: Layout) -> Column:
        position = F.col(_POSITION)

        def row_id() -> Column:
            return F.coalesce(F.col(ROW_ID), F.col(_ROW_START) + position)

        def snapshot_id() -> Column:
            began = F.col(_BEGAN)
            return F.coalesce(F.col(SNAPSHOT_ID), began) if layout.tells_snapshots else began

        columns: dict[str, Callable[[], Column]] = {
            "rowid": row_id,
            "snapshot_id": snapshot_id,
            "filename": lambda: F.col(_PATH),
            "file_row_number": lambda: position,
            "file_index": lambda: F.col(_INDEX),
            FILE: lambda: F.col(_FILE),
            POSITION: lambda: position,
            ROW: row_id,
            ROW_ID: row_id,
            SNAPSHOT_ID: snapshot_id,
        }
        return columns[name]().alias(name)


def _has_floats(fields: Sequence[Field]) -> bool:
    return any(one.type in ("float32", "float64") or _has_floats(one.fields) for one in fields)


def each(value: Callable[[ScanFile], object]) -> Callable[[Sequence[ScanFile]], list[object]]:
    """Return a function that applies `value` to each of a list of files."""
    return lambda files: [value(file) for file in files]


def _began(file: ScanFile) -> int | None:
    began = file.file.begin_snapshot
    return None if began == UNCOMMITTED else began


def _presence(column_id: ColumnId) -> str:
    return f"_ducklake_has_{int(column_id)}"


def _is_in_file(column_id: ColumnId) -> Column:
    return F.col(_presence(column_id))
