"""Delta commands of the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from forklake import Catalog, ColumnSpec, Metastore
from tests.cli.conftest import CommandLine
from tests.cli.test_process import COMMAND, LOADED, start
from tests.delta.hand_written import METADATA, HandWrittenLog
from tests.delta.mirrored import append, make_catalog


@pytest.fixture
def orders(lake: Metastore, tmp_path: Path) -> Catalog:
    """Return the catalog `sales` with the Delta table `orders`, which has a version to mirror."""
    found = make_catalog(lake, tmp_path, "orders")
    append(found, ["orders"], 1, 2)
    return found


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Return the location of a Delta table of another writer."""
    root = tmp_path / "foreign"
    deltalake.write_deltalake(root, pa.table({"id": pa.array([1, 2], pa.int64())}))
    deltalake.write_deltalake(root, pa.table({"id": pa.array([3], pa.int64())}), mode="append")
    return root


def put_foreign_commit(tmp_path: Path, version: int) -> None:
    """Write a commit of another writer to the Delta table `orders`."""
    path = tmp_path / "delta" / "orders" / "_delta_log" / f"{version:020d}.json"
    path.write_text(json.dumps({"commitInfo": {"operation": "WRITE"}}) + "\n")


class TestImport:
    def test_imports_the_history_and_later_versions(self, cli: CommandLine, foreign: Path) -> None:
        cli.ok("create", "sales")
        arguments = ("delta", "import", str(foreign), "--catalog", "sales", "--as", "orders")
        assert cli.ok(*arguments).lines == [
            f"Imported {foreign} as sales.main.orders: 2 versions, 2 files, now at version 1."
        ]
        assert len(cli.document("snapshots", "sales")["snapshots"]) == 3
        deltalake.write_deltalake(foreign, pa.table({"id": [4]}), mode="append")
        document = cli.document(*arguments)
        shown = ("table", "location", "mode", "loaded", "version", "files", "state")
        assert [document[key] for key in shown] == [
            "orders",
            str(foreign),
            "follow",
            1,
            2,
            3,
            "FOLLOWING",
        ]

    def test_takes_over_a_table(
        self, cli: CommandLine, foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cli.ok("create", "sales", "--data-path", str(tmp_path / "data"))
        monkeypatch.chdir(tmp_path)
        document = cli.document("delta", "import", "foreign", "-c", "sales", "--own")
        assert (document["location"], document["mode"]) == (str(foreign), "own")
        assert (document["version"], document["mirrored"], document["lag"]) == (2, 2, 0)
        with pytest.raises(Exception, match="sqlCommitOnly"):
            deltalake.write_deltalake(foreign, pa.table({"id": [4]}), mode="append")

    def test_refuses_to_take_over_unsupported_writer_features(
        self, cli: CommandLine, tmp_path: Path
    ) -> None:
        cli.ok("create", "sales")
        log = HandWrittenLog(tmp_path / "tracked")
        features = {"writerFeatures": ["rowTracking", "domainMetadata"]}
        protocol = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 7} | features}
        log.commit(0, protocol, METADATA)
        code, error = cli.error("delta", "import", str(log.root), "-c", "sales", "--own")
        assert (code, error["code"]) == (8, "unsupported")
        assert "rowTracking" in error["message"]
        (table,) = cli.document("delta", "status")["tables"]
        assert table["state"] == "FOLLOWING"

    def test_of_another_folder_is_an_error(self, cli: CommandLine, tmp_path: Path) -> None:
        cli.ok("create", "sales")
        code, error = cli.error("delta", "import", str(tmp_path), "--catalog", "sales")
        assert (code, error["code"]) == (3, "not_found")
        assert "does not contain a Delta log" in error["message"]
        assert cli.document("tables", "sales")["tables"] == []

    def test_shows_progress_at_a_terminal(self, cli: CommandLine, foreign: Path) -> None:
        cli.ok("create", "sales")
        ours, theirs = os.openpty()
        command = [*COMMAND, "-m", cli.uri, "delta", "import", str(foreign), "-c", "sales"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, check=True)
        os.close(theirs)
        assert done.stdout.startswith(b"Imported")
        shown = os.read(ours, 100_000)
        assert b"Loading" in shown
        assert b"versions, 2 files" in shown
        os.close(ours)


