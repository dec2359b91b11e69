"""Data files written by Arrow in the layout of Spark, and registered without Spark."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from forklake import NewDeleteFile, Session
from forklake.engines.arrow_types import arrow_type
from forklake.files.deletes import Deleted, write_delete_files
from forklake.files.footers import leaf_fields, new_data_file, read_footer
from forklake.model.changes import ChangeKind
from forklake.model.fields import Field
from forklake.model.ids import DataFileId

Row = Mapping[str, Any]


def physically(field: Field) -> Field:
    """Return a field under its physical names, which data files use."""
    return replace(field, name=field.physical_name, fields=tuple(map(physically, field.fields)))


def add_file(
    session: Session,
    name: str,
    rows: Sequence[Row],
    *,
    extra: Mapping[str, Sequence[int]] | None = None,
    kind: ChangeKind = ChangeKind.INSERTED,
    **further: Any,
) -> DataFileId:
    """Append rows, given by physical names, as one file.

    `extra` are columns that the table does not have; `further` goes to NewDataFile.
    """
    place = session.resolve(name)
    with session.changing(place.attachment) as change:
        state = change.transaction.state
        table = session.find_table(change.transaction, place)
        fields = [physically(field) for field in state.fields(table)]
        columns = {
            field.name: pa.array([row.get(field.name) for row in rows], arrow_type(field))
            for field in fields
        }
        columns |= {one: pa.array(values, pa.int64()) for one, values in (extra or {}).items()}
        path = f"{place.attachment.folder(state, table)}{uuid.uuid4()}.parquet"
        full = place.attachment.located(path)
        write_parquet(full, pa.table(columns))
        change.wrote([full])
        footer = read_footer(full, leaf_fields(state.fields(table)))
        file = new_data_file(footer, path=path, **further)
        (number,) = change.transaction.add_data_files(table, [file], change=kind)
    committed = change.transaction.committed
    return number if committed is None else DataFileId(committed.file_ids[-number - 1])


def write_parquet(path: str, table: pa.Table) -> None:
    """Write a Parquet file, and create its folder."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)


def delete_rows(session: Session, name: str, positions: Mapping[DataFileId, Sequence[int]]) -> None:
    """Delete rows by their positions in data files, with one delete file per data file."""
    place = session.resolve(name)
    with session.changing(place.attachment) as change:
        table = session.find_table(change.transaction, place)
        paths = {one.file.data_file_id: one.path for one in change.transaction.scan_files(table)}
        folder = place.attachment.folder(change.transaction.state, table)
        deletes = [Deleted(paths[one], places) for one, places in positions.items()]
        written = write_delete_files(place.attachment.located(folder), deletes)
        change.wrote([one.path for one in written])
        change.transaction.add_delete_files(
            table,
            [
                NewDeleteFile(
                    number,
                    folder + Path(one.path).name,
                    one.delete_count,
                    one.file_size_bytes,
                    one.footer_size,
                )
                for number, one in zip(positions, written, strict=True)
            ],
        )


def insert(session: Session, name: str, rows: Sequence[Row]) -> None:
    """Insert rows inline, into the metastore."""
    place = session.resolve(name)
    with session.changing(place.attachment) as change:
        table = session.find_table(change.transaction, place)
        change.transaction.insert_rows(table, rows)


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows of a DataFrame, sorted."""
    return sorted((tuple(row) for row in frame.collect()), key=repr)
