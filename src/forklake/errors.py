"""Exception family of Forklake.

    ForklakeError
    ├── NotFound        a catalog, schema, table, snapshot … does not exist
    ├── AlreadyExists   a name is taken
    ├── Conflict        a concurrent commit changed the same object first (retryable)
    ├── InvalidInput    a name, value or option cannot be accepted
    ├── Unauthenticated the credential is missing or invalid
    ├── Forbidden       the caller has no right to do this, or the metastore is read-only
    ├── QuotaExceeded   a limit set by the operator is reached
    │   └── RateLimited too many requests (retryable after `retry_after` seconds)
    ├── Cancelled       a statement was stopped
    ├── Unsupported     this version does not support the operation
    ├── Unavailable     the metadata database cannot be reached (retryable)
    └── Corruption      the metastore or a file is inconsistent

Every error states what failed, with which object, and how to solve it. `OUTCOMES` is the single
table that maps errors to HTTP statuses and exit codes of commands.
"""

from __future__ import annotations

from typing import Any, ClassVar

_ENDS = (".", "!", "?", "…", ":", ";")


class ForklakeError(Exception):
    """Root of the family: a message, a remedy, and details that may be shown to the caller."""

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
    """The credential is missing, invalid or expired."""

    code = "unauthenticated"


class Forbidden(ForklakeError):
    """The caller is not allowed to do this."""

    code = "forbidden"


class QuotaExceeded(ForklakeError):
    """A limit is reached."""

    code = "quota_exceeded"


class RateLimited(QuotaExceeded):
    """The caller sent too many requests; `retry_after` in the details is in seconds."""

    code = "rate_limited"
    retryable = True


class Cancelled(ForklakeError):
    """The statement was stopped by its user or by its time limit."""

    code = "cancelled"


class Unsupported(ForklakeError):
    """This version does not support the operation."""

    code = "unsupported"


class Unavailable(ForklakeError):
    """The metadata database cannot be reached, or the connection to it was lost."""

    code = "unavailable"
    retryable = True


class Corruption(ForklakeError):
    """The metastore or a file is inconsistent."""

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
    """Return the HTTP status and exit code of an error, by its nearest class in the table."""
    return next(OUTCOMES[kind] for kind in type(error).__mro__ if kind in OUTCOMES)
