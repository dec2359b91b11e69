"""Bounds from file footers, which hold for every row of any writer's file, or are unknown."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow.parquet.encryption import create_encryption_properties

from forklake.errors import Corruption, Forbidden, NotFound
from forklake.files.bounds import MAX_BOUND
from forklake.files.footers import (
    leaf_fields,
    new_data_file,
    node_paths,
    read_footer,
    read_footers,
)
from forklake.files.keys import new_key
from forklake.model.fields import Field
from forklake.model.files import ColumnBounds
from forklake.model.ids import ColumnId
from forklake.model.statistics import comparable
from forklake.model.values import to_text

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


def field(number: int, name: str, kind: str, *parts: Field) -> Field:
    return Field(ColumnId(number), f"now {name}", name, kind, True, None, None, None, tuple(parts))


def columns(**kinds: str) -> list[Field]:
    return [field(number, name, kind) for number, (name, kind) in enumerate(kinds.items(), 1)]


def bounds_of(path: Path | str, fields: list[Field]) -> dict[str, ColumnBounds]:
    footer = read_footer(str(path), leaf_fields(fields))
    names = {leaf.column_id: name for name, leaf in node_paths(fields)}
    return {names[bound.column_id]: bound for bound in footer.bounds}


def written(path: Path, table: pa.Table, **options: Any) -> str:
    pq.write_table(table, path, **options)
    return str(path)


# Random tables: bounds hold for all values, as the predicates compare them

instants = st.datetimes()
KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "boolean": (pa.bool_(), st.booleans()),
    "int8": (pa.int8(), st.integers(-128, 127)),
    "int32": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "uint8": (pa.uint8(), st.integers(0, 255)),
    "uint32": (pa.uint32(), st.integers(0, 2**32 - 1)),
    "uint64": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "int128": (
        pa.decimal128(38, 0),
        st.integers(-(10**38) + 1, 10**38 - 1).map(Decimal),
    ),
    "float32": (pa.float32(), st.floats(width=32)),
    "float64": (pa.float64(), st.floats()),
    "decimal(9,2)": (pa.decimal128(9, 2), st.decimals(-(10**6), 10**6, places=2)),
    "decimal(38,10)": (pa.decimal128(38, 10), st.decimals(-(10**9), 10**9, places=10)),
    "varchar": (
        pa.string(),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(lambda text: text * 60)
        | st.text(st.characters(exclude_categories=["Cs"]))
        | st.sampled_from(["\U0010ffff" * 300, "\ud7ff" * 300, "a\0b", "\0"]),
    ),
    "uuid": (pa.uuid(), st.uuids().map(lambda value: value.bytes)),
    "date": (pa.date32(), st.dates()),
    "time": (pa.time64("us"), st.times()),
    "timestamp": (pa.timestamp("us"), instants),
    "timestamp_ms": (
        pa.timestamp("ms"),
        instants.map(lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000)),
    ),
    "timestamptz": (
        pa.timestamp("us", "UTC"),
        instants.map(lambda at: at.replace(tzinfo=dt.UTC)),
    ),
}


@st.composite
def random_columns(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Draw rows of all kinds; values of a row group, or of the file, may all be null."""
    rows = draw(st.integers(0, 6))
    return {
        kind: draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
        for kind, (_, values) in KINDS.items()
    }


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(random_columns(), st.integers(1, 4))
def test_bounds_hold_for_every_value(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, list[Any]], group: int
) -> None:
    table = pa.table({kind: pa.array(data[kind], KINDS[kind][0]) for kind in KINDS})
    path = written(tmp_path_factory.getbasetemp() / "any.parquet", table, row_group_size=group)
    found = bounds_of(path, [field(n, kind, kind) for n, kind in enumerate(KINDS, 1)])
    for kind, values in data.items():
        require_true(kind, values, found[kind])


