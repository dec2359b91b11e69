"""How the columns of a DuckLake's files are found: by the numbers that DuckLake gave them, or by
its own mapping where others wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forklake.files.contents import Node
from forklake.maintenance.ducklake.definitions import TableHistory
from forklake.maintenance.ducklake.source import Row
from forklake.maintenance.foreign_types import read_as, source_type
from forklake.model.fields import Field
from forklake.model.files import LINEAGE, MappedName
from forklake.model.ids import ColumnId
from forklake.model.names import folded


@dataclass(slots=True)
class Found:
    """The columns of one file: names, and the fields whose bounds its footer tells."""

    table: TableHistory
    fields: Mapping[int, Field]  # all that there ever were, by id
    names: list[MappedName] = field(default_factory=list)
    leaves: dict[str, Field] = field(default_factory=dict)

    def by_number(self, nodes: Sequence[Node]) -> None:
        """Columns of a file that DuckLake wrote."""
        for node in nodes:
            if node.name not in LINEAGE and node.field_id in self.fields:
                self._note(node, node.field_id, None)

    def by_mapping(self, nodes: Sequence[Node], mapping: Sequence[Row]) -> None:
        """Columns of a file that others wrote."""
        inside: dict[tuple[int | None, str], Row] = {}
        for row in mapping:
            if row.get("is_partition"):
                name = MappedName(row["source_name"], ColumnId(row["target_field_id"]), True)
                self.names.append(name)
            else:
                inside[row["parent_column"], folded(row["source_name"])] = row
        self._mapped(nodes, inside, None, None)

    def _mapped(
        self,
        nodes: Sequence[Node],
        inside: Mapping[tuple[int | None, str], Row],
        of: int | None,
        parent: int | None,
    ) -> None:
        for node in nodes:
            row = inside.get((of, folded(node.name)))
            if row is not None:
                position = self._add(node, row["target_field_id"], parent)
                self._mapped(node.nodes, inside, row["column_id"], position)

    def _note(self, node: Node, column_id: int | None, parent: int | None) -> None:
        if column_id is None or column_id not in self.fields:
            return
        position = self._add(node, column_id, parent)
        parts = self.table.parts_of(column_id)
        if node.type == "struct":
            for inner in node.nodes:
                self._note(inner, inner.field_id, position)
            for absent in parts.keys() - {inner.field_id for inner in node.nodes}:
                # A name that is not in the file, where the column's own could be another's.
                missing = f"_ducklake_missing_{absent}"
                self.names.append(MappedName(missing, ColumnId(absent), parent=position))
        else:  # elements, keys and values are there once, in their order
            for inner, number in zip(node.nodes, sorted(parts), strict=False):
                self._note(inner, number, position)

    def _add(self, node: Node, column_id: int, parent: int | None) -> int:
        position = len(self.names)
        read = None
        if not node.nodes:
            self.leaves[node.path] = self.fields[column_id]
            types = self.table.types_of(column_id)
            if any(source_type(node.type, kind) is not None for kind in types):
                read = read_as(node.type)
        self.names.append(MappedName(node.name, ColumnId(column_id), False, read, parent))
        return position
