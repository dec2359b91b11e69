"""Inlined rows, whose values must round-trip exactly."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

import forklake
from forklake import Catalog, ColumnSpec, Metastore
from forklake.errors import InvalidInput
from forklake.model.ids import UNCOMMITTED
from forklake.model.types import ColumnType, list_of, map_of, struct

MOMENT = datetime(2024, 2, 29, 23, 59, 59, 999999)  # noqa: DTZ001 - without time zone on purpose
IN_UTC = MOMENT.replace(tzinfo=UTC)
SCALARS: dict[str, list[Any]] = {
    "boolean": [True, False],
    "int8": [-128, 127],
    "int16": [-(2**15), 2**15 - 1],
    "int32": [-(2**31), 2**31 - 1],
    "int64": [-(2**63), 2**63 - 1],
    "int128": [-(2**127), 2**127 - 1],
    "uint8": [0, 255],
    "uint16": [2**16 - 1],
    "uint32": [2**32 - 1],
    "uint64": [2**64 - 1],
    "uint128": [2**128 - 1],
    "float32": [1.5, -0.0, math.inf, math.nan],
    "float64": [0.1, -0.0, 5e-324, -math.inf, math.nan],
    "decimal(38,10)": [
        Decimal("1234567890123456789012345678.0123456789"),
        Decimal("-0.5000000000"),
    ],
    "date": [date(1, 1, 1), date(9999, 12, 31)],
    "time": [time(0), time(23, 59, 59, 999999)],
    "timestamp": [MOMENT, datetime(1, 1, 1)],  # noqa: DTZ001 - without time zone on purpose
    "timestamp_s": [MOMENT.replace(microsecond=0)],
    "timestamp_ms": [MOMENT.replace(microsecond=999000)],
    "timestamp_ns": [MOMENT],
    "timestamptz": [IN_UTC],
    "varchar": ["", "a\0b", "\x01", "\\x00", "\N{GRINNING FACE}'\"", "null", "[1]"],
    "json": ['{"a": [1, null]}'],
    "blob": [b"", b"\x00\xff\\x41"],
    "uuid": ["01234567-89ab-cdef-0123-456789abcdef"],
    "interval": ["3 days"],
    "timetz": [time(1, 2, 3, tzinfo=timezone(timedelta(hours=2)))],
}


def same(one: Any, other: Any) -> bool:
    """Return whether values are equal and of the same type, distinguishing -0.0 and NaN."""
    return type(one) is type(other) and repr(one) == repr(other)


@pytest.fixture
def catalog(metastore: Metastore) -> Catalog:
    return metastore.create_catalog("sales", data_path="/lake")


def stored(catalog: Catalog, columns: dict[str, ColumnType | str], rows: list[Any]) -> list[Any]:
    """Return rows before and after their commit, after checking that they are equal."""
    with catalog.transaction() as transaction:
        specs = [ColumnSpec(name, kind) for name, kind in columns.items()]
        table = transaction.create_table("t", specs)
        transaction.insert_rows(table, rows)
        staged = [list(row.values.values()) for row in transaction.inlined_rows(table)]
    table = catalog.now().state.table("t")
    committed = [list(row.values.values()) for row in catalog.now().inlined_rows(table)]
    assert same(staged, committed)
    return committed


def test_scalars_round_trip(catalog: Catalog) -> None:
    longest = max(map(len, SCALARS.values()))
    rows = [
        {kind: values[number] if number < len(values) else None for kind, values in SCALARS.items()}
        for number in range(longest)
    ]
    found = stored(catalog, {kind: kind for kind in SCALARS}, rows)
    for row, back in zip(rows, found, strict=True):
        for kind, value in zip(SCALARS, back, strict=True):
            assert same(value, row[kind]), (kind, row[kind], value)


def test_nested_values_round_trip(catalog: Catalog) -> None:
    columns: dict[str, ColumnType | str] = {
        "s": struct(**{kind.replace("(38,10)", ""): kind for kind in SCALARS}),
        "l": list_of(list_of("decimal(9,2)")),
        "m": map_of("date", struct(b="blob")),
        "k": map_of(struct(x="int32"), "varchar"),
    }
    fields = {kind.replace("(38,10)", ""): values[-1] for kind, values in SCALARS.items()}
    row = {
        "s": fields,
        "l": [[Decimal("1.10"), None], [], None],
        "m": {date(2024, 1, 1): {"b": b"\xff"}, date(2024, 1, 2): None},
        "k": [({"x": 1}, "one"), ({"x": None}, "\0")],
    }
    nothing = dict.fromkeys(columns)
    assert same(stored(catalog, columns, [row, nothing]), [list(row.values()), [None] * 4])


def test_values_follow_renamed_added_and_widened_columns(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        nested = struct(x="int32", y="date")
        columns = [ColumnSpec("s", nested), ColumnSpec("d", "date"), ColumnSpec("i", "int8")]
        table = transaction.create_table("t", [*columns, ColumnSpec("n", "decimal(4,1)")])
        transaction.insert_rows(
            table,
            [
                {
                    "s": {"x": 1, "y": date(2024, 1, 1)},
                    "d": date(2024, 1, 1),
                    "i": 1,
                    "n": Decimal("2.5"),
                }
            ],
        )
    with catalog.transaction() as transaction:
        table = transaction.table("t")
        transaction.rename_column(table, ("s", "x"), "renamed")
        transaction.add_column(table, ColumnSpec("z", "int32", default="7"), inside="s")
        transaction.set_column_type(table, ("s", "renamed"), "float64")
        transaction.set_column_type(table, "d", "timestamp")
        transaction.set_column_type(table, "i", "int128")
        transaction.set_column_type(table, "n", "decimal(10,3)")
        transaction.add_column(table, ColumnSpec("e", "date", default="2024-05-05"))
        seen = [row.values for row in transaction.inlined_rows(table)]
    (row,) = catalog.now().inlined_rows(catalog.now().state.table("t"))
    assert list(row.values.values()) == [
        {"renamed": 1.0, "y": date(2024, 1, 1), "z": 7},
        datetime(2024, 1, 1),  # noqa: DTZ001 - without time zone on purpose
        1,
        Decimal("2.500"),
        date(2024, 5, 5),
    ]
    assert seen == [row.values]


def test_a_staged_row_shows_the_default_of_a_column_added_after_it(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        table = transaction.create_table("t", [ColumnSpec("a", "int32")])
        transaction.insert_rows(table, [{"a": 1}])
        transaction.add_column(table, ColumnSpec("b", "int32", default="5"))
        transaction.insert_rows(table, [{"a": 2}])
        expected = [[1, 5], [2, None]]
        seen = [list(row.values.values()) for row in transaction.inlined_rows(table)]
        assert seen == expected
    now = catalog.now()
    rows = now.inlined_rows(now.state.table("t"))
    assert [list(row.values.values()) for row in rows] == expected


def test_staged_rows_can_be_updated_and_deleted(catalog: Catalog) -> None:
    with catalog.transaction() as transaction:
        table = transaction.create_table("t", [ColumnSpec("a", "int32"), ColumnSpec("b", "date")])
        transaction.insert_rows(table, [{"a": number} for number in range(4)])
    with catalog.transaction() as transaction:
        table = transaction.table("t")

        def rows() -> dict[int, Any]:
            return {row.values[1]: row for row in transaction.inlined_rows(table)}  # type: ignore[index]

        transaction.update_rows(table, [(rows()[0], {"b": date(2024, 1, 1)})])
        transaction.update_rows(table, [(rows()[0], {"a": 10})])
        transaction.update_rows(table, [(rows()[1], {"a": 11})])
        assert rows()[11].begin_snapshot == UNCOMMITTED
        transaction.delete_rows(table, [rows()[11], rows()[2]])
        transaction.insert_rows(table, [{"a": 20}, {"a": 21}, {"a": 22}])
        transaction.update_rows(table, [(rows()[21], {"a": 30})])
        transaction.delete_rows(table, [rows()[20]])
        expected = {number: row.values for number, row in rows().items()}
    now = catalog.now()
    found = now.inlined_rows(now.state.table("t"))
    assert {row.values[1]: row.values for row in found} == expected  # type: ignore[index]
    assert {row.values[1]: row.row_id for row in found} == {10: 0, 3: 3, 30: 4, 22: 5}  # type: ignore[index]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int8", 128),
        ("int32", True),
        ("int32", "1"),
        ("uint64", -1),
        ("float32", 1e300),
        ("boolean", 1),
        ("decimal(4,2)", Decimal("100")),
        ("decimal(4,2)", Decimal("1.234")),
        ("date", MOMENT),
        ("timestamp", IN_UTC),
        ("timestamptz", MOMENT),
        ("varchar", "\ud800"),
        ("varchar", 1),
        ("blob", "text"),
        (struct(x="int32"), {"y": 1}),
        (struct(x="int32"), {"x": "1"}),
        (list_of("int32"), "text"),
        (map_of("int32", "int32"), [(None, 1)]),
    ],
)
def test_a_value_of_another_type_is_refused(tmp_path: Any, kind: Any, value: Any) -> None:
    with forklake.open(f"ducklake:sqlite:{tmp_path}/m.db", create=True) as metastore:
        catalog = metastore.create_catalog("sales")
        with catalog.transaction() as transaction:
            table = transaction.create_table("t", [ColumnSpec("c", kind)])
            with pytest.raises(InvalidInput, match="is not a value of type"):
                transaction.insert_rows(table, [{"c": None}, {"c": value}])
            assert transaction.inlined_rows(table) == []
