"""Addresses of MySQL and MariaDB: `host=… user=… database=…`, or `mysql://user@host/database`."""

from __future__ import annotations

import shlex
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from forklake.errors import InvalidInput

# Parameters of an address and their types.
_NAMES: dict[str, type[Any]] = {
    "host": str,
    "port": int,
    "user": str,
    "password": str,
    "database": str,
    "unix_socket": str,
    "connect_timeout": int,
    "ssl_ca": str,
    "ssl_cert": str,
    "ssl_key": str,
}
_ALIASES = {"db": "database", "dbname": "database", "passwd": "password", "socket": "unix_socket"}


def parsed(dsn: str) -> dict[str, Any]:
    """Parse an address into the arguments of the driver."""
    said = _of_uri(dsn) if "://" in dsn else _of_pairs(dsn)
    found: dict[str, Any] = {}
    for word, value in said:
        name = _ALIASES.get(word, word)
        if name not in _NAMES:
            raise _unreadable(f"the parameter {word!r} is not supported")
        try:
            found[name] = _NAMES[name](value)
        except ValueError:
            raise _unreadable(f"the value {value!r} of {word} is not a number") from None
    return found


def described(address: dict[str, Any], database: str) -> str:
    """Return the address without its password."""
    return f"mysql:{database}@{address.get('host') or 'localhost'}"


def _of_pairs(dsn: str) -> list[tuple[str, str]]:
    try:
        words = [word.partition("=") for word in shlex.split(dsn)]
    except ValueError:
        raise _unreadable("a quotation mark is missing") from None
    if any(not sign for _, sign, _ in words):
        raise _unreadable("a word is not of the form name=value")
    return [(name.lower(), value) for name, _, value in words]


def _of_uri(uri: str) -> list[tuple[str, str]]:
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        raise _unreadable("its host or port is malformed") from None
    said = {
        "host": parts.hostname,
        "port": str(port) if port else None,
        "user": parts.username,
        "password": parts.password,
        "database": parts.path.removeprefix("/"),
    }
    given = [(name, unquote(value)) for name, value in said.items() if value]
    return given + [(name.lower(), value) for name, value in parse_qsl(parts.query)]


def _unreadable(why: str) -> InvalidInput:
    return InvalidInput(
        f"Invalid MySQL address: {why}.",
        remedy="Use host=… user=… database=… or mysql://user@host/database.",
    )
