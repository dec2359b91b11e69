"""Maintenance of files and snapshots: compaction, expiry, clean-up, and import of foreign files.

The names below are imported on first use: operations on the metastore alone do not load Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forklake.maintenance.adding import add_data_files
    from forklake.maintenance.checkpointing import Step, checkpoint
    from forklake.maintenance.cleaning import cleanup_old_files, delete_orphaned_files
    from forklake.maintenance.compacting import Compacted
    from forklake.maintenance.due import maintain
    from forklake.maintenance.expiring import expire_snapshots
    from forklake.maintenance.flushing import Flushed, flush_inlined_data
    from forklake.maintenance.importing import Imported, import_ducklake
    from forklake.maintenance.merging import merge_adjacent_files
    from forklake.maintenance.rewriting import rewrite_data_files

_PLACES = {
    "Compacted": "compacting",
    "Flushed": "flushing",
    "Imported": "importing",
    "Step": "checkpointing",
    "add_data_files": "adding",
    "checkpoint": "checkpointing",
    "cleanup_old_files": "cleaning",
    "delete_orphaned_files": "cleaning",
    "expire_snapshots": "expiring",
    "flush_inlined_data": "flushing",
    "import_ducklake": "importing",
    "maintain": "due",
    "merge_adjacent_files": "merging",
    "rewrite_data_files": "rewriting",
}

__all__ = [
    "Compacted",
    "Flushed",
    "Imported",
    "Step",
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