def require_true(kind: str, values: list[Any], bound: ColumnBounds) -> None:
    present = [value for value in values if value is not None]
    if kind in ("float32", "float64"):
        assert bound.contains_nan is not False or not any(map(math.isnan, present))
        present = [value for value in present if not math.isnan(value)]
    compare = comparable(kind)
    assert compare is not None
    assert bound.value_count == len(values)
    assert bound.null_count == values.count(None)
    for value in present:
        text = to_text(kind, value)
        assert text is not None
        if bound.min_value is not None:
            assert compare(bound.min_value) <= compare(text)
        if bound.max_value is not None:
            assert compare(text) <= compare(bound.max_value)
    for kept in (bound.min_value, bound.max_value):
        assert kept is None or (len(kept) <= MAX_BOUND and "\0" not in kept)
    exact = kind.startswith(("int", "uint", "decimal", "date", "time", "boolean"))
    if present and exact:
        texts = sorted((to_text(kind, value) or "" for value in present), key=compare)
        assert (bound.min_value, bound.max_value) == (texts[0], texts[-1])
    if not present:
        assert (bound.min_value, bound.max_value) == (None, None)


# Files of each writer


def test_nan_is_recorded_as_far_as_the_writer_records_it(tmp_path: Path) -> None:
    floats = pa.table({"some": [1.0, math.nan], "all": [math.nan] * 2, "none": [1.0, 2.0]})
    kinds = columns(some="float64", all="float64", none="float64")
    by_arrow = bounds_of(written(tmp_path / "a.parquet", floats), kinds)
    assert [by_arrow[name].contains_nan for name in floats.column_names] == [None] * 3
    assert by_arrow["all"].min_value is None
    assert by_arrow["none"].max_value == "2.0"
    duckdb.sql(f"COPY (SELECT * FROM floats) TO '{tmp_path}/d.parquet'")
    by_duckdb = bounds_of(tmp_path / "d.parquet", kinds)
    assert (by_duckdb["some"].min_value, by_duckdb["some"].max_value) == (None, None)
    assert by_duckdb["none"].max_value == "2.0"


def test_infinite_bounds_are_unknown_and_zeros_are_equal(tmp_path: Path) -> None:
    table = pa.table({"a": [-math.inf, 3.0], "b": [1.0, math.inf], "z": [-0.0, 0.0]})
    found = bounds_of(
        written(tmp_path / "a.parquet", table), columns(a="float64", b="float64", z="float64")
    )
    assert (found["a"].min_value, found["a"].max_value) == (None, "3.0")
    assert (found["b"].min_value, found["b"].max_value) == ("1.0", None)
    assert (found["z"].min_value, found["z"].max_value) == ("0.0", "0.0")


def test_files_of_duckdb_have_correct_bounds(tmp_path: Path) -> None:
    path = f"{tmp_path}/d.parquet"
    duckdb.sql(
        f"""COPY (SELECT * FROM (VALUES
            (0::UTINYINT, 18446744073709551615::UBIGINT, 1.5::DECIMAL(4,1), 7::HUGEINT,
             '00000000-0000-0000-0000-0000000000ff'::UUID, '[]'::JSON,
             TIMESTAMPTZ '2024-01-01 00:00:00+00',
             TIMESTAMP_S '2024-01-01 00:00:01', TIME '24:00:00', 'infinity'::TIMESTAMP, 'x'::BLOB,
             {{'x': 1, 'y': [1, 2]}}, MAP {{'k': 1.5}}),
            (255, 0, -1.5, 8, 'ffffffff-0000-0000-0000-000000000000', '{{}}',
             '1900-01-01 12:00:00+00',
             '1900-01-01', '12:00:00', '2024-01-01', 'y', {{'x': NULL, 'y': []}}, MAP {{'a': 2.5}})
            ) t(u8, u64, d, huge, u, j, tz, ts, tm, inf, b, s, m)) TO '{path}'"""
    )
    numbers = field(22, "y", "list", field(23, "element", "int32"))
    fields = [
        *columns(
            u8="uint8",
            u64="uint64",
            d="decimal(4,1)",
            huge="int128",
            u="uuid",
            j="json",
            tz="timestamptz",
            ts="timestamp_s",
            tm="time",
            inf="timestamp",
            b="blob",
        ),
        field(20, "s", "struct", field(21, "x", "int32"), numbers),
        field(30, "m", "map", field(31, "key", "varchar"), field(32, "value", "decimal(2,1)")),
    ]
    found = bounds_of(path, fields)
    assert {name: (bound.min_value, bound.max_value) for name, bound in found.items()} == {
        "u8": ("0", "255"),
        "u64": ("0", "18446744073709551615"),
        "d": ("-1.5", "1.5"),
        "huge": (None, None),  # the file stores floats
        "u": ("00000000-0000-0000-0000-0000000000ff", "ffffffff-0000-0000-0000-000000000000"),
        "j": ("[]", "{}"),
        "tz": ("1900-01-01 12:00:00+00", "2024-01-01 00:00:00+00"),
        "ts": ("1900-01-01 00:00:00", "2024-01-01 00:00:01"),
        "tm": (None, None),  # 24:00 is not a Python time
        "inf": (None, None),
        "b": (None, None),
        "s.x": ("1", "1"),
        "s.y.list.element": ("1", "2"),
        "m.key_value.key": ("a", "k"),
        "m.key_value.value": ("1.5", "2.5"),
    }
    assert (found["s.x"].value_count, found["s.x"].null_count) == (2, 1)
    assert all((bound.column_size_bytes or 0) > 0 for bound in found.values())


