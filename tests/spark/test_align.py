"""Adapting rows to a table inside the Spark plan; misfits are typed errors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from pyspark.sql import DataFrame

from forklake.engines.spark.engine import Engine
from forklake.engines.spark.writing.align import aligned, translated, translating
from forklake.errors import InvalidInput, Unavailable
from forklake.model.fields import Field
from forklake.model.ids import ColumnId

_ids = itertools.count(1)


def column(
    name: str,
    kind: str,
    *fields: Field,
    physical: str | None = None,
    nullable: bool = True,
    default: str | None = None,
    default_type: str = "literal",
) -> Field:
    """Return a column of a table that does not exist."""
    return Field(
        column_id=ColumnId(next(_ids)),
        name=name,
        physical_name=physical or name,
        type=kind,
        nulls_allowed=nullable,
        initial_default=None,
        default_value=default,
        default_value_type=default_type if default is not None else None,
        fields=fields,
    )


def row_of(df: DataFrame) -> dict[str, Any]:
    """Return the only row of a DataFrame."""
    (row,) = df.toArrow().to_pylist()
    assert isinstance(row, dict)
    return row


def fitted(
    df: DataFrame, *fields: Field, by_name: bool = False, keep: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the only row as the table `t` stores it."""
    with translating():
        return row_of(aligned(df, fields, "t", by_name=by_name, keep=keep))


# Spark SQL of a value, the target type, and the DuckDB SQL where it differs.
CASTS = [
    ("2.5D", "int32", "2.5::DOUBLE"),
    ("3.5D", "int64", "3.5::DOUBLE"),
    ("-2.5D", "int8", "-2.5::DOUBLE"),
    ("2.5BD", "int32", "2.5::DECIMAL(3,1)"),
    ("-2.5BD", "int16", "-2.5::DECIMAL(3,1)"),
    ("'1.5'", "int32", None),
    ("' 12 '", "int64", None),
    ("'1e3'", "int16", None),
    ("9223372036854775807L", "int64", "9223372036854775807"),
    ("'-9223372036854775808'", "int64", None),
    ("255", "uint8", None),
    ("18446744073709551615BD", "uint64", "18446744073709551615"),
    ("true", "int32", None),
    ("7", "boolean", None),
    ("'yes'", "boolean", None),
    ("1", "float64", None),
    ("'nan'", "float32", None),
    ("0.005D", "decimal(4,2)", "0.005::DOUBLE"),
    ("1.235BD", "decimal(4,2)", "1.235::DECIMAL(4,3)"),
    ("42", "varchar", None),
    ("1.50BD", "varchar", "1.50::DECIMAL(3,2)"),
    ("date'2024-02-29'", "timestamp", None),
    ("timestamp_ntz'2024-01-01 23:59:59.6'", "date", "TIMESTAMP '2024-01-01 23:59:59.6'"),
    ("timestamp_ntz'2024-01-01 00:00:00.6'", "timestamp_s", "TIMESTAMP '2024-01-01 00:00:00.6'"),
    ("timestamp_ntz'1969-12-31 23:59:59.4'", "timestamp_s", "TIMESTAMP '1969-12-31 23:59:59.4'"),
    ("timestamp_ntz'2024-01-01 00:00:00.0006'", "timestamp_ms", "'2024-01-01 00:00:00.0006'"),
    ("'2024-02-29'", "date", None),
    ("'2024-02-29 01:02:03.000004'", "timestamp", None),
    ("'12:34:56.5'", "time", None),
    ("'F47AC10B-58CC-4372-A567-0E02B2C3D479'", "uuid", None),
    ("""'{"a": [1, null]}'""", "json", None),
    ("NULL", "int32", None),
]


def _duckdb_type(kind: str) -> str:
    named = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT"}
    named |= {"uint8": "UTINYINT", "uint64": "UBIGINT", "float32": "FLOAT", "float64": "DOUBLE"}
    return named.get(kind, kind)


