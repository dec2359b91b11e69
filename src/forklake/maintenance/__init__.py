"""Maintenance of files and snapshots: compaction, expiry, clean-up, and import of foreign files.

The names below are imported on first use: operations on the metastore alone do not load Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forklake.maintenance.checkpoint_steps import MaintenanceStep, checkpoint
    from forklake.maintenance.cleanup import cleanup_old_files, delete_orphaned_files
    from forklake.maintenance.compaction import CompactionResult
    from forklake.maintenance.ducklake_import import DuckLakeImportResult, import_ducklake
    from forklake.maintenance.due import maintain
    from forklake.maintenance.expiry import expire_snapshots
    from forklake.maintenance.file_merges import merge_adjacent_files
    from forklake.maintenance.file_rewrites import rewrite_data_files
    from forklake.maintenance.flush import FlushResult, flush_inlined_data
    from forklake.maintenance.foreign_files import add_data_files

_PLACES = {
    "CompactionResult": "compaction",
    "FlushResult": "flush",
    "DuckLakeImportResult": "ducklake_import",
    "MaintenanceStep": "checkpoint_steps",
    "add_data_files": "foreign_files",
    "checkpoint": "checkpoint_steps",
    "cleanup_old_files": "cleanup",
    "delete_orphaned_files": "cleanup",
    "expire_snapshots": "expiry",
    "flush_inlined_data": "flush",
    "import_ducklake": "ducklake_import",
    "maintain": "due",
    "merge_adjacent_files": "file_merges",
    "rewrite_data_files": "file_rewrites",
}

__all__ = [
    "CompactionResult",
    "DuckLakeImportResult",
    "FlushResult",
    "MaintenanceStep",
    "add_data_files",
    "checkpoint",
    "cleanup_old_files",
    "delete_orphaned_files",
    "expire_snapshots",
    "flush_inlined_data",
    "import_ducklake",
    "maintain",
    "merge_adjacent_files",
    "rewrite_data_files",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
