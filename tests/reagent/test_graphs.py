"""Dependencies between worktasks."""

from __future__ import annotations

from typing import Any

import pytest

from forklake.errors import InvalidInput
from forklake.reagent.graphs import build_graph, group_by_order
from tests.reagent.conftest import Make

TASKS = {
    "raw": {"sql": "SELECT 1", "output": {"table": "Raw"}},
    "clean": {"sql": "SELECT 1", "inputs": {"r": {"table": "raw"}}, "output": {"table": "c"}},
    "past": {"sql": "SELECT 1", "inputs": {"r": {"table": "raw", "snapshot": 3}}},
    "again": {"sql": "SELECT 1", "inputs": {"c": {"table": "c"}}, "output": {"table": "c"}},
    "last": {"sql": "SELECT 1", "after": ["past", "again"]},
    "mend": {"sql": "SELECT 1", "after": ["last"], "output": {"table": "raw"}},
}


def test_tasks_depend_on_named_tasks_and_on_writers_of_their_inputs(make: Make) -> None:
    assert build_graph(make(TASKS)) == {
        "raw": set(),
        "clean": {"raw"},
        "past": set(),  # reads older contents
        "again": {"clean"},  # and not itself
        "last": {"past", "again"},
        "mend": {"last"},
    }


def test_order_follows_dependencies_and_then_the_file(make: Make) -> None:
    found = group_by_order(build_graph(make(TASKS)))
    assert found == [["raw", "past"], ["clean"], ["again"], ["last"], ["mend"]]


def test_selected_tasks_run_without_their_dependencies(make: Make) -> None:
    assert build_graph(make(TASKS), ["last", "again"]) == {"again": set(), "last": {"again"}}
    with pytest.raises(InvalidInput, match="task 'lost' does not exist") as caught:
        build_graph(make(TASKS), ["lost"])
    assert "last" in caught.value.remedy


def test_reading_a_table_that_a_later_task_writes_needs_an_explicit_order(make: Make) -> None:
    tasks: dict[str, Any] = {
        "read": {"sql": "SELECT 1", "inputs": {"x": {"table": "x"}}},
        "write": {"sql": "SELECT 1", "output": {"table": "x"}},
    }
    with pytest.raises(InvalidInput, match="'read' reads a table that task 'write' writes"):
        make(tasks)
    tasks["read"]["after"] = ["write"]
    assert build_graph(make(tasks))["read"] == {"write"}
    del tasks["read"]["after"]
    tasks["write"]["after"] = ["read"]
    assert build_graph(make(tasks)) == {"read": set(), "write": {"read"}}
