"""Schemas of Parquet files: their columns as a tree, each with the matching type of the lake.

The types come from the Parquet schema only: schemas that writers embed (Arrow, Spark) are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from forklake.errors import Unsupported
from forklake.files.bounds import column_bounds
from forklake.files.footers import Footer, unreadable
from forklake.files.systems import open_input, translating
from forklake.model.fields import Field

_FIELD_ID = b"PARQUET:field_id"
_PHYSICAL = {
    "BOOLEAN": "boolean",
    "INT32": "int32",
    "INT64": "int64",
    "INT96": "int96",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "BYTE_ARRAY": "blob",
    "FIXED_LEN_BYTE_ARRAY": "blob",
}
_LOGICAL = {
    "String": "varchar",
    "Enum": "varchar",
    "JSON": "json",
    "BSON": "blob",
    "UUID": "uuid",
    "Date": "date",
    "Interval": "interval",
}
_TIMESTAMPS = {"milliseconds": "timestamp_ms", "microseconds": "timestamp"}


@dataclass(frozen=True, slots=True)
class Node:
    """A column of a file, or a nested part of one.

    Args:
        type: type of the lake; the name of the Parquet type if the lake has no equivalent.
        path: path in the footer, of a leaf that holds values.
        field_id: field id that the writer assigned.
    """

    name: str
    type: str
    nodes: tuple[Node, ...] = ()
    path: str = ""
    field_id: int | None = None


@dataclass(frozen=True, slots=True)
class Contents:
    """Schema, size and footer metadata of one file."""

    nodes: tuple[Node, ...]
    size: int
    metadata: Any

    def footer(self, leaves: Mapping[str, Field]) -> Footer:
        """Return counts and column bounds, with fields given by their paths in the footer."""
        return Footer(
            record_count=self.metadata.num_rows,
            file_size_bytes=self.size,
            footer_size=self.metadata.serialized_size,
            bounds=tuple(column_bounds(self.metadata, leaves)),
        )


def read_contents(path: str) -> Contents:
    """Read the schema of a file. Only its footer is read."""
    with open_input(path) as opened:
        with translating(path):
            size = opened.size()
        try:
            file = pq.ParquetFile(opened)
            leaves = (file.schema.column(number) for number in range(len(file.schema)))
            nodes = tuple(_node(field, leaves) for field in file.schema_arrow)
            return Contents(nodes, size, file.metadata)
        except pa.ArrowNotImplementedError as reason:
            raise Unsupported(
                f"The file {path!r} has a column whose type cannot be read: {reason}.",
                remedy="Write the file again without this column.",
                path=path,
            ) from reason
        except (pa.ArrowException, OSError) as reason:
            raise unreadable(path, opened, size, None, reason) from reason


def _node(field: pa.Field, leaves: Iterator[Any]) -> Node:
    kind = field.type
    while isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    number = (field.metadata or {}).get(_FIELD_ID)
    field_id = None if number is None else int(number)
    parts = _parts(kind)
    if parts:
        name, fields = parts
        return Node(field.name, name, tuple(_node(one, leaves) for one in fields), "", field_id)
    leaf = next(leaves)
    return Node(field.name, _leaf_type(leaf), (), leaf.path, field_id)


def _parts(kind: pa.DataType) -> tuple[str, list[pa.Field]] | None:
    if pa.types.is_struct(kind):
        return "struct", list(kind)
    if pa.types.is_map(kind):
        return "map", [kind.key_field, kind.item_field]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return "list", [kind.value_field]
    return None


def _leaf_type(leaf: Any) -> str:
    logical: dict[str, Any] = json.loads(leaf.logical_type.to_json())
    match logical["Type"]:
        case "None":
            return _PHYSICAL[leaf.physical_type]
        case "Int":
            return f"{'' if logical['isSigned'] else 'u'}int{logical['bitWidth']}"
        case "Decimal":
            return f"decimal({logical['precision']},{logical['scale']})"
        case "Time" if not logical["isAdjustedToUTC"]:
            return "time_ms" if logical["timeUnit"] == "milliseconds" else "time"
        case "Time":
            return "timetz"
        case "Timestamp" if logical["timeUnit"] not in _TIMESTAMPS:
            return "timestamp_ns"
        case "Timestamp":
            return "timestamptz" if logical["isAdjustedToUTC"] else _TIMESTAMPS[logical["timeUnit"]]
    other = str(logical["Type"])
    return _LOGICAL.get(other, other.lower())