def test_values_are_cast_as_duckdb_casts_them_in_an_insert(engine: Engine) -> None:
    names = [f"c{number}" for number in range(len(CASTS))]
    given = ", ".join(
        f"{spark} AS {name}" for (spark, _, _), name in zip(CASTS, names, strict=True)
    )
    fields = [column(name, kind) for (_, kind, _), name in zip(CASTS, names, strict=True)]
    # Not a local relation: its expressions are compiled and run like those of large inputs.
    source = engine.spark.sql(f"SELECT {given} FROM range(1) DISTRIBUTE BY rand()")
    got = fitted(source, *fields)
    expected = duckdb.sql(
        "SELECT "
        + ", ".join(
            f"CAST({duck or spark} AS {_duckdb_type(kind)}) AS {name}"
            for (spark, kind, duck), name in zip(CASTS, names, strict=True)
        )
    ).to_arrow_table()
    for (spark, kind, _), name in zip(CASTS, names, strict=True):
        wanted = expected.column(name)[0].as_py()
        assert repr(got[name]) == repr(wanted) or got[name] == wanted, (spark, kind)


MISFITS = [
    ("300", "int8", "300"),
    ("-1", "uint8", "-1"),
    ("256", "uint8", "256"),
    ("-1", "uint64", "-1"),
    ("18446744073709551616BD", "uint64", "18446744073709551616"),
    ("'abc'", "int32", "abc"),
    ("3000000000", "int32", "3000000000"),
    ("double('nan')", "int32", "nan"),
    ("1e300D", "float32", "1e+300"),
    ("123.4BD", "decimal(3,1)", "123.4"),
    ("'2024-02-30'", "date", "2024-02-30"),
    ("'maybe'", "boolean", "maybe"),
    ("'no uuid'", "uuid", "no uuid"),
    ("'{'", "json", "{"),
]


