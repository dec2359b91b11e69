"""Tables on a Spark of several processes that share only the files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from forklake.engines.spark import java
from tests.fix_java import CLASS_PATH, SPARK

LOGGING = Path(java.__file__).with_name("jvm") / "log4j2.properties"
WORKERS = 2
TIMEOUT_SECONDS = 240


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Start a standalone master with worker processes on this machine, and yield its address."""
    with ExitStack() as running:
        master = running.enter_context(daemon(folder, "master.Master", "--port", "0"))
        assert master.stderr is not None
        lines = iter(master.stderr.readline, "")
        found = next(filter(None, (re.search(r"spark://[\d.]+:\d+", line) for line in lines)))
        for number in range(WORKERS):
            work = folder / f"worker-{number}"
            arguments = ("--cores", "1", "--memory", "1g", "--work-dir", str(work), found[0])
            worker = running.enter_context(daemon(folder, "worker.Worker", *arguments))
            assert worker.stderr is not None
            worker.stderr.close()
        master.stderr.close()
        yield found[0]


@contextmanager
def daemon(folder: Path, name: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start a Spark daemon, which ends with the block."""
    home = java_home(folder)
    command = [
        *(str(home / "bin" / "java"), *java.FLAGS),
        *("-Xmx256m", "-XX:+UseSerialGC"),
        f"-Dlog4j2.configurationFile={LOGGING.as_uri()}",
        *("-cp", CLASS_PATH, f"org.apache.spark.deploy.{name}"),
        *("--host", "127.0.0.1", "--webui-port", "0", *arguments),
    ]
    environment = {
        **os.environ,
        "JAVA_HOME": str(home),
        "SPARK_HOME": str(SPARK),
        "SPARK_SCALA_VERSION": "2.13",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "FORKLAKE_SPARK_LOG": "info",
    }
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def java_home(folder: Path) -> Path:
    """Return a Java home for workers, whose Java starts without the module that Spark requires."""
    java_program = folder / "java" / "bin" / "java"
    if not java_program.exists():
        java_program.parent.mkdir(parents=True)
        java_program.write_text(
            "#!/bin/bash\n"
            f'exec {java.find_java()} "${{@/--add-modules=jdk.incubator.vector/-Dnone}}"\n'
        )
        java_program.chmod(0o755)
    return java_program.parent.parent


@pytest.mark.slow
def test_executors_need_neither_the_metastore_nor_the_driver(tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster") as master:
        done = subprocess.run(
            [sys.executable, "-m", "tests.spark.cluster_job", master, tmp_path / "lake"],
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    (made,) = (tmp_path / "cache" / "forklake").iterdir()
    shipped = list((tmp_path / "cluster").glob(f"worker-*/app-*/*/{made.name}"))
    assert {path.parents[2].name for path in shipped} == {"worker-0", "worker-1"}
