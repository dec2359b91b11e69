"""Rows of a table and their changes, as a task reads them with Arrow.

An update is a row that a snapshot deleted and inserted under one row id. The task that reads the
changes of the snapshot finds these rows itself, so that planning needs no information about them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from forklake.engines.local.arrow_reader import VIRTUAL, StoredFile, read_file, row_ids
from forklake.model.fields import Field
from forklake.model.ids import SnapshotId

CHANGE_TYPE = "change_type"
INSERT, DELETE = "insert", "delete"
PREIMAGE, POSTIMAGE = "update_preimage", "update_postimage"
# Columns of a change feed besides those of the table.
COLUMNS = (CHANGE_TYPE, "snapshot_id", "rowid")


@dataclass(frozen=True, slots=True)
class Part:
    """Input of one task: rows that were added, and rows that one snapshot removed.

    Inlined rows are batches with their virtual columns. Rows in `moved` were only rewritten to
    other files and do not count as removed.
    """

    fields: tuple[Field, ...]
    added: tuple[StoredFile, ...] = ()
    inserted: pa.RecordBatch | None = None
    deleted: tuple[StoredFile, ...] = ()
    removed: pa.RecordBatch | None = None
    moved: tuple[StoredFile, ...] = ()
    deleted_at: SnapshotId | None = None


# Reading


def read_rows(part: Part) -> Iterator[pa.RecordBatch]:
    """Yield the added rows with the columns of the table."""
    for file in part.added:
        yield from read_file(file, part.fields)
    if part.inserted is not None:
        yield part.inserted.select([field.name for field in part.fields])


def read_changes(part: Part) -> Iterator[pa.RecordBatch]:
    """Yield all rows, each with its change type, snapshot id and row id."""
    moved = _ids(part.moved)
    updated = _find_updated(part, moved)
    for batch in _with_ids(part, part.added, part.inserted):
        yield _label_changes(batch, part.fields, updated, INSERT, POSTIMAGE)
    for batch in _with_ids(part, part.deleted, part.removed):
        gone = batch.filter(pc.invert(pc.is_in(batch.column(VIRTUAL[0]), value_set=moved)))
        at = pa.repeat(pa.scalar(part.deleted_at, pa.int64()), gone.num_rows)
        dated = gone.set_column(gone.num_columns - 1, VIRTUAL[1], at)
        yield _label_changes(dated, part.fields, updated, DELETE, PREIMAGE)


def _with_ids(
    part: Part, files: Sequence[StoredFile], rows: pa.RecordBatch | None
) -> Iterator[pa.RecordBatch]:
    of_files = (read_file(file, part.fields, VIRTUAL) for file in files)
    return chain(chain.from_iterable(of_files), [] if rows is None else [rows])


def _find_updated(part: Part, moved: pa.Array) -> pa.Array:
    """Return the ids of rows that were both added and removed, but not moved."""
    if not part.deleted and part.removed is None:
        return _NO_IDS
    came = _ids(part.added, part.inserted)
    if not len(came):
        return _NO_IDS
    went = _ids(part.deleted, part.removed)
    is_updated = pc.and_not(pc.is_in(came, value_set=went), pc.is_in(came, value_set=moved))
    return came.filter(is_updated)


def _ids(files: Sequence[StoredFile], rows: pa.RecordBatch | None = None) -> pa.Array:
    kept = _NO_IDS if rows is None else rows.column(VIRTUAL[0])
    return pa.concat_arrays([kept, *(row_ids(file) for file in files)])


_NO_IDS = pa.array([], pa.int64())


def _label_changes(
    batch: pa.RecordBatch, fields: Sequence[Field], updated: pa.Array, alone: str, as_update: str
) -> pa.RecordBatch:
    *columns, row_id, snapshot_id = batch.columns
    is_update = pc.is_in(row_id, value_set=updated)
    label = pc.if_else(is_update, pa.scalar(as_update), pa.scalar(alone))
    names = [*(field.name for field in fields), *COLUMNS]
    return pa.RecordBatch.from_arrays([*columns, label, snapshot_id, row_id], names)
