"""DuckDB expressions that map the columns of files to the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from forklake.model.children import NameMapping
from forklake.model.duckdb_types import duckdb_type
from forklake.model.fields import Field
from forklake.model.ids import ColumnId
from forklake.model.names import quoted


@dataclass(frozen=True, slots=True)
class Layout:
    """Names and types of the columns of a table in some files.

    Args:
        missing: fields that the files lack.
        types: leaves that have another type in the files.
        names: names of the columns in files from other writers; None for our files.
        joined: columns whose values are in the relation `v` beside the files.
    """

    missing: frozenset[ColumnId] = frozenset()
    types: Mapping[ColumnId, str] = field(default_factory=dict)
    names: Mapping[ColumnId, NameMapping] | None = None
    joined: Mapping[ColumnId, str] = field(default_factory=dict)

    def column(self, shown: Field) -> str:
        """Return the expression for a column of the table over the relation `f` of the files."""
        if shown.column_id in self.joined:
            value = f"v.{quoted(self.joined[shown.column_id])}"
            value = f"unhex({value})" if shown.type == "blob" else _cast(value, shown)
        else:
            value = self._inside("f", shown)
        return f"{value} AS {quoted(shown.name)}"

    def _inside(self, parent: str, shown: Field) -> str:
        """Return the expression for a field of a relation or of a struct."""
        if self._lacks(shown):
            return _default(shown)
        return self._value(f"{parent}.{quoted(self._name(shown))}", shown)

    def _value(self, value: str, shown: Field) -> str:
        if self._is_same(shown):
            return value if shown.fields else _cast(value, shown)
        match shown.type:
            case "struct":
                parts = ", ".join(
                    f"{quoted(one.name)} := {self._inside(value, one)}" for one in shown.fields
                )
                return f"CASE WHEN {value} IS NOT NULL THEN struct_pack({parts}) END"
            case "list":
                (element,) = shown.fields
                return f"list_transform({value}, lambda e: {self._value('e', element)})"
            case "map":
                key, item = shown.fields
                entry = (
                    f"{{key: {self._value('e.key', key)}, value: {self._value('e.value', item)}}}"
                )
                entries = f"list_transform(map_entries({value}), lambda e: {entry})"
                return f"CASE WHEN {value} IS NOT NULL THEN map_from_entries({entries}) END"
        return _cast(value, shown)

    def _name(self, shown: Field) -> str:
        known = (self.names or {}).get(shown.column_id)
        return shown.physical_name if known is None else known.source_name

    def _lacks(self, shown: Field) -> bool:
        if self.names is not None:
            return shown.column_id not in self.names
        return shown.column_id in self.missing

    def _is_same(self, shown: Field) -> bool:
        """Return whether a value can be used unchanged, apart from the cast of a leaf."""
        is_struct = shown.type == "struct"
        return all(
            self._is_same(one)
            and not (is_struct and (self._lacks(one) or self._name(one) != one.name))
            for one in shown.fields
        ) and (not self._is_changed(shown))

    def _is_changed(self, leaf: Field) -> bool:
        """Return whether a leaf inside of a nested value has another type in the files."""
        return not leaf.fields and (leaf.column_id in self.types or leaf.type in _HELD_OTHERWISE)


# Types that Spark lacks, so that files hold these values with another type.
_HELD_OTHERWISE = frozenset(
    "uint8 uint16 uint32 uint64 int128 uint128 json uuid timestamp_s timestamp_ms".split()
)


def _cast(value: str, shown: Field) -> str:
    return f"CAST({value} AS {duckdb_type(shown)})"


def _default(shown: Field) -> str:
    """Return the expression for the default of a column that the files lack."""
    if shown.initial_default is None:
        return f"CAST(NULL AS {duckdb_type(shown)})"
    text = shown.initial_default.replace("'", "''")
    return _cast(f"'{text}'", shown)
