"""The Java of all tests: it compiles in haste, which is best for programs that end soon."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from forklake.errors import Unsupported
from forklake.spark.engine.java import find_java

FLAGS = ("-XX:TieredStopAtLevel=1",)


@pytest.fixture(scope="session", autouse=True)
def quick_java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A JAVA_HOME, for this process and those that it starts, whose Java has these flags."""
    try:
        command = shlex.join([str(find_java()), *FLAGS])
    except Unsupported:  # tests that need none still run
        yield
        return
    home = tmp_path_factory.mktemp("java")
    java = home / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    java.chmod(0o755)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("JAVA_HOME", str(home))
        yield
