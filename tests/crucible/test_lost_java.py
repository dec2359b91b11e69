"""Death of Java under the service: running statements fail, sessions continue with a new Java."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.crucible.fix_sessions import LONG, open_session


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield a service process with its own Java."""
    command = [sys.executable, "-m", "forklake.cli.main", "serve", "--port", "0", "--create"]
    (tmp_path / "forklake.toml").write_text(f"data_path = '{tmp_path / 'data'}'")
    command += ["--config", str(tmp_path / "forklake.toml")]
    environment = {**os.environ, "FORKLAKE_METASTORE": f"ducklake:sqlite:{tmp_path / 'm.db'}"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as found:
        yield found
        found.terminate()


@pytest.fixture
def client(process: subprocess.Popen[str]) -> Iterator[httpx.Client]:
    assert process.stderr is not None
    address = next(json.loads(line)["address"] for line in process.stderr if "address" in line)
    # The service blocks when it has filled the pipe.
    threading.Thread(target=process.stderr.read).start()
    with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
        yield client


@pytest.mark.slow
def test_sessions_continue_after_java_died(
    process: subprocess.Popen[str], client: httpx.Client
) -> None:
    assert client.post("/v1/catalogs", json={"name": "c"}).status_code == 201
    busy, idle = open_session(client, "c"), open_session(client, "c")
    busy.run_successfully("CREATE TABLE t AS SELECT range AS id FROM range(1000)")
    assert idle.rows("SELECT count(*) FROM t") == [[1000]]
    idle.run_successfully("BEGIN; INSERT INTO t SELECT range FROM range(500)")
    sent = busy.run(LONG, wait_seconds=0)
    (java,) = (one for one in psutil.Process(process.pid).children() if one.name() == "java")
    java.kill()
    path = f"{busy.path}/statements/{sent['statement']}"
    ended = client.get(path, params={"wait_seconds": 30}).json()
    assert (ended["state"], ended["error"]["code"]) == ("failed", "unavailable"), ended
    assert busy.rows("SELECT count(*) FROM t") == [[1000]]  # with a new Java
    assert idle.rows("SELECT count(*) FROM t") == [[1500]]  # still in its transaction
    idle.run_successfully("COMMIT")
    assert busy.rows("SELECT count(*) FROM t") == [[1500]]
    assert client.delete(busy.path).status_code == 204
