"""Parsing: the statements of `parsing.txt`, errors, and several statements in one text.

A block of the file is a statement and, after `=>`, its node: the class and its arguments, names
unquoted, texts in quotes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from forklake.errors import InvalidInput, Unsupported
from forklake.sql.dialect import nodes, parse

FILE = Path(__file__).with_name("parsing.txt")


def blocks() -> Iterator[tuple[str, str, str]]:
    dialect = ""
    for block in FILE.read_text().split("\n\n"):
        if block.startswith("## "):
            dialect = block.removeprefix("## ").strip()
        elif block.strip():
            statement, shape = block.strip().split("\n=> ")
            yield dialect, statement, " ".join(shape.split())


def shape(node: Any) -> str:
    match node:
        case exp.Identifier():
            return f'"{node.name}"' if node.quoted else node.name
        case exp.Literal():
            return repr(node.name) if node.is_string else node.name
        case exp.Var():
            return node.name
        case list():
            return f"[{', '.join(map(shape, node))}]"
        case exp.Expr():
            given = {
                key: value for key, value in node.args.items() if value not in (None, False, [])
            }
            first = [shape(given.pop("this"))] if "this" in given else []
            rest = [f"{key}={shape(value)}" for key, value in given.items()]
            return f"{type(node).__name__}({', '.join(first + rest)})"
    return str(node)


@pytest.mark.parametrize(
    ("dialect", "statement", "expected"),
    list(blocks()),
    ids=lambda text: " ".join(text.split())[:60],
)
def test_statement_becomes_its_node(
    dialect: str, statement: str, expected: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        (plain,) = parse(statement, dialect)
        (ended,) = parse(f"/* before */ {statement} ; -- after", dialect)
    assert shape(plain) == expected
    assert shape(ended) == expected
    assert not plain.find(exp.Command)
    assert not caplog.records


def test_one_text_may_have_many_statements() -> None:
    text = "BEGIN;\n-- one\nINSERT INTO t VALUES (1); SELECT ';' /* ; */;\nEND; ; CHECKPOINT"
    kinds = [type(node) for node in parse(text)]
    assert kinds == [exp.Transaction, exp.Insert, exp.Select, exp.Commit, nodes.Checkpoint]


@pytest.mark.parametrize("text", ["", "  \n", "-- nothing", "/* nothing */", ";", ";;\n;"])
def test_empty_texts_have_no_statements(text: str) -> None:
    assert parse(text) == []


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("SELEC 1", "near 'SELEC' (line 1, column 1)"),
        ("foo bar", "unknown statement FOO"),
        ("foo", "unknown statement FOO"),
        ("1 + 1", "near '1' (line 1, column 1)"),
        ("SELECT 1;\nSELECT (2;\nSELECT 3", "near the end of the statement (line 2, column 10)"),
        ("SELECT *\nFROM t\nWHERE", "near the end of the statement (line 3, column 6)"),
        ("SELECT 1 1", "near '1' (line 1, column 10): unexpected token."),
        ("SELECT 'abc", "near ' (line 1, column 8): it is not closed."),
        ('SELECT "abc', 'near " (line 1, column 8): it is not closed.'),
        ("SELECT * FROM", "expected table name"),
        ("SELECT", "A SELECT has no columns."),
        ("SELECT FROM t", "A SELECT has no columns."),
        ("INSERT INTO t", "expected VALUES, DEFAULT VALUES or a query."),
        ("UPDATE t", "expected SET."),
        ("CALL f", "expected (."),
        ("CALL", "expected a name."),
        ("ALTER TABLE t", "expected one of ADD, DROP, RENAME, ALTER, SET, RESET."),
        ("ALTER TABLE t ADD COLUMN a", "expected a type."),
        ("ALTER TABLE t RENAME a b", "near 'b' (line 1, column 24): expected TO."),
        ("ALTER INDEX i RENAME TO j", "expected TABLE, VIEW or SCHEMA."),
        ("ALTER TABLE t ALTER a SET", "expected TYPE"),
        ("ALTER TABLE t SET LOCATION 'x'", "expected PARTITIONED BY or SORTED BY."),
        ("COMMENT ON TABLE t", "expected IS."),
        ("COMMENT ON INDEX t IS 'x'", "expected ON TABLE, VIEW, COLUMN or SCHEMA."),
        ("CREATE MACRO m(a)", "expected AS."),
        ("CREATE MACRO m(a) AS", "expected an expression."),
        ("CREATE MACRO m(a :=) AS a", "expected a value."),
        ("ATTACH", "expected a name."),
        ("ATTACH 'x' AS", "expected a name."),
        ("ATTACH 'x' (CATALOG 'y'", "expected )"),
        ("START", "expected TRANSACTION."),
        ("PREPARE p SELECT 1", "expected AS."),
        ("EXPLAIN", "expected a statement."),
        ("EXPLAIN foo", "unknown statement FOO"),
        ("SELECT * FROM t AT SNAPSHOT", "expected a snapshot or a time."),
        ("VACUUM", "unknown statement VACUUM"),
    ],
)
def test_syntax_error_has_position_and_reason(text: str, error: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse(text)
    assert error in raised.value.message
    assert raised.value.remedy


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("INSERT INTO t VALUES (1) RETURNING *", "RETURNING"),
        ("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", "ON CONFLICT"),
        ("INSERT OR REPLACE INTO t VALUES (1)", "INSERT OR"),
        ("UPDATE t SET a = 1 RETURNING a", "RETURNING"),
        ("DELETE FROM t RETURNING a", "RETURNING"),
    ],
)
def test_unsupported_clauses_are_refused(text: str, clause: str) -> None:
    with pytest.raises(Unsupported, match=clause):
        parse(text)


def test_deep_nesting_is_refused_without_crashing() -> None:
    with pytest.raises(InvalidInput, match="nested too deeply"):
        parse("SELECT " + "(" * 5000 + "1" + ")" * 5000)


# Properties of nodes


@pytest.mark.parametrize(
    ("clause", "kind", "value"),
    [
        ("AT SNAPSHOT 5", nodes.VERSION, "5"),
        ("AT VERSION 5", nodes.VERSION, "5"),
        ("AT (VERSION => 5)", nodes.VERSION, "5"),
        ("VERSION AS OF 5", nodes.VERSION, "5"),
        ("FOR VERSION AS OF 5", nodes.VERSION, "5"),
        ("FOR SYSTEM_VERSION AS OF 5", nodes.VERSION, "5"),
        ("AT TIMESTAMP '2024-01-01'", nodes.TIMESTAMP, "'2024-01-01'"),
        ("AT (TIMESTAMP => '2024-01-01')", nodes.TIMESTAMP, "'2024-01-01'"),
        ("TIMESTAMP AS OF '2024-01-01'", nodes.TIMESTAMP, "'2024-01-01'"),
        ("FOR SYSTEM_TIME AS OF '2024-01-01'", nodes.TIMESTAMP, "'2024-01-01'"),
    ],
)
@pytest.mark.parametrize("dialect", ["duckdb", "spark"])
def test_all_spellings_of_time_travel_are_equivalent(
    clause: str, kind: str, value: str, dialect: str
) -> None:
    for text in (f"t {clause}", f"t {clause} x", f"t {clause} AS x", f"t x {clause}"):
        for rest in ("", " JOIN u ON true", ", u", " WHERE true"):
            (query,) = parse(f"SELECT * FROM {text}{rest}", dialect)
            table = next(one for one in query.find_all(exp.Table) if one.name == "t")
            assert table.alias in ("", "x")
            found = nodes.pop_time_travel(table)
            assert found is not None
            assert (found[0], found[1].sql()) == (kind, value)
            assert nodes.pop_time_travel(table) is None


def test_keywords_of_time_travel_are_names_elsewhere() -> None:
    (query,) = parse("SELECT version, timestamp, snapshot FROM version AS at WHERE at.version = 1")
    (table,) = query.find_all(exp.Table)
    assert (table.name, table.alias) == ("version", "at")
    assert nodes.pop_time_travel(table) is None


@pytest.mark.parametrize(
    "text",
    [
        "CALL {}",
        "SELECT * FROM {}",
        "SELECT {}",
    ],
)
@pytest.mark.parametrize("name", ["f", "lake.f", "lake.main.f", '"odd name"."an f"'])
def test_calls_are_parsed_the_same_everywhere(text: str, name: str) -> None:
    (statement,) = parse(text.format(f"{name}(1, 'x', schema => 's', Table_Name := 't')"))
    found = statement
    if isinstance(statement, exp.Select):
        found = next(statement.find_all(exp.Table), statement.expressions[0])
    parts, positional, named = nodes.split_call(found)
    assert parts == tuple(one.strip('"') for one in name.split("."))
    assert [one.name for one in positional] == ["1", "x"]
    assert {key: value.name for key, value in named.items()} == {"schema": "s", "table_name": "t"}


def test_equals_sign_names_arguments_of_relations_only() -> None:
    (call,) = parse("CALL f(a = 1)")
    assert list(nodes.split_call(call)[2]) == ["a"]
    (query,) = parse("SELECT f(a = 1)")
    assert len(nodes.split_call(query.expressions[0])[1]) == 1


def test_duplicate_arguments_are_refused() -> None:
    (call,) = parse("CALL f(a => 1, A := 2)")
    with pytest.raises(InvalidInput, match="'a' of f is given twice"):
        nodes.split_call(call)


def test_simple_statements_are_parsed_in_two_milliseconds() -> None:
    texts = [
        "SELECT a, b FROM lake.main.t AT SNAPSHOT 5 WHERE a > 1 AND b = 'x' ORDER BY a LIMIT 10",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "CREATE TABLE t(a INTEGER, b VARCHAR, c STRUCT(x INT))",
        "CALL lake.set_option('target_file_size', '512MB', schema => 's')",
    ]
    best = {}
    for text in texts:
        times = []
        for _ in range(20):
            begin = time.perf_counter()
            parse(text)
            times.append(time.perf_counter() - begin)
        best[text] = min(times)
    assert max(best.values()) < 0.002, best
