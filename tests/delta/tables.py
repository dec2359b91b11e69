"""Handmade Delta tables: data files, commits, and the input of a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from forklake.delta.actions import (
    Add,
    AnyAction,
    CommitInfo,
    DeletionVector,
    Metadata,
    Protocol,
    Remove,
)
from forklake.delta.mirror.checkpoint_rows import FILES, TOMBSTONES
from forklake.delta.mirror.checkpoints import CheckpointState
from forklake.delta.mirror.commits import write_commit
from forklake.delta.mirror.links import relative_uri
from forklake.files.vectors import Vector
from tests.delta.readers import Rows, canonical_rows

SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": name, "type": type, "nullable": True, "metadata": {}}
        for name, type in [("id", "long"), ("name", "string"), ("region", "string")]
    ],
}
# Values of the partition column, and the folders that writers use for them.
REGIONS = {
    "us / x": "region=us %2F x",
    "Überall : 北": "region=Überall %3A 北",
    "100% + 1": "region=100%25 + 1",
    "plain": "region=plain",
    None: "region=__HIVE_DEFAULT_PARTITION__",
}
METADATA = Metadata(
    id="6a1f7b1e-0000-4000-8000-000000000001",
    schema_string=json.dumps(SCHEMA),
    partition_columns=("region",),
    created_time=1_700_000_000_000,
)
PROTOCOL = Protocol(min_reader_version=1, min_writer_version=2)
WITH_VECTORS = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=frozenset({"deletionVectors"}),
    writer_features=frozenset({"deletionVectors", "appendOnly", "keepOut"}),
)
VECTOR_FIELDS = ("storage_type", "path_or_inline", "offset", "size_in_bytes", "cardinality")


class Table:
    """A handmade Delta table, and its expected contents."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.version = -1
        self.live: dict[str, Add] = {}
        self.gone: list[Remove] = []
        self.rows: dict[str, pa.Table] = {}

    def write(self, region: str | None, ids: range) -> Add:
        """Write a data file, and return the action that adds it."""
        path = f"{REGIONS[region]}/{uuid4()}.parquet"
        names = [f"n{number}" if number % 3 else None for number in ids]
        rows = pa.table({"id": pa.array(ids, pa.int64()), "name": pa.array(names, pa.string())})
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, self.root / path)
        added = Add(
            path=relative_uri(path),
            partition_values={"region": region},
            size=(self.root / path).stat().st_size,
            modification_time=1_700_000_000_000,
            data_change=True,
            stats=json.dumps({"numRecords": len(ids)}),
        )
        self.rows[added.path] = rows.append_column(
            "region", pa.array([region] * len(ids), pa.string())
        )
        return added

    def commit(self, *actions: AnyAction) -> None:
        """Commit the next version."""
        self.version += 1
        write_commit(str(self.root), self.version, [*actions, info(str(uuid4()))])
        for action in actions:
            match action:
                case Add():
                    self.live[action.path] = action
                case Remove():
                    del self.live[action.path]
                    self.gone.append(action)

    def expected(self) -> Rows:
        """Return the rows of the newest version."""
        return canonical_rows(pa.concat_tables(self.rows[path] for path in self.live))

    def hide_commits(self) -> None:
        """Delete all commits, leaving only the checkpoint."""
        for path in (self.root / "_delta_log").glob("*.json"):
            path.unlink()


def removal(added: Add) -> Remove:
    """Return the action that removes an added file."""
    return Remove(
        path=added.path,
        deletion_timestamp=1_700_000_001_000,
        data_change=True,
        extended_file_metadata=True,
        partition_values=added.partition_values,
        size=added.size,
        deletion_vector=added.deletion_vector,
    )


def flat(action: Add | Remove) -> dict[str, Any]:
    """Return an action on a file as a flat row."""
    vector = action.deletion_vector
    row = {
        name: getattr(action, name)
        for name in {*FILES.names, *TOMBSTONES.names}
        if hasattr(action, name)
    }
    if vector is not None:
        row |= {f"dv_{name}": getattr(vector, name) for name in VECTOR_FIELDS}
    return row


def info(key: str | None, **more: Any) -> CommitInfo:
    """Return the commitInfo of a commit."""
    return CommitInfo(extra={"operation": "WRITE", "engineInfo": "test", "txnId": key, **more})


def described(vector: Vector) -> DeletionVector:
    """Return the deletion vector of an action for a stored vector."""
    return DeletionVector(**{name: getattr(vector, name) for name in VECTOR_FIELDS})


def state(table: Table, protocol: Protocol = PROTOCOL, **more: Any) -> CheckpointState:
    """Return the state of a table's newest version, with files in batches of two."""
    files = pa.Table.from_pylist([flat(one) for one in table.live.values()], FILES)
    gone = pa.Table.from_pylist([flat(one) for one in table.gone], TOMBSTONES)
    batches = files.to_batches(max_chunksize=2)
    return CheckpointState(protocol, METADATA, batches, gone.to_batches(), **more)
