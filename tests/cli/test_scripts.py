"""Scripts: ends and positions of statements."""

from __future__ import annotations

import pytest

from forklake.cli.scripts import Script, is_complete
from forklake.cli.shell.input import PipedReader
from forklake.errors import InvalidInput

TEXT = """-- a comment; not a statement
SELECT 'a;b', "c;d" /* e; */ FROM t;
;
INSERT INTO t
VALUES ($$f;g$$);  -- the end"""


def test_statements_have_a_number_and_a_line() -> None:
    found = [(one.number, one.line, one.text) for one in Script(TEXT).statements()]
    assert found == [
        (1, 2, """SELECT 'a;b', "c;d" /* e; */ FROM t"""),
        (2, 4, "INSERT INTO t\nVALUES ($$f;g$$)"),
    ]


@pytest.mark.parametrize("text", ["", ";;", "-- only words", " \n/* nothing */ "])
def test_an_empty_script_has_no_statements(text: str) -> None:
    assert Script(text).statements() == []


def test_quotes_follow_the_dialect() -> None:
    assert len(Script("SELECT `a;b`; SELECT 2", "spark").statements()) == 2


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("SELECT 1;", True),
        ("SELECT 1; -- that is it", True),
        ("SELECT 1", False),
        ("SELECT 1; SELECT", False),
        ("SELECT ';", False),
        ("SELECT /* ;", False),
        ("SELECT $$ ;", False),
        ("", True),
    ],
)
def test_a_script_is_complete_with_a_semicolon(text: str, is_whole: bool) -> None:
    assert is_complete(text) is is_whole


def test_an_unreadable_script_names_the_position() -> None:
    with pytest.raises(InvalidInput) as raised:
        Script("SELECT 1;\n\nSELECT FROM WHERE;\nSELECT 2", source="some.sql").check()
    assert raised.value.details == {"source": "some.sql", "statement": 2, "line": 3}
    assert "line 3" in raised.value.message


def test_errors_of_a_single_statement_have_no_position() -> None:
    with pytest.raises(InvalidInput) as raised:
        Script("SELECT FROM WHERE").check()
    assert "statement" not in raised.value.details


def test_piped_lines_are_joined_to_complete_inputs() -> None:
    lines = ["SELECT\n", "  ';\n", "';\n", ".help\n", "\n", "SELECT 1; SELECT 2;\n", "SELECT 3"]
    reader = PipedReader(lines)
    found = [reader.read() for _ in range(4)]
    assert found == ["SELECT\n  ';\n';\n", ".help\n", "\nSELECT 1; SELECT 2;\n", "SELECT 3"]
    with pytest.raises(EOFError):
        reader.read()
