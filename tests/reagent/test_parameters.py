"""Parameters: their values, and their use in texts."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from forklake.errors import InvalidInput, NotFound
from forklake.reagent.parameters import insert_parameters, insert_sql_parameters, resolve_parameters
from forklake.reagent.prepared_tasks import prepare_tasks
from tests.reagent.conftest import Make

TASK: dict[str, Any] = {"a": {"sql": "SELECT 1"}}


@pytest.mark.parametrize(
    ("default", "given", "value"),
    [
        (1, "2", 2),
        (1.5, "2", 2.0),
        (1.5, "1e3", 1000.0),
        (True, "false", False),
        ("x", "10", "10"),
        (date(2026, 1, 1), "2026-02-28", date(2026, 2, 28)),
        (datetime(2026, 1, 1, 12), "2026-02-28 06:00", datetime(2026, 2, 28, 6)),  # noqa: DTZ001
        (1, 7, 7),
    ],
)
def test_a_text_is_converted_to_the_type_of_the_default(
    default: Any, given: Any, value: Any, make: Make
) -> None:
    found = resolve_parameters(make(TASK, parameters={"p": default}), {"p": given})["p"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("default", "given"),
    [(1, "x"), (1, "1.5"), (1, "true"), (True, "1"), (date(2026, 1, 1), "soon"), (1, "[]")],
)
def test_a_text_of_another_type_is_refused(default: Any, given: str, make: Make) -> None:
    with pytest.raises(InvalidInput, match="parameter 'p'"):
        resolve_parameters(make(TASK, parameters={"p": default}), {"p": given})


def test_unknown_and_missing_parameters_are_refused(make: Make) -> None:
    workbook = make(TASK, parameters={"day": 1}, required=["region"])
    with pytest.raises(InvalidInput, match="no parameter 'dya'") as caught:
        resolve_parameters(workbook, {"dya": 1, "region": "x"})
    assert "day" in caught.value.remedy
    with pytest.raises(InvalidInput, match="needs a value for region"):
        resolve_parameters(workbook, {})
    assert resolve_parameters(workbook, {"region": "5"}, run="r") == {
        "day": 1,
        "region": 5,
        "run": "r",
    }
    with pytest.raises(InvalidInput, match="cannot be a list"):
        resolve_parameters(workbook, {"region": []})


def test_placeholders_in_texts_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "s3")
    assert insert_parameters("${a}/x-${b}-${env:SECRET}", {"a": "p q", "b": 1}) == "p q/x-1-s3"
    assert insert_parameters("cost: $5 {a} $a", {}) == "cost: $5 {a} $a"
    with pytest.raises(NotFound, match="MISSING_ONE"):
        insert_parameters("${env:MISSING_ONE}", {})
    with pytest.raises(InvalidInput, match="parameter 'c' of"):
        insert_parameters("${c}", {"a": 1})


@pytest.mark.parametrize("value", ["t; DROP TABLE t", "a b", "'", '"', "a--\nb", "(1)"])
def test_only_names_and_numbers_are_inserted_into_sql(value: str) -> None:
    with pytest.raises(InvalidInput, match=r"\$\{x\}"):
        insert_sql_parameters("SELECT * FROM ${x}", {"x": value})
    with pytest.raises(InvalidInput, match="cannot be inserted into SQL"):
        insert_sql_parameters("SELECT '${env:PATH}'", {"PATH": "x"})
    assert insert_sql_parameters("FROM ${x} LIMIT ${n}", {"x": "a.b", "n": 3}) == "FROM a.b LIMIT 3"


def test_placeholders_are_replaced_in_all_texts_of_a_task(make: Make) -> None:
    workbook = make(
        {
            "a": {
                "sql": "SELECT * FROM src WHERE day = $day AND k = ${n}",
                "inputs": {"src": {"csv": ["x-${day}.csv"], "options": {"delim": "${sep}"}}},
                "output": {"table": "t_${n}", "mode": "replace_where", "where": "k = ${n}"},
                "checks": [{"not_null": ["${column}"], "where": "k = ${n}"}],
            }
        },
        parameters={"day": "2026", "n": 3, "sep": "|", "column": "c"},
    )
    values = resolve_parameters(workbook, {})
    task = prepare_tasks(workbook, ["a"], values)["a"]
    assert task.task.sql == "SELECT * FROM src WHERE day = $day AND k = 3"
    assert task.parameters_of(task.task.sql) == {"day": "2026"}
    assert task.inputs["src"].csv == ("x-2026.csv",)
    assert task.inputs["src"].options == {"delim": "|"}
    assert task.output is not None
    assert (task.output.table, task.output.where) == ("t_3", "k = 3")
    assert (task.checks[0].not_null, task.checks[0].where) == (("c",), "k = 3")


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        ({"sql": "SELEC 1"}, "Task 'a'"),
        ({"sql": ""}, "Task 'a': The SQL is empty"),
        ({"sql": "SELECT $missing"}, r"Task 'a': the parameter \$missing does not exist"),
        ({"sql": "SELECT ${missing}"}, "Task 'a': The parameter 'missing' of"),
        (
            {"sql": "DELETE FROM t", "output": {"table": "u"}},
            "Task 'a': The SQL of a task with an output",
        ),
        ({"sql": "SELECT 1; SELECT 2", "output": {"table": "u"}}, "one query"),
        ({"sql": "SELECT 1", "checks": [{"sql": "SELEC"}]}, "Task 'a'"),
        ({"sql": "SELECT 1", "checks": [{"sql": "DELETE FROM t"}]}, "Task 'a': The SQL of a check"),
        ({"sql": "SELECT 1", "checks": [{"sql": "SELECT 1; SELECT 2"}]}, "one query"),
        (
            {"sql": "DELETE FROM t; COMMIT; DELETE FROM t"},
            "Task 'a': COMMIT is not allowed in a task",
        ),
        ({"sql": "DELETE FROM t; ROLLBACK"}, "Task 'a': ROLLBACK is not"),
        ({"python": "nothing.py:f"}, "Task 'a': The reference 'nothing.py:f'"),
    ],
)
def test_an_invalid_task_is_named(task: dict[str, Any], reason: str, make: Make) -> None:
    workbook = make({"a": task})
    with pytest.raises(InvalidInput, match=reason):
        prepare_tasks(workbook, ["a"], {})


def test_a_task_that_is_not_atomic_may_commit_except_inside_a_transaction(
    make: Make,
) -> None:
    tasks = {"a": {"sql": "BEGIN; DELETE FROM t; COMMIT", "atomic": False}}
    assert prepare_tasks(make(tasks), ["a"], {})
    with pytest.raises(InvalidInput, match="TRANSACTION is not"):
        prepare_tasks(make(tasks, isolation="transaction"), ["a"], {})
