"""Readers of the input of the shell: one dot command or complete statements at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from forklake.cli.scripts import is_complete


class InputReader(Protocol):
    """Source of inputs."""

    def read(self) -> str:
        """Return the next input. Raise EOFError after the last, KeyboardInterrupt on Ctrl-C."""

    def close(self) -> None:
        """Release resources."""


def is_complete_input(text: str) -> bool:
    """Return whether an input is complete: a dot command, or statements ended by a semicolon."""
    return is_dot_command(text) or is_complete(text)


def is_dot_command(text: str) -> bool:
    """Return whether an input is a dot command."""
    return text.lstrip().startswith(".")


class PipedReader:
    """Reader of a file or pipe. The last statement needs no semicolon."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)

    def read(self) -> str:
        """Return the next input."""
        text = ""
        for line in self._lines:
            text += line
            # Tokenizing is expensive: only a line with a semicolon can complete a statement.
            if is_dot_command(text) or (";" in line and is_complete_input(text)):
                return text
        if text.strip():
            return text
        raise EOFError

    def close(self) -> None:
        """Do nothing: no resources are held."""
