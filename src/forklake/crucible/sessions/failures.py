"""Conversion of exceptions of statements to errors without internal details."""

from __future__ import annotations

import logging
import traceback

from forklake.errors import ForklakeError, Unavailable

_log = logging.getLogger(__name__)


def to_error(reason: Exception) -> ForklakeError:
    """Return the error for the user.

    The stack of an unexpected exception is logged, but not its message, which may contain user
    data.
    """
    if isinstance(reason, ForklakeError):
        return reason
    frames = "".join(traceback.format_tb(reason.__traceback__)).rstrip()
    _log.error("a statement failed: %s\n%s", type(reason).__name__, frames)
    from forklake.engines.spark.failures import is_lost_connection, message_of

    if is_lost_connection(reason):
        return Unavailable(
            "Spark does not respond.",
            remedy="Try again. If it fails again, check the log of the service.",
        )
    return _statement_error(message_of(reason) or type(reason).__name__)


def _statement_error(message: str) -> ForklakeError:
    first = next(iter(message.strip().splitlines()), "")[:500]
    return ForklakeError(
        f"The statement failed in Spark: {first}", remedy="See the log of the service."
    )
