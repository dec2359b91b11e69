"""Casts between columns of all types, with edge values, compared with DuckDB.

A column of each type has its edge values; the casts of all of them to one type are one query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pytest

from forklake import Session
from forklake.engines.spark.engine import Engine
from forklake.errors import InvalidInput

TEXTS = (
    *("5", "-5", " 5 ", "5.5", "-5.5", "1d", "0x1F", "0b11", "1_000", "1__0", "1e3", "1e-1"),
    *("1e300", "inf", "nan", "TRUE", "TRUE ", "t", "yes", "", "null", "1.005", ".", "+7", "-0"),
    *("2024-01-31", "2024/01/31", "2024-1-5", "2024-01/31", "2024-02-30", "2024-01-31 12:00:00"),
    *("2024-01-31T12:00:00.5Z", "2024-01-31 12:00:00+02", "2024-01-31 12:00:00.1234567", "1:2"),
    *("2024-01-31 24:00:00", "12:34:56.5", "25:00:00", "0044-03-15 (BC)", "epoch", "0001-01-01"),
    *("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "{a0eebc999c0b4ef8bb6d6bb9bd380a11}", "é", r"\xAA"),
    *('{"a": 1}', "{", "9223372036854775808", "9" * 38, "1969-12-31 23:59:59.5"),
)
MOMENTS = ("2024-01-31 12:34:56.789012", "1969-12-31 23:59:59.5", "0001-01-01 00:00:00")
# The values of each type, as texts for casts of DuckDB.
VALUES: dict[str, tuple[str, ...]] = {
    "BOOLEAN": ("true", "false"),
    "TINYINT": ("-128", "0", "127"),
    "SMALLINT": ("-32768", "2", "32767"),
    "INTEGER": ("-2147483648", "255", "256", "2147483647"),
    "BIGINT": ("-9223372036854775808", "0", "9223372036854775807"),
    "UTINYINT": ("0", "255"),
    "USMALLINT": ("65535",),
    "UINTEGER": ("4294967295",),
    "UBIGINT": ("1", "18446744073709551615"),
    "HUGEINT": ("-" + "9" * 38, "7", "9" * 38),
    "UHUGEINT": ("9" * 38,),
    "FLOAT": ("0.1", "1.005", "-0.0", "nan", "inf", "-inf", "1e38", "2.5", "-3.5", "1e-45"),
    "DOUBLE": (
        *("0.1", "1.005", "-0.0", "nan", "inf", "-inf", "1e300", "2.5", "-3.5", "1e20", "1e22"),
        *("9223372036854775807", "1e-7", "1e15", "1e16", "0.125", "99999999.995", "123456.789"),
    ),
    "DECIMAL(10,3)": ("1.005", "-0.5", "0.0005", "2.5", "9999999.999"),
    "DECIMAL(38,10)": ("1234567890123456789012345678.0123456789", "0.5"),
    "DECIMAL(4,4)": ("0.1234", "-0.5"),
    "VARCHAR": TEXTS,
    "BLOB": ("a", r"\xAA\x00", "5", "x y"),
    "DATE": ("2024-01-31", "1969-12-31", "0044-03-15 (BC)", "9999-12-31"),
    "TIMESTAMP": (*MOMENTS, "9999-12-31 23:59:59.999999", "0044-03-15 (BC) 01:02:03.5"),
    "TIMESTAMP_S": ("2024-01-31 12:34:56", "1969-12-31 23:59:59"),
    "TIMESTAMP_MS": ("2024-01-31 12:34:56.789", "1969-12-31 23:59:59.999"),
    "TIMESTAMPTZ": MOMENTS,
    "TIME": ("12:34:56.789", "00:00:00", "23:59:59.999999"),
    "UUID": ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",),
    "INTEGER[]": ("[1, NULL]", "[]", "[NULL]"),
    "VARCHAR[]": ("[1, x, NULL]", "[a b, '']", r"['it\'s', 'NULL', 'a:b']"),
    "TIMESTAMP[]": ("['2024-01-31 00:00:00']",),
    "STRUCT(a VARCHAR, b INTEGER)": ("{'a': '1', 'b': 300}", "{'a': NULL, 'b': NULL}"),
    "MAP(VARCHAR, INTEGER)": ("{1=2}", "{7=NULL}"),
    "STRUCT(t TIME, d DECIMAL(2,2))": ("{'t': '01:02:03', 'd': 0.5}",),
}
TARGETS = [
    *VALUES, "JSON", "BIGINT[]", "STRUCT(b BIGINT, a INTEGER)", "MAP(INTEGER, VARCHAR)",
]  # fmt: skip
# Documented under "Differences from DuckDB": from, to.
DIFFERENT = {
    ("BOOLEAN", "DECIMAL(4,4)"),  # DuckDB has true as 0.0001
    ("VARCHAR", "DECIMAL(4,4)"),  # and NULL for '1e-1'
    ("UUID", "BLOB"),  # kept as text
    ("UUID", "JSON"),
    ("TIMESTAMP[]", "INTEGER[]"),
    ("TIMESTAMP[]", "BIGINT[]"),
    ("INTEGER[]", "TIMESTAMP[]"),
    ("STRUCT(a VARCHAR, b INTEGER)", "MAP(VARCHAR, INTEGER)"),
    ("STRUCT(t TIME, d DECIMAL(2,2))", "MAP(VARCHAR, INTEGER)"),
    ("STRUCT(a VARCHAR, b INTEGER)", "MAP(INTEGER, VARCHAR)"),
    ("STRUCT(t TIME, d DECIMAL(2,2))", "MAP(INTEGER, VARCHAR)"),
    *((kind, "JSON") for kind in VALUES if kind != "VARCHAR"),
    *(("VARCHAR", kind) for kind in TARGETS if kind.startswith(("STRUCT", "MAP"))),
    *(("VARCHAR", kind) for kind in TARGETS if kind.endswith("[]")),
}


# Values that are documented as unsupported.
_MISSING = {
    "JSON": ("inf", "nan"),
    **dict.fromkeys(
        ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMPTZ"), ("infinity",)
    ),
}


@dataclass
class Both:
    """A table `edges` with a column of each type, in a lake and in DuckDB."""

    lake: Session
    duckdb: duckdb.DuckDBPyConnection

    def expected(self, query: str) -> pa.Table:
        return self.duckdb.execute(query).to_arrow_table()

    def answer(self, query: str) -> pa.Table:
        return self.lake.execute(query).arrow()


@pytest.fixture(scope="module")
def both(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("casts")
    columns = ", ".join(f"c{number} {kind}" for number, kind in enumerate(VALUES))
    count = max(map(len, VALUES.values()))
    rows = ", ".join(f"({number}, {_cells(number)})" for number in range(count))
    with Session(engine.spark) as lake, duckdb.connect() as connection:
        lake.attach(
            f"ducklake:{folder / 'meta.db'}",
            "lake",
            catalog="sales",
            data_path=str(folder / "data"),
            create_if_not_exists=True,
        )
        lake.use("lake")
        connection.execute("SET TimeZone = 'UTC'")
        for run in (connection.execute, lake.execute):
            run(f"CREATE TABLE edges (number INTEGER, {columns})")
            run(f"INSERT INTO edges VALUES {rows}")
        yield Both(lake, connection)


def _cells(row: int) -> str:
    return ", ".join(
        f"{_text(values[row])}::{kind}" if row < len(values) else "NULL"
        for kind, values in VALUES.items()
    )


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _casts(both: Both, target: str) -> dict[str, str]:
    """Return the casts to a type for which DuckDB has values, by source type."""
    tried = {
        kind: f"TRY_CAST(c{number} AS {target})"
        for number, kind in enumerate(VALUES)
        if (kind, target) not in DIFFERENT
    }
    casts: dict[str, str] = {}
    for kind, cast in tried.items():
        try:
            [[count]] = both.duckdb.execute(f"SELECT count({cast}) FROM edges").fetchall()
        except duckdb.Error:  # this cast does not exist
            continue
        if count:
            casts[kind] = cast
    return casts


@pytest.mark.parametrize("target", TARGETS)
def test_casts_to_a_type_equal_those_of_duckdb(both: Both, target: str) -> None:
    casts = _casts(both, target)
    strict = [
        f"CASE WHEN {cast} IS NOT NULL THEN {cast.removeprefix('TRY_')} END"
        for kind, cast in casts.items()
        if not target.endswith("[]") and not target.startswith(("STRUCT", "MAP"))
    ]
    columns = [*casts.values(), *strict]
    # As texts: Python has no times before Christ, and Arrow no maps with NULL as a key.
    listed = ", ".join(f"({column})::VARCHAR AS x{number}" for number, column in enumerate(columns))
    query = f"SELECT {listed} FROM edges ORDER BY number"
    expected, answer = both.expected(query), both.answer(query)
    wrong = [
        f"{column} of {_source(column, row)!r}: {mine!r}, not {theirs!r}"
        for number, column in enumerate(columns)
        for row, (mine, theirs) in enumerate(
            zip(*(one.column(number).to_pylist() for one in (answer, expected)), strict=True)
        )
        if mine != theirs and not (mine is None and theirs in _MISSING.get(target, ()))
    ]
    assert wrong == []


def _source(column: str, row: int) -> str | None:
    number = int(column.split("CAST(c", 1)[1].split(" ", 1)[0])
    values = list(VALUES.values())[number]
    return values[row] if row < len(values) else None


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("'1d'", "DOUBLE"),
        ("'TRUE '", "BOOLEAN"),
        ("'2024-02-30'", "DATE"),
        ("'-0.4'", "UTINYINT"),
        ("1e300::DOUBLE", "FLOAT"),
        ("1e300::DOUBLE", "DECIMAL(38,0)"),
        ("'nan'::DOUBLE", "BIGINT"),
        ("9223372036854775807::DOUBLE", "BIGINT"),
        ("'infinity'", "TIMESTAMP"),
        ("'infinity'", "DATE"),
        ("'zz'", "UUID"),
        ("'é'", "BLOB"),
        ("'{'", "JSON"),
    ],
)
def test_cast_of_a_value_outside_of_the_type_is_an_error(
    both: Both, source: str, target: str
) -> None:
    query = f"SELECT CAST(x AS {target}) FROM (SELECT {source} AS x FROM range(1))"
    with pytest.raises(InvalidInput):
        both.answer(query)
