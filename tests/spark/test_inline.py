"""Inserting rows without Spark: into the metastore, or into a file written by Arrow."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from forklake import Session, connect
from forklake.errors import InvalidInput
from forklake.model.types import ColumnSpec, list_of, map_of, struct_of
from forklake.session.insert import insert_rows

LAKE = "lake"
COLUMNS = [
    ColumnSpec("id", "int64", nulls_allowed=False),
    ColumnSpec("name", "varchar"),
    ColumnSpec("small", "uint8"),
    ColumnSpec("big", "uint64"),
    ColumnSpec("huge", "int128"),
    ColumnSpec("f", "float32"),
    ColumnSpec("price", "decimal(10,2)"),
    ColumnSpec("at", "timestamp_s"),
    ColumnSpec("tz", "timestamptz"),
    ColumnSpec("tm", "time"),
    ColumnSpec("key", "uuid"),
    ColumnSpec("js", "json"),
    ColumnSpec("data", "blob"),
    ColumnSpec(
        "s",
        struct_of([("x", "int32"), ("l", list_of("uint64")), ("m", map_of("varchar", "uint8"))]),
    ),
    ColumnSpec("day", "date", default="2024-02-29"),
    ColumnSpec("n", "int32", default="40 + 2", default_type="expression"),
]
KEY = uuid.UUID("f47ac10b-58cc-4372-a567-0e02b2c3d479")
# A row as callers may pass it; KEPT is the same row as it is stored.
ROW: dict[str, Any] = {
    "id": "7",
    "name": 5,
    "small": 254.6,
    "big": 2**64 - 1,
    "huge": -(2**100),
    "f": 0.1,
    "price": "1.999",
    "at": "2024-01-01 00:00:00.6",
    "tz": "2024-01-01 02:00:00+02",
    "tm": "12:34:56.5",
    "key": KEY,
    "js": '{"a": null}',
    "data": b"\x00\xff",
    "s": {"X": 1, "l": [2**64 - 1, None], "m": {"k": 255}},
}
KEPT: dict[str, Any] = {
    "id": 7,
    "name": "5",
    "small": 255,
    "big": 2**64 - 1,
    "huge": -(2**100),
    "f": 0.10000000149011612,
    "price": Decimal("2.00"),
    "at": datetime(2024, 1, 1, 0, 0, 1, tzinfo=UTC).replace(tzinfo=None),
    "tz": datetime(2024, 1, 1, tzinfo=UTC),
    "tm": time(12, 34, 56, 500000),
    "key": str(KEY),
    "js": '{"a": null}',
    "data": b"\x00\xff",
    "s": {"x": 1, "l": [2**64 - 1, None], "m": {"k": 255}},
    "day": date(2024, 2, 29),
    "n": 42,
}


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Session]:
    """Yield a session with a table `t`, and without Spark."""
    with connect() as session:
        session.attach(
            f"ducklake:sqlite:{tmp_path / 'metastore.db'}",
            LAKE,
            catalog="shop",
            data_path=str(tmp_path / "data"),
            create_if_not_exists=True,
        )
        session.use(LAKE)
        session.create_table("t", COLUMNS)
        yield session
        assert session._engine is None, "Spark was started"


def inlined(lake: Session) -> list[dict[str, Any]]:
    """Return the rows of `t` in the metastore."""
    view = lake.viewing(lake.attachment(LAKE))
    table = view.state.table("t")
    names = {column.column_id: column.column_name for column in view.state.columns(table)}
    return [
        {names[number]: value for number, value in row.values.items()}
        for row in view.inlined_rows(table)
    ]


def paths(lake: Session, name: str = "t") -> list[str]:
    """Return the full paths of the data files of a table."""
    view = lake.viewing(lake.attachment(LAKE))
    attached = lake.attachment(LAKE)
    return [attached.located(file.path) for file in view.data_files(view.state.table(name))]


def limit(lake: Session, rows: int) -> None:
    """Set how many rows are kept in the metastore."""
    lake.set_option(LAKE, "data_inlining_row_limit", rows, table="t")


def test_few_rows_are_kept_in_the_metastore_with_their_types(lake: Session) -> None:
    limit(lake, 2)
    assert insert_rows(lake, "t", [ROW, {**dict.fromkeys(ROW), "id": 8}]) == 2
    first, second = inlined(lake)
    assert first == KEPT
    assert {type(value) for value in first.values()} == {type(value) for value in KEPT.values()}
    assert second == {**dict.fromkeys(ROW), "id": 8, "day": KEPT["day"], "n": 42}
    assert paths(lake) == []


def test_more_rows_go_to_a_file_with_ids_and_statistics(lake: Session) -> None:
    limit(lake, 2)
    assert insert_rows(lake, "t", [{**ROW, "id": number} for number in range(3)]) == 3
    assert inlined(lake) == []
    (path,) = paths(lake)
    read = pq.ParquetFile(path).read()
    rows = read.to_pylist()
    nested = {"x": 1, "l": [Decimal(2**64 - 1), None], "m": [("k", 255)]}
    wide = {"big": Decimal(2**64 - 1), "huge": Decimal(-(2**100)), "s": nested}
    assert rows == [{**KEPT, **wide, "id": number} for number in range(3)]
    assert [field.metadata[b"PARQUET:field_id"] for field in read.schema][:3] == [b"1", b"2", b"3"]
    view = lake.attachment(LAKE).catalog.now()
    table = view.state.table("t")
    (file,) = view.data_files(table)
    reported = {one.column_id: one for one in view.file_statistics(table, [file.data_file_id])}
    ids, price = (reported[view.state.column(table, name).column_id] for name in ("id", "price"))
    assert (ids.min_value, ids.max_value, price.min_value) == ("0", "2", "2.00")
    (seen,) = duckdb.sql(f"SELECT DISTINCT big, price, tm, s.l[1] FROM '{path}'").fetchall()
    assert seen == (Decimal(2**64 - 1), Decimal("2.00"), KEPT["tm"], Decimal(2**64 - 1))


def test_rows_may_be_tuples_or_arrow_tables(lake: Session) -> None:
    lake.create_table("u", [ColumnSpec("a", "int8"), ColumnSpec("b", "varchar", default="x")])
    assert insert_rows(lake, "u", [(1, "p"), [2, None]]) == 2
    assert insert_rows(lake, "u", pa.table({"A": pa.array([3, 4], pa.int64())})) == 2
    assert insert_rows(lake, "u", []) == 0
    rows = [row for path in paths(lake, "u") for row in pq.ParquetFile(path).read().to_pylist()]
    assert [(row["a"], row["b"]) for row in rows] == [(1, "p"), (2, None), (3, "x"), (4, "x")]


@pytest.mark.parametrize("rows_in_metastore", [0, 10])
def test_rows_that_do_not_fit_change_nothing(
    lake: Session, tmp_path: Path, rows_in_metastore: int
) -> None:
    limit(lake, rows_in_metastore)
    before = lake.attachment(LAKE).catalog.current_snapshot()
    for changed, message in (
        ({"id": None}, "NOT NULL constraint failed: t.id"),
        ({"id": "x"}, "'t.id' of type int64 cannot hold a value"),
        ({"small": 256}, "'t.small' of type uint8"),
        ({"big": -1}, "'t.big' of type uint64"),
        ({"f": 1e300}, "'t.f' of type float32"),
        ({"price": "123456789.00"}, "'t.price' of type decimal(10,2)"),
        ({"at": "2024-02-30"}, "'t.at' of type timestamp_s"),
        ({"key": "no uuid"}, "'t.key' of type uuid"),
        ({"js": "{"}, "'t.js' of type json"),
        ({"data": object()}, "'t.data' cannot hold"),
        ({"s": {"x": 1, "q": 2}}, "has no column 'q'"),
        ({"s": {"m": {"k": 256}}}, "'t.s' of type struct"),
        ({"s": {"x": "y"}}, "'t.s' cannot hold"),
        ({"s": 5}, "'t.s' of type struct cannot hold '5'"),
        ({"more": 1}, "Table 't' has no column 'more'"),
    ):
        with pytest.raises(InvalidInput) as caught:
            insert_rows(lake, "t", [{**dict.fromkeys(changed), **ROW}, {**ROW, **changed}])
        assert message in caught.value.message
    for rows, message in (
        ([(1, 2)], "has 16 columns but a row is"),
        (["text"], "has 16 columns but a row is"),
        ([{"id": 1}, {"id": 2, "name": "x"}], "others do not"),
        ([{"id": 1, "ID": 2}], "'id', 'ID' twice"),
    ):
        with pytest.raises(InvalidInput) as caught:
            insert_rows(lake, "t", rows)
        assert message in caught.value.message
    assert lake.attachment(LAKE).catalog.current_snapshot() == before
    assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file()]


def test_a_default_cannot_read_files(lake: Session, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    expression = f"(SELECT count(*) FROM '{secret}')"
    lake.set_default("t", "n", expression, default_type="expression")
    with pytest.raises(InvalidInput, match=r"'t\.n'"):
        insert_rows(lake, "t", [{"id": 1}])


def test_rows_of_a_transaction_are_committed_together_or_not_at_all(
    lake: Session, tmp_path: Path
) -> None:
    limit(lake, 1)
    lake.begin()
    insert_rows(lake, "t", [{"id": 1}])
    insert_rows(lake, "t", [{"id": 2}, {"id": 3}])
    assert len(inlined(lake)) == 1
    lake.rollback()
    assert inlined(lake) == []
    assert paths(lake) == []
    assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file()]


def test_bytes_in_a_text_column_are_written_as_sql_writes_them(lake: Session) -> None:
    rows = [{"id": 1, "name": "café".encode()}, {"id": 2, "name": b"plain"}]
    limit(lake, 2)
    insert_rows(lake, "t", rows)
    assert [row["name"] for row in inlined(lake)] == [r"caf\xC3\xA9", "plain"]
    insert_rows(lake, "t", [{"id": 3, "name": True}, {"id": 4, "name": 1}])
    assert [row["name"] for row in inlined(lake)][2:] == ["true", "1"]
