"""Partitionings as Iceberg's specs, and the values of files.

The number of a spec is that of the partitioning, and 0 stands for none. Of the keys those are told
that Iceberg counts alike, columns themselves and years: its months, days and hours count on from
1970, ours begin anew each year, month and day. What a spec leaves out, bounds of columns tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from typing import Any

from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.transforms import IdentityTransform, Transform, YearTransform
from pyiceberg.typedef import Record
from pyiceberg.utils.datetime import date_to_days, datetime_to_micros, time_to_micros

from forklake.iceberg.schema import value_of
from forklake.model.children import PartitionColumn
from forklake.model.fields import Field
from forklake.model.ids import ColumnId, PartitionId
from forklake.model.values import from_text

_TRANSFORMS: dict[str, Transform[Any, Any]] = {
    "identity": IdentityTransform(),
    "year": YearTransform(),
}
_FIRST_FIELD, _FIELDS_OF_A_SPEC = 1000, 64
_FIRST_YEAR = 1970
Values = Mapping[int, str | None]  # of a file, by the index of the key


class Partitioning:
    """One partitioning of a table, as of the columns that the table has."""

    def __init__(
        self,
        partition_id: PartitionId | None,
        keys: Iterable[PartitionColumn],
        fields: Mapping[ColumnId, Field],
    ) -> None:
        self._number = 0 if partition_id is None else int(partition_id)
        self._fields = fields
        self._keys = [
            one for one in keys if one.transform in _TRANSFORMS and one.column_id in fields
        ]

    @property
    def spec(self) -> PartitionSpec:
        """The spec."""
        return PartitionSpec(*map(self._field, self._keys), spec_id=self._number)

    def _field(self, key: PartitionColumn) -> PartitionField:
        name = self._fields[key.column_id].name
        index = self._number * _FIELDS_OF_A_SPEC + key.partition_key_index
        return PartitionField(
            source_id=int(key.column_id),
            field_id=_FIRST_FIELD + index,
            transform=_TRANSFORMS[key.transform],
            name=name if key.transform == "identity" else f"{name}_{key.transform}",
        )

    def values(self, found: Values) -> Record:
        """The values of a file."""
        return Record(*(self._value(key, found.get(key.partition_key_index)) for key in self._keys))

    def _value(self, key: PartitionColumn, text: str | None) -> Any:
        if text is None:
            return None
        if key.transform == "year":
            return int(text) - _FIRST_YEAR
        field = self._fields[key.column_id]
        return _counted(value_of(field, from_text(field.type, text)))


def _counted(value: Any) -> Any:
    """Dates and times as numbers, as files of Iceberg have them."""
    match value:
        case datetime():
            return datetime_to_micros(value)
        case date():
            return date_to_days(value)
        case time():
            return time_to_micros(value)
    return value