@pytest.mark.parametrize(("value", "kind", "shown"), MISFITS)
def test_a_misfit_error_names_table_column_type_and_value(
    engine: Engine, value: str, kind: str, shown: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        fitted(engine.spark.sql(f"SELECT {value} AS v"), column("c", kind))
    assert caught.value.message == f"Column 't.c' of type {kind} cannot hold '{shown}'."


def test_a_misfit_inside_a_nested_value_is_found(engine: Engine) -> None:
    inner = column(
        "s", "struct", column("x", "int8"), column("l", "list", column("element", "uint8"))
    )
    good = engine.spark.sql("SELECT named_struct('l', array(1, 255, NULL), 'X', 127L) AS v")
    assert fitted(good, inner) == {"s": {"x": 127, "l": [1, 255, None]}}
    for value, path in (
        ("named_struct('x', 128, 'l', array(1))", "t.s.x"),
        ("named_struct('x', 1, 'l', array(1, 256))", "t.s.l.element"),
    ):
        with pytest.raises(InvalidInput, match=path):
            fitted(engine.spark.sql(f"SELECT {value} AS v"), inner)


def test_inconvertible_types_are_refused_before_any_job(engine: Engine) -> None:
    for value, kind in (("date'2024-01-01'", "int32"), ("array(1)", "date"), ("1", "struct")):
        parts = (column("x", "int32"),) if kind == "struct" else ()
        with pytest.raises(InvalidInput, match=r"'t\.c' .* cannot take values of type"):
            aligned(engine.spark.sql(f"SELECT {value} AS v"), [column("c", kind, *parts)], "t")


def test_columns_match_by_position_regardless_of_their_names(engine: Engine) -> None:
    df = engine.spark.sql("SELECT 1 AS a, 'x' AS a, 2 AS `b.c`")
    got = fitted(df, column("p", "int64"), column("q", "varchar"), column("r", "int32"))
    assert got == {"p": 1, "q": "x", "r": 2}
    with pytest.raises(InvalidInput, match="has 2 columns but 3 were supplied"):
        fitted(df, column("p", "int64"), column("q", "varchar"))


def test_missing_columns_get_defaults_when_matched_by_name(engine: Engine) -> None:
    fields = [
        column("a", "int32", default="7"),
        column("b", "varchar", physical="b_3"),
        column("c", "date", default="2024-02-29"),
        column("d", "int64", default="len('four') + 38", default_type="expression"),
        column("e", "timestamptz", default="now()", default_type="expression"),
        column("f", "decimal(5,2)", default="1.50"),
        column("g", "list", column("element", "int32"), default="[1, 2]"),
    ]
    got = fitted(engine.spark.sql("SELECT 'x' AS B"), *fields, by_name=True)
    moment = got.pop("e")
    assert isinstance(moment, datetime)
    assert got == {
        "a": 7,
        "b_3": "x",
        "c": date(2024, 2, 29),
        "d": 42,
        "f": Decimal("1.50"),
        "g": [1, 2],
    }


@pytest.mark.parametrize(
    "text",
    [
        "[reflect('java.lang.System', 'getProperty', 'user.home')]",
        "[java_method('java.lang.System', 'getenv', 'PATH')]",
        '[(SELECT text FROM text."/etc/passwd" LIMIT 1)]',
        "['a'], reflect('java.lang.System', 'getenv', 'PATH')",
        "[1",
    ],
)
@pytest.mark.parametrize("kind", ["literal", "expression"])
def test_a_default_invalid_in_duckdb_never_reaches_spark(
    engine: Engine, text: str, kind: str
) -> None:
    field = column("g", "list", column("element", "varchar"), default=text, default_type=kind)
    with pytest.raises(InvalidInput, match="of column 'g' cannot be computed"):
        fitted(engine.spark.sql("SELECT 1 AS a"), column("a", "int32"), field, by_name=True)


def test_unknown_columns_are_named_in_the_error(engine: Engine) -> None:
    df = engine.spark.sql("SELECT 1 AS a, 2 AS x, 3 AS y")
    with pytest.raises(InvalidInput, match="Table 't' has no column 'x', 'y'"):
        fitted(df, column("a", "int32"), by_name=True)
    twice = engine.spark.sql("SELECT 1 AS a, 2 AS A")
    with pytest.raises(InvalidInput, match="'A' is supplied twice"):
        fitted(twice, column("a", "int32"), by_name=True)
    nested = engine.spark.sql("SELECT named_struct('x', 1, 'z', 2) AS s")
    with pytest.raises(InvalidInput, match=r"'t\.s' has no column 'z'"):
        fitted(nested, column("s", "struct", column("x", "int32"), column("y", "int32")))


def test_structs_match_by_field_name(engine: Engine) -> None:
    field = column(
        "s",
        "struct",
        column("x", "int64", physical="x_1"),
        column("y", "varchar"),
        column("m", "map", column("key", "varchar"), column("value", "int64")),
    )
    df = engine.spark.sql(
        "SELECT named_struct('m', map('k', 1), 'X', 5) AS v UNION ALL SELECT NULL FROM range(1)"
    )
    with translating():
        rows = aligned(df, [field], "t").toArrow().to_pylist()
    assert [row for row in rows if row["s"] is not None] == [
        {"s": {"x_1": 5, "y": None, "m": [("k", 1)]}}
    ]
    assert len(rows) == 2


def test_nulls_are_refused_in_not_null_columns(engine: Engine) -> None:
    required = column("c", "int32", nullable=False)
    assert fitted(engine.spark.sql("SELECT 1 AS v"), required) == {"c": 1}
    nulls = engine.spark.sql("SELECT if(id = 1, NULL, id) AS v FROM range(3)")
    with pytest.raises(InvalidInput) as caught, translating():
        aligned(nulls, [required], "t").collect()
    assert caught.value.message == "NOT NULL constraint failed: t.c"
    with pytest.raises(InvalidInput, match=r"NOT NULL constraint failed: t\.c"):
        fitted(engine.spark.sql("SELECT 1 AS a"), column("a", "int32"), required, by_name=True)


def test_kept_columns_are_appended_unchanged(engine: Engine) -> None:
    df = engine.spark.sql("SELECT 9L AS _row, 'x' AS b")
    assert fitted(df, column("b", "varchar"), keep=["_row"]) == {"b": "x", "_row": 9}


def test_errors_in_user_expressions_have_no_stack_trace(engine: Engine) -> None:
    for expression, stated in (
        ("1 / (id - id)", "Division by zero"),
        ("CAST(concat('x', id) AS INT)", "cannot be cast"),
        ("CAST(id + 300 AS TINYINT)", "overflow"),
        ("9223372036854775807L + id + 1", "overflow"),
    ):
        df = engine.spark.sql(f"SELECT {expression} AS v FROM range(2)")
        with pytest.raises(InvalidInput, match=stated) as caught, translating():
            aligned(df, [column("c", "float64")], "t").collect()
        assert "\n" not in caught.value.message
        assert caught.value.__cause__ is None


def test_a_full_disk_is_distinguished_from_other_failures() -> None:
    full = translated(OSError("java.io.IOException: No space left on device"))
    assert isinstance(full, Unavailable)
    assert translated(OSError("something else")) is None
