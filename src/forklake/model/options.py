"""Options that users can set: one table of name, default, scopes and validation."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from forklake.errors import InvalidInput


class Scope(Enum):
    """Scope of an option; the narrowest scope that sets it has precedence."""

    GLOBAL = "global"
    CATALOG = "catalog"
    SCHEMA = "schema"
    TABLE = "table"


# The scope_id of options that are set on the whole catalog.
CATALOG_SCOPE_ID = 0
ANY_SCOPE = frozenset(Scope)
WHOLE_CATALOG = frozenset({Scope.GLOBAL, Scope.CATALOG})

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_FACTORS = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_INTERVAL = re.compile(
    r"(\d+(?:\.\d+)?)\s*"
    r"(?:(microsecond|millisecond|second|minute|hour|day|week|month|year)s?|([smhdw]))",
    re.IGNORECASE,
)
_UNITS = {
    "microsecond": timedelta(microseconds=1),
    "millisecond": timedelta(milliseconds=1),
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=30),
    "year": timedelta(days=365),
}
_LONGEST = timedelta(days=365_000)  # before and after now there are moments as far away
_SHORT_UNITS = {name[0]: name for name in ("second", "minute", "hour", "day", "week")}
_CODECS = ("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw")

SERIALIZABLE, SNAPSHOT = "serializable", "snapshot"
ISOLATION_LEVELS = (SERIALIZABLE, SNAPSHOT)


def _boolean(value: str) -> str:
    if value.lower() not in {"true", "false"}:
        raise ValueError("true or false")
    return value.lower()


def _integer(value: str) -> str:
    if not value.isascii() or not value.isdigit():
        raise ValueError("a whole number, 0 or more")
    return str(int(value))


def _size(value: str) -> str:
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise ValueError("a size such as 512MB or 128MiB")
    unit = (match[2] or "").lower()
    return str(int(float(match[1]) * (_FACTORS | _BINARY_FACTORS)[unit]))


def _fraction(value: str) -> str:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise ValueError("must be between 0 and 1")
    return str(number)


def _interval(value: str) -> str:
    try:
        as_age(value)
    except InvalidInput:
        raise ValueError("an interval such as '7 days'") from None
    return value.strip()


def _codec(value: str) -> str:
    if value.lower() not in _CODECS:
        raise ValueError("one of " + ", ".join(_CODECS))
    return value.lower()


def _isolation_level(value: str) -> str:
    if value.lower() not in ISOLATION_LEVELS:
        raise ValueError("one of " + ", ".join(ISOLATION_LEVELS))
    return value.lower()


def _parquet_version(value: str) -> str:
    if value.lower().removeprefix("v") not in {"1", "2"}:
        raise ValueError("1 or 2")
    return value.lower().removeprefix("v")


@dataclass(frozen=True, slots=True)
class OptionRule:
    """An option: its meaning, its default, the validation of its values, and where it can be set.

    `check` returns the stored form of a value, or raises ValueError with a text of what is valid.
    """

    name: str
    default: str | None
    description: str
    check: Callable[[str], str]
    scopes: frozenset[Scope] = ANY_SCOPE


OPTIONS: dict[str, OptionRule] = {
    rule.name: rule
    for rule in (
        OptionRule(
            "data_inlining_row_limit",
            "0",
            "Inserts up to this many rows are stored in the metastore",
            _integer,
        ),
        OptionRule("target_file_size", "512MB", "Target size of data files", _size),
        OptionRule("parquet_compression", "snappy", "Compression of data files", _codec),
        OptionRule("parquet_compression_level", None, "Compression level", _integer),
        OptionRule("parquet_version", "2", "Version of the Parquet format", _parquet_version),
        OptionRule("parquet_row_group_size", None, "Rows per row group", _integer),
        OptionRule("parquet_row_group_size_bytes", None, "Bytes per row group", _size),
        OptionRule("per_thread_output", "false", "Write one file per task", _boolean),
        OptionRule("hive_file_pattern", "true", "Name partition folders key=value", _boolean),
        OptionRule("auto_compact", "true", "Maintenance may compact the table", _boolean),
        OptionRule(
            "rewrite_delete_threshold",
            "0.1",
            "Fraction of deleted rows at which a file is rewritten",
            _fraction,
        ),
        OptionRule(
            "delete_older_than",
            "2 days",
            "Age at which unused files are deleted",
            _interval,
            WHOLE_CATALOG,
        ),
        OptionRule(
            "expire_older_than", None, "Age at which snapshots expire", _interval, WHOLE_CATALOG
        ),
        OptionRule(
            "idempotency_key_retention",
            "7 days",
            "Minimum age at which idempotency keys of expired snapshots are deleted",
            _interval,
            WHOLE_CATALOG,
        ),
        OptionRule(
            "require_commit_message",
            "false",
            "Refuse commits without a message",
            _boolean,
            WHOLE_CATALOG,
        ),
        OptionRule(
            "isolation_level",
            SERIALIZABLE,
            "Isolation of transactions: serializable or snapshot",
            _isolation_level,
            WHOLE_CATALOG,
        ),
        OptionRule("encrypted", "false", "Encrypt data files", _boolean, WHOLE_CATALOG),
    )
}


def as_age(interval: str) -> timedelta:
    """Return the length of an interval; a month has 30 days and a year 365.

    >>> as_age("36 hours")
    datetime.timedelta(days=1, seconds=43200)
    >>> as_age("90m")
    datetime.timedelta(seconds=5400)
    """
    match = _INTERVAL.fullmatch(interval.strip())
    if match is None:
        raise InvalidInput(
            f"{interval!r} is not a length of time.", remedy="Use an interval such as '7 days'."
        )
    unit = match[2] or _SHORT_UNITS[match[3].lower()]
    try:
        age = float(match[1]) * _UNITS[unit.lower()]
    except OverflowError:
        age = timedelta.max
    if age > _LONGEST:
        raise InvalidInput(
            f"{interval[:100]!r} exceeds the maximum length of time.",
            remedy="Use a shorter interval.",
        )
    return age


def checked_option(name: str, value: object, scope: Scope) -> tuple[str, str | None]:
    """Return the name of an option and the stored form of a value; None removes the option.

    Raises:
        InvalidInput: the option, its scope or the value is not valid.
    """
    rule = OPTIONS.get(name.lower())
    if rule is None:
        raise InvalidInput(
            f"The option {name!r} does not exist.",
            remedy="Options are: " + ", ".join(sorted(OPTIONS)) + ".",
        )
    if scope not in rule.scopes:
        allowed = ", ".join(sorted(one.value for one in rule.scopes))
        raise InvalidInput(
            f"The option {rule.name!r} cannot be set for a {scope.value}.",
            remedy=f"It can be set for: {allowed}.",
        )
    if value is None:
        return rule.name, None
    text = str(value).lower() if isinstance(value, bool) else str(value)
    try:
        return rule.name, rule.check(text)
    except ValueError as reason:
        raise InvalidInput(
            f"The option {rule.name!r} cannot be {text!r}.", remedy=f"Use {reason}."
        ) from None


def as_bytes(size: str) -> int:
    """Return the number of bytes of a size.

    >>> as_bytes("1.5kB")
    1500
    """
    try:
        return int(_size(size))
    except ValueError as reason:
        raise InvalidInput(
            f"{size!r} is not {reason}.", remedy="Use a size such as 10GB."
        ) from None
