"""Shell: a loop that reads inputs, runs them and shows the results. Errors do not end it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from forklake.cli.output import Output, console_for
from forklake.cli.results import Form, show
from forklake.cli.scripts import Script
from forklake.cli.shell.input import Reader, is_dot_command
from forklake.cli.statement_runner import OtherSession, Runner
from forklake.errors import ForklakeError, outcome

if TYPE_CHECKING:
    from forklake.sql.session import Session

_GREETING = "Forklake. End statements with a semicolon. .help lists commands, Ctrl-D leaves."


class Shell:
    """Session with the settings by which its results are shown."""

    def __init__(self, session: Session | OtherSession, form: Form = Form.TABLE) -> None:
        self.session = session
        self.form = form
        self.limit: int | None = None
        self.has_timer = True
        self.is_over = False
        self.code = 0
        self.output = Output()
        self._runner = Runner(session)

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

    def read_from(self, reader: Reader) -> None:
        """Run inputs until the reader has no more, or .quit."""
        try:
            while not self.is_over:
                try:
                    text = reader.read()
                except KeyboardInterrupt:
                    continue
                except EOFError:
                    return
                self.enter(text)
        finally:
            reader.close()

    def enter(self, text: str) -> None:
        """Run one input and show its results or its error."""
        if is_dot_command(text):
            from forklake.cli.shell.dots import run_dot_command

            self.guard(lambda: run_dot_command(self, text))
        else:
            self.guard(lambda: self.run(Script(text)))

    def run(self, script: Script) -> None:
        """Run statements and show their results."""
        for answer, seconds in self._runner.run(script, None, self.form, self.limit):
            show(
                answer,
                self.form,
                limit=self.limit,
                seconds=seconds if self.has_timer else None,
            )

    def guard(self, work: Callable[[], None]) -> None:
        """Run `work`; show its error, and keep the exit code of the first one."""
        try:
            work()
        except KeyboardInterrupt:
            console_for(sys.stderr).print("Cancelled.", style="bold")
        except ForklakeError as error:
            self._show(error)
        except Exception as error:  # noqa: BLE001
            lines = str(error).strip().splitlines() or [""]
            self._show(ForklakeError(f"{type(error).__name__}: {lines[0]}"))

    def _show(self, error: ForklakeError) -> None:
        self.output.error(error)
        self.code = self.code or outcome(error)[1]


_ATTACHING = "  (CATALOG 'sales', CREATE_IF_NOT_EXISTS true); USE lake;"
