"""Removal of files below a published root that the log no longer needs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from forklake import Catalog, Metastore
from forklake.delta.mirror_writer import mirror_catalog
from forklake.delta.table_import import import_delta
from forklake.delta.takeover import take_over
from forklake.delta.vacuum import vacuum_table
from tests.delta.mirrored import append, end_oldest, make_catalog

LATER = timedelta(days=1)


def table_files(root: Path) -> set[str]:
    """Return the files below a root that are not part of its log."""
    found = (one.relative_to(root) for one in root.rglob("*") if one.is_file())
    return {str(one) for one in found if one.parts[0] != "_delta_log"}


def vacuum(catalog: Catalog, *, older_than: datetime | None = None) -> int:
    """Vacuum the table `t`, and return the number of removed files, equal to that of a dry run."""
    table = catalog.now().state.table("t")
    foretold = vacuum_table(catalog, table, older_than=older_than, dry_run=True)
    assert vacuum_table(catalog, table, older_than=older_than) == foretold
    return len(foretold)


def test_files_that_the_log_needs_are_kept(metastore: Metastore, tmp_path: Path) -> None:
    catalog, root = make_catalog(metastore, tmp_path, "t"), tmp_path / "delta" / "t"
    append(catalog, ["t"], 1, 2)
    append(catalog, ["t"], 3)
    mirror_catalog(catalog)
    assert len(table_files(root)) == 2
    assert vacuum(catalog, older_than=datetime.now(UTC) + LATER) == 0
    end_oldest(catalog, "t")
    mirror_catalog(catalog)
    # Removed a moment ago: readers of the previous version still need it.
    assert vacuum(catalog) == 0
    stray = root / "left-behind.parquet"
    stray.write_bytes(b"")
    assert vacuum(catalog) == 0
    assert vacuum(catalog, older_than=datetime.now(UTC) + LATER) == 2
    assert not stray.exists()
    assert len(table_files(root)) == 1
    assert DeltaTable(str(root)).to_pyarrow_table().column("id").to_pylist() == [3]


def test_files_referenced_by_a_catalog_are_kept(metastore: Metastore, tmp_path: Path) -> None:
    """A taken-over table has its files below its root; clean-up removes them, not vacuum."""
    root = tmp_path / "theirs"
    for numbers in ([1, 2], [3]):
        write_deltalake(str(root), pa.table({"id": numbers}), mode="append")
    catalog = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    import_delta(catalog, str(root), "t")
    take_over(catalog, catalog.now().state.table("t"))
    before = table_files(root)
    assert len(before) == 2
    end_oldest(catalog, "t")
    mirror_catalog(catalog)
    assert vacuum(catalog, older_than=datetime.now(UTC) + LATER) == 0
    assert table_files(root) == before
