"""Data files of a table as shown on pages: size histogram, partitions, and a page of the list."""

from __future__ import annotations

from dataclasses import dataclass

from forklake.catalog.catalog import Catalog
from forklake.catalog.snapshot_reads import SnapshotReads, with_deletes
from forklake.crucible.pages.row_queries import query_rows
from forklake.model.children import FilePartitionValue, PartitionColumn
from forklake.model.entities import DataFile, Table
from forklake.model.kinds import DATA_FILE
from forklake.model.scans import FoundFile

# Upper bounds of the size classes, each four times the previous one.
SIZES = tuple(number * unit for unit in (10**3, 10**6, 10**9) for number in (1, 4, 16, 64, 256))
_CLASS = " ".join(
    f"WHEN file_size_bytes < {bound} THEN {place}" for place, bound in enumerate(SIZES)
)


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Number of files smaller than `below` and not smaller than the previous class."""

    below: int
    count: int


@dataclass(frozen=True, slots=True)
class PartitionTotals:
    """Partition with the totals of its files."""

    values: str
    files: int
    rows: int
    bytes: int


def count_size_classes(catalog: Catalog, seen: SnapshotReads, table: Table) -> list[SizeClass]:
    """Return the size classes from the smallest to the largest file, and one more on each side."""
    sql = (
        f"SELECT CASE {_CLASS} ELSE {len(SIZES)} END AS place, count(*) FROM {{rows}} f"
        " GROUP BY place"
    )
    counts = {
        int(place): int(count) for place, count in query_rows(catalog, seen, table, DATA_FILE, sql)
    }
    if not counts:
        return []
    bounds = (*SIZES, SIZES[-1] * 4)
    chosen = range(max(min(counts) - 1, 0), min(max(counts) + 2, len(bounds)))
    return [SizeClass(bounds[place], counts.get(place, 0)) for place in chosen]


def list_partitions(
    catalog: Catalog, seen: SnapshotReads, table: Table, most: int
) -> list[PartitionTotals]:
    """Return the `most` largest partitions by bytes, of the current partitioning."""
    keys = sorted(seen.state.partitioning(table), key=lambda one: one.partition_key_index)
    if not keys:
        return []
    values = ", ".join(f"v{one.partition_key_index}.partition_value" for one in keys)
    sql = (
        f"SELECT {values}, count(*), sum(f.record_count), sum(f.file_size_bytes) AS total"
        f" FROM {{rows}} f {' '.join(map(_join, keys))} WHERE f.partition_id = :partition"
        f" GROUP BY {values} ORDER BY total DESC, {values} LIMIT {int(most)}"
    )
    names = format_keys(seen, table)
    return [
        PartitionTotals(_describe_values(names, row[:-3]), *map(int, row[-3:]))
        for row in query_rows(catalog, seen, table, DATA_FILE, sql, partition=keys[0].partition_id)
    ]


def _join(key: PartitionColumn) -> str:
    alias = f"v{key.partition_key_index}"
    return (
        f"JOIN {FilePartitionValue.NAME} {alias} ON {alias}.table_id = :scope"
        f" AND {alias}.data_file_id = f.data_file_id"
        f" AND {alias}.partition_key_index = {key.partition_key_index}"
    )


def format_keys(seen: SnapshotReads, table: Table) -> list[str]:
    """Return the partition keys of a table as text, such as `day(ordered)`."""
    names = {row.column_id: row.column_name for row in seen.state.columns(table)}
    keys = sorted(seen.state.partitioning(table), key=lambda one: one.partition_key_index)
    columns = [(names.get(key.column_id, f"#{key.column_id}"), key.transform) for key in keys]
    return [name if change == "identity" else f"{change}({name})" for name, change in columns]


def _describe_values(names: list[str], values: tuple[str | None, ...]) -> str:
    pairs = zip(names, values, strict=True)
    return ", ".join(f"{name} = {'NULL' if value is None else value}" for name, value in pairs)


def list_files(
    catalog: Catalog, seen: SnapshotReads, table: Table, offset: int, most: int
) -> tuple[int, list[FoundFile]]:
    """Return the number of files and a page of them, in the order in which they were added."""
    ((count,),) = query_rows(catalog, seen, table, DATA_FILE, "SELECT count(*) FROM {rows} f")
    chosen = query_rows(
        catalog,
        seen,
        table,
        DATA_FILE,
        "SELECT data_file_id FROM {rows} f ORDER BY begin_snapshot, data_file_id"
        f" LIMIT {int(most)} OFFSET {int(offset)}",
    )
    ids = [number for (number,) in chosen]
    if not ids:
        return int(count), []
    with seen.reading() as reader:
        rows: list[DataFile] = reader.among(DATA_FILE, table.table_id, "data_file_id", ids)
    rows.sort(key=lambda one: ids.index(one.data_file_id))
    return int(count), with_deletes(rows, *seen.deletes_of(table, ids))
