"""What went wrong with files while Spark read them, as errors of ours.

Spark knows only its own exceptions. What we tell it, and what it tells us, are texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from py4j.protocol import Py4JJavaError
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
# What follows is for those who read Spark's source or its settings.
_TAIL = re.compile(r"\s*(SQLSTATE: .*|; line \d+ pos \d+.*|If necessary set .*)$", re.DOTALL)
# What readers of Parquet say of a file, rather than file systems of a request.
_DAMAGED = re.compile(
    r"is not a Parquet file|can not read class org\.apache\.parquet|FAILED_TO_UNCOMPRESS"
    r"|could not decode|Can not read value at|could not verify page integrity|don't know what type"
    r"|Reached the end of stream|DATA_TYPE_MISMATCH|ParquetDecodingException|[Cc]orrupt"
    r"|org\.apache\.parquet\.\S*Exception|org\.xerial\.snappy|thrift\.\S*Exception"
)
_FAILED_REQUEST = re.compile(
    r"java\.net\.|javax\.net\.|SocketTimeout|Connection (?:reset|refused|closed)|amazonaws|awssdk"
    r"|Status Code: \d|AWS\w*Exception|Premature end of Content-Length"
)
_NO_FILE_SYSTEM = re.compile(
    r"No FileSystem for scheme \S+|Class org\.apache\.hadoop\.fs\.\S+ not found"
)
_NO_KEY = re.compile(r"No keys available|GCM tag check failed")


def as_text(error: ForklakeError) -> str:
    """An error of ours on its way through Spark."""
    return f"forklake.errors.{type(error).__name__}: {error}"


def messages_of(error: BaseException) -> list[str]:
    """What an exception of Spark's says, and then its causes."""
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
    """Return what a function of our Java classes says about the values it was given."""
    thrown = error.java_exception if isinstance(error, Py4JJavaError) else None
    while thrown is not None:
        frames = list(thrown.getStackTrace())[:4]
        if any(frame.getClassName().startswith("forklake.") for frame in frames):
            return str(thrown.getMessage())
        thrown = thrown.getCause()
    return None


def plain_words(message: str) -> tuple[str | None, str]:
    """The name of an error of Spark's, and what it says to those who do not know Spark."""
    text = message.strip().split("\n", 1)[0]
    condition = _CONDITION.match(text)
    said = _TAIL.sub("", _CONDITION.sub("", text)).strip()
    return (condition[1] if condition else None), said


def of_files(messages: Sequence[str]) -> ForklakeError | None:
    """The error of ours in what an exception of Spark's and its causes say, or None."""
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
            remedy="Restore it, or read an older snapshot.",
            path=path,
        )
    if _NO_KEY.search(text):
        return Forbidden(
            f"The file {path!r} is encrypted and its key is not known.",
            remedy="Attach the catalog that wrote it, with its key-encryption key.",
            path=path,
        )
    if _DAMAGED.search(text) and not _FAILED_REQUEST.search(text):
        return Corruption(
            f"The file {path!r} is damaged, or not what the table says.",
            remedy="Restore it from a backup.",
            path=path,
        )
    if scheme := _NO_FILE_SYSTEM.search(text):
        return Unsupported(
            f"The file {path!r} cannot be read: Spark has no file system for it ({scheme[0]}).",
            remedy="Add the file system to Spark, for example with"
            " spark.jars.packages=org.apache.hadoop:hadoop-aws:<version of Hadoop>.",
            path=path,
        )
    return Unavailable(
        f"The file {path!r} could not be read: {_cause_of(text)}.",
        remedy="Nothing shows that it is damaged. Check the storage and the network, then try"
        " again.",
        path=path,
    )


def _cause_of(text: str) -> str:
    """Return what the innermost exception says about a file that could not be read."""
    lines = [line.strip() for line in text.splitlines()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    said = causes or [
        line for line in lines if line and not line.startswith("at ") and "FAILED_READ" not in line
    ]
    return said[-1][:300].rstrip(".") if said else "Spark gives no reason"
