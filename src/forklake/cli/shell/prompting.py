"""The prompt at a terminal: editing over lines, history, colours and completion."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.lexers import PygmentsLexer

from forklake.cli.running import OtherSession, WarmUp
from forklake.cli.shell.completion import SqlCompleter
from forklake.cli.shell.reading import is_whole
from forklake.sql.session import Session

_CONTINUED = "...> "


class Prompt:
    """Reads what a person types. Spark starts meanwhile."""

    def __init__(
        self, session: Session | OtherSession, *, warm_up: bool = True, **parts: Any
    ) -> None:
        """A prompt; `parts` are for PromptSession: another input or output."""
        is_ours = isinstance(session, Session)
        self._session = session
        self._warm_up = WarmUp() if warm_up and is_ours else None
        self._prompt: PromptSession[str] = PromptSession(
            history=_history(),
            lexer=PygmentsLexer.from_filename("statement.sql"),
            completer=SqlCompleter(session) if isinstance(session, Session) else None,
            complete_while_typing=False,
            auto_suggest=AutoSuggestFromHistory(),
            multiline=Condition(self._is_unfinished),
            prompt_continuation=lambda width, *_: _CONTINUED.rjust(width),
            **parts,
        )

    def read(self) -> str:
        """What is typed next."""
        return self._prompt.prompt(prompt_text(self._session), pre_run=self._begin)

    def _is_unfinished(self) -> bool:
        # Of the statement: during a search with Ctrl-R another buffer is the current one.
        return not is_whole(self._prompt.default_buffer.text)

    def close(self) -> None:
        """Let go of the Spark that was started."""
        if self._warm_up is not None:
            self._warm_up.close()

    def _begin(self) -> None:
        if self._warm_up is not None and not self._warm_up.ident:
            self._warm_up.start()


def prompt_text(session: Session | OtherSession) -> str:
    """Where names are looked up, with a star in a transaction."""
    place = ".".join(session.current or ("forklake",))
    return f"{place}{'*' if session.in_transaction else ''}> "


def _history() -> History:
    """The inputs of earlier times, readable by their user alone; else those of this time."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    path = Path(base, "forklake", "history")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)
