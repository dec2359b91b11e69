"""Mapping of the columns of DuckLake files: by field id, or by the DuckLake name mapping for files
that other programs wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forklake.files.contents import Node
from forklake.maintenance.ducklake.definitions import TableHistory
from forklake.maintenance.ducklake.source import Row
from forklake.maintenance.foreign_types import readable_type, source_type
from forklake.model.fields import Field
from forklake.model.files import LINEAGE, MappedName
from forklake.model.ids import ColumnId
from forklake.model.names import folded


@dataclass(slots=True)
class MappedColumns:
    """The mapped columns of one file, and the fields for which its footer has statistics."""

    table: TableHistory
    fields: Mapping[int, Field]  # all columns that the table ever had, by id
    names: list[MappedName] = field(default_factory=list)
    leaves: dict[str, Field] = field(default_factory=dict)

    def map_by_field_id(self, nodes: Sequence[Node]) -> None:
        """Map the columns of a file that DuckLake wrote, by field id."""
        for node in nodes:
            if node.name not in LINEAGE and node.field_id in self.fields:
                self._map_node(node, node.field_id, None)

    def map_by_name(self, nodes: Sequence[Node], mapping: Sequence[Row]) -> None:
        """Map the columns of a file of another program, by the rows of its name mapping."""
        inside: dict[tuple[int | None, str], Row] = {}
        for row in mapping:
            if row.get("is_partition"):
                name = MappedName(row["source_name"], ColumnId(row["target_field_id"]), True)
                self.names.append(name)
            else:
                inside[row["parent_column"], folded(row["source_name"])] = row
        self._map_nodes(nodes, inside, None, None)

    def _map_nodes(
        self,
        nodes: Sequence[Node],
        inside: Mapping[tuple[int | None, str], Row],
        of: int | None,
        parent: int | None,
    ) -> None:
        for node in nodes:
            row = inside.get((of, folded(node.name)))
            if row is not None:
                position = self._add_column(node, row["target_field_id"], parent)
                self._map_nodes(node.nodes, inside, row["column_id"], position)

    def _map_node(self, node: Node, column_id: int | None, parent: int | None) -> None:
        if column_id is None or column_id not in self.fields:
            return
        position = self._add_column(node, column_id, parent)
        parts = self.table.parts_of(column_id)
        if node.type == "struct":
            for inner in node.nodes:
                self._map_node(inner, inner.field_id, position)
            for absent in parts.keys() - {inner.field_id for inner in node.nodes}:
                # Map it to a name that is not in the file: the name of the field itself could be
                # another column of the file.
                missing = f"_ducklake_missing_{absent}"
                self.names.append(MappedName(missing, ColumnId(absent), parent=position))
        else:  # list elements, map keys and map values have no field ids: match them by order
            for inner, number in zip(node.nodes, sorted(parts), strict=False):
                self._map_node(inner, number, position)

    def _add_column(self, node: Node, column_id: int, parent: int | None) -> int:
        position = len(self.names)
        read = None
        if not node.nodes:
            self.leaves[node.path] = self.fields[column_id]
            types = self.table.types_of(column_id)
            if any(source_type(node.type, kind) is not None for kind in types):
                read = readable_type(node.type)
        self.names.append(MappedName(node.name, ColumnId(column_id), False, read, parent))
        return position