class TestPublish:
    def test_publishes_a_table_for_other_readers(self, cli: CommandLine, orders: Catalog) -> None:
        root = Path(orders.data_path()).parent / "again"
        cli.ok("fork", "sales", "agent-1")
        assert cli.ok("delta", "publish", "agent-1.orders", str(root)).lines == [
            f"Published agent-1.main.orders to {root}, at version 2."
        ]
        assert deltalake.DeltaTable(root).to_pyarrow_table()["id"].to_pylist() == [1, 2]

    def test_requires_inlined_rows_to_be_flushed(self, cli: CommandLine, lake: Metastore) -> None:
        catalog = lake.create_catalog("sales")
        catalog.set_option("data_inlining_row_limit", 10)
        with catalog.transaction() as transaction:
            table = transaction.create_table("t", [ColumnSpec("id", "bigint")])
            transaction.insert_rows(table, [{"id": 1}])
        code, error = cli.error("delta", "publish", "sales.t", "nowhere")
        assert (code, error["remedy"]) == (8, "Write them to files first: run flush_inlined_data.")

    @pytest.mark.parametrize(
        ("name", "expected"), [("orders", 2), ("a.b.c.d", 2), ("sales.nope", 3), ("nope.t", 3)]
    )
    def test_needs_the_name_of_a_table(
        self, cli: CommandLine, name: str, expected: int, tmp_path: Path
    ) -> None:
        cli.ok("create", "sales")
        code, _ = cli.error("delta", "publish", name, str(tmp_path / "there"))
        assert code == expected
        assert not (tmp_path / "there").exists()


@pytest.mark.usefixtures("orders")
class TestMirror:
    def test_reports_pending_versions(self, cli: CommandLine) -> None:
        waiting = [["sales.main.orders", "1", "0", "1", "LAGGING"], ["1", "Delta", "table."]]
        assert cli.ok("delta", "status").cells == waiting
        done = [["sales.main.orders", "1", "1", "0", "CURRENT"], ["1", "Delta", "table."]]
        assert cli.ok("delta", "mirror").cells == done
        assert cli.ok("delta", "status", "sales").cells == done
        (table,) = cli.document("delta", "mirror", "sales")["tables"]
        assert (table["version"], table["mirrored"], table["lag"]) == (1, 1, 0)

    def test_reports_a_failure(self, cli: CommandLine, tmp_path: Path) -> None:
        put_foreign_commit(tmp_path, 1)
        done = cli("delta", "mirror", "--json")
        (table,) = json.loads(done.out)["tables"]
        assert (done.code, table["state"], table["lag"]) == (1, "DIVERGED", 1)
        assert "is taken" in table["error"]

    def test_watches_until_it_is_stopped(
        self, cli: CommandLine, orders: Catalog, tmp_path: Path
    ) -> None:
        arguments = ("-m", cli.uri, "delta", "mirror", "--watch", "--every", "0.02")
        with start(*arguments) as watching:
            assert watching.stdout is not None
            lines = iter(watching.stdout.readline, "")
            assert next(line for line in lines if "CURRENT" in line).split()[1] == "1"
            append(orders, ["orders"], 3)
            assert next(line for line in lines if "CURRENT" in line).split()[1] == "2"
            watching.send_signal(signal.SIGINT)
            _, errors = watching.communicate(timeout=60)
        assert (watching.returncode, errors) == (0, "")
        assert deltalake.DeltaTable(tmp_path / "delta" / "orders").version() == 2

    def test_without_delta_tables_succeeds(self, cli: CommandLine, lake: Metastore) -> None:
        lake.create_catalog("empty")
        assert cli.ok("delta", "mirror", "empty").lines == ["0 Delta tables."]
        assert cli.error("delta", "mirror", "nope")[0] == 3


@pytest.mark.usefixtures("orders")
class TestCheck:
    def test_finds_no_faults(self, cli: CommandLine) -> None:
        cli.ok("delta", "mirror")
        assert cli.ok("delta", "check").lines == ["1 Delta table, 0 findings."]

    def test_reports_faults(self, cli: CommandLine, tmp_path: Path) -> None:
        cli.ok("delta", "mirror")
        put_foreign_commit(tmp_path, 2)
        done = cli("delta", "check", "sales")
        assert (done.code, done.err) == (1, "")
        assert done.cells[0][:3] == ["sales.main.orders", "foreign", "commit"]
        done = cli("delta", "check", "--json")
        (finding,) = json.loads(done.out)["findings"]
        assert (done.code, finding["kind"]) == (1, "foreign commit")


def test_help_loads_nothing_heavy(cli: CommandLine) -> None:
    command = [sys.executable, "-c", LOADED, "-m", cli.uri, "delta", "--help"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert not set(done.stderr.split()) & {"pyarrow", "pyspark", "sqlite3"}
    for name in ("import", "publish", "mirror", "status", "check"):
        assert "Examples:\n    forklake delta " in cli.ok("delta", name, "--help").out
