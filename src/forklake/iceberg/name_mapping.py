"""Iceberg name mapping: how readers find the columns of files that other programs wrote.

One mapping serves all such files of a table, by column name. Iceberg applies it only to files
without field ids, so foreign files with field ids are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.errors import Unsupported
from forklake.files.systems import in_parallel, open_input
from forklake.model.children import NameMapping
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.scans import ScanFile

PROPERTY = "schema.name-mapping.default"
_FIELD_ID = b"PARQUET:field_id"


def name_mapping(
    seen: SnapshotReads, table: Table, fields: Sequence[Field], files: Iterable[ScanFile]
) -> dict[str, str]:
    """Return the table property with the name mapping; empty if no file needs it."""
    foreign = [file for file in files if file.file.mapping_id is not None]
    if not foreign:
        return {}
    mappings = seen.name_mappings(table)
    used = {file.file.mapping_id for file in foreign}
    names: dict[int, set[str]] = {}
    for number, (_, rows) in mappings.items():
        for row in rows if number in used else ():
            _require_in_file(table, row)
            names.setdefault(int(row.target_field_id), set()).add(row.source_name)
    in_parallel(lambda file: _require_no_field_ids(table, file.path), foreign)
    return {PROPERTY: json.dumps(_map_fields(table, fields, names))}


def _map_fields(
    table: Table, fields: Iterable[Field], names: dict[int, set[str]]
) -> list[dict[str, Any]]:
    """Return the mapping of sibling fields. Raise Unsupported if two share a name."""
    mapping: list[dict[str, Any]] = [
        {
            "field-id": int(one.column_id),
            "names": sorted(names.get(int(one.column_id), {one.physical_name})),
            **({"fields": _map_fields(table, one.fields, names)} if one.fields else {}),
        }
        for one in fields
    ]
    all_names = [name for one in mapping for name in one["names"]]
    if len(set(all_names)) != len(all_names):
        raise _unsupported(table, "use the same name for different columns")
    return mapping


def _require_in_file(table: Table, row: NameMapping) -> None:
    if row.is_partition:
        raise _unsupported(
            table, f"do not hold the column {row.source_name!r}, whose value is in the path"
        )


def _require_no_field_ids(table: Table, path: str) -> None:
    with open_input(path) as opened:
        schema = pq.ParquetFile(opened).schema_arrow
    if any(_has_field_id(schema.field(place)) for place in range(len(schema))):
        raise _unsupported(table, "have field ids of another writer")


def _has_field_id(field: pa.Field) -> bool:
    return bool(field.metadata) and _FIELD_ID in field.metadata


def _unsupported(table: Table, reason: str) -> Unsupported:
    return Unsupported(
        f"Files of table '{table.table_name}' that another program wrote {reason}.",
        remedy="Rewrite these files: run merge_adjacent_files, or UPDATE the rows.",
    )
