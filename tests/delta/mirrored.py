"""Catalogs with mirrored Delta tables over handmade files, and the contents of their logs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from forklake import Catalog, ColumnSpec, Metastore, NewDataFile
from forklake.catalog.delta_tables import FaceReading
from forklake.delta.mirror_writer import Mirror, MirrorResult, mirror_catalog
from forklake.delta.publication import publish_table
from forklake.model.files import ColumnBounds
from forklake.store import phases
from forklake.store.mirrors import MirrorStatus
from tests.concurrency.processes import Start, for_seconds
from tests.fix_metastore import Place

NAME = "sales"


def make_catalog(metastore: Metastore, folder: Path, *tables: str) -> Catalog:
    """Create a catalog with tables of two columns, each published below the folder `delta`."""
    catalog = metastore.create_catalog(NAME, data_path=str(folder / "data"))
    with catalog.transaction() as transaction:
        for name in tables:
            columns = [ColumnSpec("id", "bigint"), ColumnSpec("name", "varchar")]
            transaction.create_table(name, columns)
    for name in tables:
        publish_table(catalog, name, "main", str(folder / "delta" / name))
    return catalog


def new_file(catalog: Catalog, table: str, numbers: Iterable[int]) -> NewDataFile:
    """Write a data file into the folder of a table."""
    state = catalog.now().state
    path = f"{catalog.table_folder(state, state.table(table))}{uuid4()}.parquet"
    full = catalog.data_path() + path
    os.makedirs(os.path.dirname(full), exist_ok=True)
    ids = list(numbers)
    pq.write_table(pa.table({"id": ids, "name": [f"n{one}" for one in ids]}), full)
    fields = state.fields(state.table(table))
    bounds = ColumnBounds(fields[0].column_id, None, len(ids), 0, str(min(ids)), str(max(ids)))
    return NewDataFile(path, len(ids), os.path.getsize(full), bounds=(bounds,))


def append(catalog: Catalog, tables: Iterable[str], *numbers: int) -> None:
    """Append the same rows to several tables in one commit."""
    files = {table: new_file(catalog, table, numbers) for table in tables}
    with catalog.transaction() as transaction:
        for table, file in files.items():
            transaction.add_data_files(transaction.table(table), [file])


def end_oldest(catalog: Catalog, table: str) -> None:
    """End the oldest file of a table."""
    with catalog.transaction() as transaction:
        found = transaction.table(table)
        transaction.end_data_files(found, transaction.data_files(found)[:1])


def mirror(catalog: Catalog, table: str) -> MirrorResult:
    """Write the pending versions of a table to its log."""
    return Mirror(catalog, catalog.now().state.table(table)).run()


def status_of(catalog: Catalog, table: str) -> MirrorStatus:
    """Return the status of a table's mirror."""
    return Mirror(catalog, catalog.now().state.table(table)).status


def versions_of(catalog: Catalog, table: str) -> list[tuple[int, str]]:
    """Return the versions of a table with the keys of their transactions, from the metastore."""
    seen = catalog.now()
    found = FaceReading(seen, seen.state.table(table)).versions()
    return [(one.version, one.transaction_id) for one in found]


def logged_versions(root: Path) -> list[tuple[int, str]]:
    """Return the same from the log, which must contain no unfinished commits."""
    found = []
    for path in sorted((root / "_delta_log").iterdir()):
        assert not path.name.endswith(".tmp"), path
        if path.suffix == ".json":
            found.append((int(path.stem), commit_info(root, int(path.stem))["txnId"]))
    return found


def commit_info(root: Path, version: int) -> dict[str, Any]:
    """Return the commitInfo of a version in the log."""
    (first, *_) = log_actions(root, version)
    found: dict[str, Any] = first["commitInfo"]
    return found


def log_actions(root: Path, version: int) -> list[dict[str, Any]]:
    """Return the actions of a version in the log."""
    text = (root / "_delta_log" / f"{version:020d}.json").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


# Jobs for other processes


def run_and_die_at(
    phase: str, die: Callable[[], None], place: Place, work: Callable[[Catalog], object]
) -> None:
    """Run work on the catalog, and die at a phase."""
    phases.observer = lambda reached: die() if reached == phase else None
    with place.open() as metastore:
        work(metastore.catalog(NAME))


def append_many(place: Place, table: str, first: int, count: int, start: Start) -> int:
    """Append `count` times, after waiting for the start."""
    with place.open() as metastore:
        catalog = metastore.catalog(NAME)
        start()
        for number in range(first, first + count):
            append(catalog, [table], number)
    return count


def mirror_until(place: Place, table: str, version: int, seconds: float, start: Start) -> int:
    """Mirror until the log has a version, and return the number of mirrored versions."""
    count = 0
    with place.open() as metastore:
        catalog = metastore.catalog(NAME)
        start()
        for _ in for_seconds(seconds):
            count += mirror(catalog, table).versions
            if status_of(catalog, table).mirrored_version == version:
                return count
    raise AssertionError("it never came")


def append_to_both(catalog: Catalog) -> None:
    """Append to two tables in one commit."""
    append(catalog, ["orders", "items"], 2)


def mirror_all(catalog: Catalog) -> None:
    """Mirror all tables."""
    mirror_catalog(catalog)
