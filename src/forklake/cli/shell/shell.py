"""Shell: a loop that reads inputs, runs them and shows the results. Errors do not end it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from forklake.cli.output import CommandOutput, make_console
from forklake.cli.results import RowFormat, show_result
from forklake.cli.scripts import Script
from forklake.cli.shell.input import InputReader, is_dot_command
from forklake.cli.statement_runner import SessionWithoutSpark, StatementRunner
from forklake.errors import ForklakeError, outcome

if TYPE_CHECKING:
    from forklake.sql.session import Session

_GREETING = "Forklake. End statements with a semicolon. .help lists commands, Ctrl-D leaves."


class Shell:
    """Session with the settings by which its results are shown."""

    def __init__(
        self, session: Session | SessionWithoutSpark, row_format: RowFormat = RowFormat.TABLE
    ) -> None:
        self.session = session
        self.row_format = row_format
        self.limit: int | None = None
        self.has_timer = True
        self.is_over = False
        self.code = 0
        self.output = CommandOutput()
        self._runner = StatementRunner(session)

    def close(self) -> None:
        """Close the runner. The session stays open."""
        self._runner.close()

    def greet(self) -> None:
        """Print the greeting."""
        self.output.draw([_GREETING])
        if self.session.current is None:
            self.output.draw(
                ["No catalog is in use. Attach one: ATTACH 'ducklake:lake.db' AS lake", _ATTACHING]
            )

    def read_from(self, reader: InputReader) -> None:
        """Run inputs until the reader has no more, or .quit."""
        try:
            while not self.is_over:
                try:
                    text = reader.read()
                except KeyboardInterrupt:
                    continue
                except EOFError:
                    return
                self.run_input(text)
        finally:
            reader.close()

    def run_input(self, text: str) -> None:
        """Run one input and show its results or its error."""
        if is_dot_command(text):
            from forklake.cli.shell.dot_commands import run_dot_command

            self.run_guarded(lambda: run_dot_command(self, text))
        else:
            self.run_guarded(lambda: self.run(Script(text)))

    def run(self, script: Script) -> None:
        """Run statements and show their results."""
        for result, seconds in self._runner.run(script, None, self.row_format, self.limit):
            show_result(
                result,
                self.row_format,
                limit=self.limit,
                seconds=seconds if self.has_timer else None,
            )

    def run_guarded(self, work: Callable[[], None]) -> None:
        """Run `work`; show its error, and keep the exit code of the first one."""
        try:
            work()
        except KeyboardInterrupt:
            make_console(sys.stderr).print("Cancelled.", style="bold")
        except ForklakeError as error:
            self._show_error(error)
        except Exception as error:  # noqa: BLE001
            lines = str(error).strip().splitlines() or [""]
            self._show_error(ForklakeError(f"{type(error).__name__}: {lines[0]}"))

    def _show_error(self, error: ForklakeError) -> None:
        self.output.error(error)
        self.code = self.code or outcome(error)[1]


_ATTACHING = "  (CATALOG 'sales', CREATE_IF_NOT_EXISTS true); USE lake;"
