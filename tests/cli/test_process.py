"""The command as a process: start-up, signals, pipes, terminals and the environment."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path

import psutil
import pytest

from forklake.cli.main import run
from tests.cli.conftest import CommandLine

pytestmark = pytest.mark.slow  # a process for each test

COMMAND = [sys.executable, "-m", "forklake.cli.main"]
# Loads the command line, runs it, and prints the modules that were loaded.
LOADED = """if True:
    import sys
    from forklake.cli.main import app
    app(sys.argv[1:], standalone_mode=False)
    print(*sys.modules, file=sys.stderr)
    if "pyspark" in sys.modules and sys.modules["pyspark"].SparkContext._gateway:
        print("a-java-machine", file=sys.stderr)
"""


def start(
    *arguments: str,
    stdin: int | None = None,
    stdout: int = subprocess.PIPE,
    environment: dict[str, str] | None = None,
) -> subprocess.Popen[str]:
    """Start a command, whose output the caller reads."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | (environment or {}),
        # A test run in the background may ignore Ctrl-C, which its child processes would inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )


class TestStart:
    HEAVY = frozenset(
        "duckdb prompt_toolkit psycopg psycopg_pool pyarrow pydantic pygments pyspark"
        " sqlglot".split()
    )

    def loaded(self, cli: CommandLine, *arguments: str) -> set[str]:
        command = [sys.executable, "-c", LOADED, "-m", cli.uri, *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return set(done.stderr.split())

    @pytest.mark.parametrize("arguments", [["--help"], ["catalogs", "--help"]])
    def test_of_help_loads_no_driver(self, cli: CommandLine, arguments: list[str]) -> None:
        assert not self.loaded(cli, *arguments) & (self.HEAVY | {"sqlite3", "multiprocessing"})

    @pytest.mark.parametrize("command", ["catalogs", "tree"])
    def test_of_a_command_loads_only_its_driver(self, cli: CommandLine, command: str) -> None:
        loaded = self.loaded(cli, command)
        assert {"sqlite3", "rich"} < loaded
        assert not loaded & self.HEAVY

    @pytest.mark.parametrize(
        "text",
        [
            "CREATE TABLE t (x INTEGER)",
            "CREATE TABLE t (x INTEGER); INSERT INTO t VALUES (1), (2); DROP TABLE t",
            "CALL ducklake_snapshots('sales')",
            "SHOW TABLES",
        ],
    )
    def test_of_sql_without_rows_does_not_start_spark(
        self, cli: CommandLine, tmp_path: Path, text: str
    ) -> None:
        cli.ok("create", "sales", "--data-path", str(tmp_path / "data"))
        loaded = self.loaded(cli, "sql", "-c", "sales", text)
        assert "sqlglot" in loaded
        assert not loaded & {"a-java-machine", "prompt_toolkit"}

    def test_with_json_draws_nothing(self, cli: CommandLine) -> None:
        assert not self.loaded(cli, "catalogs", "--json") & (self.HEAVY | {"rich"})


class TestHelp:
    def test_is_shown_without_a_command(self, cli: CommandLine) -> None:
        assert "Usage: forklake [OPTIONS] COMMAND" in cli().err + cli().out

    def test_names_every_command(self, cli: CommandLine) -> None:
        commands = cli.ok("--help").out.partition("Commands:")[2]
        assert [line.split()[0] for line in commands.splitlines() if line] == (
            "init create fork import-ducklake drop rename extend materialize diff merge catalogs"
            " tree tables snapshots options storage maintain doctor sql shell duckdb expose serve"
            " run delta iceberg access account automations"
        ).split()
        assert "..." not in commands

    def test_has_an_example_of_every_command(self, cli: CommandLine) -> None:
        commands = cli.ok("--help").out.partition("Commands:")[2]
        for name in (line.split()[0] for line in commands.splitlines() if line):
            stated = cli.ok(name, "--help").out
            assert f"  forklake {name}" in stated
            assert "--json" in stated

    def test_shows_the_version(self, cli: CommandLine) -> None:
        assert cli.ok("--version").lines == [f"forklake {version('forklake')}"]

    def test_belongs_to_the_installed_command(self) -> None:
        (script,) = entry_points(group="console_scripts", name="forklake")
        assert script.load() is run


class TestMetastoreAddress:
    def test_of_the_option_wins(self, cli: CommandLine, tmp_path: Path) -> None:
        other = f"ducklake:{tmp_path / 'other.db'}"
        cli.ok("init", other)
        cli.ok("create", "there", "-m", other)
        cli.ok("-m", other, "fork", "there", "too")
        assert cli.names() == []
        assert cli.document("-m", "ducklake:nowhere.db", "catalogs", "-m", other)["total"] == 2


class TestInterrupt:
    def test_ends_quietly(self, cli: CommandLine, tmp_path: Path) -> None:
        line = tmp_path / "lake.db-line"
        with line.open("a") as ahead:
            fcntl.flock(ahead, fcntl.LOCK_EX)
            with start("-m", cli.uri, "create", "sales") as waiting:
                process = psutil.Process(waiting.pid)
                while str(line) not in [file.path for file in process.open_files()]:
                    assert waiting.poll() is None
                waiting.send_signal(signal.SIGINT)
                assert waiting.communicate(timeout=60) == ("", "")
        assert waiting.returncode == 130
        assert cli.names() == []


class TestPipe:
    @pytest.mark.parametrize("form", [[], ["--json"]])
    def test_closed_by_the_reader_is_not_an_error(self, cli: CommandLine, form: list[str]) -> None:
        cli.ok("create", *(f"catalog-{number}" for number in range(100)))
        reading_end, writing_end = os.pipe()
        os.close(reading_end)
        with start("-m", cli.uri, "catalogs", *form, stdout=writing_end) as writing:
            os.close(writing_end)
            assert writing.communicate(timeout=60)[1] == ""
        assert writing.returncode != 0

    def test_is_as_wide_as_the_lines(self, cli: CommandLine) -> None:
        name = "x" * 250
        cli.ok("create", name, "--data-path", "/" + "y" * 250)
        assert cli.ok("catalogs").cells[0] == [name, "0", "/" + "y" * 250 + "/"]

    @pytest.mark.parametrize("form", [[], ["--json"]])
    def test_may_be_limited_to_ascii(self, cli: CommandLine, form: list[str]) -> None:
        cli.ok("create", "caf\u00e9")
        plain = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
        with start("-m", cli.uri, "catalogs", *form, environment=plain) as writing:
            out, err = writing.communicate(timeout=60)
        assert (writing.returncode, err) == (0, "")
        name = json.loads(out)["catalogs"][0]["name"] if form else out
        assert ("caf\u00e9" if form else r"caf\xe9") in name


class TestTerminal:
    @pytest.fixture(autouse=True)
    def forks(self, cli: CommandLine) -> None:
        cli.ok("create", "agent-1", "agent-2", "sales")

    def ask(self, cli: CommandLine, answer: str) -> subprocess.Popen[str]:
        """Drop a prefix at a terminal, and type an answer when the question appears."""
        ours, theirs = os.openpty()
        with start("-m", cli.uri, "drop", "--prefix", "agent-", stdin=theirs) as asking:
            os.close(theirs)
            assert asking.stderr is not None
            question = "Drop 2 catalogs whose names begin with 'agent-'? [y/N] "
            assert asking.stderr.read(len(question)) == question
            if answer == "^C":
                asking.send_signal(signal.SIGINT)
            else:
                os.write(ours, f"{answer}\n".encode())
            asking.communicate(timeout=60)
        os.close(ours)
        return asking

    def test_takes_yes(self, cli: CommandLine) -> None:
        assert self.ask(cli, "yes").returncode == 0
        assert cli.names() == ["sales"]

    @pytest.mark.parametrize(("answer", "code"), [("", 1), ("what?", 1), ("^C", 130)])
    def test_takes_everything_else_as_no(self, cli: CommandLine, answer: str, code: int) -> None:
        assert self.ask(cli, answer).returncode == code
        assert cli.names() == ["agent-1", "agent-2", "sales"]
