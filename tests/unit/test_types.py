"""Conversion of types between the lake, Spark, Arrow and Parquet; literal defaults."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    CharType,
    DataType,
    DayTimeIntervalType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimeType,
    VarcharType,
    VariantType,
    YearMonthIntervalType,
)

from forklake.engines.arrow_types import (
    NOT_HELD,
    TYPES,
    arrow_schema,
    field_ids,
    literal,
    require_supported,
)
from forklake.engines.spark.types import (
    SPARK_TYPES,
    column_specs,
    literal_column,
    logical_schema,
    physical_schema,
    spark_type,
)
from forklake.errors import InvalidInput, Unsupported
from forklake.model.duckdb_keywords import KEYWORDS
from forklake.model.duckdb_types import duckdb_type
from forklake.model.fields import Field
from forklake.model.ids import ColumnId
from forklake.model.types import SCALARS, ColumnType, list_of, map_of, scalar, struct, struct_of

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


def tree(kind: ColumnType | str, name: str, ids: count[int]) -> Field:
    """Return a column of a type whose physical names differ from the logical ones."""
    kind = scalar(kind) if isinstance(kind, str) else kind
    column_id = ColumnId(next(ids))
    parts = tuple(tree(part, part_name, ids) for part_name, part in kind.fields)
    return Field(column_id, name, f"{name}_0", kind.name, True, None, None, None, parts)


def column(kind: ColumnType | str, name: str = "c") -> Field:
    return tree(kind, name, count(1))


scalars = st.sampled_from(sorted(TYPES)) | st.integers(1, 38).flatmap(
    lambda precision: st.integers(0, precision).map(lambda scale: f"decimal({precision},{scale})")
)
names = st.lists(
    st.text("abcXYZ_ é", min_size=1, max_size=5).map(lambda name: f"n{name}n"),
    min_size=1,
    max_size=3,
    unique_by=str.casefold,
)
types = st.recursive(
    scalars.map(scalar),
    lambda inner: (
        inner.map(list_of)
        | st.tuples(scalars, inner).map(lambda pair: map_of(*pair))
        | st.tuples(names, st.lists(inner, min_size=3, max_size=3)).map(
            lambda pair: struct_of(list(zip(*pair, strict=False)))
        )
    ),
    max_leaves=6,
)


def test_every_type_is_supported_or_refused() -> None:
    assert set(TYPES) | set(NOT_HELD) == SCALARS
    assert not set(TYPES) & set(NOT_HELD)
    assert set(SPARK_TYPES) == set(TYPES)


@given(types)
def test_types_round_trip_to_types_with_the_same_spark_type(kind: ColumnType) -> None:
    require_supported(kind)
    schema = StructType([StructField("c", spark_type(kind), False, {"comment": "why"})])
    (spec,) = column_specs(schema)
    assert isinstance(spec.type, ColumnType)
    assert spark_type(spec.type) == spark_type(kind)
    assert (spec.name, spec.nulls_allowed, spec.comment) == ("c", False, "why")
    (again,) = column_specs(StructType([StructField("c", spark_type(spec.type))]))
    assert again.type == spec.type


def test_common_types_round_trip_exactly() -> None:
    same = "boolean int8 int16 int32 int64 float32 float64 varchar blob date timestamp timestamptz"
    for name in (*same.split(), "time", "decimal(7,3)", "decimal(38,0)", "decimal(20,0)"):
        (spec,) = column_specs(StructType([StructField("c", spark_type(ColumnType(name)))]))
        assert spec.type == ColumnType(name)
    for text in (CharType(3), VarcharType(3)):
        assert column_specs(StructType([StructField("c", text)]))[0].type == ColumnType("varchar")
    assert column_specs(StructType([StructField("c", TimeType(0))]))[0].type == ColumnType("time")


@given(types)
def test_arrow_types_equal_those_that_spark_produces(kind: ColumnType) -> None:
    fields = [column(kind)]
    # Spark marks the fixed names of Parquet as nullable or not; that is not part of the type.
    theirs = to_arrow_schema(logical_schema(fields), timezone="UTC")
    assert arrow_schema(fields).field("c").type == theirs.field("c").type


@given(types)
def test_field_ids_identify_every_node_once_by_its_path(kind: ColumnType) -> None:
    field = column(kind)
    ids = field_ids([field])
    assert ids["c_0"] == field.column_id
    assert sorted(ids.values()) == sorted(node.column_id for node in nodes(field))


def nodes(field: Field) -> list[Field]:
    return [field, *(node for part in field.fields for node in nodes(part))]


def test_paths_equal_those_of_the_parquet_schema() -> None:
    kind = struct(x="int32", y=list_of(struct(z="date")), m=map_of("varchar", list_of("int8")))
    assert field_ids([column(kind)]) == {
        "c_0": 1,
        "c_0.x_0": 2,
        "c_0.y_0": 3,
        "c_0.y_0.list.element": 4,
        "c_0.y_0.list.element.z_0": 5,
        "c_0.m_0": 6,
        "c_0.m_0.key_value.key": 7,
        "c_0.m_0.key_value.value": 8,
        "c_0.m_0.key_value.value.list.element": 9,
    }


def test_dots_in_names_never_merge_two_ids() -> None:
    dotted = Field(ColumnId(1), "a.b", "a.b", "int32", True, None, None, None)
    plain = Field(ColumnId(3), "b", "b", "int32", True, None, None, None)
    group = Field(ColumnId(2), "a", "a", "struct", True, None, None, None, (plain,))
    assert field_ids([dotted]) == {"a.b": 1}
    with pytest.raises(Unsupported, match=r"a\.b"):
        field_ids([dotted, group])


def test_physical_schemas_have_physical_names_and_nullable_fields() -> None:
    kind = struct(x="int64", l=list_of(struct(y="uint8")))
    field = column(kind, "s")
    inner = StructType([StructField("y_0", ShortType())])
    parts = [StructField("x_0", LongType()), StructField("l_0", ArrayType(inner))]
    assert physical_schema([field]) == StructType([StructField("s_0", StructType(parts))])
    required = Field(ColumnId(1), "a", "b", "int32", False, None, None, None)
    assert logical_schema([required]) == StructType([StructField("a", IntegerType(), False)])
    assert physical_schema([required]) == StructType([StructField("b", IntegerType(), True)])


@pytest.mark.parametrize("kind", sorted(NOT_HELD))
def test_types_unknown_to_spark_are_refused_at_any_depth(kind: str) -> None:
    bad = ColumnType(kind)
    with pytest.raises(Unsupported, match=f"unsupported type for data: {kind}") as error:
        require_supported(bad)
    assert error.value.remedy
    for nested, path in (
        (struct(a="int32", b=bad), "c.b"),
        (list_of(struct(x=bad)), "c.element.x"),
        (map_of("int32", list_of(bad)), "c.value.element"),
    ):
        with pytest.raises(Unsupported, match=kind) as error:
            require_supported(nested, "c")
        assert f"'{path}'" in str(error.value)
        with pytest.raises(Unsupported, match=kind):
            spark_type(nested)


@pytest.mark.parametrize(
    "kind",
    [
        DayTimeIntervalType(),
        YearMonthIntervalType(),
        CalendarIntervalType(),
        NullType(),
        VariantType(),
        StringType("UNICODE_CI"),
    ],
)
def test_unsupported_spark_types_are_named_by_their_path(kind: DataType) -> None:
    inner = StructType([StructField("x", MapType(StringType(), ArrayType(kind)))])
    for schema, path in (
        (StructType([StructField("c", kind)]), "c"),
        (StructType([StructField("c", inner)]), "c.x.value.element"),
    ):
        with pytest.raises(Unsupported, match="unsupported type") as error:
            column_specs(schema)
        assert f"'{path}'" in str(error.value)


DEFAULTS: list[tuple[str, str, Any]] = [
    ("boolean", "true", True),
    ("int8", "-128", -128),
    ("uint64", str(2**64 - 1), 2**64 - 1),
    ("int128", "9" * 38, 10**38 - 1),
    ("float32", "0.1", 0.10000000149011612),
    ("float64", "-inf", -math.inf),
    ("decimal(38,10)", "1.5", Decimal("1.5")),
    ("varchar", "it's \\ a 'text'", "it's \\ a 'text'"),
    ("json", '{"a": 1}', '{"a": 1}'),
    ("uuid", "00000000-0000-0000-0000-0000000000AB", "00000000-0000-0000-0000-0000000000ab"),
    ("blob", "a\\x00\\xFF", b"a\x00\xff"),
    ("date", "0001-01-01", dt.date(1, 1, 1)),
    ("time", "12:34:56.5", dt.time(12, 34, 56, 500000)),
    ("timestamp", "2024-03-31 02:30:00.5", dt.datetime.fromisoformat("2024-03-31T02:30:00.5")),
    ("timestamptz", "2024-01-01 00:00:00+02", dt.datetime(2023, 12, 31, 22, tzinfo=dt.UTC)),
    ("timestamp_s", "2024-01-01", dt.datetime.fromisoformat("2024-01-01")),
]


def test_literal_defaults_are_parsed(engine: Engine) -> None:
    fields = [column(kind, f"c{number}") for number, (kind, _, _) in enumerate(DEFAULTS)]
    texts = [text for _, text, _ in DEFAULTS]
    pairs = list(zip(texts, fields, strict=True))
    expected = [value for _, _, value in DEFAULTS]
    assert [literal(text, field) for text, field in pairs] == expected
    row = engine.spark.range(1).select(
        *(literal_column(text, field).alias(field.name) for text, field in pairs),
        literal_column(None, fields[0]).alias("none"),
    )
    assert [one.dataType for one in row.schema][:-1] == [spark_type(field) for field in fields]
    table = row.toArrow()
    assert table.schema.field("none").type == pa.bool_()
    assert [value for (value,) in (column.to_pylist() for column in table.columns)] == [
        *expected,
        None,
    ]


def test_the_error_for_a_misfit_default_names_its_column() -> None:
    with pytest.raises(InvalidInput, match=r"'price'.*decimal\(4,2\)"):
        literal("100", column("decimal(4,2)", "price"))
    with pytest.raises(Unsupported):
        literal("[]", column(list_of("int32"), "l"))
    assert literal(None, column("int32")) is None


def test_files_of_spark_match_the_table_of_types(engine: Engine, tmp_path: Path) -> None:
    fields = [column(name, name) for name in TYPES]
    rows = engine.spark.createDataFrame([], physical_schema(fields)).coalesce(1)
    rows.write.parquet(f"{tmp_path}/all")
    (path,) = tmp_path.glob("all/*.parquet")
    schema = pq.read_metadata(path).schema
    found = [schema.column(number) for number in range(len(TYPES))]
    assert {node.name.removesuffix("_0"): in_parquet(node) for node in found} == {
        name: held.parquet for name, held in TYPES.items()
    }


def in_parquet(node: Any) -> str:
    """Return a node of a Parquet schema in the notation of the table of types."""
    length = f"({node.length})" if node.physical_type == "FIXED_LEN_BYTE_ARRAY" else ""
    match json.loads(node.logical_type.to_json()):
        case {"Type": "Int", "bitWidth": bits, "isSigned": signed}:
            logical = f" INT({bits},{str(signed).lower()})"
        case {"Type": "Decimal", "precision": precision, "scale": scale}:
            logical = f" DECIMAL({precision},{scale})"
        case {"Type": "Timestamp" | "Time" as kind, "isAdjustedToUTC": utc, "timeUnit": unit}:
            logical = f" {kind.upper()}({unit[:5].upper()}S,{str(utc).lower()})"
        case {"Type": kind}:
            logical = "" if kind == "None" else f" {kind.upper()}"
    return f"{node.physical_type}{length}{logical}"


def test_types_that_are_nested_too_deeply_are_refused() -> None:
    kind: ColumnType = scalar("int64")
    for _ in range(62):
        kind = map_of("int64", kind)
    assert list_of(kind).name == "list"
    with pytest.raises(InvalidInput, match="levels"):
        list_of(list_of(kind))


def test_decimals_of_any_number_of_digits_are_read() -> None:
    assert scalar("DECIMAL(009, 02)") == scalar("decimal(9,2)")
    for text in (f"decimal({'1' * 10_000},1)", f"decimal(9,{'1' * 10_000})"):
        with pytest.raises(Unsupported):
            scalar(text)


def test_names_that_are_keywords_of_duckdb_are_shown_in_quotes() -> None:
    with duckdb.connect() as connection:
        found = connection.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()
    assert {word for (word,) in found} == KEYWORDS
    assert duckdb_type(struct(at="int64", Year="date", plain="blob")) == (
        'STRUCT("at" BIGINT, "Year" DATE, plain BLOB)'
    )
