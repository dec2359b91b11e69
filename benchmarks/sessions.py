"""Benchmark of many concurrent sessions of a service: small statements, errors, and memory.

    python -m benchmarks.sessions --sessions 64 --seconds 300

The service runs in its own process; this one sends statements over HTTP. The results are statements
per second, latencies, errors, and the memory of the service and of its JVM, sampled every second.
The slope of memory is that of a regression line through the second half of the run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

# Statements with their weights; `{n}` is replaced by a random number.
STATEMENTS: tuple[tuple[int, str], ...] = (
    (6, "SELECT {n} + 1 AS x, 'a' || {n} AS y"),
    (6, "SELECT count(*), max(id) FROM t"),
    (4, "SELECT * FROM t WHERE id % 10 = {n} % 10 ORDER BY id LIMIT 50"),
    (4, "INSERT INTO t VALUES ({n}, 'row {n}')"),
    (2, "SHOW TABLES"),
    (2, "SELECT snapshot_id FROM ducklake_snapshots('lake') ORDER BY 1 DESC LIMIT 5"),
    (1, "UPDATE t SET s = 'new' WHERE id = {n} % 100"),
    (1, "BEGIN; INSERT INTO t VALUES ({n}, 'x'); ROLLBACK"),
    (1, "SELECT sum(a.range) FROM range(2000) a JOIN range(2000) b ON a.range = b.range"),
    (1, "DELETE FROM t WHERE id > 100000 AND id % 3 = {n} % 3"),
)
REOPENED = 200  # on average, sessions are closed and reopened after this many statements


@dataclass
class Tally:
    """Results of all statements."""

    seconds: list[float] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    reopened: int = 0


@contextmanager
def service(folder: Path, sessions: int, heap: str) -> Iterator[tuple[str, psutil.Process]]:
    """Run a service over a new metastore in its own process, with a small heap for its JVM."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = folder / "settings.toml"
    settings.write_text(
        f'metastore = "ducklake:{folder}/meta.db"\ncreate = true\ndata_path = "{folder}/data"\n'
        f"port = {port}\nsessions = {sessions + 8}\nsessions_per_principal = {sessions + 8}\n"
    )
    command = [sys.executable, "-m", "benchmarks.sessions", "--serve", str(settings)]
    process = subprocess.Popen(command, env={**os.environ, "_JAVA_OPTIONS": f"-Xmx{heap}"})
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                httpx.get(f"{address}/health/live", trust_env=False)
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        yield address, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(60)


def serve(path: str) -> None:
    """Run the service in this process."""
    from forklake.crucible.app import create_app
    from forklake.crucible.settings import read_settings
    from forklake.crucible.web_server import create_server

    settings = read_settings(path)
    create_server(create_app(settings), settings).run()


def memory(process: psutil.Process) -> tuple[float, float]:
    """Return the memory of the service and of its JVM in megabytes."""
    java = [one for one in process.children(recursive=True) if one.name() == "java"]
    return process.memory_info().rss / 2**20, sum(one.memory_info().rss for one in java) / 2**20


def work(address: str, number: int, until: float, tally: Tally) -> None:
    """Run random statements as one user until a deadline."""
    chance = random.Random(number)
    weights, texts = zip(*STATEMENTS, strict=True)
    with httpx.Client(base_url=address, timeout=120, trust_env=False) as client:
        name = f"user-{number}"
        client.post("/v1/catalogs", json={"name": name})
        session = opened(client, name)
        run(client, session, "CREATE TABLE IF NOT EXISTS t (id BIGINT, s VARCHAR)", tally)
        while time.monotonic() < until:
            sql = chance.choices(texts, weights)[0].replace("{n}", str(chance.randrange(10**6)))
            run(client, session, sql, tally)
            if chance.randrange(REOPENED) == 0:
                client.delete(f"/v1/sessions/{session}")
                session = opened(client, name)
                tally.reopened += 1
        client.delete(f"/v1/sessions/{session}")