def test_files_of_spark_have_correct_bounds(engine: Engine, tmp_path: Path) -> None:
    rows = engine.spark.sql(
        """SELECT * FROM VALUES
            (1Y, 1.5BD, 18446744073709551615BD, double('nan'), double('nan'), 1.0D, -0.0D,
             date'2024-01-01', date'+99999-01-01', timestamp_ntz'2024-01-01 00:00:00.5',
             timestamp'0001-01-01 00:00:00Z', time'12:34:56.789', true, 'b',
             named_struct('x', 1, 'y', array(1, null)), map('k', double('nan'))),
            (-1Y, -1.5BD, 0BD, 1.0D, double('nan'), double('-inf'), 0.0D,
             date'0001-01-01', date'2024-01-01', timestamp_ntz'9999-12-31 23:59:59.999999',
             timestamp'2024-01-01 00:00:00Z', time'00:00:00', false, repeat('é', 300),
             null, null)
            AS t(i, d, u, f, fnan, finf, z, dt, far, tn, tz, tm, b, s, st, m)"""
    )
    rows.coalesce(1).write.parquet(f"{tmp_path}/spark")
    (path,) = tmp_path.glob("spark/*.parquet")
    numbers = field(22, "y", "list", field(23, "element", "int32"))
    fields = [
        *columns(
            i="int8",
            d="decimal(2,1)",
            u="uint64",
            f="float64",
            fnan="float64",
            finf="float64",
            z="float64",
            dt="date",
            far="date",
            tn="timestamp",
            tz="timestamptz",
            tm="time",
            b="boolean",
            s="varchar",
        ),
        field(20, "st", "struct", field(21, "x", "int32"), numbers),
        field(30, "m", "map", field(31, "key", "varchar"), field(32, "value", "float64")),
    ]
    found = bounds_of(path, fields)
    assert {name: (bound.min_value, bound.max_value) for name, bound in found.items()} == {
        "i": ("-1", "1"),
        "d": ("-1.5", "1.5"),
        "u": ("0", "18446744073709551615"),
        "f": ("1.0", None),
        "fnan": (None, None),
        "finf": (None, "1.0"),
        "z": ("0.0", "0.0"),
        "dt": ("0001-01-01", "2024-01-01"),
        "far": (None, None),
        "tn": ("2024-01-01 00:00:00.5", "9999-12-31 23:59:59.999999"),
        "tz": ("0001-01-01 00:00:00+00", "2024-01-01 00:00:00+00"),
        "tm": ("00:00:00", "12:34:56.789"),
        "b": ("false", "true"),
        "s": ("b", "é" * 255 + "ê"),
        "st.x": ("1", "1"),
        "st.y.list.element": ("1", "1"),
        "m.key_value.key": ("k", "k"),
        "m.key_value.value": (None, None),
    }
    nan = {name: bound.contains_nan for name, bound in found.items()}
    assert {name for name, held in nan.items() if held} == {"f", "fnan", "m.key_value.value"}
    assert (nan["finf"], nan["z"], nan["i"]) == (False, False, None)


