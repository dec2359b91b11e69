"""Workbooks from files, and the errors of invalid ones."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from forklake.errors import InvalidInput, NotFound
from forklake.reagent.workbook_files import load_function, load_workbook
from forklake.reagent.workbooks import Check, Input, Isolation, Mode, RowCount

FULL = """
name = "daily"
catalog = "sales"
isolation = "fork"
workers = 8
required = ["region"]

[parameters]
day = 2026-01-31
least = 1.5

[tasks.raw]
inputs.orders = { csv = "orders-${day}.csv", options = { header = true } }
sql = "SELECT * FROM orders"
output = { table = "raw", mode = "merge", key = ["id"] }
retries = 0
timeout_seconds = 60
checks = [
  { row_count = { min = 1, max = 10 } },
  { unique = ["id"], warn = true },
  { accepted = { status = ["open", "closed"], rank = [1, 2] } },
]

[tasks.late]
after = ["raw"]
sql = "DELETE FROM raw WHERE at < $day"
"""


def test_every_key_of_a_file_is_in_the_workbook(tmp_path: Path) -> None:
    file = tmp_path / "daily.toml"
    file.write_text(FULL)
    found = load_workbook(file)
    assert (found.name, found.catalog, found.isolation) == ("daily", "sales", Isolation.FORK)
    assert found.parameters == {"day": date(2026, 1, 31), "least": 1.5}
    assert (found.required, found.workers, found.folder) == (("region",), 8, str(tmp_path))
    raw = found.tasks["raw"]
    assert raw.inputs["orders"] == Input(csv="orders-${day}.csv", options={"header": True})
    assert raw.output is not None
    assert (raw.output.mode, raw.output.key) == (Mode.MERGE, ("id",))
    assert (raw.retries, raw.timeout_seconds) == (0, 60)
    assert raw.checks == (
        Check(row_count=RowCount(min=1, max=10)),
        Check(unique=("id",), warn=True),
        Check(accepted={"status": ("open", "closed"), "rank": (1, 2)}),
    )
    assert found.tasks["late"].after == ("raw",)


WRONG = [
    ("", "key 'tasks'", "required"),
    ("[tasks.a]\nsql = 'SELECT 1'\nretry = 3", "task 'a', key 'retry'", "Unexpected"),
    ("[tasks.a]", "task 'a'", "exactly one of sql, python is required"),
    ("[tasks.a]\nsql = 1", "task 'a', key 'sql'", "valid string"),
    (
        "[tasks.a]\nsql = ''\npython = 'f.py:f'",
        "task 'a'",
        "exactly one of sql, python is required",
    ),
    ("[tasks.a]\nsql = ''\nretries = -1", "task 'a'", "0 or more"),
    ("[tasks.a]\nsql = ''\ntimeout_seconds = 0", "task 'a'", "more than 0"),
    ("[tasks.a]\nsql = ''\ntimeout_seconds = nan", "task 'a'", "more than 0"),
    ("[tasks.a]\nsql = ''\noutput = { table = 't', mode = 'put' }", "output.mode", "'append'"),
    ("[tasks.a]\nsql = ''\noutput = { table = 't', mode = 'merge' }", "output", "key"),
    ("[tasks.a]\nsql = ''\noutput = { table = 't', where = 'x' }", "output", "where"),
    ("[tasks.a]\nsql = ''\ninputs.x = {}", "key 'inputs.x'", "exactly one of csv"),
    ("[tasks.a]\nsql = ''\ninputs.x = { csv = 'a', json = 'b' }", "inputs.x", "exactly one of"),
    ("[tasks.a]\nsql = ''\ninputs.x = { jdbc = 'u' }", "inputs.x", "table, query"),
    ("[tasks.a]\nsql = ''\ninputs.x = { csv = 'a', snapshot = 1 }", "inputs.x", "snapshot"),
    ("[tasks.a]\nsql = ''\nchecks = [{ unique = ['a'] }]", "task 'a'", "without table needs"),
    ("[tasks.a]\nsql = ''\nchecks = [{ row_count = {}, table = 't' }]", "row_count", "one of min"),
    ("[tasks.a]\nsql = ''\nchecks = [{}]", "checks.0", "exactly one of row_count"),
    ("[tasks.a]\nsql = ''\nchecks = [{ not_null = [], table = 't' }]", "checks.0", "no columns"),
    ("[tasks.a]\nsql = ''\nafter = ['b']", "task 'a', after", "task 'b' does not exist"),
    ("[tasks.a]\nsql = ''\nafter = ['a']", "cycle", "a → a"),
    (
        "[tasks.a]\nsql = ''\nafter = ['c']\n[tasks.b]\nsql = ''\nafter = ['a']\n"
        "[tasks.c]\nsql = ''\nafter = ['b']",
        "cycle",
        "→",
    ),
    ("isolation = 'half'\n[tasks.a]\nsql = ''", "key 'isolation'", "'direct'"),
    ("workers = 0\n[tasks.a]\nsql = ''", "Workbook", "at least 1"),
    ("tasks = 3", "key 'tasks'", "dictionary"),
    ("[tasks]\na = 3", "task 'a'", "dict"),
    ("name = ", "not valid TOML", "at end of"),
]


@pytest.mark.parametrize(("text", "place", "reason"), WRONG)
def test_errors_name_the_fault_and_its_position(
    text: str, place: str, reason: str, tmp_path: Path
) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        load_workbook(file)
    message = caught.value.message
    assert place in message
    assert reason in message
    if "cycle" not in message and "does not exist" not in message:
        assert str(file) in message


PYTHON = '''
from forklake.reagent import worktask

workbook = {"catalog": "sales", "tasks": {"first": {"sql": "SELECT 1"}}}

@worktask(after=["first"], inputs={"rows": {"table": "t"}}, output="u", retries=1)
def second(rows):
    return rows

@worktask(name="third", output={"table": "v", "mode": "overwrite"})
def other(session):
    return session.table("u")

def helper():
    """No task."""
'''


def test_decorated_functions_of_a_python_file_are_tasks(tmp_path: Path) -> None:
    file = tmp_path / "book.py"
    file.write_text(PYTHON)
    found = load_workbook(file)
    assert (found.name, found.catalog, list(found.tasks)) == (
        "book",
        "sales",
        ["first", "second", "third"],
    )
    second, third = found.tasks["second"], found.tasks["third"]
    assert callable(second.python)
    assert second.python("rows") == "rows"
    assert second.output is not None
    assert (second.output.table, second.output.mode, second.retries) == ("u", Mode.APPEND, 1)
    assert third.output is not None
    assert third.output.mode is Mode.OVERWRITE


def test_files_that_are_not_workbooks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"nothing\.toml"):
        load_workbook(tmp_path / "nothing.toml")
    with pytest.raises(InvalidInput, match=r"\.toml or \.py"):
        load_workbook(tmp_path / "book.yaml")
    broken = tmp_path / "broken.py"
    broken.write_text("1 / 0")
    with pytest.raises(InvalidInput, match="ZeroDivisionError"):
        load_workbook(broken)
    broken.write_text("workbook = 3")
    with pytest.raises(InvalidInput, match="not a mapping"):
        load_workbook(broken)


def test_functions_are_found_beside_the_workbook(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text("def clean(rows):\n    return rows\n")
    assert load_function("steps.py:clean", str(tmp_path))(1) == 1
    for reference, reason in (
        ("steps.py:other", "no function 'other'"),
        ("nothing.py:clean", "existing Python file"),
        ("clean", "existing Python file"),
    ):
        with pytest.raises(InvalidInput, match=reason):
            load_function(reference, str(tmp_path))
