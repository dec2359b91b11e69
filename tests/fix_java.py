"""The Java of all tests, tuned to start quickly because it starts many times.

Only the fast compiler is used. Most of the remaining time is spent on loading Spark classes, which
takes half as long from an archive: `python -m tests.fix_java FILE` creates one.

With FORKLAKE_TEST_JAVA=refused (`make check`) Java exits when it starts, and the test fails that
started it, in this process or in a child process.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyspark
import pytest
from py4j.protocol import Py4JError

import forklake
from forklake.engines.spark.java import find_java
from forklake.errors import Unsupported

SPARK = Path(pyspark.__path__[0])
CLASS_PATH = os.pathsep.join((str(SPARK / "conf"), str(SPARK / "jars" / "*")))
ARCHIVE = Path(sys.prefix, "spark-classes.jsa")  # for that class path
FLAGS = ("-XX:TieredStopAtLevel=1", "-Xlog:disable")
# Statements typical for tests, so that their classes are in the archive.
STATEMENTS = """
    CREATE TABLE t AS SELECT i AS id, i % 3 AS k, 'n' || i AS name FROM range(100) AS r(i);
    INSERT INTO t SELECT id + 100, k, name FROM t ORDER BY id;
    UPDATE t SET name = upper(name) WHERE id < 20;
    DELETE FROM t WHERE id > 190;
    MERGE INTO t USING (SELECT 5 AS id, 'merged' AS name) s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT VALUES (1, 1, '');
    SELECT a.k, count(*), max(b.name) FROM t a JOIN t b ON a.id = b.k GROUP BY a.k ORDER BY a.k;
    SELECT DISTINCT k, sum(id) OVER (PARTITION BY k) FROM t AT (VERSION => 3)
"""


def home_of_java(folder: Path, *flags: str) -> str:
    """Create a JAVA_HOME in a new folder, whose Java has these flags."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f'#!/bin/sh\nexec {shlex.join([str(find_java()), *flags])} "$@"\n')
    java.chmod(0o755)
    return str(folder)


class RefusedJava:
    """A Java that has a version, and otherwise only records that it was started."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._starts = home / "starts"
        java = home / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(
            "#!/bin/sh\n"
            'test "$1" = -version && echo \'openjdk version "21"\' >&2 && exit\n'
            f"echo started >> {shlex.quote(str(self._starts))}\n"
            "echo 'Java is refused in this test run.' >&2\n"
            "exit 1\n"
        )
        java.chmod(0o755)

    def check(self) -> None:
        """Fail the test that has started it."""
        if self._starts.exists():
            self._starts.unlink()
            pytest.fail("This test starts Java: mark it `jvm`.", pytrace=False)


@pytest.fixture(scope="session", autouse=True)
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RefusedJava | None]:
    """Set the Java for this process and its child processes; yield it if it refuses to start."""
    refused = None
    with pytest.MonkeyPatch.context() as patched:
        if os.environ.get("FORKLAKE_TEST_JAVA") == "refused":
            refused = RefusedJava(tmp_path_factory.mktemp("java"))
            patched.setenv("JAVA_HOME", str(refused.home))
            patched.setenv("PATH", str(refused.home / "bin"), prepend=os.pathsep)
        else:
            with suppress(Unsupported):  # tests that need no Java run without one
                archive = [f"-XX:SharedArchiveFile={ARCHIVE}"] if ARCHIVE.exists() else []
                home = home_of_java(tmp_path_factory.mktemp("java"), *FLAGS, *archive)
                patched.setenv("JAVA_HOME", home)
        yield refused


@pytest.fixture(autouse=True)
def without_java(java: RefusedJava | None) -> Iterator[None]:
    """Fail a test that has started a refused Java."""
    yield
    if java is not None:
        java.check()


def make_archive(archive: Path) -> None:
    """Run Spark, and have Java archive the loaded classes at its exit.

    If Java does not support that, the archive is empty. Every Java ignores an archive that it
    cannot use.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        flags = (*FLAGS, f"-XX:ArchiveClassesAtExit={archive}")
        os.environ["JAVA_HOME"] = home_of_java(folder / "java", *flags)
        with forklake.connect() as session:
            uri, data = f"ducklake:{folder / 'meta.db'}", str(folder / "data")
            session.attach(uri, "lake", catalog="lake", data_path=data, create_if_not_exists=True)
            session.use("lake")
            session.set_option("lake", "data_inlining_row_limit", 0)
            for result in session.run(STATEMENTS):
                result.arrow()
            jvm: Any = session.engine.spark._jvm
        with suppress(Py4JError, OSError):  # it exits without a reply
            jvm.java.lang.System.exit(0)
    archive.touch()


if __name__ == "__main__":
    make_archive(Path(sys.argv[1]).absolute())
