"""Commit files: JSON objects, parsed as a stream in bounded memory.

Most writers put each action on a separate line, but not all: any sequence of objects is accepted,
with or without white space between and inside them.
"""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from forklake.delta.actions import AnyAction, parse_action
from forklake.errors import Corruption
from forklake.files.systems import open_input, translating

_PIECE_SIZE = 1 << 20  # bytes to read at once
_LONGEST = 1 << 26  # maximum number of characters of one object: a longer one is not an action
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class JsonActions:
    """The actions of a JSON file. Each iteration reads the file again."""

    path: str
    version: int

    def __iter__(self) -> Iterator[AnyAction]:
        try:
            for one in _read_objects(self.path):
                for kind, body in one.items():
                    if body is not None:
                        yield parse_action(kind, body)
        except Corruption as reason:
            raise add_location(reason, self.path, self.version) from reason


def add_location(reason: Corruption, path: str, version: int) -> Corruption:
    """Return the error with the file and version in which it was found."""
    return Corruption(
        f"The file {path!r} of version {version} is invalid. {reason.message}",
        remedy=reason.remedy,
        **reason.details | {"file": path, "version": version},
    )


# JSON objects


def _read_objects(path: str) -> Iterator[dict[str, Any]]:
    rest = ""
    for piece in _read_pieces(path):
        rest = yield from _decode_objects(rest + piece)
        if len(rest) > _LONGEST:
            raise _broken(f"an object is longer than {_LONGEST} characters")
    if rest:
        raise _broken(_describe_fault(rest))


def _read_pieces(path: str) -> Iterator[str]:
    decoder = getincrementaldecoder("utf-8")()
    with open_input(path) as file:
        while True:
            with translating(path):
                data = file.read(_PIECE_SIZE)
            try:
                yield decoder.decode(data, final=not data)
            except UnicodeDecodeError as reason:
                raise _broken(f"it is not UTF-8: {reason.reason}") from reason
            if not data:
                return


def _decode_objects(text: str) -> Generator[dict[str, Any], None, str]:
    """Yield the complete objects of a text, and return the incomplete rest."""
    at = _skip_space(text, 0)
    while at < len(text):
        try:
            found, at = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError:
            return text[at:]
        except (ValueError, RecursionError) as reason:
            raise _broken(str(reason)) from reason
        if not isinstance(found, dict):
            raise _broken(f"it holds {str(found)[:100]!r}, which is not an object")
        yield found
        at = _skip_space(text, at)
    return ""


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _describe_fault(rest: str) -> str:
    try:
        _DECODER.raw_decode(rest)
    except json.JSONDecodeError as reason:
        return f"{reason.msg} at {rest[reason.pos : reason.pos + 40]!r}"
    return "it continues after its end"


def _broken(what: str) -> Corruption:
    return Corruption(
        f"It cannot be read as JSON: {what}.", remedy="Restore the file from a backup."
    )
