"""Data files written with Arrow, batch by batch, without Spark and without the metastore.

A `WritePlan` contains everything that a task needs; it can be pickled. Files get their final names,
but belong to no snapshot until a commit adds them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from forklake.engines.changes import PendingChange
from forklake.engines.local.conform import conformed, retyped
from forklake.engines.local.inserts import file_schema, moved_inline, parquet_settings
from forklake.engines.partitions import Partitioning
from forklake.engines.targets import ParquetOptions, Target, described
from forklake.errors import ForklakeError
from forklake.files import keys
from forklake.files.footers import encryption
from forklake.files.systems import file_system, make_folder, remove, translating
from forklake.model.entities import Table
from forklake.model.fields import Field

# Rows and bytes buffered per file before they are written as a row group.
_ROWS, _BYTES = 122_880, 32 * 2**20
_OPEN = 64  # files open at once, one for each partition


@dataclass(frozen=True, slots=True)
class WritePlan:
    """Description of how rows of a table are written."""

    table: str
    fields: tuple[Field, ...]
    folder: str
    partitioning: Partitioning | None
    has_folders: bool
    parquet: ParquetOptions
    file_size: int | None
    job_key: keys.Key | None

    @classmethod
    def of(cls, target: Target) -> WritePlan:
        """Return the plan for the current state of a table."""
        return cls(
            table=target.table.table_name,
            fields=target.fields,
            folder=target.folder,
            partitioning=target.partitioning,
            has_folders=target.has_folders,
            parquet=target.parquet(),
            file_size=target.number("target_file_size") or None,
            job_key=keys.new_key() if target.is_encrypted else None,
        )


def add_files(
    change: PendingChange, table: Table, paths: Sequence[str], job_key: keys.Key | None
) -> None:
    """Add files that tasks wrote to a table; a few rows are inlined in the metastore instead."""
    target = Target(change.attachment, change.transaction.state, table)
    files = described(target, paths, job_key)
    if 0 < sum(file.record_count for file in files) <= target.inlined_rows:
        moved_inline(change, target, paths, job_key)
    else:
        change.transaction.add_data_files(table, files)


class FilesWriter:
    """Writer of the rows of one task; its files are removed if anything fails."""

    def __init__(self, plan: WritePlan) -> None:
        self._plan = plan
        self._schema = file_schema(plan.fields)
        self._open: dict[str, _OpenFile] = {}
        self.paths: list[str] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Write rows, whose columns are matched by name."""
        rows = conformed(pa.Table.from_batches([batch]), self._plan.fields, self._plan.table)
        columns = zip(rows.columns, self._schema.types, strict=True)
        held = pa.table([retyped(*pair) for pair in columns], schema=self._schema)
        for folder, part in self._parts(held):
            self._file(folder).add(part)
            if self._is_full(self._open[folder]):
                self._open.pop(folder).close()

    def _parts(self, rows: pa.Table) -> Iterable[tuple[str, pa.Table]]:
        if self._plan.partitioning is None or not rows.num_rows:
            return [("", rows)] if rows.num_rows else []
        return self._plan.partitioning.split(rows)

    def _is_full(self, file: _OpenFile) -> bool:
        return self._plan.file_size is not None and file.size >= self._plan.file_size

    def _file(self, folder: str) -> _OpenFile:
        """Return the file of a partition; at the limit, close the file that was opened first."""
        if folder not in self._open:
            if len(self._open) >= _OPEN:
                self._open.pop(next(iter(self._open))).close()
            inside = self._plan.folder + (folder if self._plan.has_folders else "")
            make_folder(inside)
            path = f"{inside}ducklake-{uuid.uuid4()}.parquet"
            self.paths.append(path)
            self._open[folder] = _OpenFile(path, self._schema, self._plan)
        return self._open[folder]

    def __enter__(self) -> FilesWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            for file in self._open.values():
                file.close(keep=kind is None)
        except ForklakeError:
            remove(self.paths)
            raise
        if kind is not None:
            remove(self.paths)


@dataclass(slots=True)
class _OpenFile:
    """File being written, and the rows buffered for its next row group."""

    path: str
    schema: pa.Schema
    plan: WritePlan
    _waiting: list[pa.Table] = field(default_factory=list)
    _sink: Any = None
    _writer: Any = None

    def __post_init__(self) -> None:
        system, inside = file_system(self.path)
        key = keys.derived_key(self.plan.job_key, self.path) if self.plan.job_key else None
        with translating(self.path):
            self._sink = system.open_output_stream(inside, compression=None)
        self._writer = pq.ParquetWriter(
            self._sink,
            self.schema,
            encryption_properties=encryption(key),
            **parquet_settings(self.plan.parquet, self.plan.fields),
        )

    @property
    def size(self) -> int:
        """Bytes written, and an estimate of the buffered ones."""
        waiting: int = sum(part.nbytes for part in self._waiting)
        return int(self._sink.tell()) + waiting // 2

    def add(self, rows: pa.Table) -> None:
        """Buffer rows; write them once they fill a row group."""
        self._waiting.append(rows)
        most = self.plan.parquet.row_group_rows or _ROWS
        is_many = sum(part.num_rows for part in self._waiting) >= most
        if is_many or sum(part.nbytes for part in self._waiting) >= _BYTES:
            self._flush()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            with translating(self.path):
                self._writer.write_table(
                    pa.concat_tables(waiting).combine_chunks(),
                    row_group_size=self.plan.parquet.row_group_rows,
                )

    def close(self, *, keep: bool = True) -> None:
        """Finish the file; without `keep`, buffered rows are dropped."""
        try:
            if keep:
                self._flush()
            with translating(self.path):
                self._writer.close()
        finally:
            self._sink.close()
