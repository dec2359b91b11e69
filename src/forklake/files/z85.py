"""Z85: bytes as text, four of them as five characters, in the alphabet of ZeroMQ.

It is Base 85 as Python has it, with other characters.
"""

from __future__ import annotations

import base64

_OURS = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_PYTHON = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_OURS = bytes.maketrans(_PYTHON, _OURS)
# What is no character of ours must not become one of Python's: a blank is none.
_TO_PYTHON = bytes(_PYTHON[_OURS.index(code)] if code in _OURS else 0x20 for code in range(256))


def encode(data: bytes) -> str:
    """The text of some bytes; zeros fill up the last four."""
    filled = data + bytes(-len(data) % 4)
    return base64.b85encode(filled).translate(_TO_OURS).decode()


def decode(text: str) -> bytes:
    """The bytes of a text, with the zeros at the end; ValueError if it is none."""
    if len(text) % 5:
        raise ValueError(f"{len(text)} characters are no whole groups of five")
    return base64.b85decode(text.encode("ascii").translate(_TO_PYTHON))
