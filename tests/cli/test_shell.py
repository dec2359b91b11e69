"""The shell: at a terminal, at a pipe, and its commands."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from prompt_toolkit.application.current import set_app
from prompt_toolkit.document import Document
from prompt_toolkit.filters import to_filter
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from forklake.cli.shell.dot_commands import COMMANDS
from forklake.cli.shell.input import PipedReader
from forklake.cli.shell.prompt import Prompt, format_prompt
from forklake.cli.shell.shell import Shell
from forklake.sql.session import Session

COMMAND = [sys.executable, "-m", "forklake.cli.main", "shell"]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """Yield a session that uses a new catalog, without Spark."""
    with Session() as found:
        uri = f"ducklake:{tmp_path / 'lake.db'}"
        found.attach(uri, catalog="lake", create_if_not_exists=True)
        found.use("lake")
        yield found


@pytest.fixture
def shell(session: Session) -> Iterator[Shell]:
    """Yield a shell on the session, whose input the test provides."""
    with closing(Shell(session)) as found:
        yield found


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the history of the test in a separate file."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "forklake" / "history"


class TestPrompt:
    def typed(self, session: Session, keys: str) -> list[str]:
        """Return the inputs that are read when keys are typed, until Ctrl-D."""
        with create_pipe_input() as source:
            source.send_text(keys + "\x04")
            prompt = Prompt(session, warm_up=False, input=source, output=DummyOutput())
            found = []
            while True:
                try:
                    found.append(prompt.read())
                except EOFError:
                    return found
                except KeyboardInterrupt:
                    found.append("^C")

    def test_reads_lines_until_the_semicolon(self, session: Session) -> None:
        assert self.typed(session, "SELECT\r';\r', 1;\r.help\r\r") == [
            "SELECT\n';\n', 1;",
            ".help",
            "",
        ]

    def test_discards_a_line_on_ctrl_c(self, session: Session) -> None:
        assert self.typed(session, "SELECT 1\x03SELECT 2;\r") == ["^C", "SELECT 2;"]

    def test_finds_earlier_input_with_ctrl_r(self, session: Session) -> None:
        self.typed(session, "SELECT 'needle';\rSELECT 2;\r")
        assert self.typed(session, "\x12needle\r\r") == ["SELECT 'needle';"]

    def test_a_search_is_not_taken_for_an_unfinished_statement(self, session: Session) -> None:
        with create_pipe_input() as source:
            inner = Prompt(session, warm_up=False, input=source, output=DummyOutput())._prompt
            inner.default_buffer.reset(Document("SELECT 1;"))
            inner.search_buffer.reset(Document("needle"))
            with set_app(inner.app):
                inner.layout.focus(inner.search_buffer)
                assert inner.app.current_buffer is inner.search_buffer
                assert not to_filter(inner.multiline)()
                inner.default_buffer.reset(Document("SELECT 1"))
                assert to_filter(inner.multiline)()

    def test_keeps_a_history_readable_by_its_user_only(self, session: Session, home: Path) -> None:
        self.typed(session, "SELECT\r1;\r")
        assert self.typed(session, "\x1b[A\r") == ["SELECT\n1;"]
        assert home.stat().st_mode & 0o777 == 0o600

    def test_works_without_a_writable_history(
        self, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
        assert self.typed(session, "SELECT 1;\r") == ["SELECT 1;"]

    def test_shows_the_current_schema_and_transaction(self, session: Session) -> None:
        assert format_prompt(session) == "lake.main> "
        session.begin()
        assert format_prompt(session) == "lake.main*> "
        with Session() as empty:
            assert format_prompt(empty) == "forklake> "


class TestDotCommands:
    def test_help_lists_them_all(self, shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
        shell.run_input(".help")
        stated = capsys.readouterr().out
        assert [one for one in COMMANDS.values() if one.usage not in stated] == []

    def test_list_catalogs_and_tables(
        self, shell: Shell, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shell.run_input("CREATE TABLE pets (name VARCHAR, age INTEGER);")
        capsys.readouterr()
        for command, expected in [
            (".databases", "lake"),
            (".tables", "pets"),
            (".schema", "pets"),
            (".schema pets", "age"),
        ]:
            shell.run_input(command)
            assert expected in capsys.readouterr().out

    def test_fork_creates_and_uses_a_fork(
        self, shell: Shell, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shell.run_input(".fork try-1")
        assert "Forked lake as try-1" in capsys.readouterr().out
        assert shell.session.current == ("try-1", "main")

    def test_choose_the_output_form(self, shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
        shell.run_input("CREATE TABLE pets (name VARCHAR);")
        capsys.readouterr()
        shell.run_input(".mode json")
        shell.run_input("CALL ducklake_current_snapshot('lake');")
        assert capsys.readouterr().out.startswith('[{"')
        shell.run_input(".mode csv")
        shell.run_input("CALL ducklake_current_snapshot('lake');")
        assert capsys.readouterr().out.endswith("\r\n")

    def test_read_a_script(
        self, shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        script = tmp_path / "script.sql"
        script.write_text("CREATE TABLE a (x INTEGER);\nDROP TABLE b;\nCREATE TABLE c (x INTEGER)")
        shell.run_input(f".read {script}")
        assert f"at: statement 2, line 2 of {script}" in capsys.readouterr().err
        shell.run_input(".tables")
        assert capsys.readouterr().out.split()[-1] == "a"

    @pytest.mark.parametrize(
        "text",
        [
            *(".nothing", ".mode", ".mode xml", ".timer maybe", ".limit x", ".limit 0"),
            *(".read", ".read /nowhere", ".help me", ".fork", ".fork 'x"),
        ],
    )
    def test_that_are_invalid_are_errors(
        self, shell: Shell, text: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shell.run_input(text)
        assert capsys.readouterr().err.startswith("error: ")
        assert shell.code in {2, 3}
        assert not shell.is_over

    def test_quit_ends_the_shell(self, shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
        shell.read_from(PipedReader([".timer off\n", ".limit 5\n", ".quit\n", ".help\n"]))
        assert capsys.readouterr().out == ""


class TestErrors:
    def test_do_not_end_the_shell(self, shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
        lines = ["DROP TABLE nothing;\n", "SELEC 1;\n", "CREATE TABLE t (x INTEGER);\n"]
        shell.read_from(PipedReader(lines))
        done = capsys.readouterr()
        assert done.out == "CREATE TABLE\n"
        assert done.err.count("error: ") == 2
        assert shell.code == 3

    def test_of_any_kind_do_not_end_the_shell(
        self, shell: Shell, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def fail() -> None:
            raise RuntimeError("out of luck\nat some place")

        shell.run_guarded(fail)
        assert capsys.readouterr().err == "error: RuntimeError: out of luck\n"
        assert shell.code == 1


def test_statements_are_read_from_a_pipe(tmp_path: Path) -> None:
    text = "CREATE TABLE t (x INTEGER);\nDROP TABLE u;\n.mode csv\nINSERT INTO t VALUES (1), (2)"
    command = [*COMMAND, "-m", f"ducklake:{tmp_path / 'lake.db'}", "-c", "lake", "--create"]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "CREATE TABLE\nCount\n2\n"
    assert done.stderr.startswith("error: ")
    assert done.returncode == 3


class Terminal:
    """A shell process at the other end of a terminal."""

    def __init__(self, *arguments: str) -> None:
        self._child, self._end = pty.fork()
        if self._child == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.environ.update(TERM="xterm", FORKLAKE_PROGRESS="0", PROMPT_TOOLKIT_NO_CPR="1")
            os.execv(sys.executable, [*COMMAND, *arguments])
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 150, 0, 0))
        self._seen = ""

    def type(self, text: str) -> None:
        """Type text."""
        os.write(self._end, text.encode())

    def wait_for(self, expected: str, seconds: float = 120) -> str:
        """Return what is shown up to an expected text, without colors."""
        deadline = time.monotonic() + seconds
        while expected not in self._plain():
            assert time.monotonic() < deadline, self._plain()[-2000:]
            self._read()
        found, _, self._seen = self._plain().partition(expected)
        return found

    def _read(self) -> None:
        if select.select([self._end], [], [], 0.2)[0]:
            self._seen += os.read(self._end, 65536).decode(errors="replace")

    def _plain(self) -> str:
        return re.sub(r"\x1b(\[[0-9;?]*[a-zA-Z]|\][^\x07]*\x07|[=>])", "", self._seen)

    def ended(self) -> int:
        """Return the exit code, once the shell has ended."""
        with suppress(OSError):  # the other end is closed
            while os.read(self._end, 65536):
                pass
        _, status = os.waitpid(self._child, 0)
        self._child = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        """Kill the process if it still runs."""
        os.close(self._end)
        if self._child:
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """Yield a shell at a terminal, on its own catalog."""
    uri = f"ducklake:{tmp_path / 'lake.db'}"
    with closing(Terminal("-m", uri, "-c", "lake", "--create")) as found:
        found.wait_for("lake.main>")
        yield found


@pytest.mark.slow
def test_statements_are_run_at_a_terminal(terminal: Terminal) -> None:
    terminal.type("CREATE TABLE t\r(x INTEGER);\r")
    assert "...> " in terminal.wait_for("CREATE TABLE · ")
    terminal.wait_for("lake.main>")
    terminal.type("DROP TABLE u;\r")
    terminal.wait_for("error: ")
    terminal.wait_for("lake.main>")
    terminal.type("BEGIN;\r")
    terminal.wait_for("lake.main*>")
    terminal.type("INSERT INTO t VALUES (1), (2);\r")
    terminal.wait_for("2 rows")
    terminal.type("ROLLBACK;\r")
    terminal.wait_for("lake.main>")
    terminal.type("CREATE SCHEMA storage;\r")
    terminal.wait_for("CREATE SCHEMA · ")
    terminal.type("USE stor\t")
    terminal.wait_for("storage")
    terminal.type(";\r")
    terminal.wait_for("lake.storage>")
    # The second statement would never finish.
    terminal.type("CREATE SCHEMA other; SELECT sum(a.range * b.range)\r")
    terminal.type("FROM range(10000000) a, range(10000000) b;\r")
    terminal.wait_for("CREATE SCHEMA · ")
    terminal.type("\x03")
    terminal.wait_for("Cancelled.")
    terminal.wait_for("lake.storage>")
    terminal.type("SELECT 40 + 2 AS answer;\r")
    assert "42" in terminal.wait_for("1 row · ")
    terminal.wait_for("lake.storage>")
    terminal.type("\x04")
    assert terminal.ended() == 0
