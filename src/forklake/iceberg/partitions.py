"""Iceberg partition specs, and partition values of files.

The id of a spec is the id of the partitioning; 0 is the unpartitioned spec. A spec contains only
keys with the same meaning in Iceberg: columns and years. Months, days and hours are left out:
Iceberg counts them from 1970, Forklake within the year, month or day. Readers prune these keys by
the bounds of the columns instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from typing import Any

from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.transforms import IdentityTransform, Transform, YearTransform
from pyiceberg.typedef import Record
from pyiceberg.utils.datetime import date_to_days, datetime_to_micros, time_to_micros

from forklake.iceberg.schema import to_iceberg_value
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
Values = Mapping[int, str | None]  # partition values of a file, by the index of the key


class IcebergPartitioning:
    """One partitioning of a table, with the current columns of the table."""

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
        """The Iceberg partition spec."""
        return PartitionSpec(*map(self._partition_field, self._keys), spec_id=self._number)

    def _partition_field(self, key: PartitionColumn) -> PartitionField:
        name = self._fields[key.column_id].name
        index = self._number * _FIELDS_OF_A_SPEC + key.partition_key_index
        return PartitionField(
            source_id=int(key.column_id),
            field_id=_FIRST_FIELD + index,
            transform=_TRANSFORMS[key.transform],
            name=name if key.transform == "identity" else f"{name}_{key.transform}",
        )

    def to_record(self, values: Values) -> Record:
        """Return the partition values of a file as an Iceberg record."""
        return Record(
            *(self._parse_value(key, values.get(key.partition_key_index)) for key in self._keys)
        )

    def _parse_value(self, key: PartitionColumn, text: str | None) -> Any:
        if text is None:
            return None
        if key.transform == "year":
            return int(text) - _FIRST_YEAR
        field = self._fields[key.column_id]
        return _to_number(to_iceberg_value(field, from_text(field.type, text)))


def _to_number(value: Any) -> Any:
    """Return dates and times as numbers, as Iceberg stores them."""
    match value:
        case datetime():
            return datetime_to_micros(value)
        case date():
            return date_to_days(value)
        case time():
            return time_to_micros(value)
    return value
