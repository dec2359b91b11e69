"""Import of inlined rows from the metadata of a DuckLake."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from forklake.maintenance.ducklake.definitions import DefinitionReader, TableHistory
from forklake.maintenance.ducklake.imported_rows import InlinedValues
from forklake.maintenance.ducklake.source import Row, decode_values
from forklake.maintenance.ducklake.statistics import Statistics
from forklake.model.entities import Column
from forklake.model.fields import Field
from forklake.model.inlined_values import checked, to_stored


@dataclass(slots=True)
class InlinedRowReader:
    """Reader of the inlined rows of all tables."""

    definitions: DefinitionReader
    statistics: Statistics

    def gather(self) -> None:
        """Read all inlined rows that are visible at some snapshot."""
        for inlined in self.definitions.source.rows("ducklake_inlined_data_tables"):
            table = self.definitions.tables.get(inlined["table_id"])
            if table is not None:
                self._gather_table(table, inlined)

    def _gather_table(self, table: TableHistory, inlined: Row) -> None:
        ids = self.definitions.ids
        rows = self.definitions.source.rows(inlined["table_name"])
        visible = [(row, one) for row in rows if (one := ids.interval_of(row)) is not None]
        if not visible:
            return
        fields = sorted(
            table.fields_at(self._first_snapshot_of(inlined)), key=lambda one: one.column_id
        )
        columns = [_encode_values(field, (row for row, _ in visible)) for field in fields]
        values_of_table = InlinedValues(
            table.table_id, table.interval, tuple(_column(table, one) for one in fields)
        )
        for position, (row, (begin, end)) in enumerate(visible):
            values = (column[position] for column in columns)
            values_of_table.rows.append((row["row_id"], begin, end, *values))
            self.statistics.add_rows(table, (begin, end), 1)
        self.definitions.imported.inlined.append(values_of_table)

    def _first_snapshot_of(self, inlined: Row) -> int:
        """Return the first snapshot with the schema version that some rows were inserted with."""
        version, table_id = inlined["schema_version"], inlined["table_id"]
        begins = [
            int(row["begin_snapshot"])
            for row in self.definitions.source.rows("ducklake_schema_versions")
            if row["schema_version"] == version and row.get("table_id") in (None, table_id)
        ]
        begins += [
            int(row["snapshot_id"])
            for row in self.definitions.source.rows("ducklake_snapshot")
            if row["schema_version"] == version
        ]
        columns = self.definitions.tables[table_id].columns
        first = min(int(row["begin_snapshot"]) for row in columns)
        return max(min(begins, default=0), first)


def _encode_values(field: Field, rows: Iterable[Row]) -> list[Any]:
    values = decode_values(field, [row[field.name] for row in rows])
    return [to_stored(field.type, checked(field, value)) for value in values]


def _column(table: TableHistory, one: Field) -> Column:
    return Column(
        table_id=table.table_id,
        column_id=one.column_id,
        column_order=0,
        column_name=one.name,
        column_type=one.type,
    )
