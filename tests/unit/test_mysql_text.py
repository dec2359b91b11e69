"""Translation for MySQL: addresses, values, and statements."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pytest

from forklake.errors import InvalidInput
from forklake.store.mysql_address import described, parsed
from forklake.store.mysql_text import bound, form_of, literal

WORDS = {
    "WITH a AS MATERIALIZED (SELECT 1) SELECT * FROM a": "WITH a AS (SELECT 1) SELECT * FROM a",
    "SELECT key, r.key FROM t r WHERE key = :key": (
        'SELECT "key", r.key FROM t r WHERE "key" = %(key)s'
    ),
    "WITH w(e) AS (VALUES (1), (-2)) SELECT e FROM w": (
        "WITH w(e) AS (SELECT 1 UNION ALL SELECT -2) SELECT e FROM w"
    ),
    "SELECT CAST(NULL AS BIGINT), length(x), 5 % 2": (
        "SELECT CAST(NULL AS SIGNED), char_length(x), 5 %% 2"
    ),
    "INSERT INTO t (a, b) VALUES (1, :b) ON CONFLICT (a) DO UPDATE SET b = excluded.b": (
        "INSERT INTO t (a, b) VALUES (1, %(b)s) ON DUPLICATE KEY UPDATE b = VALUES(b)"
    ),
    "INSERT INTO t (a, b) SELECT a, b FROM u ON CONFLICT DO NOTHING": (
        "INSERT INTO t (a, b) SELECT a, b FROM u ON DUPLICATE KEY UPDATE t.a = t.a"
    ),
    'CREATE TABLE t (a VARCHAR(9) PRIMARY KEY, b LONGTEXT, "key" BIGINT)': (
        'CREATE TABLE t (a VARCHAR(9) PRIMARY KEY, b LONGTEXT, "key" BIGINT)'
    ),
}


@pytest.mark.parametrize("sql", WORDS)
def test_statements_are_translated_to_mysql(sql: str) -> None:
    form = form_of(sql)
    assert (form.text, form.before) == (WORDS[sql], "")
    assert form.is_definition is sql.startswith("CREATE")


def test_returning_becomes_a_preceding_select_for_update() -> None:
    form = form_of("DELETE FROM t WHERE a = :a AND b < 2 RETURNING a, b")
    assert form.before == "SELECT a, b FROM t WHERE a = %(a)s AND b < 2 FOR UPDATE"
    assert form.text == "DELETE FROM t WHERE a = %(a)s AND b < 2"
    form = form_of("UPDATE t SET c = :now, n = n + 1 WHERE a = 1 RETURNING a, n")
    assert form.before == "SELECT a, n + 1 FROM t WHERE a = 1 FOR UPDATE"
    assert form.text == "UPDATE t SET c = %(now)s, n = n + 1 WHERE a = 1"


class Word(StrEnum):
    QUOTED = "it's"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (-(2**63), "-9223372036854775808"),
        ("it's a \\ 100%", "'it''s a \\ 100%'"),
        (Word.QUOTED, "'it''s'"),
        (b"\x00'", "X'0027'"),
        (datetime(2026, 1, 2, 3, 4, 5, 6, UTC), "'2026-01-02 03:04:05.000006'"),
        ((1, "a"), "(1, 'a')"),
        ((), "(NULL)"),
    ],
)
def test_values_are_written_as_literals(value: Any, written: str) -> None:
    assert literal(value) == written


def test_a_value_never_becomes_part_of_the_text() -> None:
    form = form_of("SELECT :one, :other")
    text = bound(form.text, {"one": ":other %(other)s", "other": "'; DROP TABLE t; --"})
    assert text == "SELECT ':other %(other)s', '''; DROP TABLE t; --'"


def test_addresses_are_pairs_or_uris() -> None:
    stated = {"host": "h", "port": 33, "user": "u", "password": "p w", "database": "d"}
    assert parsed("host=h port=33 user=u password='p w' db=d") == stated
    assert parsed("mysql://u:p%20w@h:33/d") == stated
    assert parsed("mysql://u@h/d?socket=/run/s")["unix_socket"] == "/run/s"
    assert described(stated, "lake") == "mysql:lake@h"


@pytest.mark.parametrize("dsn", ["host", "hots=x", "port=x", "user='x", "mysql://h:x/d"])
def test_bad_addresses_are_refused(dsn: str) -> None:
    with pytest.raises(InvalidInput, match="Invalid MySQL address"):
        parsed(dsn)
