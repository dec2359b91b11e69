"""Failures of Spark while it reads files, translated to errors of Forklake.

Errors cross the border to Spark as texts only, in both directions: Spark has only its own
exceptions. The patterns depend on messages of Spark, Hadoop, Parquet and of our Java classes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException

from forklake import errors
from forklake.errors import (
    Corruption,
    Forbidden,
    ForklakeError,
    NotFound,
    Unavailable,
    Unsupported,
)

_OURS = re.compile(r"forklake\.errors\.(\w+): (.*)", re.DOTALL)
_DATA_FILE = re.compile(
    r"\[FAILED_READ_FILE\.\w+\] Encountered error while reading file (.*?)\."
    r"\s+(?=SQLSTATE|File does not exist|Data type)"
)
_DELETE_FILE = re.compile(r"The delete file (.*?) (?:does not exist|cannot be read)")
_OTHER_FILE = re.compile(r"The delete file (.*?) belongs to (.*?), not to (.*)")
_MISSING = re.compile(r"FAILED_READ_FILE\.FILE_NOT_EXIST|The delete file .*? does not exist")
_CONDITION = re.compile(r"^\[([A-Z_.0-9]+)\]\s*")
# Message tails that only help readers of the Spark source code or its settings.
_TAIL = re.compile(r"\s*(SQLSTATE: .*|; line \d+ pos \d+.*|If necessary set .*)$", re.DOTALL)
# Messages of Parquet readers, which also pass on failures of a file system.
_DAMAGED = re.compile(
    r"is not a Parquet file|can not read class org\.apache\.parquet|FAILED_TO_UNCOMPRESS"
    r"|could not decode|Can not read value at|could not verify page integrity"
    r"|don't know what type"  # language: ok
    r"|Reached the end of stream|DATA_TYPE_MISMATCH|ParquetDecodingException|[Cc]orrupt"
    r"|org\.apache\.parquet\.\S*Exception|org\.xerial\.snappy|thrift\.\S*Exception"
)
# Messages of file systems and of the machine, which do not show damage.
_FAILED_REQUEST = re.compile(
    r"java\.net\.|javax\.net\.|SocketTimeout|Connection (?:reset|refused|closed)|amazonaws|awssdk"
    r"|Status Code: \d|AWS\w*Exception|Premature (?:end of Content-Length|EOF)|[Tt]imed? ?out"
    r"|Service Unavailable|Too Many Requests|[Tt]hrottl|Server busy|RestOperationException"
    r"|cloud\.storage\.StorageException|BlockMissing|Could not obtain block|StandbyException"
    r"|RemoteFileChanged|AccessDenied|AccessControlException|Permission denied|Filesystem closed"
    # Resources that ran out, and interruptions.
    r"|Input/output error|Stale file handle|Too many open files|No space left|OutOfMemory"
    r"|Java heap space|Interrupt"
)
_NO_FILE_SYSTEM = re.compile(
    r"No FileSystem for scheme \S+|Class org\.apache\.hadoop\.fs\.\S+ not found"
)
_NO_KEY = re.compile(r"No keys available|GCM tag check failed")


def as_text(error: ForklakeError) -> str:
    """Return the text that carries an error of Forklake through Spark."""
    return f"forklake.errors.{type(error).__name__}: {error}"


def is_of_spark(error: BaseException) -> bool:
    """Return whether an exception comes from Spark or from the connection to it."""
    return isinstance(error, PySparkException | Py4JError)


def is_lost_connection(error: BaseException) -> bool:
    """Return whether an exception means that Spark does not respond."""
    return isinstance(error, Py4JNetworkError | ConnectionError)


def message_of(error: BaseException) -> str | None:
    """Return the message of an exception of Spark; None for other exceptions."""
    if isinstance(error, Py4JJavaError):
        return str(error.java_exception.toString())
    return str(error) if is_of_spark(error) else None


def messages_of(error: BaseException) -> list[str]:
    """Return the message of a Spark exception, followed by those of its causes."""
    if isinstance(error, PySparkException):
        thrown = getattr(error, "_origin", None)
    else:
        thrown = error.java_exception if isinstance(error, Py4JJavaError) else None
    messages = [str(error)]
    while thrown is not None:
        messages.append(str(thrown.getMessage()))
        thrown = thrown.getCause()
    return messages


def thrown_by_functions(error: BaseException) -> str | None:
    """Return the message of an exception that a function of our Java classes threw, or None."""
    thrown = error.java_exception if isinstance(error, Py4JJavaError) else None
    while thrown is not None:
        frames = list(thrown.getStackTrace())[:4]
        if any(frame.getClassName().startswith("forklake.") for frame in frames):
            return str(thrown.getMessage())
        thrown = thrown.getCause()
    return None


def plain_words(message: str) -> tuple[str | None, str]:
    """Return the error condition of a Spark message, and its text without Spark internals."""
    text = message.strip().split("\n", 1)[0]
    condition = _CONDITION.match(text)
    plain = _TAIL.sub("", _CONDITION.sub("", text)).strip()
    return (condition[1] if condition else None), plain


def of_files(messages: Sequence[str]) -> ForklakeError | None:
    """Return the Forklake error that messages of a Spark exception and its causes describe."""
    for message in messages:
        if ours := _OURS.match(message):
            kind: type[ForklakeError] = getattr(errors, ours[1])
            return kind(ours[2])
    text = "\n".join(messages)
    if other := _OTHER_FILE.search(text):
        path = _plain(other[1])
        return Corruption(
            f"The delete file {path!r} belongs to {_plain(other[2])!r}, not to {other[3]!r}.",
            remedy="Restore the file or the metastore from a backup.",
            path=path,
        )
    found = _DELETE_FILE.search(text) or _DATA_FILE.search(text)
    return None if found is None else _unreadable(_plain(found[1]), text)


def _plain(path: str) -> str:
    return re.sub("^file:(//)?/", "/", path)


def _unreadable(path: str, text: str) -> ForklakeError:
    if _MISSING.search(text):
        return NotFound(
            f"The file {path!r} does not exist.",
            remedy="Restore the file from a backup, or read an older snapshot.",
            path=path,
        )
    if _NO_KEY.search(text):
        return Forbidden(
            f"The file {path!r} is encrypted and its key is not available.",
            remedy="Attach the catalog that wrote the file, with its key-encryption key.",
            path=path,
        )
    if scheme := _NO_FILE_SYSTEM.search(text):
        return Unsupported(
            f"The file {path!r} cannot be read: Spark has no file system for it ({scheme[0]}).",
            remedy="Add the file system to Spark, for example with"
            " spark.jars.packages=org.apache.hadoop:hadoop-aws:<version of Hadoop>.",
            path=path,
        )
    message = text.replace(path, "")  # the path may contain any of the words
    if _DAMAGED.search(message) and not _FAILED_REQUEST.search(message):
        return Corruption(
            f"The file {path!r} is damaged, or does not match the metadata of its table.",
            remedy="Restore the file from a backup.",
            path=path,
        )
    return Unavailable(
        f"The file {path!r} could not be read: {_cause_of(text)}.",
        remedy="The file itself may be intact. Check the storage and the network, then try again.",
        path=path,
    )


def _cause_of(text: str) -> str:
    """Return the message of the innermost exception about a file that could not be read."""
    lines = [line.strip() for line in text.splitlines()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    found = causes or [
        line for line in lines if line and not line.startswith("at ") and "FAILED_READ" not in line
    ]
    return found[-1][:300].rstrip(".") if found else "Spark gives no reason"
