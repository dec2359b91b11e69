"""Conversion of exceptions of statements to errors without internal details."""

from __future__ import annotations

import logging
import traceback

from forklake.errors import ForklakeError, Unavailable

_log = logging.getLogger(__name__)


def as_error(reason: Exception) -> ForklakeError:
    """Return the error for the user.

    The stack of an unexpected exception is logged, but not its message, which may contain user
    data.
    """
    if isinstance(reason, ForklakeError):
        return reason
    frames = "".join(traceback.format_tb(reason.__traceback__)).rstrip()
    _log.error("a statement failed: %s\n%s", type(reason).__name__, frames)
    from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
    from pyspark.errors import PySparkException

    if isinstance(reason, Py4JNetworkError | ConnectionError):
        return Unavailable(
            "Spark does not respond.",
            remedy="Try again. If it fails again, check the log of the service.",
        )
    if isinstance(reason, Py4JJavaError):
        return _failed(str(reason.java_exception.toString()))
    if isinstance(reason, PySparkException | Py4JError):
        return _failed(str(reason))
    return _failed(type(reason).__name__)


def _failed(said: str) -> ForklakeError:
    first = next(iter(said.strip().splitlines()), "")[:500]
    return ForklakeError(
        f"The statement failed in Spark: {first}", remedy="See the log of the service."
    )
