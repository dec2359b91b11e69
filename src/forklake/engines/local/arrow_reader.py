"""Data files read with Arrow, without Spark and without the metastore.

A `StoredFile` contains everything needed to read one file anywhere; it can be pickled. Reads return
batches with the columns of the table under their logical names, without deleted rows. Files are
read by physical names; columns that a file lacks have their defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from forklake.engines.arrow_types import arrow_type, literal
from forklake.engines.layouts import Layout
from forklake.errors import Corruption
from forklake.files.deletes import read_positions
from forklake.files.footers import decryption, unreadable
from forklake.files.systems import open_input, translating
from forklake.model.fields import Field
from forklake.model.files import ROW_ID, SNAPSHOT_ID
from forklake.model.ids import ColumnId
from forklake.model.values import to_text

# Virtual columns, all 64-bit integers.
VIRTUAL = ("rowid", "snapshot_id")
_ROWS = 65_536  # of a batch


@dataclass(frozen=True, slots=True)
class Positions:
    """Row positions in a file: those of a delete file, and others."""

    path: str | None = None
    key: bytes | None = None
    others: tuple[int, ...] = ()

    def read(self, data_path: str) -> pa.Array:
        """Return all positions."""
        others = pa.array(self.others, pa.int64())
        if self.path is None:
            return others
        found = read_positions(self.path, data_path, key=self.key)
        return pa.concat_arrays([*getattr(found, "chunks", [found]), others])


@dataclass(frozen=True, slots=True)
class Snapshots:
    """Range of snapshots, both ends included, without some of them."""

    first: int
    last: int
    without: frozenset[int] = frozenset()

    def among(self, snapshots: pa.Array) -> pa.Array:
        """Return for each snapshot id whether it is in the range."""
        kept = pc.and_(pc.greater_equal(snapshots, self.first), pc.less_equal(snapshots, self.last))
        left_out = pa.array(self.without, pa.int64())
        return pc.and_(kept, pc.invert(pc.is_in(snapshots, value_set=left_out)))


@dataclass(frozen=True, slots=True)
class StoredFile:
    """Data file, with the selection of its rows.

    Args:
        layout: names and types of the columns in the file.
        values: values, as text, of columns that are not stored in the file.
        row_id_start: the row id of its first row, if rows have no stored ids.
        began: the snapshot of its rows, if rows have no stored snapshot ids.
        deleted: rows to leave out.
        only: if given, the only rows to read.
        snapshots: if given, the snapshots of the rows to read; a file may have rows of several.
    """

    path: str
    size: int
    layout: Layout
    values: Mapping[ColumnId, str | None] = field(default_factory=dict)
    key: bytes | None = None
    row_id_start: int | None = None
    began: int | None = None
    deleted: Positions = Positions()
    only: Positions | None = None
    snapshots: Snapshots | None = None


def read_file(
    file: StoredFile, fields: Sequence[Field], virtual: Sequence[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file: columns of the table, then the requested virtual ones."""
    names = [*(field.name for field in fields), *virtual]
    written = {one.column_id: one for one in file.layout.fields}
    wanted = [written[field.column_id].physical_name for field in fields]
    for rows in _select_rows(file, [*wanted, ROW_ID, SNAPSHOT_ID]):
        columns = [_column(file, field, written[field.column_id], rows.batch) for field in fields]
        columns += [_VIRTUAL[name](file, rows) for name in virtual]
        yield pa.RecordBatch.from_arrays(columns, names)


def row_ids(file: StoredFile) -> pa.Array:
    """Return the ids of the selected rows, without reading any other column."""
    found = [_row_id(file, rows) for rows in _select_rows(file, [ROW_ID, SNAPSHOT_ID])]
    return pa.concat_arrays([pa.array([], pa.int64()), *found])


# Rows


@dataclass(frozen=True, slots=True)
class _Rows:
    """Some rows of a file, as stored, with their positions."""

    batch: pa.RecordBatch
    positions: pa.Array


def _select_rows(file: StoredFile, columns: Sequence[str]) -> Iterator[_Rows]:
    """Yield the selected rows of a file, with those of `columns` that it has."""
    deleted = file.deleted.read(file.path)
    only = None if file.only is None else file.only.read(file.path)
    start = 0
    for batch in _batches(file, columns):
        positions = pa.arange(start, start + batch.num_rows)
        start += batch.num_rows
        keep = pc.invert(pc.is_in(positions, value_set=deleted))
        if only is not None:
            keep = pc.and_(keep, pc.is_in(positions, value_set=only))
        if file.snapshots is not None:
            snapshots = _snapshot_id(file, _Rows(batch, positions))
            keep = pc.and_(keep, file.snapshots.among(snapshots))
        if pc.any(keep).as_py():
            yield _Rows(batch.filter(keep), positions.filter(keep))


