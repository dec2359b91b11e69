"""Hostile sessions beside a small query of another principal: it stays fast, memory stays bounded.

The short form runs in the suite. `FORKLAKE_HOSTILE_SECONDS=300` runs for five minutes and checks
the promised latency; `FORKLAKE_HOSTILE_SEED` repeats a run.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil
import pytest

from forklake.access.access import Access
from forklake.catalog.metastore import open_metastore
from tests.crucible.fix_sessions import Person, open_session
from tests.crucible.served import create_users
from tests.crucible.test_lost_slots import QUERIES

SECONDS = float(os.environ.get("FORKLAKE_HOSTILE_SECONDS", "8"))
SEED = int(os.environ.get("FORKLAKE_HOSTILE_SEED", str(random.randrange(10**6))))
HOSTILE_SESSIONS = 4
# The machine of a test run is busy: the short form only finds that other sessions are blocked.
P99_SECONDS = 2.0 if SECONDS >= 60 else 10.0
FREE_SECONDS = 5.0
MOST_BYTES = 2**30  # of Python processes, beyond those at the beginning
IDLE_SHARE = 0.5  # of a core: usage of Java when no task runs

CONSTANTS = [
    *(
        "len(repeat('a', 2000000000))",
        "damerau_levenshtein(repeat('a', 14000), repeat('b', 14000))",
    ),
    *("levenshtein(repeat('a', 400000), repeat('b', 400000))", "repeat('a', 100000000)"),
    *("list_sum(range(10000000000))", "lpad('a', 2000000000, 'b')", "current_setting('threads')"),
]
TEXTS = [
    *QUERIES.values(),
    *(f"INSERT INTO t VALUES (1, {text}::VARCHAR)" for text in CONSTANTS),
    r"SELECT regexp_matches(repeat('a', 60000), '^(a+)+\1b$')",
    "SELECT " + "+".join(["1"] * 20000),
    "SELECT " + " || ".join(["'a'"] * 3000),
    "INSERT INTO t VALUES " + ",".join(["(1, 'a')"] * 200000),
    "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    "SELECT 1 IN (" + ",".join(["1"] * 50000) + ")",
    " UNION ALL ".join(["SELECT 1"] * 400),
    "SELECT m18()",
    "FROM v8",
    "WITH c0 AS (SELECT 1 AS x), "
    + ", ".join(f"c{n + 1} AS (SELECT a.x FROM c{n} a, c{n} b)" for n in range(30))
    + " SELECT count(*) FROM c30",
    "SELECT 1 AS a0, " + ", ".join(f"a{n} + a{n} AS a{n + 1}" for n in range(30)),
]


@dataclass
class Measured:
    """Measurements taken while hostile statements ran."""

    latencies: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    statements: int = 0
    most_bytes: int = 0


@pytest.fixture
def service(tmp_path: Path) -> Iterator[tuple[psutil.Process, str, dict[str, str]]]:
    """Yield a service process with principals, its address and its keys."""
    uri = f"ducklake:sqlite:{tmp_path / 'm.db'}"
    metastore = open_metastore(uri, create=True)
    keys = create_users(Access(metastore))
    metastore.close()
    (tmp_path / "forklake.toml").write_text(f"data_path = '{tmp_path / 'data'}'")
    command = [sys.executable, "-m", "forklake.cli.main", "serve", "--port", "0"]
    command += ["--config", str(tmp_path / "forklake.toml")]
    environment = {**os.environ, "FORKLAKE_METASTORE": uri}
    log = tmp_path / "service.log"  # is kept when the test fails
    with (
        log.open("w") as stderr,
        subprocess.Popen(command, env=environment, stderr=stderr, text=True) as found,
    ):
        yield psutil.Process(found.pid), _address(log, found), keys
        found.terminate()


def _address(log: Path, process: subprocess.Popen[str]) -> str:
    """Return the address that a starting service writes to its log."""
    while process.poll() is None:
        for line in log.read_text().splitlines(keepends=True):
            if "address" in line and line.endswith("\n"):
                return str(json.loads(line)["address"])
        time.sleep(0.05)
    pytest.fail(f"The service ended: {log.read_text()}")


@pytest.mark.slow
@pytest.mark.timeout(SECONDS * 2 + 240)
def test_hostile_sessions_do_not_slow_down_others(
    service: tuple[psutil.Process, str, dict[str, str]],
) -> None:
    process, address, keys = service
    victim = _prepared(address, keys["alice"], "alice-sales")
    hostile = [_prepared(address, keys["bob"], "bob-sales", at) for at in range(HOSTILE_SESSIONS)]
    _define_bombs(hostile[0])
    measured, over = Measured(), threading.Event()
    begin = _python_bytes(process)
    attackers = [
        threading.Thread(target=_attack, args=(one, random.Random(SEED + at), over, measured))
        for at, one in enumerate(hostile)
    ]
    for one in attackers:
        one.start()
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        _measure(victim, measured)
        measured.most_bytes = max(measured.most_bytes, _python_bytes(process) - begin)
        time.sleep(0.05)
    over.set()
    for one in attackers:
        one.join()
    for person in (victim, *hostile):
        person.client.close()
    freed = _seconds_until_idle(process)
    ordered = sorted(measured.latencies)
    p99 = ordered[int(len(ordered) * 0.99)]
    shown = (
        f"seed {SEED}: {measured.statements} hostile statements, {len(ordered)} small queries,"
        f" p50 {statistics.median(ordered):.2f} s, p99 {p99:.2f} s, most {ordered[-1]:.2f} s,"
        f" {measured.most_bytes / 2**20:.0f} MiB more, idle after {freed:.1f} s,"
        f" load {os.getloadavg()[0]:.1f}, failures {measured.failures}"
    )
    print(shown)
    assert not measured.failures, shown
    assert p99 <= P99_SECONDS, shown
    assert measured.most_bytes <= MOST_BYTES, shown
    assert freed <= FREE_SECONDS, shown


def _prepared(address: str, key: str, catalog: str, number: int = 0) -> Person:
    headers = {"Authorization": f"Bearer {key}"}
    client = httpx.Client(base_url=address, headers=headers, trust_env=False, timeout=120)
    if number == 0:
        assert client.post("/v1/catalogs", json={"name": catalog}).status_code == 201
    person = open_session(client, catalog)
    person.run_successfully("CREATE TABLE IF NOT EXISTS t (id INTEGER, s VARCHAR)")
    if number == 0:
        person.run_successfully("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    assert person.rows("SELECT 1") == [[1]]
    return person


def _define_bombs(person: Person) -> None:
    person.run_successfully("CREATE MACRO m0() AS 1; CREATE VIEW v0 AS SELECT id FROM t")
    for n in range(1, 19):
        person.run_successfully(f"CREATE MACRO m{n}() AS m{n - 1}() + m{n - 1}()")
    for n in range(1, 9):
        person.run_successfully(f"CREATE VIEW v{n} AS SELECT a.id FROM v{n - 1} a, v{n - 1} b")


def _attack(
    person: Person, chance: random.Random, over: threading.Event, measured: Measured
) -> None:
    while not over.is_set():
        sql = chance.choice(TEXTS)
        body = {"sql": sql, "wait_seconds": 0, "timeout_seconds": chance.choice([1, 2, 4])}
        answer = person.client.post(f"{person.path}/statements", json=body)
        measured.statements += 1
        if answer.status_code == 202:
            path = f"{person.path}/statements/{answer.json()['statement']}"
            over.wait(chance.uniform(0.2, 3))
            person.client.post(f"{path}/cancel")
            person.client.get(path, params={"wait_seconds": 10})


def _measure(person: Person, measured: Measured) -> None:
    begin = time.monotonic()
    found = person.run("SELECT count(*) FROM t WHERE id < 2")
    measured.latencies.append(time.monotonic() - begin)
    if found["state"] != "done":
        measured.failures.append(str(found.get("error")))


def _python_bytes(process: psutil.Process) -> int:
    """Return the bytes of the service and of its processes that compute constants, without Java.

    Pages that several processes share, like those of libraries, count once.
    """
    total = 0
    for one in (process, *process.children(recursive=True)):
        try:
            total += 0 if one.name() == "java" else one.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
    return total


def _seconds_until_idle(process: psutil.Process) -> float:
    """Return the seconds until Java is idle, which it is only without tasks."""
    (java,) = (one for one in process.children() if one.name() == "java")
    begin = time.monotonic()
    while time.monotonic() < begin + 60:
        waited = time.monotonic() - begin
        if java.cpu_percent(0.5) < 100 * IDLE_SHARE:
            return waited
    return 60.0
