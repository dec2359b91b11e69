"""Partitioned tables: each distinct key has its own files, and files record exact values."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from forklake.engines.arrow_types import arrow_type
from forklake.engines.partitions import Partitioning, PartitionKey, escaped
from forklake.engines.spark.engine import Engine
from forklake.engines.spark.types import logical_schema
from forklake.errors import InvalidInput
from forklake.model.fields import Field
from forklake.model.ids import ColumnId, PartitionId
from forklake.model.types import ColumnSpec
from forklake.session.insert import insert_rows
from forklake.session.session import Session
from forklake.session.write import write

LAKE = "lake"
# Texts that are hard to distinguish, or hard to put into the name of a folder.
TEXTS = [
    None,
    "",
    " ",
    "a",
    "A",
    "a/b",
    "a=b",
    "a%2Fb",
    "..",
    "__HIVE_DEFAULT_PARTITION__",
    "__HIVE_TEXT__",
    "null",
    "line\nbreak",
    "separator\u2028\x85",
    "東京 🦆",
    "x" * 5000,
    "x" * 4999 + "y",
    "é" * 60,
]


def partitions(lake: Session, name: str = "t") -> dict[str, tuple[str | None, ...]]:
    """Return the partition values of each file, by its full path."""
    view = lake.attachment(LAKE).catalog.now()
    table = view.state.table(name)
    listed = view.data_files(table)
    found: dict[int, dict[int, str | None]] = {}
    for one in view.partition_values(table, [file.data_file_id for file in listed]):
        found.setdefault(one.data_file_id, {})[one.partition_key_index] = one.partition_value
    return {
        lake.attachment(LAKE).located(file.path): tuple(
            value for _, value in sorted(found[file.data_file_id].items())
        )
        for file in listed
    }


def held(path: str, column: str) -> list[Any]:
    """Return the values of a column in a file."""
    return list(pq.ParquetFile(path).read().column(column).to_pylist())


def written_both_ways(lake: Session, values: list[Any]) -> None:
    """Write values to the tables `t` and `u`: with Spark, and without it."""
    view = lake.viewing(lake.attachment(LAKE))
    fields = view.state.fields(view.state.table("t"))
    given = pa.table({"k": pa.array(values), "n": pa.array(range(len(values)), pa.int64())})
    df = lake.engine.spark.createDataFrame(given, logical_schema(fields))
    write(lake, df.repartition(3), "t")
    insert_rows(lake, "u", given)


@pytest.mark.parametrize("has_folders", [True, False])
def test_every_distinct_text_has_its_own_file(
    lake: Session, has_folders: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("t", "u"):
        lake.create_table(
            name, [ColumnSpec("k", "varchar"), ColumnSpec("n", "int64")], partition_by=["k"]
        )
    lake.set_option(LAKE, "hive_file_pattern", has_folders)
    # So small that several tasks write.
    monkeypatch.setattr("forklake.engines.spark.writing.write._WORTH_A_FILE", 1000)
    written_both_ways(lake, TEXTS)
    for name in ("t", "u"):
        found = partitions(lake, name)
        assert sorted(found.values(), key=str) == sorted(((text,) for text in TEXTS), key=str)
        for path, (value,) in found.items():
            assert held(path, "k") == [value]
            assert (path.count("k=") == 1) == has_folders
            assert path.count("/t/" if name == "t" else "/u/") == 1
    folders = sorted(Path(path).parent.name for path in partitions(lake))
    if has_folders:
        assert {"k=a%2Fb", "k=a%3Db", "k=__HIVE_DEFAULT_PARTITION__", "k=東京 🦆"} < set(folders)
        assert len({folder.casefold() for folder in folders}) < len(folders)


KINDS: list[tuple[str, list[Any], list[str | None]]] = [
    ("boolean", [True, False, None], ["true", "false", None]),
    ("int64", [-(2**63), 2**63 - 1, 0], [str(-(2**63)), str(2**63 - 1), "0"]),
    ("decimal(5,2)", [Decimal("1.5"), Decimal(-2)], ["1.50", "-2.00"]),
    ("date", [date(2024, 2, 29), date(1, 1, 1), None], ["2024-02-29", "0001-01-01", None]),
    ("float64", [1.5, math.nan, math.inf, -0.0, None], ["1.5", "nan", "inf", "0.0", None]),
]


def test_partition_values_of_every_type_are_stored_as_text(lake: Session) -> None:
    for number, (kind, values, texts) in enumerate(KINDS):
        name = f"t{number}"
        lake.create_table(name, [ColumnSpec("k", kind)], partition_by=["k"])
        view = lake.viewing(lake.attachment(LAKE))
        fields = view.state.fields(view.state.table(name))
        given = pa.table({"k": pa.array(values * 2, arrow_type(fields[0]))})
        write(lake, lake.engine.spark.createDataFrame(given, logical_schema(fields)), name)
        found = partitions(lake, name)
        assert sorted(map(str, found.values())) == sorted(str((text,)) for text in texts), kind


def test_zeros_are_one_partition_regardless_of_sign(lake: Session) -> None:
    lake.create_table("t", [ColumnSpec("k", "float64")], partition_by=["k"])
    write(lake, lake.engine.spark.sql("SELECT explode(array(0.0D, -0.0D))"), "t")
    assert list(partitions(lake).values()) == [("0.0",)]


MOMENTS = [
    datetime(1969, 12, 31, 23, 30, tzinfo=UTC),
    datetime(2024, 1, 1, 0, 30, tzinfo=UTC),
    datetime(2024, 1, 1, 5, 59, 59, 999999, tzinfo=UTC),
    datetime(2024, 12, 31, 23, 0, tzinfo=UTC),
    None,
]


def test_date_parts_of_timestamps_are_in_utc_regardless_of_the_session_time_zone(
    lake: Session, engine: Engine
) -> None:
    keys = ["year(ts)", "month(ts)", "day(ts)", "hour(ts)", "year(d)"]
    lake.create_table(
        "t", [ColumnSpec("ts", "timestamptz"), ColumnSpec("d", "date")], partition_by=keys
    )
    lake.create_table(
        "u", [ColumnSpec("ts", "timestamptz"), ColumnSpec("d", "date")], partition_by=keys
    )
    theirs = engine.spark.newSession()
    theirs.conf.set("spark.sql.session.timeZone", "Pacific/Auckland")
    days = [moment and moment.date() for moment in MOMENTS]
    given = pa.table({"ts": pa.array(MOMENTS, pa.timestamp("us", "UTC")), "d": days})
    write(lake, theirs.createDataFrame(given), "t")
    insert_rows(lake, "u", given)
    expected = {
        ("1969", "12", "31", "23", "1969"),
        ("2024", "1", "1", "0", "2024"),
        ("2024", "1", "1", "5", "2024"),
        ("2024", "12", "31", "23", "2024"),
        (None,) * 5,
    }
    for name in ("t", "u"):
        found = partitions(lake, name)
        assert set(found.values()) == expected
        (first,) = (path for path, values in found.items() if values[0] == "1969")
        folders = first.split("/")[-6:-1]
        assert folders == ["year=1969", "month=12", "day=31", "hour=23", "year_d=1969"]


def test_a_partitioned_write_creates_one_file_per_value(lake: Session) -> None:
    lake.create_table("t", [ColumnSpec("a", "int64"), ColumnSpec("p", "int32")], partition_by=["p"])
    df = lake.engine.spark.sql("SELECT id, id % 7 FROM range(0, 7000, 1, 5)")
    assert write(lake, df, "t") == 7000
    found = partitions(lake)
    assert sorted(found.values()) == [(str(number),) for number in range(7)]
    for path, (value,) in found.items():
        assert set(held(path, "p")) == {int(value or -1)}
        assert len(held(path, "a")) == 1000


def test_a_type_without_text_form_cannot_be_a_partition_key(lake: Session, tmp_path: Path) -> None:
    lake.create_table("t", [ColumnSpec("k", "varchar")], partition_by=["k"])
    df = lake.engine.spark.sql("SELECT concat('nul', char(0), 'here')")
    with pytest.raises(InvalidInput, match="cannot be used as a partition value"):
        write(lake, df, "t")
    assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file()]


def test_partition_folders_are_escaped_like_in_hive() -> None:
    assert escaped("a/b=c%d:e f") == "a%2Fb%3Dc%25d%3Ae f"
    field = Field(ColumnId(1), "k", "k_1", "varchar", True, None, None, None)
    by_text = Partitioning(PartitionId(1), (PartitionKey("k", field, "identity"),))
    assert by_text.folder({"k_1": None}) == "k=__HIVE_DEFAULT_PARTITION__/"
    assert by_text.folder({"k_1": "a/b"}) == "k=a%2Fb/"
    assert len(by_text.folder({"k_1": "é" * 500}).encode()) < 255
