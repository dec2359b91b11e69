"""Attach strings: `ducklake:<path>`, or with a backend, such as `ducklake:sqlite:<path>`.

Backends are `sqlite:`, `duckdb:`, `postgres:` and `mysql:`. A plain path means the embedded
default: an existing file is opened according to its header, a new one becomes a SQLite file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from forklake.errors import InvalidInput

_SQLITE_MAGIC = b"SQLite format 3\x00"
_DUCKDB_MAGIC = b"DUCK"  # at byte 8
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # longer than a drive letter
_FILES = {"sqlite", "duckdb"}
# Server backends by the prefix of the address.
_SERVERS = {
    "postgres": "postgresql",
    "postgresql": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
}


@dataclass(frozen=True, slots=True)
class Target:
    """Backend, and the location of the database."""

    backend: str
    location: str

    @property
    def is_file(self) -> bool:
        """Whether the metastore is a file, not a database on a server."""
        return self.backend in _FILES


def parse_uri(uri: str) -> Target:
    """Parse an attach string."""
    rest = uri.removeprefix("ducklake:")
    if not rest.strip() or "\x00" in rest:
        raise InvalidInput(
            f"The metastore address {uri!r} does not contain a path or a server.",
            remedy="Use ducklake:<path> or ducklake:postgres:<dsn>.",
        )
    head, colon, tail = rest.partition(":")
    if colon and head in _SERVERS:
        return Target(_SERVERS[head], rest if tail.startswith("//") else tail.strip())
    if colon and head in _FILES:
        if not tail:
            raise InvalidInput(
                f"The metastore address {uri!r} does not contain a path.",
                remedy=f"Use ducklake:{head}:<path>.",
            )
        found = _backend_of_file(Path(tail), new=head)
        if found != head:
            raise InvalidInput(
                f"The file {tail} is a database of {found}, not of {head}.",
                remedy=f"Use ducklake:{found}:{tail}.",
            )
        return Target(head, tail)
    if _SCHEME.match(rest) and not Path(rest).exists():
        raise InvalidInput(
            f"The metastore address {uri!r} has the unknown scheme '{head}'.",
            remedy="Use ducklake:<path>, or ducklake: and one of sqlite:<path>, duckdb:<path>,"
            f" postgres:<dsn>, mysql:<dsn>. For a file of that name, write ducklake:./{rest}.",
        )
    return Target(_backend_of_file(Path(rest), new="sqlite"), rest)


# Backends of existing files, and those of files that will be created. A process that closes a file
# gives up all its POSIX locks on it, also those of its database connections: then other processes
# would take the database for unused and remove its log. So no file is opened twice here.
_known: dict[tuple[Path, int, int], str] = {}
_expected: dict[Path, str] = {}


def _backend_of_file(path: Path, *, new: str) -> str:
    """Return the backend of a file by its header; `new` if it does not exist or is empty."""
    if path.is_dir():
        raise InvalidInput(
            f"The metastore {path} is a folder.", remedy="Use the path of a file in the folder."
        )
    where = path.resolve()
    try:
        found = path.stat()
        if not found.st_size:
            raise FileNotFoundError
        identity = where, found.st_dev, found.st_ino
        if identity not in _known:
            _known[identity] = _expected.pop(where, "") or _backend_by_header(path)
    except FileNotFoundError:
        _expected[where] = new
        return new
    except OSError as reason:
        raise InvalidInput(
            f"The metastore file {path} cannot be read: {reason.strerror}.",
            remedy="Check the permissions of the file.",
        ) from reason
    return _known[identity]


def _backend_by_header(path: Path) -> str:
    with path.open("rb") as file:
        header = file.read(16)
    if header == _SQLITE_MAGIC:
        return "sqlite"
    if header[8:12] == _DUCKDB_MAGIC:
        return "duckdb"
    raise InvalidInput(
        f"The file {path} is not a metastore: it is neither a SQLite nor a DuckDB database.",
        remedy="Choose the file of a metastore, or a new one to create.",
    )
