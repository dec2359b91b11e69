"""Prompt at a terminal: multiline editing, history, colors and completion."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.lexers import PygmentsLexer

from forklake.cli.shell.completion import SqlCompleter
from forklake.cli.shell.input import is_complete_input
from forklake.cli.statement_runner import SessionWithoutSpark, WarmUp
from forklake.sql.session import Session

_CONTINUED = "...> "


class Prompt:
    """Reader of inputs at a terminal. It starts Spark in the background meanwhile."""

    def __init__(
        self, session: Session | SessionWithoutSpark, *, warm_up: bool = True, **parts: Any
    ) -> None:
        """Create a prompt. `parts` are passed to PromptSession (another input or output)."""
        is_ours = isinstance(session, Session)
        self._session = session
        self._warm_up = WarmUp() if warm_up and is_ours else None
        self._prompt: PromptSession[str] = PromptSession(
            history=_open_history(),
            lexer=PygmentsLexer.from_filename("statement.sql"),
            completer=SqlCompleter(session) if isinstance(session, Session) else None,
            complete_while_typing=False,
            auto_suggest=AutoSuggestFromHistory(),
            multiline=Condition(self._is_unfinished),
            prompt_continuation=lambda width, *_: _CONTINUED.rjust(width),
            **parts,
        )

    def read(self) -> str:
        """Return the next input."""
        return self._prompt.prompt(format_prompt(self._session), pre_run=self._start_spark)

    def _is_unfinished(self) -> bool:
        # Not the current buffer: during a search with Ctrl-R, that is the one of the search.
        return not is_complete_input(self._prompt.default_buffer.text)

    def close(self) -> None:
        """Release the Spark that was started."""
        if self._warm_up is not None:
            self._warm_up.close()

    def _start_spark(self) -> None:
        if self._warm_up is not None and not self._warm_up.ident:
            self._warm_up.start()


def format_prompt(session: Session | SessionWithoutSpark) -> str:
    """Return the prompt: catalog and schema in use, with a star within a transaction."""
    place = ".".join(session.current or ("forklake",))
    return f"{place}{'*' if session.in_transaction else ''}> "


def _open_history() -> History:
    """Return the history file, readable by its user only; in memory if it cannot be written."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    path = Path(base, "forklake", "history")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)
