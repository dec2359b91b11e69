"""Values assigned to columns of other types, which all statements must store as in DuckDB."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa
import pytest

from forklake import Session
from forklake.errors import InvalidInput
from tests.sql.comparing import rows_of

# Values, and the type of the column to which they are assigned.
ASSIGNED = [
    ("TIMESTAMPTZ '2020-01-01 00:00:00.5+02'", "VARCHAR"),
    (r"'\xAA\x00b'::BLOB", "VARCHAR"),
    ("MAP {'k': 1}", "VARCHAR"),
    ("1e20::DOUBLE", "VARCHAR"),
    ("0.1::FLOAT", "VARCHAR"),
    ("'nan'::DOUBLE", "VARCHAR"),
    ("{'a': 1, 'b': 'x y'}", "VARCHAR"),
    ("['it''s', NULL, 'a:b']", "VARCHAR"),
    ("[TIMESTAMP '2020-01-01 00:00:00']", "VARCHAR"),
    ("TIME '01:02:03.5'", "VARCHAR"),
    ("0.50::DECIMAL(2,2)", "VARCHAR"),
    ("true", "VARCHAR"),
    ("[1e20::DOUBLE]", "VARCHAR[]"),
    (r"{'x': '\xAA'::BLOB}", "STRUCT(x VARCHAR)"),
    ("MAP {1.5::DOUBLE: DATE '2020-01-01'}", "MAP(VARCHAR, VARCHAR)"),
    ("TIMESTAMP '1969-12-31 23:59:59.5'", "TIMESTAMP_S"),
    ("TIMESTAMP '1969-12-31 23:59:59.9995'", "TIMESTAMP_MS"),
    ("TIMESTAMP '2020-01-01 00:00:00.5'", "TIMESTAMP_S"),
    ("' 5.5 '", "INTEGER"),
    ("'0b11'", "UTINYINT"),
    ("'2024/1/5'", "DATE"),
    ("'2024-01-01T10:00:00+02'", "TIMESTAMPTZ"),
    ("'1:2:3'", "TIME"),
    ("'yes'", "BOOLEAN"),
    ("'1_0e1'", "DECIMAL(10,2)"),
    ("0.125::DOUBLE", "DECIMAL(10,2)"),
    ("'{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'", "UUID"),
    (r"'\x41b'", "BLOB"),
    ("1e22::DOUBLE", "HUGEINT"),
]
VALUES = ", ".join(value for value, _ in ASSIGNED)
NAMES = [f"c{number}" for number in range(len(ASSIGNED))]
SET = ", ".join(f"{name} = {value}" for name, (value, _) in zip(NAMES, ASSIGNED, strict=True))
ROUTES = {
    "INSERT SELECT": f"INSERT INTO t SELECT {VALUES} FROM range(1)",
    "INSERT VALUES": f"INSERT INTO t VALUES ({VALUES})",
    "UPDATE": f"INSERT INTO t DEFAULT VALUES; UPDATE t SET {SET}",
    "MERGE": f"MERGE INTO t USING (SELECT 1 AS i) AS s ON false WHEN NOT MATCHED THEN"
    f" INSERT ({', '.join(NAMES)}) VALUES ({VALUES})",
}


@pytest.fixture(scope="module")
def stored() -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(_table())
        connection.execute(ROUTES["INSERT SELECT"])
        return rows_of(connection.execute("FROM t").to_arrow_table())


def _table() -> str:
    columns = (f"{name} {kind}" for name, (_, kind) in zip(NAMES, ASSIGNED, strict=True))
    return f"CREATE TABLE t ({', '.join(columns)})"


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("inlined", [0, 10])
def test_values_of_other_types_are_stored_as_in_duckdb(
    lake: Session, stored: list[tuple[Any, ...]], route: str, inlined: int
) -> None:
    lake.execute(_table())
    lake.execute(f"CALL lake.set_option('data_inlining_row_limit', {inlined}, table_name => 't')")
    lake.execute(ROUTES[route])
    found = lake.execute("FROM t").arrow()
    wrong = [
        (value, kind, mine, theirs)
        for (value, kind), mine, theirs in zip(ASSIGNED, rows_of(found)[0], stored[0], strict=True)
        if mine != theirs
    ]
    assert wrong == []


def test_values_of_a_dataframe_are_cast_on_storing(lake: Session) -> None:
    lake.execute("CREATE TABLE t (b VARCHAR, d VARCHAR, s TIMESTAMP_S)")
    rows = lake.engine.spark.sql(
        "SELECT X'AA00', 1e20D, TIMESTAMP_NTZ '1969-12-31 23:59:59.5' FROM range(1)"
    )
    lake.write(rows, "t")
    shown = lake.execute("SELECT b, d, s::VARCHAR FROM t").arrow().to_pylist()
    assert [*shown[0].values()] == [r"\xAA\x00", "1e+20", "1969-12-31 23:59:59"]


def test_time_zone_of_a_foreign_session_does_not_change_stored_values(lake: Session) -> None:
    lake.execute("CREATE TABLE t (s TIMESTAMP, z TIMESTAMPTZ, r TIMESTAMP_S, v VARCHAR)")
    theirs = lake.engine.new_session().spark
    theirs.conf.set("spark.sql.session.timeZone", "America/New_York")
    rows = theirs.sql(
        "SELECT '2024/07/01 12:00:00', '2024-07-01 12:00:00+02',"
        " TIMESTAMP_NTZ '2024-07-01 12:00:00.6', TIMESTAMP '2024-07-01 12:00:00+02:00'"
        " FROM range(1)"
    )
    lake.write(rows, "t")
    [found] = (
        lake.execute("SELECT s::VARCHAR AS s, z::VARCHAR AS z, r::VARCHAR AS r, v FROM t")
        .arrow()
        .to_pylist()
    )
    assert [*found.values()] == [
        "2024-07-01 12:00:00",
        "2024-07-01 10:00:00+00",
        "2024-07-01 12:00:01",
        "2024-07-01 10:00:00+00",
    ]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("TIMESTAMP '2020-01-01'", "BIGINT"),
        ("DATE '2020-01-01'", "BOOLEAN"),
        ("1e300::DOUBLE", "FLOAT"),
        ("'1d'", "DOUBLE"),
        ("'TRUE '", "BOOLEAN"),
    ],
)
def test_values_that_do_not_fit_a_column_are_refused_and_named(
    lake: Session, value: str, kind: str
) -> None:
    lake.execute(f"CREATE TABLE t (c {kind})")
    with pytest.raises(InvalidInput, match=r"t\.c"):
        lake.execute(f"INSERT INTO t SELECT {value} FROM range(1)")
    assert lake.execute("FROM t").arrow() == pa.table({"c": []}).cast(
        lake.execute("FROM t").arrow().schema
    )


# Numbers beyond BIGINT

BEYOND = [
    "l < 9223372036854775808",
    "l <= 9223372036854775808",
    "l > 9223372036854775808",
    "NOT l > 9223372036854775808",
    "NOT (l >= 9223372036854775808)",
    "l BETWEEN -9223372036854775809 AND 9223372036854775808",
    "l > -9223372036854775809",
    "s < 99999999999999999999",
    "s > -9223372036854775808.5",
    "u < 18446744073709551616",
    "h < 99999999999999999999999999999999999999",
    "d < 9223372036854775808",
    "f < 9223372036854775808",
    "9223372036854775808 > l",
    "l <> 9223372036854775808",
    "l IN (1, 9223372036854775808)",
    "l IS DISTINCT FROM 9223372036854775808",
]


def test_comparison_with_a_number_beyond_bigint_is_null_for_null(lake: Session) -> None:
    made = "CREATE TABLE t (l BIGINT, s SMALLINT, u UBIGINT, h HUGEINT, d DECIMAL(9,1), f DOUBLE)"
    ones, nulls = ", ".join(["1"] * 6), ", ".join(["NULL"] * 6)
    rows = f"INSERT INTO t SELECT * FROM (VALUES ({ones}), ({nulls}))"
    requested = "SELECT " + ", ".join(f"{one} AS c{n}" for n, one in enumerate(BEYOND)) + " FROM t"
    counted = " UNION ALL ".join(f"SELECT count(*) FROM t WHERE {one}" for one in BEYOND)
    with duckdb.connect() as connection:
        for statement in (made, rows):
            connection.execute(statement)
            lake.execute(statement)
        for query in (requested, counted):
            expected = rows_of(connection.execute(query).to_arrow_table())
            assert rows_of(lake.execute(query).arrow()) == expected, query


@pytest.mark.parametrize("dialect", ["duckdb", "spark"])
def test_delete_below_a_number_beyond_bigint_keeps_null(lake: Session, dialect: str) -> None:
    lake.execute("CREATE TABLE t AS SELECT * FROM (VALUES (1::BIGINT), (NULL)) AS v(l)")
    lake.sql("DELETE FROM t WHERE l < 9223372036854775808", dialect=dialect)
    assert lake.execute("FROM t").arrow().to_pylist() == [{"l": None}]


def test_condition_of_a_method_keeps_null_beyond_bigint(lake: Session) -> None:
    lake.execute("CREATE TABLE t AS SELECT * FROM (VALUES (1::BIGINT), (NULL)) AS v(l)")
    assert lake.table("t", where="l < 9223372036854775808").count() == 1
    assert lake.update("t", {"l": "2"}, "l < 9223372036854775808") == 1
    assert lake.delete("t", "NOT l > 9223372036854775808") == 1


# Lists without values


def test_lists_and_maps_of_only_null_can_be_used(lake: Session) -> None:
    lake.execute("CREATE TABLE e (li INTEGER[], n VARCHAR[][], m MAP(VARCHAR, BIGINT), v INTEGER)")
    for version in ("1", "2"):
        lake.execute(f"CALL lake.set_option('parquet_version', '{version}', table_name => 'e')")
        lake.execute("INSERT INTO e VALUES ([NULL], [[NULL]], MAP {'k': NULL}, NULL)")
    found = lake.execute(
        "SELECT list_contains(li, 1) AS a, list_contains(n[1], 'x') AS b,"
        " list_contains(map_values(m), 1) AS c, list_sort(li) AS d FROM e"
    ).arrow()
    assert found.to_pylist() == [{"a": False, "b": False, "c": False, "d": [None]}] * 2


# Infinity


@pytest.mark.parametrize(
    "kind", ["DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMPTZ"]
)
@pytest.mark.parametrize("inlined", [0, 10])
def test_infinite_dates_are_refused(lake: Session, kind: str, inlined: int) -> None:
    lake.execute(f"CALL lake.set_option('data_inlining_row_limit', {inlined})")
    lake.execute(f"CREATE TABLE t (c {kind}, l {kind}[])")
    for sign in ("", "-"):
        value = f"'{sign}infinity'::{kind}"
        for row in (f"{value}, NULL", f"NULL, [{value}]", f"'{sign}infinity', NULL"):
            with pytest.raises(InvalidInput):
                lake.execute(f"INSERT INTO t VALUES ({row})")
        with pytest.raises(InvalidInput):
            lake.insert("t", [{"c": f"{sign}infinity"}])
    with pytest.raises(InvalidInput):
        lake.execute(f"ALTER TABLE t ADD COLUMN d {kind} DEFAULT 'infinity'")
    assert lake.execute("FROM t").arrow().num_rows == 0


def test_intervals_of_months_are_returned_as_arrow_intervals(lake: Session) -> None:
    found = lake.execute(
        "SELECT INTERVAL 1 MONTH AS a, INTERVAL '-14 months' AS b,"
        " INTERVAL '1 month 2 days 03:00:00.5' AS c,"
        " CASE WHEN i > 0 THEN INTERVAL 1 YEAR END AS d FROM range(1) AS r(i)"
    ).arrow()
    assert found.schema.names == ["a", "b", "c", "d"]
    assert [tuple(value) if value else value for value in found.to_pylist()[0].values()] == [
        (1, 0, 0),
        (-14, 0, 0),
        (1, 2, 10_800_500_000_000),
        None,
    ]


def test_null_can_be_cast_to_nested_types_and_stored(lake: Session) -> None:
    lake.execute("CREATE TABLE t (l INTEGER[], s STRUCT(a INTEGER), m MAP(INTEGER, VARCHAR))")
    lake.execute("INSERT INTO t VALUES ([1], {'a': 1}, MAP {1: 'x'})")
    lake.execute(
        "UPDATE t SET l = NULL::INTEGER[], s = NULL::STRUCT(a INTEGER),"
        " m = NULL::MAP(INTEGER, VARCHAR)"
    )
    assert lake.execute("FROM t").arrow().to_pylist() == [{"l": None, "s": None, "m": None}]


# UUIDs

UUIDS = [
    "u = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",
    "u = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::UUID",
    "'{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}' = u",
    "u = 'a0eebc999c0b4ef8bb6d6bb9bd380a11'",
    "u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
    "u = upper(v)::UUID",
    "u IN ('00000000-0000-0000-0000-000000000000', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11')",
    "u BETWEEN 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11' AND 'B0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",
    "u >= 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",
    "u IS NOT DISTINCT FROM 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",
    "CASE u WHEN 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11' THEN true ELSE false END",
]


@pytest.mark.parametrize("inlined", [0, 10])
def test_uuid_equals_all_its_text_forms(lake: Session, inlined: int) -> None:
    lake.execute(f"CALL lake.set_option('data_inlining_row_limit', {inlined})")
    lake.execute("CREATE TABLE t (u UUID, v VARCHAR)")
    one = "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"
    lake.execute(f"INSERT INTO t VALUES ('{one}', '{one}'), (NULL, NULL)")
    counts = ", ".join(f"count(*) FILTER ({test}) AS c{at}" for at, test in enumerate(UUIDS))
    sources = ("t", "(SELECT u, v FROM t WHERE true)", "(WITH w AS (FROM t) SELECT * FROM w)")
    for source in sources:
        [found] = lake.execute(f"SELECT {counts} FROM {source} AS x").arrow().to_pylist()
        assert set(found.values()) == {1}, (source, found)
    lake.execute(f"UPDATE t SET v = 'found' WHERE u = '{one}'")
    assert lake.execute(f"SELECT v, u::BLOB AS b FROM t WHERE u = '{one}'").arrow().to_pylist() == [
        {"v": "found", "b": bytes.fromhex(one.replace("-", ""))}
    ]
    lake.execute(f"DELETE FROM t WHERE u = '{{{one}}}'")
    assert lake.execute("FROM t").arrow().num_rows == 1
