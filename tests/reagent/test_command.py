"""The command `forklake run`, and the example workbooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import forklake
from forklake.engines.spark.engine import Engine
from tests.cli.conftest import CommandLine

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """Return the command line on a metastore with the catalogs of the examples."""
    uri = f"ducklake:{tmp_path / 'metastore.db'}"
    with forklake.open(uri, create=True) as metastore:
        metastore.create_catalogs(["shop", "weather"], data_path=str(tmp_path / "data"))
    return CommandLine(uri)


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("orders.toml", {"orders": 4, "cities": 3, "customers": 3}),
        ("readings.py", {"readings": 96, "warmest": 4}),
    ],
)
def test_examples_run(
    name: str, tables: dict[str, int], cli: CommandLine, engine: Engine, tmp_path: Path
) -> None:
    file = str(EXAMPLES / name)
    steps = cli.document("run", file, "--dry-run")["steps"]
    done = cli.document("run", file, "--report", str(tmp_path / "reports"))
    assert done["succeeded"]
    assert sorted(one["name"] for one in done["tasks"]) == sorted(
        name for step in steps for name in step
    )
    assert {one["state"] for one in done["tasks"]} == {"done"}
    found = cli.document("tables", done["catalog"])["tables"]
    assert {one["table"]: one["rows"] for one in found} == tables
    as_json, as_html = map(Path, done["files"])
    assert json.loads(as_json.read_text())["run_id"] == done["run_id"]
    assert as_html.read_text().startswith("<!doctype html>")


def test_a_failed_run_prints_the_reason_and_remedy(cli: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(
        "catalog = 'shop'\n[tasks.one]\nsql = 'INSERT INTO nothing VALUES (1)'\n"
        "[tasks.two]\nsql = 'CREATE TABLE t (id INTEGER)'\nafter = ['one']\n"
    )
    done = cli("run", str(file), "--isolation", "fork", "--keep")
    assert done.code == 3
    assert [line[:2] for line in done.cells[:2]] == [["one", "failed"], ["two", "skipped"]]
    assert "error: " in done.out
    assert "nothing" in done.out
    assert "was kept" in done.out
    assert [name for name in cli.names() if name.startswith("shop-run-")]
    document = json.loads(cli("run", str(file), "--keep-going", "--json").out)
    assert document["tasks"][0]["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["nothing.toml"], 3, "does not exist"),
        ([str(EXAMPLES / "orders.toml"), "--param", "day"], 2, "has no value"),
        ([str(EXAMPLES / "orders.toml"), "--param", "day=soon"], 2, "cannot be 'soon'"),
        ([str(EXAMPLES / "orders.toml"), "--param", "days=1"], 2, "no parameter 'days'"),
        ([str(EXAMPLES / "orders.toml"), "--only", "order"], 2, "task 'order' does not exist"),
        ([str(EXAMPLES / "orders.toml"), "--catalog", "nobody"], 3, "nobody"),  # language: ok
    ],
)
def test_bad_input_is_refused(
    arguments: list[str], code: int, reason: str, cli: CommandLine
) -> None:
    found, error = cli.error("run", *arguments)
    assert found == code
    assert reason in error["message"]
    assert error["remedy"]


def test_a_dry_run_shows_the_order_and_changes_nothing(cli: CommandLine) -> None:
    done = cli.ok("run", str(EXAMPLES / "orders.toml"), "--dry-run")
    assert [line[1] for line in done.cells[:4]] == ["orders", "cities", "customers", "totals"]
    assert cli.document("tables", "shop")["tables"] == []


def test_a_terminal_shows_the_progress_of_each_task(cli: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text("[tasks.one]\nsql = 'CREATE TABLE t (id INTEGER)'\n")
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "forklake.cli.main", "-m", cli.uri, "run", str(file)]
    done = subprocess.run(
        [*command, "--catalog", "shop"], stdout=subprocess.PIPE, stderr=theirs, check=True
    )
    os.close(theirs)
    assert b"Done in" in done.stdout
    shown = os.read(ours, 100_000)
    assert b"one" in shown
    assert b"snapshots" in shown
    os.close(ours)