def opened(client: httpx.Client, catalog: str) -> str:
    """Open a session and return its id."""
    answer = client.post("/v1/sessions", json={"catalog": catalog, "alias": "lake"})
    answer.raise_for_status()
    return str(answer.json()["session"])


def run(client: httpx.Client, session: str, sql: str, tally: Tally) -> None:
    """Run one statement, fetch its rows, and record the result."""
    start = time.perf_counter()
    path = f"/v1/sessions/{session}/statements"
    found: dict[str, Any] = client.post(path, json={"sql": sql, "wait_seconds": 30}).json()
    while found.get("state") in ("queued", "running"):
        found = client.get(f"{path}/{found['statement']}", params={"wait_seconds": 30}).json()
    if found.get("state") == "done":
        client.get(f"{path}/{found['statement']}/rows").raise_for_status()
    else:
        tally.errors[json.dumps(found.get("error"))[:300]] += 1
    tally.states[str(found.get("state"))] += 1
    tally.seconds.append(time.perf_counter() - start)


def warm_up(address: str) -> None:
    """Start Spark, and run all statements until the JVM has compiled them."""
    with httpx.Client(base_url=address, timeout=120, trust_env=False) as client:
        client.post("/v1/catalogs", json={"name": "warm"})
        session = opened(client, "warm")
        run(client, session, "CREATE TABLE t (id BIGINT, s VARCHAR)", Tally())
        for number in range(3):
            for _, sql in STATEMENTS:
                run(client, session, sql.replace("{n}", str(number)), Tally())
        client.delete(f"/v1/sessions/{session}")


def slope(samples: list[tuple[float, float]]) -> float:
    """Return the growth in megabytes per minute, by a line through the second half."""
    half = samples[len(samples) // 2 :]
    if len(half) < 2:
        return 0.0
    found = statistics.linear_regression([x for x, _ in half], [y for _, y in half])
    return found.slope * 60


def measure(sessions: int, seconds: float, heap: str) -> dict[str, Any]:
    """Run the benchmark and return its results."""
    tally = Tally()
    with (
        tempfile.TemporaryDirectory() as folder,
        service(Path(folder), sessions, heap) as (address, one),
    ):
        warm_up(address)
        began = time.monotonic()
        until = began + seconds
        threads = [
            threading.Thread(target=work, args=(address, number, until, tally))
            for number in range(sessions)
        ]
        for thread in threads:
            thread.start()
        python: list[tuple[float, float]] = []
        java: list[tuple[float, float]] = []
        while time.monotonic() < until:
            time.sleep(1)
            now, (own, other) = time.monotonic() - began, memory(one)
            python.append((now, own))
            java.append((now, other))
        for thread in threads:
            thread.join()
        threads_left = one.num_threads()
    ordered = sorted(tally.seconds)
    return {
        "sessions": sessions,
        "seconds": seconds,
        "statements": len(ordered),
        "per_second": round(len(ordered) / seconds, 1),
        "p50_ms": round(1000 * ordered[len(ordered) // 2]),
        "p99_ms": round(1000 * ordered[int(len(ordered) * 0.99)]),
        "states": dict(tally.states),
        "errors": dict(tally.errors.most_common(5)),
        "reopened": tally.reopened,
        "python_mb": [round(y) for _, y in python[:: max(1, len(python) // 10)]],
        "java_mb": [round(y) for _, y in java[:: max(1, len(java) // 10)]],
        "python_slope_mb_per_minute": round(slope(python), 1),
        "java_slope_mb_per_minute": round(slope(java), 1),
        "threads_left": threads_left,
    }


def main() -> None:
    """Run the benchmark as the command line defines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=64, help="number of sessions")
    parser.add_argument("--seconds", type=float, default=300, help="duration")
    parser.add_argument(
        "--heap", default="1g", help="maximum heap of the JVM, small enough to fill up soon"
    )
    parser.add_argument("--serve", help="run the service with this settings file (internal)")
    given = parser.parse_args()
    if given.serve:
        serve(given.serve)
    else:
        print(json.dumps(measure(given.sessions, given.seconds, given.heap), indent=2))


if __name__ == "__main__":
    main()
