"""The command line for tests, in this process and on a metastore of each test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import forklake
from forklake import Metastore
from forklake.cli.main import app


@dataclass(frozen=True)
class Outcome:
    """Output and exit code of a command."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of stdout without the spaces that fill up columns."""
        return [line.rstrip() for line in self.out.splitlines()]

    @property
    def cells(self) -> list[list[str]]:
        """The words of the lines below the rule of a table."""
        rule = next(index for index, line in enumerate(self.lines) if line.startswith("──"))
        return [line.split() for line in self.lines[rule + 1 :]]


class CommandLine:
    """Runs commands; errors that the command line does not handle fail the test."""

    def __init__(self, uri: str, server: str | None = None) -> None:
        self.uri = uri
        self._environment = {
            "FORKLAKE_METASTORE": uri if server is None else None,
            "FORKLAKE_SERVER": server,
            "COLUMNS": None,
            "FORCE_COLOR": None,
            "TTY_COMPATIBLE": None,
        }

    def __call__(self, *arguments: str) -> Outcome:
        """Run a command."""
        runner = CliRunner(env=self._environment)
        result = runner.invoke(app, arguments, catch_exceptions=False)
        return Outcome(result.exit_code, result.stdout, result.stderr)

    def ok(self, *arguments: str) -> Outcome:
        """Run a command that succeeds without messages on stderr."""
        done = self(*arguments)
        assert (done.code, done.err) == (0, "")
        return done

    def document(self, *arguments: str) -> Any:
        """Return the JSON document of a command that succeeds."""
        return json.loads(self.ok(*arguments, "--json").out)

    def error(self, *arguments: str) -> tuple[int, dict[str, str]]:
        """Return the exit code and the error of a command that fails, and prints nothing else."""
        done = self(*arguments, "--json")
        assert done.out == ""
        document = json.loads(done.err)
        assert list(document) == ["error"]
        return done.code, document["error"]

    def names(self) -> list[str]:
        """Return the names of all catalogs."""
        return [one["name"] for one in self.document("catalogs")["catalogs"]]


@pytest.fixture
def nowhere(tmp_path: Path) -> CommandLine:
    """Return the command line where no metastore exists yet."""
    return CommandLine(f"ducklake:{tmp_path / 'lake.db'}")


@pytest.fixture
def cli(nowhere: CommandLine) -> CommandLine:
    """Return the command line on an empty metastore."""
    nowhere.ok("init")
    return nowhere


@pytest.fixture
def lake(cli: CommandLine) -> Iterator[Metastore]:
    """Yield the same metastore, for tests that fill it without commands."""
    with forklake.open(cli.uri) as metastore:
        yield metastore
