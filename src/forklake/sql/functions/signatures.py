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

Convert: TypeAlias = "Callable[[Session, Any], Any]"


@dataclass(frozen=True, slots=True)
class Kind:
    """SQL type of an argument, and its conversion.

    `convert` raises ValueError for values of another type. `wanted` describes valid values where
    the name of the type is not enough.
    """

    name: str
    convert: Convert
    takes_null: bool = False
    wanted: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of a function; those with `is_named` can only be passed by name."""

    name: str
    kind: Kind
    is_optional: bool = False
    is_named: bool = False

    def __str__(self) -> str:
        if self.is_named:
            return f"[{self.name} => {self.kind.name}]"
        return f"[{self.name} {self.kind.name}]" if self.is_optional else self.name


def required(name: str, kind: Kind) -> Parameter:
    """Return a parameter that must be passed."""
    return Parameter(name, kind)


def optional(name: str, kind: Kind) -> Parameter:
    """Return a parameter that can be omitted."""
    return Parameter(name, kind, is_optional=True)


def named(name: str, kind: Kind) -> Parameter:
    """Return an optional parameter that can only be passed by name."""
    return Parameter(name, kind, is_optional=True, is_named=True)


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters of a function, in their order."""

    parameters: tuple[Parameter, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))})"

    @property
    def first(self) -> Parameter:
        """First parameter: the catalog of the function."""
        return self.parameters[0]

    @property
    def rest(self) -> Signature:
        """Signature without the first parameter."""
        return Signature(self.parameters[1:])

    def fits(self, positional: Sequence[Any], named: Mapping[str, Any]) -> bool:
        """Return whether these numbers and names of arguments are valid."""
        return self._misfit(positional, named) is None

    def bound(
        self, session: Session, positional: Sequence[Any], named: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the converted arguments by name. Raise ValueError if they are not valid."""
        misfit = self._misfit(positional, named)
        if misfit is not None:
            raise ValueError(misfit)
        given = dict(zip((one.name for one in self._in_order()), positional, strict=False))
        given |= named
        return {
            one.name: _convert_argument(session, one, given[one.name])
            for one in self.parameters
            if one.name in given
        }

    def _in_order(self) -> list[Parameter]:
        return [one for one in self.parameters if not one.is_named]

    def _misfit(self, positional: Sequence[Any], named: Mapping[str, Any]) -> str | None:
        """Return what is wrong with the number or names of arguments, if anything."""
        ordered = [one.name for one in self._in_order()]
        if len(positional) > len(ordered):
            most = f"at most {len(ordered)}" if ordered else "no"
            plural = "" if len(ordered) == 1 else "s"
            return f"takes {most} positional argument{plural}, not {len(positional)}"
        first = ordered[: len(positional)]
        for name in named:
            if name in first:
                return f"gets the argument '{name}' twice"
            if name not in {one.name for one in self.parameters}:
                return f"has no argument '{name}'"
        for one in self.parameters:
            if not one.is_optional and one.name not in first and one.name not in named:
                return f"requires the argument '{one.name}'"
        return None


def _convert_argument(session: Session, parameter: Parameter, value: Any) -> Any:
    kind = parameter.kind
    if value is None:
        if not kind.takes_null:
            raise ValueError(f"does not accept NULL for '{parameter.name}'")
        return None
    try:
        return kind.convert(session, value)
    except ValueError:
        wanted = kind.wanted or kind.name
        raise ValueError(f"expects {wanted} for '{parameter.name}', not {value!r}") from None


# Types


def _instance(*types: type) -> Convert:
    def checked(session: Session, value: Any) -> Any:
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise ValueError
        return value

    return checked


def _list_of(item: Convert) -> Convert:
    def checked(session: Session, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError
        return [item(session, one) for one in value]

    return checked


_text, _number = _instance(str), _instance(int)


def _fraction(session: Session, value: Any) -> float:
    return float(_instance(int, float, Decimal)(session, value))


def _size(session: Session, value: Any) -> int:
    if _number(session, value) < 0:
        raise ValueError
    return int(value)


def _moment(session: Session, value: Any) -> datetime:
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime | str):
        raise ValueError
    try:
        return moment(value)
    except InvalidInput:
        raise ValueError from None


def _moment_or_age(session: Session, value: Any) -> datetime:
    age = _age(value)
    return datetime.now(UTC) - age if age is not None else _moment(session, value)


def _age(value: Any) -> timedelta | None:
    """Return an interval as a timedelta: a month has 30 days. None for other values.

    A tuple is an interval of months, days and nanoseconds.
    """
    if isinstance(value, timedelta):
        return value
    if isinstance(value, tuple):
        months, days, nanoseconds = value
        return timedelta(days=30 * months + days, microseconds=nanoseconds // 1000)
    return None


def _bound(session: Session, value: Any) -> int | datetime:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return int(value) if is_number else _moment(session, value)


def _table_name(session: Session, value: Any) -> tuple[str, ...]:
    parts = split_name(_text(session, value))
    if len(parts) > 2:
        raise ValueError
    return parts


def _texts(session: Session, value: Any) -> list[str]:
    found: list[str] = _list_of(_text)(session, [value] if isinstance(value, str) else value)
    return found


def _attached(session: Session, value: Any) -> Any:
    return session.attachment(_text(session, value))


TEXT = Kind("VARCHAR", _text)
TEXT_OR_NULL = Kind("VARCHAR", _text, takes_null=True)
NUMBER = Kind("BIGINT", _number)
SIZE = Kind("BIGINT", _size, wanted="a BIGINT of 0 or more")
FRACTION = Kind("DOUBLE", _fraction)
BOOLEAN = Kind("BOOLEAN", _instance(bool))
MOMENT = Kind("TIMESTAMP", _moment)
MOMENT_OR_AGE = Kind("TIMESTAMP or INTERVAL", _moment_or_age)
BOUND = Kind("BIGINT or TIMESTAMP", _bound)
VERSIONS = Kind("BIGINT[]", _list_of(_number), takes_null=True)
TEXTS = Kind("VARCHAR or VARCHAR[]", _texts)
ANYTHING = Kind("a value", lambda session, value: value, takes_null=True)
TABLE_NAME = Kind("VARCHAR", _table_name, wanted="a table or schema.table")
ATTACHED = Kind("VARCHAR", _attached, wanted="the name of an attached catalog")
