"""Catalogs into which Delta tables are imported, and their contents, read without Spark."""

from __future__ import annotations

from pathlib import Path, PurePath

from forklake import Catalog
from forklake.catalog.delta_tables import FaceReading
from forklake.delta.table_import import DeltaImportResult, import_delta
from tests.delta.hand_written import HandWrittenLog

# Statistics of a file of ten rows.
TEN = {"stats": '{"numRecords":10}'}
Files = dict[str, tuple[int, int]]  # by name: numbers of rows and of deleted rows


def load(
    catalog: Catalog, written: HandWrittenLog, *, ignore_features: bool = False
) -> DeltaImportResult:
    """Import a log, or its new versions."""
    return import_delta(catalog, str(written.root), "t", ignore_features=ignore_features)


def reading(catalog: Catalog) -> FaceReading:
    """Return a reader for the log of the imported table."""
    view = catalog.now()
    return FaceReading(view, view.state.table("t"))


def versions(catalog: Catalog) -> list[int]:
    """Return the versions of the imported table."""
    return [one.version for one in reading(catalog).versions()]


def files(catalog: Catalog, version: int | None = None) -> Files:
    """Return the files of the imported table, at one of its versions or now."""
    view = catalog.now()
    if version is not None:
        view = catalog.at(version=reading(catalog).version(version).begin_snapshot)
    return {
        PurePath(one.path).name: (one.file.record_count, one.deleted_rows)
        for one in view.scan_files(view.state.table("t"))
    }


def history(catalog: Catalog) -> dict[int, Files]:
    """Return the files at every version."""
    return {number: files(catalog, number) for number in versions(catalog)}


def is_untouched(catalog: Catalog, folder: Path) -> bool:
    """Return whether nothing was committed and no file was written."""
    return len(catalog.snapshots()) == 1 and not list(folder.rglob("*"))
