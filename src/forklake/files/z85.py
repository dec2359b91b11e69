"""Z85: four bytes as five characters, in the alphabet of ZeroMQ.

It is the base 85 of the Python standard library (`b85encode`) with another alphabet.
"""

from __future__ import annotations

import base64

_OURS = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_PYTHON = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_OURS = bytes.maketrans(_PYTHON, _OURS)
# A character outside of the alphabet becomes a blank, which Python rejects.
_TO_PYTHON = bytes(_PYTHON[_OURS.index(code)] if code in _OURS else 0x20 for code in range(256))


def encode(data: bytes) -> str:
    """Encode bytes as text; a last group of fewer than four bytes is padded with zeros."""
    filled = data + bytes(-len(data) % 4)
    return base64.b85encode(filled).translate(_TO_OURS).decode()


def decode(text: str) -> bytes:
    """Decode a text to bytes, padding included; raise ValueError if it is not valid."""
    if len(text) % 5:
        raise ValueError(f"{len(text)} characters are not whole groups of five")
    return base64.b85decode(text.encode("ascii").translate(_TO_PYTHON))
