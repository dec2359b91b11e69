"""Shape of a Delta table in the lake: columns, partitioning, and name mapping of its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from forklake.catalog.table_shape import Shape
from forklake.catalog.transaction import Transaction
from forklake.delta.actions import Metadata
from forklake.delta.schema import DeltaColumnMapping, DeltaField, parse_schema
from forklake.delta.statistics import Leaves, statistics_leaves
from forklake.errors import Corruption
from forklake.model.children import BY_STORED_VALUES
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.files import MappedName
from forklake.model.ids import MappingId, PartitionId
from forklake.model.kinds import PARTITION
from forklake.model.names import folded
from forklake.model.plan import Committed
from forklake.model.state import CatalogState

IDENTITY = "identity"


@dataclass(frozen=True)
class TableShape:
    """The properties of a table that are required to add files of a Delta log to it.

    Args:
        fields: the columns.
        keys: the partition columns in order; their values are not in the files.
        mapping_id: the name mapping of the other columns, if there are partition columns.
    """

    fields: tuple[Field, ...]
    keys: tuple[Field, ...] = ()
    partition_id: PartitionId | None = None
    mapping_id: MappingId | None = None

    @cached_property
    def leaves(self) -> Leaves:
        """The columns that have statistics."""
        return statistics_leaves(self.fields)

    def with_final_ids(self, committed: Committed) -> TableShape:
        """Return the shape with final ids instead of the local ids of the transaction."""
        partition_id, mapping_id = self.partition_id, self.mapping_id
        if partition_id is not None and partition_id < 0:
            partition_id = PartitionId(committed.entity_ids[-partition_id - 1])
        if mapping_id is not None and mapping_id < 0:
            mapping_id = MappingId(committed.file_ids[-mapping_id - 1])
        return replace(self, partition_id=partition_id, mapping_id=mapping_id)


def apply_metadata(transaction: Transaction, table: Table, metadata: Metadata) -> TableShape:
    """Apply the columns and the partitioning of a log to a table."""
    mapping = DeltaColumnMapping.of(metadata.configuration)
    wanted = parse_schema(metadata.schema_string, mapping)
    transaction.set_partitioning(table, [])
    transaction.reshape(table, [_to_column_shape(one) for one in wanted])
    keys = [(name, IDENTITY) for name in partition_columns(metadata, wanted)]
    transaction.set_partitioning(table, keys, by_others=True)
    return read_shape(transaction, table)


def is_same_shape(one: Metadata, other: Metadata | None) -> bool:
    """Return whether columns and partitioning are equal; many writers repeat their metadata."""
    return other is not None and (
        one.schema_string == other.schema_string
        and one.partition_columns == other.partition_columns
        and DeltaColumnMapping.of(one.configuration) is DeltaColumnMapping.of(other.configuration)
    )


def read_shape(transaction: Transaction, table: Table) -> TableShape:
    """Return the current shape of a table."""
    state = transaction.state
    fields = state.fields(table)
    by_id = {one.column_id: one for one in fields}
    keys = tuple(by_id[key.column_id] for key in state.partitioning(table))
    if not keys:
        return TableShape(fields)
    partitioned = {key.column_id for key in keys}
    names = [
        MappedName(one.physical_name, one.column_id, one.column_id in partitioned) for one in fields
    ]
    mapping_id = transaction.add_name_mapping(table, names, type=BY_STORED_VALUES)
    return TableShape(fields, keys, _read_partition_id(state, table), mapping_id)


def _read_partition_id(state: CatalogState, table: Table) -> PartitionId:
    (row,) = state.beneath(PARTITION, table.table_id)
    found: PartitionId = row.partition_id
    return found


def _to_column_shape(one: DeltaField) -> Shape:
    return Shape(
        one.name,
        one.physical_name,
        one.type,
        one.nullable,
        one.comment,
        tuple(_to_column_shape(part) for part in one.fields),
    )


def partition_columns(metadata: Metadata, wanted: Sequence[DeltaField]) -> list[str]:
    """Return the names of the partition columns, spelled as in the schema."""
    names = {folded(one.name): one.name for one in wanted}
    missing = [name for name in metadata.partition_columns if folded(name) not in names]
    if missing:
        raise Corruption(
            f"The Delta table is partitioned by {missing[0]!r}, which is not one of its columns.",
            remedy="Restore the log from a backup.",
        )
    return [names[folded(name)] for name in metadata.partition_columns]