def test_bounds_have_the_type_of_the_column_and_not_of_the_file(tmp_path: Path) -> None:
    day, noon = dt.date(2024, 1, 1), dt.datetime.fromisoformat("2024-01-01T12:00")
    table = pa.table({"i": [1], "d": [day], "t": [noon], "x": [1.5], "s": ["1"], "n": [True]})
    path = written(tmp_path / "a.parquet", table)
    promoted = columns(i="decimal(12,2)", d="timestamp", t="timestamptz", x="float32")
    assert {name: bound.min_value for name, bound in bounds_of(path, promoted).items()} == {
        "i": "1.00",
        "d": "2024-01-01 00:00:00",
        "t": "2024-01-01 12:00:00+00",
        "x": "1.5",
    }
    foreign = columns(i="varchar", d="int32", t="date", x="int64", s="int32", n="int8")
    assert {bound.min_value for bound in bounds_of(path, foreign).values()} == {None}


def test_dates_that_spark_shifts_have_no_bounds(tmp_path: Path) -> None:
    table = pa.table({"d": [dt.date(1500, 1, 1)], "i": [1]})
    kinds = columns(d="date", i="int64")
    for metadata, expected in (
        ({"org.apache.spark.version": "2.4.8"}, None),
        ({"org.apache.spark.version": "3.5.0", "org.apache.spark.legacyDateTime": ""}, None),
        ({"org.apache.spark.version": "4.3.0"}, "1500-01-01"),
    ):
        path = written(tmp_path / "a.parquet", table.replace_schema_metadata(metadata))
        assert bounds_of(path, kinds)["d"].min_value == expected
        assert bounds_of(path, kinds)["i"].min_value == "1"


def test_times_outside_of_python_and_old_formats_have_no_bounds(tmp_path: Path) -> None:
    table = pa.table(
        {
            "late": pa.array([2**60], pa.timestamp("us")),
            "nano": pa.array([1], pa.timestamp("ns")),
            "day": pa.array([2**30], pa.date32()),
        }
    )
    kinds = columns(late="timestamp", nano="timestamp", day="date")
    path = written(tmp_path / "a.parquet", table)
    assert {bound.max_value for bound in bounds_of(path, kinds).values()} == {None}
    few = pa.table({"late": pa.array([0], pa.timestamp("us"))})
    path = written(tmp_path / "b.parquet", few, use_deprecated_int96_timestamps=True)
    assert bounds_of(path, kinds)["late"].max_value is None


@pytest.mark.parametrize(
    ("longest", "expected"),
    [
        ("a" * 300, "a" * 255 + "b"),
        ("a" * 255 + "\U0010ffff" * 9, "a" * 254 + "b"),
        ("a" * 255 + "\ud7ff" * 9, "a" * 255 + "\ue000"),
        ("\U0010ffff" * 300, None),
        ("a" * 256, "a" * 256),
        ("ab\0c", "ac"),
        ("\0", None),
    ],
)
def test_upper_bounds_of_long_texts_are_rounded_up(
    tmp_path: Path, longest: str, expected: str | None
) -> None:
    path = written(tmp_path / "a.parquet", pa.table({"s": [longest]}))
    bound = bounds_of(path, columns(s="varchar"))["s"]
    assert bound.max_value == expected
    assert bound.min_value == longest[:256].split("\0", 1)[0]


def test_row_groups_without_statistics_make_bounds_unknown(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "b": [1, 2]})
    path = written(tmp_path / "a.parquet", table, write_statistics=["a"])
    found = bounds_of(path, columns(a="int64", b="int64"))
    assert (found["a"].max_value, found["a"].null_count) == ("2", 0)
    assert (found["b"].max_value, found["b"].null_count) == (None, None)
    mixed = pa.table({"s": ["x" * 20_000, "a", None]})  # Arrow stores no bounds of that length
    path = written(tmp_path / "b.parquet", mixed, row_group_size=1)
    found = bounds_of(path, columns(s="varchar"))
    assert (found["s"].min_value, found["s"].max_value, found["s"].null_count) == (None, None, 1)


