"""Metadata document of an Iceberg table: schemas, partition specs and snapshots."""

from __future__ import annotations

from typing import Any

from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.iceberg.files import TableFiles
from forklake.iceberg.partitions import IcebergPartitioning
from forklake.iceberg.schema import has_initial_defaults, iceberg_schema, plain_leaves
from forklake.model.entities import Table
from forklake.model.snapshots import Snapshot


class TableDocument:
    """Builder of the metadata of one table. The newest snapshot must be added first."""

    def __init__(self, seen: SnapshotReads, table: Table, root: str) -> None:
        self._seen = seen
        self._table = table
        self._root = root
        self._fields = seen.state.fields(table)
        self.newest_schema = iceberg_schema(self._fields, 0)
        self._schemas = [self.newest_schema]
        self._specs: dict[int, PartitionSpec] = {0: UNPARTITIONED_PARTITION_SPEC}
        self._has_defaults = has_initial_defaults(self._fields)
        self._snapshots: list[dict[str, Any]] = []

    def add(
        self,
        seen: SnapshotReads,
        table: Table,
        files: TableFiles,
        snapshot: Snapshot,
        manifest_list: str,
    ) -> None:
        """Add a snapshot with the path of its manifest list."""
        for one in files.partitionings().values():
            self._specs[one.spec.spec_id] = one.spec
        number = int(seen.snapshot_id)
        entry = {
            "snapshot-id": number,
            "sequence-number": number,
            "timestamp-ms": int(snapshot.snapshot_time.timestamp() * 1000),
            "manifest-list": manifest_list,
            "summary": _summarize(files),
            "schema-id": self._schema_id_at(seen, table),
        }
        if self._snapshots:
            self._snapshots[-1]["parent-snapshot-id"] = number
        self._snapshots.append(entry)

    def _schema_id_at(self, seen: SnapshotReads, table: Table) -> int:
        """Return the id of the schema at a snapshot; 0 is the newest schema."""
        fields = seen.state.fields(table)
        made = iceberg_schema(fields, len(self._schemas))
        for one in self._schemas:
            if one.as_struct() == made.as_struct():
                return one.schema_id
        self._schemas.append(made)
        self._has_defaults |= has_initial_defaults(fields)
        return made.schema_id

    def build(self, properties: dict[str, str]) -> dict[str, Any]:
        """Return the document with the field names of the Iceberg specification."""
        current = self._current_spec()
        specs = list(({current.spec_id: current} | self._specs).values())
        newest = self._snapshots[0]
        return {
            "format-version": 3 if self._has_defaults else 2,  # only version 3 has defaults
            **({"next-row-id": 0} if self._has_defaults else {}),
            "table-uuid": str(self._table.table_uuid),
            "location": self._root,
            "last-sequence-number": newest["sequence-number"],
            "last-updated-ms": newest["timestamp-ms"],
            "last-column-id": self._seen.state.highest_column_id(self._table),
            "current-schema-id": 0,
            "schemas": self._schemas,
            "default-spec-id": current.spec_id,
            "partition-specs": specs,
            "last-partition-id": max(one.last_assigned_field_id for one in specs),
            "default-sort-order-id": UNSORTED_SORT_ORDER.order_id,
            "sort-orders": [UNSORTED_SORT_ORDER],
            "properties": properties,
            "current-snapshot-id": newest["snapshot-id"],
            "snapshots": self._snapshots[::-1],
            "snapshot-log": [
                {name: one[name] for name in ("snapshot-id", "timestamp-ms")}
                for one in reversed(self._snapshots)
            ],
        }

    def _current_spec(self) -> PartitionSpec:
        keys = self._seen.state.partitioning(self._table)
        if not keys:
            return UNPARTITIONED_PARTITION_SPEC
        leaves = {one.column_id: one for one in plain_leaves(self._fields)}
        return IcebergPartitioning(keys[0].partition_id, keys, leaves).spec


def _summarize(files: TableFiles) -> dict[str, str]:
    rows = sum(one.file.record_count for one in files.files)
    return {
        "operation": "overwrite",
        "total-data-files": str(len(files.files)),
        "total-records": str(rows),
    }
