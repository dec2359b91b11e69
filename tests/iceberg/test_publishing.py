"""Tables published as Iceberg tables without Spark: the rows that readers see, and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.table import StaticTable

import forklake
from forklake import Catalog, ColumnSpec, Metastore, NewDataFile
from forklake.errors import InvalidInput, NotFound, Unsupported
from forklake.iceberg.publication import PublishedTable, publish_table
from forklake.model.files import ColumnBounds, MappedName
from forklake.model.ids import ColumnId
from tests.interop.files import add_rows
from tests.interop.readers import by_duckdb_iceberg, by_pyiceberg


@pytest.fixture
def metastore(tmp_path: Path) -> Iterator[Metastore]:
    with forklake.open(f"ducklake:{tmp_path / 'meta.db'}", create=True) as found:
        yield found


@pytest.fixture
def sales(metastore: Metastore, tmp_path: Path) -> Catalog:
    """Return a catalog with a table of three rows."""
    made = metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
    with made.transaction() as transaction:
        columns = [ColumnSpec("id", "bigint"), ColumnSpec("n", "varchar")]
        transaction.create_table("t", columns)
    add_rows(made, "t", {"id": [1, 2, 3], "n": ["x", "y", None]})
    return made


def rows(done: PublishedTable, version: int | None = None, where: str | None = None) -> list[Any]:
    """Return the rows of a published table, read by pyiceberg."""
    table = by_pyiceberg(done.metadata_location, version, where)
    return sorted(tuple(row.values()) for row in table.to_pylist())


def test_publishing_again_writes_only_the_changes(sales: Catalog) -> None:
    first = publish_table(sales, "t")
    with sales.transaction() as transaction:
        table = transaction.table("t")
        (file,) = transaction.data_files(table)
        transaction.delete_positions(table, file, [1])
    folder = Path(first.location) / "metadata"
    written = {path: path.stat().st_mtime_ns for path in folder.glob("*.avro")}
    second = publish_table(sales, "t")
    assert rows(second) == [(1, "x"), (3, None)]
    assert rows(second, first.metadata.current_snapshot_id) == rows(first)
    assert rows(first) == [(1, "x"), (2, "y"), (3, None)]  # older metadata stay readable
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert (folder / "version-hint.text").read_text() == str(sales.current_snapshot())


@pytest.mark.parametrize("folder", ["", "/sales", "/sales/main/t", "/./sales"])
def test_a_table_is_not_published_into_the_folder_of_a_catalog(
    sales: Catalog, tmp_path: Path, folder: str
) -> None:
    # Iceberg removes files below the root that its metadata do not list.
    with pytest.raises(InvalidInput, match=r"overlaps with .* of the catalog 'sales'"):
        publish_table(sales, "t", location=f"{tmp_path}/data{folder}")
    assert rows(publish_table(sales, "t", location=f"{tmp_path}/data/beside"))


def test_the_length_of_the_history_is_configurable(sales: Catalog) -> None:
    for number in range(4, 8):
        add_rows(sales, "t", {"id": [number]})
    assert len(publish_table(sales, "t", history=0).metadata.snapshots) == 1
    reported = publish_table(sales, "t", history=2).metadata.snapshots
    assert [one.snapshot_id for one in reported] == [
        int(one.snapshot_id) for one in sales.snapshots()[-3:]
    ]
    assert [one.parent_snapshot_id for one in reported[1:]] == [
        one.snapshot_id for one in reported[:-1]
    ]


def test_forks_are_published_separately(metastore: Metastore, sales: Catalog) -> None:
    fork = metastore.fork("sales", "fork")
    add_rows(fork, "t", {"id": [4]})
    with sales.transaction() as transaction:
        transaction.drop_table("t")
    assert [row[0] for row in rows(publish_table(fork, "t"))] == [1, 2, 3, 4]
    with pytest.raises(NotFound):
        publish_table(sales, "t")


def test_defaults_of_added_columns_show_in_old_files(sales: Catalog) -> None:
    with sales.transaction() as transaction:
        table = transaction.table("t")
        transaction.add_column(table, ColumnSpec("d", "date", default="2024-02-29"))
        transaction.add_column(table, ColumnSpec("e", "decimal(5,2)", default="1.5"))
        transaction.add_column(table, ColumnSpec("f", "varchar", default="it's"))
    add_rows(sales, "t", {"id": [4], "f": ["own"]})
    done = publish_table(sales, "t")
    assert done.metadata.format_version == 3
    found = by_pyiceberg(done.metadata_location).to_pylist()
    expected = [
        (one["id"], one["d"], None if one["e"] is None else str(one["e"]), one["f"])
        for one in sorted(found, key=lambda row: row["id"])
    ]
    old = (date(2024, 2, 29), "1.50", "it's")
    assert expected[:3] == [(1, *old), (2, *old), (3, *old)]
    assert expected[3][3] == "own"


def test_an_empty_table_can_be_read(metastore: Metastore, tmp_path: Path) -> None:
    made = metastore.create_catalog("empty", data_path=str(tmp_path / "empty"))
    with made.transaction() as transaction:
        transaction.create_table("t", [ColumnSpec("a", "integer")])
    done = publish_table(made, "t")
    assert by_pyiceberg(done.metadata_location).to_pylist() == []
    assert by_duckdb_iceberg(done.metadata_location).to_pylist() == []


def test_readers_prune_files_by_bounds(metastore: Metastore, tmp_path: Path) -> None:
    made = metastore.create_catalog("bounds", data_path=str(tmp_path / "bounds"))
    kinds = {
        "int8": ("-3", "5"),
        "uint64": ("0", "18446744073709551615"),
        "decimal(9,3)": ("-1.500", "2.250"),
        "float32": ("-1.5", "2.5"),
        "boolean": ("false", "true"),
        "date": ("1969-12-31", "2024-02-29"),
        "time": ("00:00:00", "23:59:59.999999"),
        "timestamp": ("1969-12-31 23:59:59.5", "2024-02-29 12:00:00"),
        "timestamptz": ("1969-12-31 23:59:59.5+00", "2024-02-29 12:00:00+00"),
        "varchar": ("a", "zé"),
        "uuid": ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
        "decimal(38,10)": (f"-{'9' * 28}.0123456789", f"{'9' * 28}.0123456789"),
        "int128": (f"-{'9' * 38}", "9" * 38),
    }
    columns = [ColumnSpec(f"c{place}", kind) for place, kind in enumerate(kinds)]
    bounds = tuple(
        ColumnBounds(ColumnId(place), 1, 2, 0, low, high)
        for place, (low, high) in enumerate(kinds.values(), 1)
    )
    with made.transaction() as transaction:
        table = transaction.create_table("t", columns)
        transaction.add_data_files(table, [NewDataFile("x.parquet", 2, 10, bounds=bounds)])
    done = publish_table(made, "t")
    reported = StaticTable.from_metadata(done.metadata_location)
    for outside in (
        "c0 > 5",
        "c2 < -1.500",
        "c5 > '2024-02-29'",
        "c7 < '1969-12-31T23:59:59'",
        "c9 > 'zé'",
        "c8 > '2024-02-29T12:00:00+00:00'",
        "c1 < 0",
        "c0 is null",
        f"c11 > {'9' * 28}.0123456789",
    ):
        assert not list(reported.scan(outside).plan_files()), outside
    for inside in ("c0 = 5", "c2 = 2.250", "c5 = '1969-12-31'", "c9 = 'zé'", "c3 < 0"):
        assert len(list(reported.scan(inside).plan_files())) == 1, inside


def foreign_file(path: Path, field_id: bytes | None = None) -> NewDataFile:
    """Write a file of another writer, with other column names."""
    metadata = None if field_id is None else {b"PARQUET:field_id": field_id}
    schema = pa.schema([pa.field("number", pa.int64(), metadata=metadata), ("text", pa.string())])
    pq.write_table(pa.table([[7, 8], ["p", "q"]], schema=schema), path)
    return NewDataFile(str(path), 2, path.stat().st_size, path_is_relative=False)


def test_files_of_other_writers_are_read_by_column_name(sales: Catalog, tmp_path: Path) -> None:
    add_foreign(sales, foreign_file(tmp_path / "foreign.parquet"))
    done = publish_table(sales, "t")
    assert [row for row in rows(done) if row[0] > 3] == [(7, "p"), (8, "q")]
    assert len(rows(done)) == 5
    mapped = json.loads(done.metadata.properties["schema.name-mapping.default"])
    assert [one["names"] for one in mapped] == [["number"], ["text"]]


def add_foreign(catalog: Catalog, file: NewDataFile, *, in_folder: bool = False) -> None:
    """Commit such a file; `in_folder` if one of its columns comes from folder names."""
    names = [MappedName("number", ColumnId(1)), MappedName("text", ColumnId(2), in_folder)]
    with catalog.transaction() as transaction:
        table = transaction.table("t")
        mapping = transaction.add_name_mapping(table, names)
        transaction.add_data_files(table, [replace(file, mapping_id=mapping)])


def keep_rows(catalog: Catalog, _: Path) -> None:
    with catalog.transaction() as transaction:
        transaction.insert_rows(transaction.table("t"), [{"id": 9}])


def encrypt(catalog: Catalog, _: Path) -> None:
    with catalog.transaction() as transaction:
        file = NewDataFile("x.parquet", 1, 1, encryption_key="AAAAAAAAAAAAAAAAAAAAAA==")
        transaction.add_data_files(transaction.table("t"), [file])


def add_interval(catalog: Catalog, _: Path) -> None:
    with catalog.transaction() as transaction:
        transaction.add_column(transaction.table("t"), ColumnSpec("i", "interval"))


def add_endless(catalog: Catalog, _: Path) -> None:
    with catalog.transaction() as transaction:
        transaction.add_column(transaction.table("t"), ColumnSpec("f", "double", default="inf"))


REFUSED: dict[str, Callable[[Catalog, Path], None]] = {
    "has inlined rows": keep_rows,
    "are encrypted": encrypt,
    "which Iceberg does not have": add_interval,
    "which Iceberg cannot represent": add_endless,
    "have field ids of another writer": lambda catalog, path: add_foreign(
        catalog, foreign_file(path, b"2")
    ),
    "do not hold the column 'text'": lambda catalog, path: add_foreign(
        catalog, foreign_file(path), in_folder=True
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_tables_that_iceberg_would_misread_are_refused(
    sales: Catalog, tmp_path: Path, reason: str
) -> None:
    before = publish_table(sales, "t")
    REFUSED[reason](sales, tmp_path / "foreign.parquet")
    with pytest.raises(Unsupported, match=reason):
        publish_table(sales, "t")
    assert len(rows(before)) == 3


MONEY, DAY = pa.array([Decimal("1.25")]), pa.array([date(2024, 2, 29)])
WIDENED = {
    ("integer", "bigint"): pa.array([7], pa.int32()),
    ("float", "double"): pa.array([0.5], pa.float32()),
    ("decimal(3,2)", "decimal(9,2)"): MONEY,
    ("integer", "double"): pa.array([7], pa.int32()),
    ("bigint", "hugeint"): pa.array([7], pa.int64()),
    ("decimal(3,2)", "decimal(9,4)"): MONEY,
    ("date", "timestamp"): DAY,
}
READ_BY_ICEBERG = list(WIDENED)[:3]


@pytest.mark.parametrize("change", WIDENED)
def test_widened_columns_are_published_if_iceberg_supports_them(
    metastore: Metastore, tmp_path: Path, change: tuple[str, str]
) -> None:
    made = metastore.create_catalog("wide", data_path=str(tmp_path / "wide"))
    with made.transaction() as transaction:
        transaction.create_table("t", [ColumnSpec("c", change[0])])
    add_rows(made, "t", {"c": WIDENED[change]})
    before = rows(publish_table(made, "t"))
    with made.transaction() as transaction:
        transaction.set_column_type(transaction.table("t"), "c", change[1])
    if change in READ_BY_ICEBERG:
        done = publish_table(made, "t")
        assert rows(done) == before
        assert len(by_duckdb_iceberg(done.metadata_location)) == 1
    else:
        with pytest.raises(Unsupported, match="cannot read as"):
            publish_table(made, "t")
