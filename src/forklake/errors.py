"""The one exception family of Forklake.

    ForklakeError
    ├── NotFound        a catalog, schema, table, snapshot … that is not there
    ├── AlreadyExists   a name that is taken
    ├── Conflict        somebody else changed the same thing first (retryable)
    ├── InvalidInput    a name, value or option that cannot be accepted
    ├── Unauthenticated nobody knows who is asking
    ├── Forbidden       the caller or the metastore may not be written
    ├── QuotaExceeded   a limit set by the operator is reached
    │   └── RateLimited it was asked for too often (retryable after `retry_after` seconds)
    ├── Cancelled       a statement that was stopped
    ├── Unsupported     something this version does not do
    ├── Unavailable     the metadata database cannot be reached (retryable)
    └── Corruption      the metastore contradicts itself

Every error says what was wrong, with which object, and what to do about it. `OUTCOMES` is the
one table from which HTTP status and command exit code follow.
"""

from __future__ import annotations

from typing import Any, ClassVar

_ENDS = (".", "!", "?", "…", ":", ";")


class ForklakeError(Exception):
    """The root: a message, a remedy and the public facts of the case."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, remedy: str = "", **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.details = details

    def __str__(self) -> str:
        if not self.remedy:
            return self.message
        # Some messages are those of DuckLake, which end without a full stop.
        stop = "" if self.message.endswith(_ENDS) else "."
        return f"{self.message}{stop} {self.remedy}"


class NotFound(ForklakeError):
    """The named object does not exist, or not at that snapshot."""

    code = "not_found"


class AlreadyExists(ForklakeError):
    """The name is taken."""

    code = "already_exists"


class Conflict(ForklakeError):
    """Another commit changed the same thing since this transaction began."""

    code = "conflict"
    retryable = True


class InvalidInput(ForklakeError):
    """The input can never be accepted."""

    code = "invalid_input"


class Unauthenticated(ForklakeError):
    """The credential is missing, or not or no longer good."""

    code = "unauthenticated"


class Forbidden(ForklakeError):
    """The operation is not allowed here."""

    code = "forbidden"


class QuotaExceeded(ForklakeError):
    """A limit is reached."""

    code = "quota_exceeded"


class RateLimited(QuotaExceeded):
    """The caller asked too often; `retry_after` in the details is in seconds."""

    code = "rate_limited"
    retryable = True


class Cancelled(ForklakeError):
    """The statement was stopped: by its user, or because its time was over."""

    code = "cancelled"


class Unsupported(ForklakeError):
    """This version does not do that."""

    code = "unsupported"


class Unavailable(ForklakeError):
    """The metadata database cannot be reached or was lost on the way."""

    code = "unavailable"
    retryable = True


class Corruption(ForklakeError):
    """The metastore contradicts itself."""

    code = "corruption"


# class -> (HTTP status, command exit code)
OUTCOMES: dict[type[ForklakeError], tuple[int, int]] = {
    NotFound: (404, 3),
    AlreadyExists: (409, 4),
    Conflict: (409, 5),
    InvalidInput: (400, 2),
    Unauthenticated: (401, 11),
    Forbidden: (403, 6),
    QuotaExceeded: (429, 7),
    RateLimited: (429, 13),
    Unsupported: (422, 8),
    Unavailable: (503, 9),
    Corruption: (500, 10),
    Cancelled: (409, 12),
    ForklakeError: (500, 1),
}


def outcome(error: ForklakeError) -> tuple[int, int]:
    """The HTTP status and exit code of an error, by its nearest class in the table."""
    return next(OUTCOMES[kind] for kind in type(error).__mro__ if kind in OUTCOMES)
