"""The demo."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import forklake
from tests.cli.conftest import CommandLine

SMALL = ["--forks", "40", "--files", "30", "--processes", "2"]


def demo(folder: Path, *arguments: str) -> str:
    """What a small demo prints; its metastore is made in the folder."""
    done = subprocess.run(
        [sys.executable, "-m", "forklake.cli.demo", *SMALL, *arguments],
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def suggestions(said: str) -> list[list[str]]:
    """The commands that it ends with, without the name of the program."""
    commands = said.partition("What to try next")[2].split("\n  ")[1:]
    return [shlex.split(command)[1:] for command in commands]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def said(folder: Path) -> str:
    return demo(folder)


def test_goes_through_all_steps(said: str) -> None:
    assert re.findall(r"^\d\. .*", said, re.MULTILINE) == [
        "1. A catalog to fork",
        "2. 40 forks of it",
        "3. Commits to many forks at the same time",
        "4. Every fork is on its own",
        "5. Looking back, and a fork of the past",
        "6. Forks are cheap to drop, too",
        "7. The fork tree",
    ]


@pytest.mark.parametrize(
    "number",
    [r"[\d,.]+ forks/s", r"[\d,.]+ bytes", r"2 processes, 40 forks, 200 commits", r"\d commits/s"],
)
def test_tells_numbers(said: str, number: str) -> None:
    assert re.search(number, said)


def test_is_plain_text_without_a_terminal(said: str) -> None:
    assert "\x1b" not in said


def test_cleans_up(said: str, folder: Path) -> None:
    assert said
    assert list(folder.iterdir()) == []


def test_suggests_commands_that_work(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = suggestions(said)
    assert found[0] == ["init"]
    for command in found:
        CommandLine("").ok(*command)


def test_keeps_the_metastore_if_asked(tmp_path: Path) -> None:
    said = demo(tmp_path, "--keep")
    (path,) = tmp_path.glob("*/forklake.db")
    with forklake.open(f"ducklake:{path}") as metastore:
        seen = [metastore.catalog(name).now() for name in ("sales", "agent-000001")]
        files = [len(one.data_files(one.state.table("orders"))) for one in seen]
    assert files == [24, 29]
    found = suggestions(said)
    assert len(found) == 4
    for command in found:
        assert command[:2] == ["-m", f"ducklake:{path}"]
        CommandLine("").ok(*command)
