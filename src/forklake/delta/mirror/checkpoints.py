"""Checkpoints: the complete state of a version in a Parquet file, and `_last_checkpoint`.

They are written from columns, row group by row group, so tables with many files need little time
and memory. An existing checkpoint is kept: it has the same state, whichever worker wrote it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from forklake.delta.actions import DomainMetadata, Metadata, Protocol, Txn
from forklake.delta.mirror.checkpoint_rows import (
    SCHEMA,
    rows_of_actions,
    rows_of_files,
    rows_of_tombstones,
)
from forklake.files.conditional_put import create, put
from forklake.files.footers import unreadable
from forklake.files.systems import open_input

_GROUP_ROWS = 25_000  # rows of a row group
# Columns with repeated texts. In the others all texts differ, so a dictionary only costs time.
_REPEATING = [
    "add.partitionValues.key_value.key",
    "add.partitionValues.key_value.value",
    "remove.partitionValues.key_value.key",
    "remove.partitionValues.key_value.value",
]


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """The content of a checkpoint.

    Batches of live files have the columns of `checkpoint_rows.FILES`, batches of removed files
    those of `checkpoint_rows.TOMBSTONES`.
    """

    protocol: Protocol
    metadata: Metadata
    files: Iterable[pa.RecordBatch]
    tombstones: Iterable[pa.RecordBatch] = ()
    transactions: Sequence[Txn] = ()
    domains: Sequence[DomainMetadata] = ()


@dataclass(frozen=True, slots=True)
class WrittenCheckpoint:
    """An existing checkpoint."""

    version: int
    path: str
    action_count: int
    file_count: int
    size_in_bytes: int


def checkpoint_path(location: str, version: int) -> str:
    """Return the path of the checkpoint of a version."""
    return f"{location.rstrip('/')}/_delta_log/{version:020d}.checkpoint.parquet"


def write_checkpoint(location: str, version: int, state: CheckpointState) -> WrittenCheckpoint:
    """Write the checkpoint of a version, then `_last_checkpoint`, where readers look first."""
    path = checkpoint_path(location, version)
    create(path, lambda file: _write_content(file, state))
    checkpoint = _read_checkpoint(path, version)
    _write_hint(location, checkpoint)
    return checkpoint


def _write_content(file: BinaryIO, state: CheckpointState) -> None:
    with pq.ParquetWriter(file, SCHEMA, compression="snappy", use_dictionary=_REPEATING) as writer:
        # In a separate row group, so that readers of these actions can skip all others.
        writer.write_batch(rows_of_actions(_table_actions(state)))
        for group in _combine_batches(map(rows_of_files, state.files)):
            writer.write_table(group, row_group_size=_GROUP_ROWS)
        for group in _combine_batches(map(rows_of_tombstones, state.tombstones)):
            writer.write_table(group, row_group_size=_GROUP_ROWS)


def _table_actions(state: CheckpointState) -> Iterator[dict[str, Any]]:
    """Return all actions except those on files; removed domains are left out."""
    domains = (domain for domain in state.domains if not domain.removed)
    actions = chain([state.protocol, state.metadata], state.transactions, domains)
    return (action.to_json() for action in actions)


def _combine_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Combine batches into tables of at least one row group."""
    waiting: list[pa.RecordBatch] = []
    row_count = 0
    for batch in batches:
        waiting.append(batch)
        row_count += batch.num_rows
        if row_count >= _GROUP_ROWS:
            yield pa.Table.from_batches(waiting)
            waiting, row_count = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _read_checkpoint(path: str, version: int) -> WrittenCheckpoint:
    """Return the checkpoint at a path, whichever worker wrote it."""
    with open_input(path) as file:
        size = file.size()
        try:
            parquet = pq.ParquetFile(file)
            adds = (batch["add"] for batch in parquet.iter_batches(columns=["add.path"]))
            file_count = sum(len(column) - column.null_count for column in adds)
        except (pa.ArrowException, OSError) as reason:
            raise unreadable(path, file, size, None, reason) from reason
    return WrittenCheckpoint(version, path, parquet.metadata.num_rows, file_count, size)


def _write_hint(location: str, checkpoint: WrittenCheckpoint) -> None:
    hint = {
        "version": checkpoint.version,
        "size": checkpoint.action_count,
        "sizeInBytes": checkpoint.size_in_bytes,
        "numOfAddFiles": checkpoint.file_count,
    }
    text = json.dumps(hint, separators=(",", ":"))
    put(f"{location.rstrip('/')}/_delta_log/_last_checkpoint", text.encode())
