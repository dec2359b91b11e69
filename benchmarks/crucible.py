"""Measure the service: forks over HTTP, asked for by a second process, with access rules on.

python -m benchmarks.crucible                       a minute at the rate of the target
python -m benchmarks.crucible --rate 0              as many as it can
python -m benchmarks.crucible --seconds 5           shorter
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from benchmarks.figures import Figure, figure, keep_figures
from benchmarks.lakes import create_table, open_postgres, postgres_uri
from benchmarks.server import running_server
from forklake.access.access import Access
from forklake.access.callers import LOCAL

RESULTS = Path(__file__).parent / "results" / "crucible.jsonl"
FULL_SECONDS = 60.0


def prepare(dsn: str) -> str:
    """A catalog to fork, and somebody who may; their key."""
    with open_postgres(dsn) as metastore:
        access = Access(metastore)
        access.init()
        access.create_principal(LOCAL, "alice", "house", prefixes=["alice-"])
        key = access.create_key(LOCAL, "alice")[1]
        access.create(access.caller(key), ["alice-parent"], data_path="/lake")
        create_table(metastore.catalog("alice-parent"))
    return key


@contextmanager
def service(dsn: str) -> Iterator[tuple[str, int]]:
    """The service as a process of its own: its address and process id."""
    command = [sys.executable, "-m", "forklake.cli.main", "serve", "--port", "0"]
    environment = {**os.environ, "FORKLAKE_METASTORE": postgres_uri(dsn)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"http://[\d.]+:[1-9]\d*", line):
                break
        else:
            raise RuntimeError("the service does not start")
        # Its log is read and thrown away, or it would wait for somebody to read it.
        subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)
        yield found[0], process.pid
    finally:
        process.terminate()
        process.wait()


def measure(seconds: float, rate: float, connections: int) -> Iterator[Figure]:
    """Forks a second, and how long each took."""
    with running_server() as server, server.database() as dsn:
        key = prepare(dsn)
        with service(dsn) as (address, pid):
            process, postgres = psutil.Process(pid), server.cpu_seconds() or 0.0
            before = sum(process.cpu_times()[:2])
            found = _loaded(address, key, seconds, rate, connections)
            own = sum(process.cpu_times()[:2]) - before
            memory = process.memory_info().rss
            postgres = (server.cpu_seconds() or 0.0) - postgres
    count = found["count"]
    target = "≥ 500 forks/s" if not rate or rate >= 500 else ""
    yield figure("http_forks", count / found["duration"], "forks/s", target=target)
    yield figure("http_fork_p50", 1e3 * found["p50"], "ms")
    yield figure("http_fork_p99", 1e3 * found["p99"], "ms", target="≤ 50 ms")
    yield figure("http_fork_errors", found["errors"], "errors", target="= 0")
    yield figure("http_fork_cpu", 1e3 * own / count, "ms")
    yield figure("http_fork_postgres_cpu", 1e3 * postgres / count, "ms")
    yield figure("http_memory", memory / 2**20, "MiB")


def _loaded(
    address: str, key: str, seconds: float, rate: float, connections: int
) -> dict[str, Any]:
    """What the second process saw."""
    said = {
        "address": address,
        "key": key,
        "parent": "alice-parent",
        "prefix": f"alice-{time.time_ns()}",
        "seconds": seconds,
        "rate": rate,
        "connections": connections,
    }
    command = [sys.executable, "-m", "benchmarks.crucible_load"]
    text = json.dumps(said)
    done = subprocess.run(command, input=text, text=True, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Run it as asked for."""
    parser = argparse.ArgumentParser(description="Measure the service.")
    parser.add_argument("--seconds", type=float, default=FULL_SECONDS)
    parser.add_argument("--rate", type=float, default=520.0, help="forks a second; 0: all it can")
    parser.add_argument("--connections", type=int, default=16)
    arguments = parser.parse_args()
    found = []
    for one in measure(arguments.seconds, arguments.rate, arguments.connections):
        print(one.line(), flush=True)
        found.append(one)
    if arguments.seconds >= FULL_SECONDS:
        keep_figures(RESULTS, found)


if __name__ == "__main__":
    main()
