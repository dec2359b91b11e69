"""Where the shell's input comes from, one dot command or some whole statements at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from forklake.cli.scripts import is_complete


class Reader(Protocol):
    """Gives one input after the other."""

    def read(self) -> str:
        """The next input; EOFError after the last one, KeyboardInterrupt for one given up."""

    def close(self) -> None:
        """Let go of what it holds."""


def is_whole(text: str) -> bool:
    """Whether an input can be run: a dot command is one line, statements end with semicolons."""
    return is_dot_command(text) or is_complete(text)


def is_dot_command(text: str) -> bool:
    """Whether an input is a command to the shell."""
    return text.lstrip().startswith(".")


class PipedReader:
    """Reads lines of a file or pipe; what is left at its end needs no semicolon."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)

    def read(self) -> str:
        """The next input."""
        text = ""
        for line in self._lines:
            text += line
            # Only a line with a semicolon can end a statement: that is cheaper to see.
            if is_dot_command(text) or (";" in line and is_whole(text)):
                return text
        if text.strip():
            return text
        raise EOFError

    def close(self) -> None:
        """Nothing is held."""