def _batches(file: StoredFile, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    with open_input(file.path) as opened:
        with translating(file.path):
            size = opened.size()
        try:
            stored = pq.ParquetFile(opened, decryption_properties=decryption(file.key))
            present = [name for name in columns if name in stored.schema_arrow.names]
            if present:
                yield from stored.iter_batches(_ROWS, columns=present)
            else:
                yield _without_columns(stored.metadata.num_rows)
        except (pa.ArrowException, OSError) as reason:
            raise unreadable(file.path, opened, size, file.key, reason) from reason


def _without_columns(count: int) -> pa.RecordBatch:
    """Return a batch of `count` rows: a batch without columns has no rows."""
    return pa.RecordBatch.from_arrays([pa.nulls(count)], ["_ducklake_nothing"])


def _row_id(file: StoredFile, rows: _Rows) -> pa.Array:
    counted = (
        pa.nulls(len(rows.positions), pa.int64())
        if file.row_id_start is None
        else pc.add(rows.positions, file.row_id_start)
    )
    return _own_or(rows, ROW_ID, counted)


def _snapshot_id(file: StoredFile, rows: _Rows) -> pa.Array:
    began = pa.repeat(pa.scalar(file.began, pa.int64()), len(rows.positions))
    return _own_or(rows, SNAPSHOT_ID, began) if file.layout.tells_snapshots else began


def _own_or(rows: _Rows, name: str, otherwise: pa.Array) -> pa.Array:
    if name not in rows.batch.schema.names:
        return otherwise
    return pc.coalesce(rows.batch.column(name), otherwise)


_VIRTUAL = dict(zip(VIRTUAL, (_row_id, _snapshot_id), strict=True))


# Columns


def _column(file: StoredFile, shown: Field, written: Field, batch: pa.RecordBatch) -> pa.Array:
    """Return a column of the table from the columns of the file."""
    layout, count = file.layout, batch.num_rows
    if shown.column_id in layout.folders:
        text = file.values.get(shown.column_id)
        return _repeat_value(None if text is None else literal(text, shown), shown, count)
    name = written.physical_name
    if shown.column_id in layout.missing or name not in batch.schema.names:
        return _default(shown, count)
    try:
        return _convert_values(batch.column(name), shown, written)
    except pa.ArrowException as reason:
        raise Corruption(
            f"The column '{shown.name}' of the file {file.path!r} does not hold {shown.type}:"
            f" {reason}.",
            remedy="Restore the file from a backup.",
            path=file.path,
        ) from reason


def _convert_values(array: pa.Array, shown: Field, written: Field) -> pa.Array:
    """Return values converted to the names and types of the table."""
    wanted = arrow_type(shown)
    mask = array.is_null() if array.null_count else None
    match shown.type:
        case "struct":
            pairs = zip(shown.fields, written.fields, strict=True)
            parts = [_convert_field(array, one, own) for one, own in pairs]
            return pa.StructArray.from_arrays(parts, fields=list(wanted), mask=mask)
        case "list":
            (one,), (own,) = shown.fields, written.fields
            held = _convert_values(array.flatten(), one, own)
            return pa.ListArray.from_arrays(_offsets(array), held, wanted, mask=mask)
        case "map":
            (key, one), (own_key, own) = shown.fields, written.fields
            kind = pa.struct([array.type.key_field, array.type.item_field])
            listed = array.cast(pa.list_(kind))
            pair = listed.flatten()
            return pa.MapArray.from_arrays(
                _offsets(listed),
                _convert_values(pair.field(0), key, own_key),
                _convert_values(pair.field(1), one, own),
                wanted,
                mask=mask,
            )
    if (written.type, shown.type) == ("blob", "uuid"):
        return pa.array((to_text("uuid", _bytes(one)) for one in array.to_pylist()), wanted)
    # Nanoseconds of other writers are truncated: the lake stores microseconds.
    return array.cast(wanted, safe=not pa.types.is_timestamp(wanted))


def _bytes(value: Any) -> Any:
    """Return the bytes of a UUID, which Arrow may read as a UUID object."""
    return value.bytes if isinstance(value, UUID) else value


def _convert_field(array: pa.StructArray, shown: Field, written: Field) -> pa.Array:
    at = array.type.get_field_index(written.physical_name)
    if at < 0:
        return _default(shown, len(array))
    return _convert_values(array.field(at), shown, written)


def _offsets(array: pa.ListArray) -> pa.Array:
    """Return where the values of each list begin among those that `flatten` returns."""
    lengths = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int32())
    return pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths)])


def _default(shown: Field, count: int) -> pa.Array:
    """Return the value of a column that a file does not have."""
    value = None if shown.fields else literal(shown.initial_default, shown)
    return _repeat_value(value, shown, count)


def _repeat_value(value: Any, shown: Field, count: int) -> pa.Array:
    kind = arrow_type(shown)
    return pa.nulls(count, kind) if value is None else pa.repeat(pa.scalar(value, kind), count)