def test_files_without_rows_and_columns_without_values(tmp_path: Path) -> None:
    kinds = columns(a="int64", f="float64", gone="int64")
    empty = pa.table({"a": pa.array([], pa.int64()), "f": pa.array([], pa.float64())})
    path = written(tmp_path / "a.parquet", empty)
    footer = read_footer(path, leaf_fields(kinds))
    assert footer.record_count == 0
    assert [(b.value_count, b.null_count, b.min_value) for b in footer.bounds] == [(0, 0, None)] * 2
    nulls = pa.table({"a": pa.nulls(3, pa.int64()), "f": pa.nulls(3, pa.float64())})
    found = bounds_of(written(tmp_path / "b.parquet", nulls), kinds)
    assert (found["a"].value_count, found["a"].null_count) == (3, 3)
    assert found["f"].contains_nan is False


def test_names_with_dots_are_not_confused_with_nested_ones(tmp_path: Path) -> None:
    table = pa.table({"a.b": [1], "a": [{"b": 2}], "c.d": [3]})
    path = written(tmp_path / "a.parquet", table)
    both = [
        *columns(**{"a.b": "int64", "c.d": "int64"}),
        field(8, "a", "struct", field(9, "b", "int64")),
    ]
    assert list(leaf_fields(both)) == ["c.d"]
    footer = read_footer(path, leaf_fields(columns(**{"a.b": "int64", "c.d": "int64"})))
    assert [(bound.column_id, bound.min_value) for bound in footer.bounds] == [(2, "3")]


# Files


def test_a_footer_becomes_a_new_data_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", pa.table({"a": [1, 2, 3]}))
    footer = read_footer(path, leaf_fields(columns(a="int64")))
    file = new_data_file(footer, path="main/t/a.parquet", row_ids=False)
    data = Path(path).read_bytes()
    assert (file.record_count, file.file_size_bytes) == (3, len(data))
    assert file.footer_size == int.from_bytes(data[-8:-4], "little")
    assert (file.path, file.row_ids, file.bounds) == ("main/t/a.parquet", False, footer.bounds)


def test_many_footers_are_read_in_order(tmp_path: Path) -> None:
    leaves = leaf_fields(columns(a="int64"))
    paths = [
        written(tmp_path / f"{n}.parquet", pa.table({"a": range(n)}))
        for n in random.sample(range(30), 30)
    ]
    counts = [footer.record_count for footer in read_footers(paths, leaves)]
    assert counts == [int(Path(path).stem) for path in paths]


def test_encrypted_files_are_read_with_their_key_only(tmp_path: Path) -> None:
    key, path = new_key(), f"{tmp_path}/a.parquet"
    properties = create_encryption_properties(bytes(key), plaintext_footer=False)
    pq.write_table(pa.table({"a": [1, 7]}), path, encryption_properties=properties)
    leaves = leaf_fields(columns(a="int64"))
    (footer,) = read_footers([path], leaves, keys={path: key})
    data = Path(path).read_bytes()
    assert footer.bounds[0].max_value == "7"
    assert footer.footer_size == int.from_bytes(data[-8:-4], "little")
    for wrong, reason in ((None, "no key for it is stored"), (new_key(), "does not match")):
        with pytest.raises(Forbidden, match=reason) as error:
            read_footer(path, leaves, key=wrong)
        assert path in str(error.value)
    pq.write_table(pa.table({"a": [1, 7]}), path)
    with pytest.raises(Corruption, match="not encrypted although it has a key"):
        read_footer(path, leaves, key=key)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-10],
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"PAR1",
        lambda data: b"id,name\n1,a\n",
        lambda data: data[: -int.from_bytes(data[-8:-4], "little")] + bytes(300) + data[-8:],
        lambda data: data[:-8] + b"\xff\xff\xff\x7fPAR1",
    ],
)
def test_a_damaged_file_is_corruption_with_its_path(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "a.parquet"
    written(path, pa.table({"a": range(100), "b": ["x"] * 100}))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(Corruption, match=r"a\.parquet"):
        read_footer(str(path), {})


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"none\.parquet"):
        read_footer(f"{tmp_path}/none.parquet", {})
