"""Conversion of partition values between the texts of a Delta log and the texts of the lake.

| type        | in the log                                           | in the lake       |
|-------------|------------------------------------------------------|-------------------|
| any         | null, or the empty text                              | NULL              |
| varchar     | unchanged                                            | unchanged         |
| floats      | `NaN`, `Infinity`                                    | `nan`, `inf`      |
| timestamptz | `2024-01-31 12:00:00`, in UTC; `2024-01-31T12:00:00Z` | `… 12:00:00+00`   |
| blob        | the bytes as UTF-8, or all of them as `\\u00AA`       | `a\\xAA`           |

Other types have the same texts in both, in the canonical form of `forklake.model.values`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from forklake.errors import Corruption, InvalidInput, Unsupported
from forklake.model.values import from_text, to_text

_ESCAPED_BYTES = re.compile(r"(?:\\u00[0-9A-Fa-f]{2})+")
# Dates after year 9999: Spark supports them, Python does not.
_LATE = re.compile(r"\+?([0-9]{5,6}-[0-9]{2}-[0-9]{2})(?:[ T]([0-9:]{8}(?:\.[0-9]{1,6})?)Z?)?")
_SPECIAL_FLOATS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_PLAIN_BYTES = frozenset(range(0x20, 0x7F)) - {ord("\\")}


# From the log


def lake_value(column_type: str, text: str | None) -> str | None:
    """Return the text in the lake for a partition value of a log; None is NULL."""
    if not text:
        return None
    if column_type == "blob":
        return _format_blob(_parse_bytes(text))
    if column_type == "varchar":
        return _require_storable(text)
    late = _LATE.fullmatch(text)
    if late is not None and column_type in _LATE_FORMS:
        return _LATE_FORMS[column_type](late)
    try:
        return to_text(column_type, from_text(column_type, text))
    except InvalidInput as reason:
        raise Corruption(
            f"The partition value {text[:100]!r} of the Delta log is not a valid value of type"
            f" {column_type}.",
            remedy="Restore the log from a backup.",
        ) from reason


def _format_late_timestamp(late: re.Match[str]) -> str:
    return f"{late[1]} {late[2] or '00:00:00'}"


_LATE_FORMS: dict[str, Callable[[re.Match[str]], str]] = {
    "date": lambda late: late[1],
    "timestamp": _format_late_timestamp,
    "timestamptz": lambda late: f"{_format_late_timestamp(late)}+00",
}


def _parse_bytes(text: str) -> bytes:
    if _ESCAPED_BYTES.fullmatch(text):
        return bytes.fromhex(text.replace("\\u00", ""))
    return text.encode("utf-8", "surrogatepass")


def _format_blob(data: bytes) -> str:
    return "".join(chr(byte) if byte in _PLAIN_BYTES else f"\\x{byte:02X}" for byte in data)


def _require_storable(text: str) -> str:
    """Return the text, or raise Unsupported if some metadata databases cannot store it."""
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise Unsupported(
            f"The partition value {text[:100]!r} of the Delta log has characters that not every"
            " metadata database can store.",
            remedy="Rewrite the partition with another value.",
        )
    return text


# To the log


def log_value(column_type: str, text: str | None) -> str | None:
    """Return the text in a log for a partition value of the lake; None is NULL."""
    if text is None:
        return None
    if not text:
        raise Unsupported(
            "An empty text cannot be a partition value of a Delta table: it would mean NULL.",
            remedy="Change the value, or publish the table without partitions.",
        )
    if column_type == "blob":
        return _decode_utf8(from_text("blob", text))
    if column_type == "timestamptz":
        return text.removesuffix("+00").replace(" ", "T") + "Z"
    return _SPECIAL_FLOATS.get(text, text) if column_type.startswith("float") else text


def _decode_utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Unsupported(
            f"The bytes {data[:20].hex()} are not UTF-8 text, so they cannot be a partition value"
            " of a Delta table.",
            remedy="Publish the table without partitions.",
        ) from None
