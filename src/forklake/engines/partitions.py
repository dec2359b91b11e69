"""Partitioning: grouping of rows into files by the keys of a table, and partition values of files.

Rows are grouped by *labels*: strings that differ where the values of a key differ. A label also
names the folder, but is never read back: the partition values of a file come from its statistics,
or from its first row if those are not exact. So values may be of any length and have any
characters, whatever folder names a file system supports.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from forklake.errors import Corruption, InvalidInput
from forklake.files.paths import NO_VALUE
from forklake.model.children import PartitionColumn
from forklake.model.entities import Partition, Table
from forklake.model.fields import Field
from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId, PartitionId
from forklake.model.kinds import PARTITION
from forklake.model.names import folded
from forklake.model.state import CatalogState
from forklake.model.values import from_text, to_text

IDENTITY = "identity"
# Prefix of values whose text could be confused with the label of NULL, or is empty.
LITERALLY = "__HIVE_TEXT__"
LONGEST = 64  # bytes of a label; folder names have 255, and escaping may triple it
KEPT = 16  # characters kept of a longer one
# Characters that Hive and Spark escape in folder names.
_ESCAPED = frozenset("\"#%'*/:=?\\\x7f{[]^") | {chr(code) for code in range(1, 32)}
SEEN_AS_FLOAT = frozenset({"float32", "float64"})


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """Partition key: a column, a transform, and the name of its folders."""

    folder: str
    field: Field
    transform: str

    def label_of(self, value: Any) -> str | None:
        """Return the label of a Python value."""
        if value is None:
            return None
        text = self.text_of(value)
        if self.transform != IDENTITY:
            return text
        marked = LITERALLY + text if not text or text.startswith("__HIVE_") else text
        if len(marked.encode()) <= LONGEST and marked.isprintable():
            return marked
        begin = "".join(sign if sign.isprintable() else "_" for sign in marked[:KEPT])
        return f"{begin}~{hashlib.sha256(marked.encode()).hexdigest()}"

    def text_of(self, value: Any) -> str:
        """Return the partition value for a value of the column, as the metastore stores it."""
        text = to_text(self.field.type, value)
        if text is not None and self.transform != IDENTITY:
            moment = from_text(self.field.type, text)
            return str(getattr(_as_datetime(moment), self.transform))
        if text is None or "\0" in text:  # not every database can store NUL characters
            raise InvalidInput(
                f"Column '{self.field.name}' of type {self.field.type} has a value that cannot be"
                f" used as a partition value: {str(value)[:100]}.",
                remedy="Partition the table by another column.",
            )
        return text

    def text_in(self, bounds: ColumnBounds, first_value: Callable[[], Any]) -> str | None:
        """Return the partition value of a file whose rows all have the same one.

        It comes from the bounds of the column if they are exact, else from the first value.
        """
        if bounds.null_count and bounds.null_count == bounds.value_count:
            return None
        low, high = bounds.min_value, bounds.max_value
        is_known = low is not None and high is not None and bounds.null_count == 0
        if is_known and self.transform != IDENTITY:
            first, last = (self._text_of_bound(bound) for bound in (low, high))
            if first != last:
                raise Corruption(
                    f"A file of one partition holds {self.transform} {first} to {last} of column"
                    f" '{self.field.name}'.",
                    remedy="Report this as a defect.",
                )
            return first
        if is_known and low == high and self.field.type not in SEEN_AS_FLOAT:
            return low
        value = first_value()
        return None if value is None else self.text_of(value)

    def _text_of_bound(self, bound: str | None) -> str:
        assert bound is not None
        return self.text_of(from_text(self.field.type, bound))


@dataclass(frozen=True, slots=True)
class Partitioning:
    """Partition keys for new files of a table."""

    partition_id: PartitionId
    keys: tuple[PartitionKey, ...]

    def folder(self, row: Mapping[str, Any]) -> str:
        """Return the folder of a row with physical column names, with a trailing slash."""
        labels = ((key.folder, key.label_of(row[key.field.physical_name])) for key in self.keys)
        return "".join(
            f"{escaped(name)}={NO_VALUE if label is None else escaped(label)}/"
            for name, label in labels
        )

    def split(self, rows: pa.Table) -> Iterable[tuple[str, pa.Table]]:
        """Yield the rows, which have physical column names, by their folder."""
        names = [key.field.physical_name for key in self.keys]
        members: dict[str, list[int]] = {}
        for position, row in enumerate(rows.select(names).to_pylist()):
            members.setdefault(self.folder(row), []).append(position)
        for folder, positions in members.items():
            yield folder, rows.take(positions)

    def values(
        self, bounds: Mapping[ColumnId, ColumnBounds], first_value: Callable[[Field], Any]
    ) -> tuple[str | None, ...]:
        """Return the partition values of a file."""
        return tuple(
            key.text_in(
                bounds.get(key.field.column_id, ColumnBounds(key.field.column_id)),
                lambda key=key: first_value(key.field),  # type: ignore[misc]
            )
            for key in self.keys
        )


def partitioning_of(state: CatalogState, table: Table) -> Partitioning | None:
    """Return the partitioning for new files of a table, or None."""
    rows: list[Partition] = state.beneath(PARTITION, table.table_id)
    if not rows:
        return None
    fields = {field.column_id: field for field in state.fields(table)}
    columns = sorted(state.partitioning(table), key=lambda key: key.partition_key_index)
    named = zip(_folders(columns, fields), columns, strict=True)
    keys = tuple(
        PartitionKey(folder, fields[column.column_id], column.transform) for folder, column in named
    )
    return Partitioning(rows[0].partition_id, keys)


def _folders(columns: Sequence[PartitionColumn], fields: Mapping[ColumnId, Field]) -> Iterable[str]:
    """Yield folder names, from columns or transforms; `year_d` and `year_d_2` on clashes."""
    taken: set[str] = set()
    for column in columns:
        name = fields[column.column_id].name
        if len(name.encode()) > LONGEST:
            name = f"column_{int(column.column_id)}"
        names = [name] if column.transform == IDENTITY else [column.transform]
        names.append(f"{column.transform}_{name}")
        names += [f"{names[1]}_{number}" for number in range(2, len(columns) + 1)]
        chosen = next(name for name in names if folded(name) not in taken)
        taken.add(folded(chosen))
        yield chosen


def escaped(text: str) -> str:
    """Return a text escaped as part of a folder name."""
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in text)


def _as_datetime(value: date | datetime) -> datetime:
    if isinstance(value, datetime):
        return value
    return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - dates have no time zone
