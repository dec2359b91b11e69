"""Signatures of functions: their parameters, and conversion of arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from forklake.errors import InvalidInput
from forklake.session.attachments import moment
from forklake.session.names import split_name

if TYPE_CHECKING:
    from forklake.sql.session import Session

Converter: TypeAlias = "Callable[[Session, Any], Any]"


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """SQL type of an argument, and its conversion.

    `convert` raises ValueError for values of another type. `wanted` describes valid values where
    the name of the type is not enough.
    """

    name: str
    convert: Converter
    takes_null: bool = False
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of a function; those with `is_named` can only be passed by name."""

    name: str
    type: ArgumentType
    is_optional: bool = False
    is_named: bool = False

    def __str__(self) -> str:
        if self.is_named:
            return f"[{self.name} => {self.type.name}]"
        return f"[{self.name} {self.type.name}]" if self.is_optional else self.name


def required_parameter(name: str, type: ArgumentType) -> Parameter:
    """Return a parameter that must be passed."""
    return Parameter(name, type)


def optional_parameter(name: str, type: ArgumentType) -> Parameter:
    """Return a parameter that can be omitted."""
    return Parameter(name, type, is_optional=True)


def named_parameter(name: str, type: ArgumentType) -> Parameter:
    """Return an optional parameter that can only be passed by name."""
    return Parameter(name, type, is_optional=True, is_named=True)


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters of a function, in their order."""

    parameters: tuple[Parameter, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))})"

    @property
    def catalog_parameter(self) -> Parameter:
        """First parameter: the catalog of the function."""
        return self.parameters[0]

    @property
    def without_catalog(self) -> Signature:
        """Signature without the first parameter."""
        return Signature(self.parameters[1:])

    def accepts(self, positional: Sequence[Any], named: Mapping[str, Any]) -> bool:
        """Return whether these numbers and names of arguments are valid."""
        return self._find_mismatch(positional, named) is None

    def convert_arguments(
        self, session: Session, positional: Sequence[Any], named: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the converted arguments by name. Raise ValueError if they are not valid."""
        mismatch = self._find_mismatch(positional, named)
        if mismatch is not None:
            raise ValueError(mismatch)
        arguments = dict(
            zip((one.name for one in self._positional_parameters()), positional, strict=False)
        )
        arguments |= named
        return {
            one.name: _convert_argument(session, one, arguments[one.name])
            for one in self.parameters
            if one.name in arguments
        }

    def _positional_parameters(self) -> list[Parameter]:
        return [one for one in self.parameters if not one.is_named]

    def _find_mismatch(self, positional: Sequence[Any], named: Mapping[str, Any]) -> str | None:
        """Return what is wrong with the number or names of arguments, if anything."""
        allowed = [one.name for one in self._positional_parameters()]
        if len(positional) > len(allowed):
            most = f"at most {len(allowed)}" if allowed else "no"
            plural = "" if len(allowed) == 1 else "s"
            return f"takes {most} positional argument{plural}, not {len(positional)}"
        passed = allowed[: len(positional)]
        for name in named:
            if name in passed:
                return f"gets the argument '{name}' twice"
            if name not in {one.name for one in self.parameters}:
                return f"has no argument '{name}'"
        for one in self.parameters:
            if not one.is_optional and one.name not in passed and one.name not in named:
                return f"requires the argument '{one.name}'"
        return None


def _convert_argument(session: Session, parameter: Parameter, value: Any) -> Any:
    argument_type = parameter.type
    if value is None:
        if not argument_type.takes_null:
            raise ValueError(f"does not accept NULL for '{parameter.name}'")
        return None
    try:
        return argument_type.convert(session, value)
    except ValueError:
        expected = argument_type.expected or argument_type.name
        raise ValueError(f"expects {expected} for '{parameter.name}', not {value!r}") from None


# Types


def _build_type_converter(*types: type) -> Converter:
    def checked(session: Session, value: Any) -> Any:
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise ValueError
        return value

    return checked


def _build_list_converter(item: Converter) -> Converter:
    def checked(session: Session, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError
        return [item(session, one) for one in value]

    return checked


_convert_text, _convert_number = _build_type_converter(str), _build_type_converter(int)


def _convert_fraction(session: Session, value: Any) -> float:
    return float(_build_type_converter(int, float, Decimal)(session, value))


def _convert_size(session: Session, value: Any) -> int:
    if _convert_number(session, value) < 0:
        raise ValueError
    return int(value)


def _convert_timestamp(session: Session, value: Any) -> datetime:
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime | str):
        raise ValueError
    try:
        return moment(value)
    except InvalidInput:
        raise ValueError from None


def _convert_timestamp_or_age(session: Session, value: Any) -> datetime:
    age = _convert_age(value)
    return datetime.now(UTC) - age if age is not None else _convert_timestamp(session, value)


def _convert_age(value: Any) -> timedelta | None:
    """Return an interval as a timedelta: a month has 30 days. None for other values.

    A tuple is an interval of months, days and nanoseconds.
    """
    if isinstance(value, timedelta):
        return value
    if isinstance(value, tuple):
        months, days, nanoseconds = value
        return timedelta(days=30 * months + days, microseconds=nanoseconds // 1000)
    return None


def _convert_snapshot_or_time(session: Session, value: Any) -> int | datetime:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return int(value) if is_number else _convert_timestamp(session, value)


def _convert_table_name(session: Session, value: Any) -> tuple[str, ...]:
    parts = split_name(_convert_text(session, value))
    if len(parts) > 2:
        raise ValueError
    return parts


def _convert_texts(session: Session, value: Any) -> list[str]:
    texts: list[str] = _build_list_converter(_convert_text)(
        session, [value] if isinstance(value, str) else value
    )
    return texts


def _convert_attachment(session: Session, value: Any) -> Any:
    return session.attachment(_convert_text(session, value))


TEXT = ArgumentType("VARCHAR", _convert_text)
TEXT_OR_NULL = ArgumentType("VARCHAR", _convert_text, takes_null=True)
NUMBER = ArgumentType("BIGINT", _convert_number)
SIZE = ArgumentType("BIGINT", _convert_size, expected="a BIGINT of 0 or more")
FRACTION = ArgumentType("DOUBLE", _convert_fraction)
BOOLEAN = ArgumentType("BOOLEAN", _build_type_converter(bool))
TIMESTAMP = ArgumentType("TIMESTAMP", _convert_timestamp)
TIMESTAMP_OR_AGE = ArgumentType("TIMESTAMP or INTERVAL", _convert_timestamp_or_age)
SNAPSHOT_OR_TIME = ArgumentType("BIGINT or TIMESTAMP", _convert_snapshot_or_time)
VERSIONS = ArgumentType("BIGINT[]", _build_list_converter(_convert_number), takes_null=True)
TEXTS = ArgumentType("VARCHAR or VARCHAR[]", _convert_texts)
ANY_VALUE = ArgumentType("a value", lambda session, value: value, takes_null=True)
TABLE_NAME = ArgumentType("VARCHAR", _convert_table_name, expected="a table or schema.table")
ATTACHED_CATALOG = ArgumentType(
    "VARCHAR", _convert_attachment, expected="the name of an attached catalog"
)
