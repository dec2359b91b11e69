"""Tables over Spark Connect: a server process, and a program without Java."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from forklake.engines.spark import java
from forklake.errors import Unsupported
from tests.fix_java import CLASS_PATH, SPARK

LOGGING = Path(java.__file__).with_name("jvm") / "log4j2.properties"
PACKAGES = ("google.rpc", "grpc", "grpc_status", "pandas", "zstandard")
TIMEOUT_SECONDS = 560
SETTINGS = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.sql.shuffle.partitions": "2",
}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Start a server, which ends with the block, and yield its address."""
    try:
        program = java.find_java()
    except Unsupported as reason:
        pytest.skip(f"No server without Java: {reason.message}")
    command = [
        *(str(program), *java.FLAGS),
        *("-Xmx1g", "-XX:+UseSerialGC"),
        f"-Dlog4j2.configurationFile={LOGGING.as_uri()}",
        *("-cp", CLASS_PATH, "org.apache.spark.deploy.SparkSubmit"),
        *(part for item in SETTINGS.items() for part in ("--conf", "=".join(item))),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
    ]
    environment = {
        **os.environ,
        "SPARK_HOME": str(SPARK),
        "PYSPARK_PYTHON": sys.executable,
        "FORKLAKE_SPARK_LOG": "info",
    }
    log = folder / "server.log"
    with log.open("w") as reported:
        process = subprocess.Popen(command, env=environment, cwd=folder, stderr=reported)
    try:
        yield f"sc://{_address(process, log)}"
    finally:
        process.kill()
        process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """Return the address that a server prints when it is ready."""
    for _ in range(TIMEOUT_SECONDS * 10):
        found = re.search(r"Spark Connect server started at: ([\d.]+:\d+)", log.read_text())
        if found:
            return found[1]
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        break
    pytest.skip(f"A server cannot be started here: {log.read_text()[-2000:]}")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the results of the program."""
    missing = [name for name in PACKAGES if not _is_installed(name)]
    if missing:
        pytest.skip(f"Spark Connect needs packages that are not installed: {', '.join(missing)}")
    folder = tmp_path_factory.mktemp("connect")
    lake, temporary = folder / "lake", folder / "tmp"
    lake.mkdir()
    temporary.mkdir()
    with server(folder) as address:
        done = subprocess.run(
            [sys.executable, "-m", "tests.spark.connect_job", address, lake],
            # Without Java, so that no local Spark can take over.
            env={**os.environ, "TMPDIR": str(temporary), "JAVA_HOME": "/nowhere"},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    parts: dict[str, Any] = json.loads(done.stdout)
    return parts


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # not even the package that it would be in
        return False


def test_tables_are_written_and_read(found: dict[str, Any]) -> None:
    assert found["writing"] == {
        "native": False,
        "written": 40,
        "version": 3,
        "by name": 1,
        "made": 3,
        "inserted": 1,
        "others": [],
    }
    assert found["reading"] == {
        "count": 42,
        "row": [[39, "n0", "19.50", "2024-02-09 00:00:00"]],
        "some": [[38]],
        "before": 40,
        "virtual": [[0, 0, True, True], [39, 39, True, True], [101, 41, True, True]],
        "joined": [[7, "mine"]],
        "in a query": [[7, "mine"]],
    }


def test_rows_are_changed(found: dict[str, Any]) -> None:
    assert found["changing"] == {
        "deleted": 2,
        "delete files": 1,
        "deleted more": 1,
        "deleted by others": 1,
        "updated": 2,
        "updated by others": 1,
        "merged": [1, 1],
        "rows": [[5, -5, 5], [6, -6, 6], [18, 19, 18], [19, 20, 19], [77, -77, 21]],
        "ids": [0, *range(5, 20), 77],
        "truncated": 17,
        "left": [],
    }


def test_random_conditions_select_each_row_once(found: dict[str, Any]) -> None:
    assert found["chance"] == {"ids": True, "updated": True, "merged": True}


def test_columns_evolve(found: dict[str, Any]) -> None:
    assert found["evolving"] == {
        "rows": [
            [0, 0, 0, 7, 0, 0, "old"],
            [1, 1, 1, 7, 1, 1, "old"],
            [3000000000, 3, 3, 3, 3, 3, "new"],
        ],
        "some": [[1]],
        "before": [[n, n, n, "y"] for n in range(3)],
    }


def test_few_rows_are_kept_in_the_metastore(found: dict[str, Any]) -> None:
    assert found["inlining"] == {
        "new files": 0,
        "rows": [[1, "F"], [2, "f"], [21, "B"], [22, "c"]],
        "rowids": [[1], [11]],
    }


def test_partitions_are_written_into_folders(found: dict[str, Any]) -> None:
    assert found["partitioning"] == {
        "folders": ["year=2020/k=k0", "year=2021/k=k1"],
        "read": ["year=2021/k=k1"],
        "rows": [[n, 2021, "k1"] for n in (1, 3, 5, 7)],
    }


def test_change_feed_lists_changes(found: dict[str, Any]) -> None:
    assert found["feeding"] == {
        "changes": [
            *([0, "insert", n, 0] for n in range(4)),
            [1, "delete", 0, 0],
            [2, "update_postimage", 1, 9],
            [2, "update_preimage", 1, 0],
        ],
        "insertions": 4,
        "deletions": [[0]],
    }


def test_transactions_are_atomic_and_forks_isolated(found: dict[str, Any]) -> None:
    assert found["transactions"] == {
        "inside": [[1], [2], [10], [11]],
        "outside": [[0], [1], [2]],
        "no files": True,
        "snapshots": 1,
        "parent and fork": [[[1], [2], [10]], [[1]]],
    }


def test_encrypted_files_are_refused_or_left_to_the_data_source(found: dict[str, Any]) -> None:
    refusal = "Encrypted files need the Java classes of Forklake, which this Spark session lacks."
    assert found["encryption"] == {
        "write": ["Unsupported", refusal],
        "inserted": 2,
        "read": ["Unsupported", refusal],
    }
    assert found["sources"] == {"written": [[4, "a"], [10, "b"], [11, "b"]], "read": [[1], [2]]}


def test_stream_copies_a_table(found: dict[str, Any]) -> None:
    kind, message = found["streams"].pop("function")
    assert kind == "Unsupported"
    assert "foreachBatch" in message
    assert found["streams"] == {
        "rows": [[n, "a"] for n in range(5)],
        "columns": ["InvalidInput", "Table 'to' has 2 columns but 1 were supplied."],
    }


def test_bad_input_changes_nothing(found: dict[str, Any]) -> None:
    reported = found["mistakes"]
    assert reported.pop("unchanged") is True
    assert {kind for kind, _ in reported.values()} == {"InvalidInput"}
    expected = {
        "condition": "The condition 'nothing = 1' cannot be used on table 'b'",
        "null": "NOT NULL constraint failed: b.id",
        "overflow": "Column 'b.id' of type int32 cannot hold '3000000000'.",
        "value": "Column 'b.u' of type uuid cannot hold 'no uuid'.",
        "type": "Column 'b.id' of type int32 cannot take values of type array<int>.",
        "where": "An expression cannot be used on table 'b'",
        "set": "An expression cannot be used on table 'b'",
        "division": "A value could not be computed: Division by zero.",
        "words": "An expression cannot be used on table 'b'",
        "twice": "A row of the table is matched by more than one row of the source.",
        "on": "An expression cannot be used on table 'b'",
    }
    assert {
        name: stated[: len(expected[name])] for name, (_, stated) in reported.items()
    } == expected


def test_missing_files_are_named(found: dict[str, Any]) -> None:
    lost = ["NotFound", "The file 'it' does not exist."]
    assert found["losses"] == {"data": lost, "deletes": lost}


def test_frames_outlive_their_session_and_leave_no_file_lists(found: dict[str, Any]) -> None:
    assert found["leftovers"] == {"lists": 1, "rows": [[1], [2]], "after": 0}
    assert found["users"] == {"count": 3}
