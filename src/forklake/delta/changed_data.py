"""Change data files: the changed rows of a version, for readers of the Delta change data feed.

Readers derive the changes of versions that only added files, or only removed whole files. For all
other versions, the change feed of the lake is written to change data files.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.delta.actions import Cdc, Metadata
from forklake.delta.values import log_value
from forklake.engines.local.arrow_plan import Changes, Planner
from forklake.engines.local.conform import retyped
from forklake.engines.local.feed import CHANGE_TYPE, read_changes
from forklake.engines.local.inserts import file_schema
from forklake.files.conditional_put import put_if_absent
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.ids import SnapshotId
from forklake.model.names import folded
from forklake.model.scans import TableChanges
from forklake.model.values import to_text

_FOLDER = "_change_data"
_TYPE_FIELD = pa.field("_change_type", pa.string())
_MOST_ROWS = 1_000_000  # maximum number of rows in a file


def needs_change_files(changes: TableChanges, at: SnapshotId) -> bool:
    """Return whether a snapshot needs change data files: files alone do not show its changes."""
    if at in changes.rewrites:
        return False
    ended = [one for one in changes.deleted if one.snapshot_id == at]
    is_partial = any(one.after is not None for one in ended)
    has_new = any(one.file.begin_snapshot == at for one in changes.added)
    return at in changes.mixed or is_partial or bool(ended and has_new)


@dataclass(frozen=True, slots=True)
class ChangeDataWriter:
    """Writer of the rows that a version changed, for readers at a location."""

    seen: SnapshotReads
    table: Table
    metadata: Metadata
    location: str

    def write(self, changes: TableChanges) -> list[Cdc]:
        """Write the changed rows to new files, and return their actions.

        Each call writes new files: files that no commit references are invisible to readers.
        """
        at = self.seen.snapshot_id
        fields = self.seen.state.fields(self.table)
        parts = Planner(self.seen, self.table, fields).changed_rows(Changes(changes, at - 1, at))
        batches = (batch for part in parts for batch in read_changes(part))
        return [
            self._write_file(fields, rows, values)
            for table in _combine_batches(batches)
            for values, rows in self._split_by_partition(fields, table)
        ]

    def _partition_fields(self, fields: Sequence[Field]) -> list[Field]:
        named = {folded(one.name): one for one in fields}
        return [named[folded(name)] for name in self.metadata.partition_columns]

    def _split_by_partition(
        self, fields: Sequence[Field], rows: pa.Table
    ) -> Iterator[tuple[tuple[str | None, ...], pa.Table]]:
        """Yield the rows of each partition, with the partition values in the form of the log."""
        keys = self._partition_fields(fields)
        if not keys:
            yield (), rows
            return
        members: dict[tuple[str | None, ...], list[int]] = {}
        columns = (
            [_format_log_value(key, one) for one in rows[key.name].to_pylist()] for key in keys
        )
        for position, values in enumerate(zip(*columns, strict=True)):
            members.setdefault(values, []).append(position)
        for values, positions in members.items():
            yield values, rows.take(positions)

    def _write_file(
        self, fields: Sequence[Field], rows: pa.Table, values: tuple[str | None, ...]
    ) -> Cdc:
        keys = self._partition_fields(fields)
        file_fields = [one for one in fields if one not in keys]
        schema = file_schema(file_fields).append(_TYPE_FIELD)
        names = [*(one.name for one in file_fields), CHANGE_TYPE]
        columns = [
            retyped(rows[name], kind) for name, kind in zip(names, schema.types, strict=True)
        ]
        sink = pa.BufferOutputStream()
        pq.write_table(
            pa.table(columns, schema=schema),
            sink,
            store_schema=False,
            store_decimal_as_integer=True,
        )
        name = f"{_FOLDER}/cdc-{uuid.uuid4()}.snappy.parquet"
        data = sink.getvalue().to_pybytes()
        put_if_absent(f"{self.location}/{name}", data)
        partition_values = {
            key.physical_name: value for key, value in zip(keys, values, strict=True)
        }
        return Cdc(path=name, partition_values=partition_values, size=len(data), data_change=False)


def _combine_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Combine batches into tables of bounded size."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if waiting and sum(one.num_rows for one in waiting) + batch.num_rows > _MOST_ROWS:
            yield pa.Table.from_batches(waiting)
            waiting = []
        if batch.num_rows:
            waiting.append(batch)
    if waiting:
        yield pa.Table.from_batches(waiting)


def _format_log_value(key: Field, value: object) -> str | None:
    return None if value is None else log_value(key.type, to_text(key.type, value))
