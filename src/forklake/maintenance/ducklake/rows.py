"""Import of inlined rows from the metadata of a DuckLake."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from forklake.maintenance.ducklake.definitions import Definitions, TableHistory
from forklake.maintenance.ducklake.gathered import InlinedValues
from forklake.maintenance.ducklake.source import Row, values_of
from forklake.maintenance.ducklake.statistics import Statistics
from forklake.model.entities import Column
from forklake.model.fields import Field
from forklake.model.inlined_values import checked, to_stored


@dataclass(slots=True)
class InlinedRows:
    """Reader of the inlined rows of all tables."""

    definitions: Definitions
    statistics: Statistics

    def gather(self) -> None:
        """Read all inlined rows that are visible at some snapshot."""
        for known in self.definitions.source.rows("ducklake_inlined_data_tables"):
            table = self.definitions.tables.get(known["table_id"])
            if table is not None:
                self._rows_of(table, known)

    def _rows_of(self, table: TableHistory, known: Row) -> None:
        numbers = self.definitions.numbers
        rows = self.definitions.source.rows(known["table_name"])
        seen = [(row, one) for row in rows if (one := numbers.interval_of(row)) is not None]
        if not seen:
            return
        fields = sorted(table.fields_at(self._begin_of(known)), key=lambda one: one.column_id)
        columns = [_stored(field, (row for row, _ in seen)) for field in fields]
        found = InlinedValues(
            table.table_id, table.seen, tuple(_column(table, one) for one in fields)
        )
        for position, (row, (begin, end)) in enumerate(seen):
            values = (column[position] for column in columns)
            found.rows.append((row["row_id"], begin, end, *values))
            self.statistics.count(table, (begin, end), 1)
        self.definitions.gathered.inlined.append(found)

    def _begin_of(self, known: Row) -> int:
        """Return the first snapshot with the schema version that some rows were inserted with."""
        version, table_id = known["schema_version"], known["table_id"]
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


def _stored(field: Field, rows: Iterable[Row]) -> list[Any]:
    values = values_of(field, [row[field.name] for row in rows])
    return [to_stored(field.type, checked(field, value)) for value in values]


def _column(table: TableHistory, one: Field) -> Column:
    return Column(
        table_id=table.table_id,
        column_id=one.column_id,
        column_order=0,
        column_name=one.name,
        column_type=one.type,
    )
