"""Recorded reads, which cover every row on which the outcome of a query may depend."""

from __future__ import annotations

import random
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from forklake.engines.pushdown import predicate_of
from forklake.model.entities import InlinedRow
from forklake.model.fields import Field
from forklake.model.ids import CatalogId, ColumnId, SnapshotId, TableId
from forklake.model.predicates import Question, question
from forklake.model.reads import ALL_ROWS, may_cover
from forklake.sql.dialect import parse
from forklake.sql.query.read_conditions import find_conditions

_TYPES: dict[str, tuple[str, str, list[Any]]] = {
    "i": ("int32", "INTEGER", [None, 0, 1, 5, -5, 2**31 - 1]),
    "l": ("int64", "BIGINT", [None, 0, 5, 2**53 + 1, -(2**63)]),
    "f": ("float32", "FLOAT", [None, 0.0, -0.0, 0.5, 0.10000000149011612, float("nan")]),
    "d": ("float64", "DOUBLE", [None, 0.1, 5.0, -1e300, float("nan"), float("inf")]),
    "s": ("varchar", "VARCHAR", [None, "", "5", "05", "a", "abc", "Ä", "a%"]),
    "b": ("boolean", "BOOLEAN", [None, True, False]),
    "y": ("date", "DATE", [None, date(2024, 2, 29), date(1969, 12, 31), date(2024, 3, 1)]),
    "m": (
        "timestamp",
        "TIMESTAMP",
        [None, *map(datetime.fromisoformat, ("2024-02-29 12:00:00.5", "2024-03-01", "1969-01-01"))],
    ),
    "n": ("decimal(10,2)", "DECIMAL(10,2)", [None, Decimal("0.10"), Decimal("5.00")]),
}
_LITERALS = [
    *("0", "1", "5", "-5", "5.0", "4.5", "0.1", "0.5", "1e0", "9007199254740993", "NULL"),
    *("''", "'5'", "'05'", "'a'", "'abc'", "'Ä'", "'5.0'", "'nan'", "true", "false"),
    *("DATE '2024-02-29'", "'2024-02-29'", "'2024-03-01 00:00:00'", "'2024-02-29 12:00:00.5'"),
    *("TIMESTAMP '2024-03-01 00:00:00'", "CAST('2024-02-29' AS DATE)", "'infinity'"),
]
_FIELDS = tuple(
    Field(ColumnId(number), name, name, kind, True, None, None, None)
    for number, (name, (kind, _, _)) in enumerate(_TYPES.items(), 1)
)


def _condition(chance: random.Random, depth: int = 2) -> str:
    kind = chance.randrange(10 if depth else 6)
    column = chance.choice(list(_TYPES))

    def literal() -> str:
        return chance.choice(_LITERALS)

    match kind:
        case 0 | 1 | 2:
            operator = chance.choice(["=", "<>", "<", "<=", ">", ">="])
            sides = [chance.choice([column, f"t.{column}"]), literal()]
            chance.shuffle(sides)
            return f" {operator} ".join(sides)
        case 3:
            return f"{column} {chance.choice(['', 'NOT '])}BETWEEN {literal()} AND {literal()}"
        case 4:
            return f"{column} {chance.choice(['', 'NOT '])}IN ({literal()}, {literal()})"
        case 5:
            return f"{column} IS {chance.choice(['', 'NOT '])}NULL"
        case 6:
            return f"NOT ({_condition(chance, depth - 1)})"
    parts = [_condition(chance, depth - 1) for _ in range(2)]
    return f"({chance.choice([' AND ', ' OR ']).join(parts)})"


def _recorded(text: str) -> Question:
    """Return what a query records of table t."""
    (query,) = parse(text, "duckdb")
    (table,) = [one for one in query.find_all(exp.Table) if one.name == "t"]
    wanted = predicate_of(find_conditions(table), _FIELDS, zone=None)
    return (
        ALL_ROWS
        if wanted is None
        else question(wanted, {one.column_id: one.type for one in _FIELDS})
    )


def _stored(row: dict[str, Any]) -> InlinedRow:
    return InlinedRow(
        catalog_id=CatalogId(0),
        table_id=TableId(1),
        row_id=0,
        begin_snapshot=SnapshotId(2),
        stored_in="",
        values={one.column_id: row[one.name] for one in _FIELDS},
    )


@pytest.mark.parametrize("seed", range(2))
def test_read_covers_all_rows_that_fulfill_its_condition(seed: int) -> None:
    chance = random.Random(seed)
    columns = ", ".join(f"{name} {kind}" for name, (_, kind, _) in _TYPES.items())
    rows = [{name: chance.choice(one[2]) for name, one in _TYPES.items()} for _ in range(30)]
    fields = {one.column_id: one for one in _FIELDS}
    left_out = 0
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (k INTEGER, {columns})")
        for number, row in enumerate(rows):
            marks = ", ".join("?" * (len(_TYPES) + 1))
            connection.execute(f"INSERT INTO t VALUES ({marks})", [number, *row.values()])
        for _ in range(500):
            condition = _condition(chance)
            try:
                found = connection.execute(f"SELECT k FROM t WHERE {condition}").fetchall()
            except duckdb.Error:
                continue  # DuckDB cannot compare these
            requested = _recorded(f"SELECT i FROM t WHERE {condition}")
            for number, row in enumerate(rows):
                covers = may_cover(requested, _stored(row), fields)
                assert covers or (number,) not in found, f"{condition}: {row}"
                left_out += not covers
    assert left_out > 500  # otherwise the conditions would narrow nothing


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t AS x(l, i) WHERE i = 1",  # i is the second column
        "FROM t UNPIVOT (i FOR k IN (l)) WHERE i = 1",
        "SELECT * FROM t TABLESAMPLE 50% WHERE i = 1",
        "SELECT * FROM t WHERE i = 1 USING SAMPLE 1 ROWS",
        "SELECT * FROM u LEFT JOIN t ON true WHERE t.i = 1",
        "SELECT * FROM t FULL JOIN u ON true WHERE t.i = 1",
        "SELECT * FROM t POSITIONAL JOIN u WHERE t.i = 1",
        "SELECT * FROM t ASOF JOIN u ON t.l >= u.l WHERE t.i = 1",
        "SELECT * FROM t, u WHERE i = 1",  # of either table
        "SELECT * FROM t WHERE i = 1 OR l = (SELECT 1)",
        "SELECT * FROM t WHERE i + 1 = 1",
        "SELECT max(i) FILTER (WHERE i = 1) FROM t",
        "SELECT i FROM t GROUP BY i HAVING i = 1",
        "SELECT i FROM t QUALIFY i = 1",
        "SELECT * FROM (SELECT * FROM t) WHERE i = 1",
        "SELECT (SELECT count(*) FROM t) AS c FROM u AS t WHERE i = 1",
    ],
)
def test_conditions_that_do_not_narrow_the_table_are_not_used(text: str) -> None:
    query = sqlglot.parse_one(text, read="duckdb") if "SAMPLE" not in text else None
    nodes = [query] if query is not None else parse(text, "duckdb")
    (table,) = [one for one in nodes[0].find_all(exp.Table) if one.name == "t"]
    assert find_conditions(table) == []
