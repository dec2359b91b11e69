"""Conversion of JSON responses of a service to the values that a metastore returns."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from forklake.model.changes import parse_changes
from forklake.model.ids import CatalogId, SnapshotId
from forklake.model.snapshots import Snapshot
from forklake.model.types import ColumnType, list_of, map_of, scalar, struct_of
from forklake.store.catalogs import CatalogRow

Document = dict[str, Any]


def to_catalog_row(document: Document) -> CatalogRow:
    """Return the catalog described by a document."""
    return CatalogRow(
        catalog_id=CatalogId(document["catalog_id"]),
        catalog_uuid=document["uuid"],
        catalog_name=document["name"],
        begin_snapshot=SnapshotId(document["begin_snapshot"]),
        parent_catalog_id=_convert_optional(CatalogId, document["parent_catalog_id"]),
        fork_snapshot=_convert_optional(SnapshotId, document["fork_snapshot"]),
        data_path=document["data_path"],
        path=document["path"],
    )


def _convert_optional(kind: Any, number: int | None) -> Any:
    return None if number is None else kind(number)


def to_snapshot(document: Document) -> Snapshot:
    """Return the snapshot described by a document."""
    return Snapshot(
        snapshot_id=SnapshotId(document["snapshot_id"]),
        snapshot_time=datetime.fromisoformat(document["time"]),
        schema_version=document["schema_version"],
        catalog_id=CatalogId(document["catalog_id"]),
        changes=tuple(change for text in document["changes"] for change in parse_changes(text)),
        author=document["author"],
        commit_message=document["message"],
        commit_extra_info=document["extra_info"],
    )


def to_column_type(document: Any) -> ColumnType:
    """Return the column type for a type name, or for an object that describes a nested type."""
    match document:
        case {"struct": fields}:
            return struct_of([(one["name"], to_column_type(one["type"])) for one in fields])
        case {"list": element}:
            return list_of(to_column_type(element))
        case {"map": {"key": key, "value": value}}:
            return map_of(to_column_type(key), to_column_type(value))
    return scalar(document)
