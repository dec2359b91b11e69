"""Benchmark of the service: forks over HTTP, requested by a second process, with access rules.

python -m benchmarks.crucible                       one minute at the target rate
python -m benchmarks.crucible --rate 0              as fast as possible
python -m benchmarks.crucible --seconds 5           a shorter run
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
from forklake.model.requests import CreateRequest

RESULTS = Path(__file__).parent / "results" / "crucible.jsonl"
FULL_SECONDS = 60.0


def prepare(dsn: str) -> str:
    """Create a catalog to fork and a principal who may; return the key of the principal."""
    with open_postgres(dsn) as metastore:
        access = Access(metastore)
        access.init()
        access.principals.create(LOCAL, "alice", "house", prefixes=["alice-"])
        key = access.keys.create(LOCAL, "alice")[1]
        access.catalogs.create(
            access.authentication.identify(key), CreateRequest(["alice-parent"], data_path="/lake")
        )
        create_table(metastore.catalog("alice-parent"))
    return key


@contextmanager
def service(dsn: str) -> Iterator[tuple[str, int]]:
    """Run the service in its own process; yield its address and process id."""
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
        # Read and discard the log: the service would block once the pipe is full.
        subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)
        yield found[0], process.pid
    finally:
        process.terminate()
        process.wait()


def measure(seconds: float, rate: float, connections: int) -> Iterator[Figure]:
    """Yield forks per second, latencies, errors, CPU time and memory."""
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
    """Run the process that sends requests, and return its results."""
    settings = {
        "address": address,
        "key": key,
        "parent": "alice-parent",
        "prefix": f"alice-{time.time_ns()}",
        "seconds": seconds,
        "rate": rate,
        "connections": connections,
    }
    command = [sys.executable, "-m", "benchmarks.crucible_load"]
    text = json.dumps(settings)
    done = subprocess.run(command, input=text, text=True, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Run the benchmark as the command line defines."""
    parser = argparse.ArgumentParser(description="Measure the service.")
    parser.add_argument("--seconds", type=float, default=FULL_SECONDS, help="duration")
    parser.add_argument(
        "--rate", type=float, default=520.0, help="forks per second; 0: as many as possible"
    )
    parser.add_argument("--connections", type=int, default=16, help="concurrent connections")
    arguments = parser.parse_args()
    found = []
    for one in measure(arguments.seconds, arguments.rate, arguments.connections):
        print(one.line(), flush=True)
        found.append(one)
    if arguments.seconds >= FULL_SECONDS:
        keep_figures(RESULTS, found)


if __name__ == "__main__":
    main()
