"""Expressions in foreign logs: which ones are computed, and which are refused."""

from __future__ import annotations

import pytest

from forklake.delta.expressions import UnusableExpression, require_usable

COLUMNS = ("id", "name", "at", "s", "list", "weird col")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("id > 0", ("id",)),
        ("ID > 0 AND name IS NOT NULL", ("id", "name")),
        ("CAST(at AS DATE)", ("at",)),
        ("year(at) * 100 + month(at)", ("at",)),
        ("s.x > 1 OR `weird col` IN ('a', 'b')", ("s", "weird col")),
        ("id BETWEEN (1 + 1) AND 3", ("id",)),
        ("CASE WHEN (id > 0) THEN upper(name) ELSE substring(name, 1, 3) END", ("id", "name")),
        ("forall(list, one -> one > 0)", ("list",)),
        ("CAST(id AS DECIMAL(10, 2)) <=> 1", ("id",)),
        ("at > TIMESTAMP '2024-01-31 12:00:00'", ("at",)),
        ("name RLIKE '(a|b)'", ("name",)),
        ("'reflect(' != name", ("name",)),
        ("true", ()),
    ],
)
def test_expressions_over_a_single_row_are_usable(text: str, columns: tuple[str, ...]) -> None:
    found = require_usable(text, COLUMNS)
    assert (found.text, found.columns) == (text, columns)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("id IN (SELECT 1)", "reads more than its row"),
        ("EXISTS (SELECT 1)", "'EXISTS' is not known"),
        ("(SELECT max(id) FROM t) > 0", "'max' is not known"),
        ("sum(id) > 0", "'sum' is not known"),
        ("abs(id) OVER () > 0", "'OVER' is not known"),
        ("rand() > 0", "'rand' is not known"),
        ("CAST(now() AS DATE)", "'now' is not known"),
        ("current_date > at", "reads more than its row"),
        ("current_user = name", "reads more than its row"),
        ("localtimestamp > at", "column 'localtimestamp' does not exist"),
        ("reflect('java.lang.System', 'exit', 1) = '0'", "'reflect' is not known"),
        ("`java_method`('java.lang.System', 'exit', 1) = '0'", "'java_method' is not known"),
        ("`$f` ('java.lang.System', 'exit', 1) = '0'", r"'\$f' is not known"),
        ("name = '\\' OR reflect(1) OR '\\'", "escapes or comments"),
        ("id > 0 -- \r AND reflect(1)", "escapes or comments"),
        ("id > 0 /* AND reflect(1) */", "escapes or comments"),
        ("other.abs(id) > 0", "qualified with a schema"),
        ("input_file_name() = ''", "'input_file_name' is not known"),
        ("missing > 0", "column 'missing' does not exist"),
        (":parameter > 0", "reads more than its row"),
        ("id >", "cannot be parsed"),
        ("id > 0; DROP TABLE t", "cannot be parsed"),
        ("(" * 5000 + "id", "cannot be parsed"),
    ],
)
def test_other_expressions_are_refused(text: str, reason: str) -> None:
    with pytest.raises(UnusableExpression, match=reason):
        require_usable(text, COLUMNS)
