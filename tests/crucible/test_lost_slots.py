"""Cancelled statements release their Spark slots, if necessary by a replacement of Java."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from forklake.crucible.sessions.engines import has_tasks
from tests.crucible.fix_sessions import LONG, Person, open_session
from tests.crucible.served import RunningService

SECONDS = 5.0  # after which all slots are free again
# Each takes hours within one function call.
ENDLESS = {
    "regular expression": "regexp_matches(repeat('ab', 30000000 + range::INT), '(.*a){20}c')",
    "like": "repeat('a', 6000000 + range::INT) LIKE concat('%', repeat('a', 3000000), 'b%')",
    "glob": "repeat('a', 6000000 + range::INT) GLOB concat('*', repeat('a', 3000000), 'b*')",
    "levenshtein": "levenshtein(repeat('a', 6000000), repeat('b', 6000000 + range::INT)) > 1",
    "lambda": "list_sum(list_transform(range(900000 + range), x -> list_sum("
    "list_transform(range(900000), y -> x * y)))) > 1",
}
QUERIES = {
    **{name: f"SELECT count(*) FROM range(4) WHERE {text}" for name, text in ENDLESS.items()},
    "joins without keys": "SELECT a.range FROM range(9) z, range(90000) a, range(90000) b,"
    " range(90000) c",
    "joins on a frequent key": "SELECT a.x FROM (SELECT range % 2 AS x FROM range(200000)) a"
    " JOIN (SELECT range % 2 AS x FROM range(200001)) b ON a.x = b.x"
    " JOIN (SELECT range % 2 AS x FROM range(200002)) c ON a.x = c.x",
    "counted joins": "SELECT count(a.range + b.range + c.range) FROM range(90000) a,"
    " range(90000) b, range(90000) c",
    "join with a slow condition": "SELECT a.range FROM range(2) a, range(900000) b"
    " WHERE levenshtein(repeat('a', 900 + a.range::INT), repeat('b', 900 + b.range::INT % 9)) < 1",
    "unnested lists": "SELECT unnest(range(90000 + x)) FROM"
    " (SELECT unnest(range(90000 + range)) AS x FROM range(4))",
    "constant while planning": "SELECT levenshtein(repeat('a', 6000000), repeat('b', 6000000))",
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_cancelled_statement_frees_its_slots(spark_service: RunningService, name: str) -> None:
    alice = open_session(spark_service.client_of("alice"), "alice-sales")
    number = alice.run(QUERIES[name], wait_seconds=2)["statement"]
    seconds = _seconds_until_free(spark_service, alice, number)
    assert seconds < SECONDS, f"{seconds:.1f} s"
    assert alice.rows("SELECT 1") == [[1]]


def _seconds_until_free(spark_service: RunningService, person: Person, number: int) -> float:
    (session,) = spark_service.service.sessions.all()
    (statement,) = (one for one in session.statements() if one.number == number)
    group = session._job_group(statement)
    begin = time.monotonic()
    person.client.post(f"{person.path}/statements/{number}/cancel")
    assert statement.wait(60)
    assert statement.state == "cancelled", statement.error
    while has_tasks(session.session.engine, group) and time.monotonic() < begin + 60:
        time.sleep(0.02)
    return time.monotonic() - begin


def test_tasks_yield_to_the_planning_of_other_statements(spark_service: RunningService) -> None:
    alice = open_session(spark_service.client_of("alice"), "alice-sales")
    number = alice.run(LONG, wait_seconds=2)["statement"]
    (session,) = spark_service.service.sessions.all()
    process = session.session.engine.process_id
    assert process is not None
    deadline = time.monotonic() + 20
    while True:
        spark_service.service.sessions.check_all()
        found = _niceness(process)
        # New threads of tasks begin with 0, and threads that tasks start inherit 10.
        if 10 in found[True] and 0 in found[False]:
            break
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    alice.client.post(f"{alice.path}/statements/{number}/cancel")


def _niceness(process: int) -> dict[bool, set[int]]:
    """Return the niceness of the threads of a JVM, by whether they are for tasks."""
    nice: dict[bool, set[int]] = {True: set(), False: set()}
    for thread in psutil.Process(process).threads():
        with suppress(OSError):
            name = Path(f"/proc/{process}/task/{thread.id}/comm").read_text()
            nice[name.startswith("Executor task")].add(os.getpriority(os.PRIO_PROCESS, thread.id))
    return nice
