"""Declarations of JSON fields of actions: which JSON values are valid, and how they are parsed.

Each field of an action class is declared with its shape, so that one parser and one serializer
handle all of them. Fields are written in the order of declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, NamedTuple, Self

from forklake.errors import Corruption


class Shape(NamedTuple):
    """The valid JSON values of a field. `read` raises ValueError for any other value."""

    meaning: str
    read: Callable[[Any], Any]
    write: Callable[[Any], Any] = lambda value: value


def told(name: str, shape: Shape, **default: Any) -> Any:
    """Declare a field with its name in JSON. A field without a default is required."""
    return field(metadata={"name": name, "shape": shape}, **default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A JSON object with declared fields; `extra` keeps all other fields."""

    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_body(cls, body: Any) -> Self:
        """Parse a JSON object.

        Raise Corruption if a field is missing or wrong, and ValueError if it is not an object.
        """
        if not isinstance(body, Mapping):
            raise ValueError
        rest, values = dict(body), {}
        for slot in _slots(cls):
            value = rest.pop(slot.name, None)
            if value is None:
                if slot.is_required:
                    raise _wrong(f"has no field '{slot.name}'", slot)
                continue
            try:
                values[slot.attribute] = slot.read(value)
            except ValueError as reason:
                raise _wrong(_misfit(slot, value), slot) from reason
        extra = {name: value for name, value in rest.items() if value is not None}
        return cls(**values, extra=extra)

    def body(self) -> dict[str, Any]:
        """Return the JSON object: declared fields first, without those that have no value."""
        known = ((slot, getattr(self, slot.attribute)) for slot in _slots(type(self)))
        said = {slot.name: slot.write(value) for slot, value in known if value is not None}
        return said | dict(self.extra)


class _Slot(NamedTuple):
    attribute: str
    name: str
    meaning: str
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    is_required: bool


_SLOTS: dict[type[Body], tuple[_Slot, ...]] = {}


def _slots(kind: type[Body]) -> tuple[_Slot, ...]:
    known = _SLOTS.get(kind)
    if known is None:
        known = _SLOTS[kind] = tuple(_slot(one) for one in fields(kind) if one.metadata)
    return known


def _slot(one: Field[Any]) -> _Slot:
    is_required = one.default is MISSING and one.default_factory is MISSING
    meaning, read, write = one.metadata["shape"]
    return _Slot(one.name, one.metadata["name"], meaning, read, write, is_required)


def _misfit(slot: _Slot, value: Any) -> str:
    return f"has {str(value)[:100]!r} in the field '{slot.name}', which must be {slot.meaning}"


def _wrong(what: str, slot: _Slot) -> Corruption:
    return Corruption(
        f"It {what}.",
        remedy="The Delta log is damaged or was written incorrectly: restore it from a backup.",
        field=slot.name,
    )


# Shapes


def _exactly(kind: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) is not kind:  # `isinstance` would accept a bool as an int
            raise ValueError
        return value

    return read


def _path(value: Any) -> str:
    if type(value) is not str or not value:
        raise ValueError
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if type(value) is not list or not all(type(one) is str for one in value):
        raise ValueError
    return tuple(value)


def _pairs(value: Any) -> dict[str, str | None]:
    if type(value) is not dict:
        raise ValueError
    for one in value.values():
        if one is not None and type(one) is not str:
            raise ValueError
    return value


TEXT = Shape("a text", _exactly(str))
PATH = Shape("a text that is not empty", _path)
WHOLE = Shape("a whole number", _exactly(int))
FLAG = Shape("true or false", _exactly(bool))
TEXTS = Shape("a list of texts", _texts, list)
NAMES = Shape("a list of texts", lambda value: frozenset(_texts(value)), sorted)
PAIRS = Shape("an object of texts", _pairs, dict)


def part(kind: type[Body]) -> Shape:
    """Return the shape of a nested object."""
    return Shape(f"an object ({kind.__name__})", kind.from_body, kind.body)
