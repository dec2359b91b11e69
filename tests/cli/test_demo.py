"""The demo."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from typer.testing import CliRunner

import forklake
from forklake.cli.demo.__main__ import app, suggest_commands
from forklake.cli.demo.agents import AGENTS
from forklake.cli.demo.console import DemoConsole
from forklake.cli.demo.tour import Tour
from forklake.cli.output import CommandOutput
from forklake.engines.spark.engine import Engine
from forklake.sql.session import Session
from tests.cli.conftest import CommandLine

ROWS = 4_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the tour."""
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def output(engine: Engine, folder: Path) -> str:
    """Run a small tour, and return its output; it fails by itself if the parent has changed."""
    with (
        pytest.MonkeyPatch.context() as patched,
        redirect_stdout(io.StringIO()) as seen,
        Session(engine.spark) as session,
    ):
        patched.setenv("COLUMNS", "160")  # so wide that each row is one line
        Tour(DemoConsole(session, CommandOutput()), folder, rows=ROWS, forks=50).run()
    return seen.getvalue()


def rows_of(output: str, title: str) -> list[list[str]]:
    """Return the cells of the table of an act."""
    act = output.partition(title)[2]
    lines = act.partition("──")[2].partition("\n")[2].splitlines()
    return [re.split(r"\s{2,}", line.strip()) for line in lines[: len(AGENTS) + 1]]


def test_goes_through_all_acts(output: str) -> None:
    assert re.findall(r"^\d\. .*", output, re.MULTILINE) == [
        "1. A lake",
        "2. 8 forks of it",
        "3. 8 agents work at once, each in its fork",
        "4. Each agent sees only its own changes",
        "5. What the forks cost",
        "6. The intern restores the deleted rows",
        "7. 50 more forks",
        "8. Clean-up",
    ]


def test_shows_what_each_agent_did_to_its_fork_alone(output: str) -> None:
    shop, *forks = rows_of(output, "4. Each agent sees")
    name, orders, revenue, customers, visits = shop
    assert (name, orders, customers, visits) == ("shop", "4000", "200", "2000")
    found = {name: facts for name, *facts in forks}
    assert list(found) == [agent.name for agent in AGENTS]
    same = {name for name, facts in found.items() if facts == shop[1:]}
    assert same == {"analyst", "marketer", "privacy"}
    assert found["importer"][0] == "4080"
    assert float(found["pricer"][1]) < float(revenue)
    assert found["merger"][2] == "300"
    assert found["intern"][3] == "0"


def test_shows_how_little_forks_cost(output: str) -> None:
    assert re.search(r"9 catalogs take [\d.]+ .?B; as copies of shop", output)
    changed = {row[0]: row[-3] for row in rows_of(output, "5. What the forks cost")[: len(AGENTS)]}
    assert "0" not in changed.values()


def test_restores_lost_rows(output: str) -> None:
    act = output.partition("6. The intern restores the deleted rows")[2].partition("7. ")[0]
    numbers = [line.strip() for line in act.splitlines() if line.strip().isdecimal()]
    none, some, again = numbers
    assert none == "0"
    assert 0 < int(some) == int(again) < ROWS // 2


def test_is_plain_text_without_a_terminal(output: str) -> None:
    assert "\x1b" not in output


def test_leaves_only_the_parent_in_the_lake(output: str, folder: Path) -> None:
    assert "Dropped 58 forks" in output
    assert {path.parts[-4] for path in folder.rglob("*.parquet")} == {"shop"}
    with forklake.open(f"ducklake:{folder / 'lake.db'}") as metastore:
        left = {row.catalog_name for row in metastore.all_catalogs()}
        assert left - {"experiment"} == {"shop"}  # created by a suggested command


@pytest.mark.parametrize("is_kept", [False, True])
def test_suggests_commands_that_work(
    output: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    assert output
    monkeypatch.chdir(tmp_path)
    _, title, *commands = suggest_commands(f"ducklake:{folder / 'lake.db'}" if is_kept else None)
    assert title == "What to try next"
    for command in commands:
        CommandLine("").ok(*shlex.split(command)[1:])


def test_refuses_to_overwrite_a_folder(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["--keep", str(tmp_path)])
    assert done.exit_code == 4
    assert "already exists" in done.stderr
