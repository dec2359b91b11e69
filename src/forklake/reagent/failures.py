"""Conversion of all exceptions of worktasks to ForklakeError."""

from __future__ import annotations

from forklake.errors import ForklakeError


def to_error(reason: BaseException) -> ForklakeError:
    """Return the error for an exception of Forklake, Spark or a function of the workbook."""
    if isinstance(reason, ForklakeError):
        return reason
    found = _convert_spark_error(reason)
    if found is not None:
        return found
    message = f"{type(reason).__name__}: {reason}" if str(reason) else type(reason).__name__
    return ForklakeError(message, remedy="Check the function or the SQL of the task.")


def _convert_spark_error(reason: BaseException) -> ForklakeError | None:
    from forklake.engines.spark.failures import is_of_spark
    from forklake.engines.spark.query_failures import translate_spark_error

    if not is_of_spark(reason):
        return None
    explained = translate_spark_error(reason)
    if explained is not None:
        return explained
    return ForklakeError(
        f"Spark failed: {_innermost_message(reason)}", remedy="See the log of Spark."
    )


def _innermost_message(reason: BaseException) -> str:
    """Return the first line of the message of the innermost cause."""
    from forklake.engines.spark.failures import messages_of

    lines = [line for one in messages_of(reason) for line in one.strip().splitlines()[:1]]
    messages = [line for line in lines if line and line != "None"]
    return messages[-1] if messages else type(reason).__name__
