"""Translation of Spark errors of a query to Forklake errors."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.errors import (
    AnalysisException,
    ArithmeticException,
    ArrayIndexOutOfBoundsException,
    DateTimeException,
    IllegalArgumentException,
    NumberFormatException,
    ParseException,
    PySparkException,
    SparkRuntimeException,
)

from forklake.engines.spark.failures import (
    messages_of,
    of_files,
    plain_words,
    thrown_by_functions,
)
from forklake.errors import ForklakeError, InvalidInput, NotFound

_WRONG_INPUT = (
    AnalysisException,
    ArithmeticException,
    ArrayIndexOutOfBoundsException,
    DateTimeException,
    IllegalArgumentException,
    NumberFormatException,
    ParseException,
    SparkRuntimeException,
)
_MISSING = ("UNRESOLVED_COLUMN", "UNRESOLVED_ROUTINE", "FIELD_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND")
_STACK_OVERFLOW = "java.lang.StackOverflowError"


def translate_spark_error(reason: BaseException) -> ForklakeError | None:
    """Return the corresponding Forklake error; None if neither the query nor a file is wrong."""
    if not isinstance(reason, PySparkException | Py4JJavaError):
        return None
    messages = messages_of(reason)
    file_error = of_files(messages)
    if file_error is not None:
        return file_error
    if any(_STACK_OVERFLOW in message for message in messages):
        return InvalidInput(
            "The statement is nested too deeply for Spark.",
            remedy="Split it into smaller statements.",
        )
    if isinstance(reason, Py4JJavaError):
        # PySpark does not convert some errors of running queries. Those of Spark have a condition.
        with_condition = [one for one in map(plain_words, messages[1:]) if one[0] is not None]
        if with_condition:
            return _query_error(*with_condition[0])
        message = thrown_by_functions(reason)
        return None if message is None else _query_error(None, message)
    return _query_error(*plain_words(str(reason))) if isinstance(reason, _WRONG_INPUT) else None


def _query_error(condition: str | None, message: str) -> ForklakeError:
    if condition is not None and condition.startswith(_MISSING):
        return NotFound(message, remedy="Check the names in the query.", condition=condition)
    return InvalidInput(message, remedy="Correct the query or its data.", condition=condition)
