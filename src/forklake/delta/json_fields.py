"""Declarations of JSON fields of actions: which JSON values are valid, and how they are parsed.

Each field of an action class is declared with its JSON type, so that one parser and one serializer
handle all of them. Fields are written in the order of declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, NamedTuple, Self

from forklake.errors import Corruption


class JsonType(NamedTuple):
    """The valid JSON values of a field. `read` raises ValueError for any other value."""

    meaning: str
    read: Callable[[Any], Any]
    write: Callable[[Any], Any] = lambda value: value


def json_field(name: str, json_type: JsonType, **default: Any) -> Any:
    """Declare a field with its name in JSON. A field without a default is required."""
    return field(metadata={"name": name, "type": json_type}, **default)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonObject:
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
        for spec in _field_specs(cls):
            value = rest.pop(spec.name, None)
            if value is None:
                if spec.is_required:
                    raise _invalid_field(f"has no field '{spec.name}'", spec)
                continue
            try:
                values[spec.attribute] = spec.read(value)
            except ValueError as reason:
                raise _invalid_field(_describe_misfit(spec, value), spec) from reason
        extra = {name: value for name, value in rest.items() if value is not None}
        return cls(**values, extra=extra)

    def to_body(self) -> dict[str, Any]:
        """Return the JSON object: declared fields first, without those that have no value."""
        given = ((spec, getattr(self, spec.attribute)) for spec in _field_specs(type(self)))
        fields_by_name = {
            spec.name: spec.write(value) for spec, value in given if value is not None
        }
        return fields_by_name | dict(self.extra)


class _FieldSpec(NamedTuple):
    attribute: str
    name: str
    meaning: str
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    is_required: bool


_FIELD_SPECS: dict[type[JsonObject], tuple[_FieldSpec, ...]] = {}


def _field_specs(kind: type[JsonObject]) -> tuple[_FieldSpec, ...]:
    specs = _FIELD_SPECS.get(kind)
    if specs is None:
        specs = _FIELD_SPECS[kind] = tuple(_field_spec(one) for one in fields(kind) if one.metadata)
    return specs


def _field_spec(declared: Field[Any]) -> _FieldSpec:
    is_required = declared.default is MISSING and declared.default_factory is MISSING
    meaning, read, write = declared.metadata["type"]
    return _FieldSpec(declared.name, declared.metadata["name"], meaning, read, write, is_required)


def _describe_misfit(spec: _FieldSpec, value: Any) -> str:
    return f"has {str(value)[:100]!r} in the field '{spec.name}', which must be {spec.meaning}"


def _invalid_field(what: str, spec: _FieldSpec) -> Corruption:
    return Corruption(
        f"It {what}.",
        remedy="The Delta log is damaged or was written incorrectly: restore it from a backup.",
        field=spec.name,
    )


# JSON types


def _read_exactly(kind: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) is not kind:  # `isinstance` would accept a bool as an int
            raise ValueError
        return value

    return read


def _read_path(value: Any) -> str:
    if type(value) is not str or not value:
        raise ValueError
    return value


def _read_texts(value: Any) -> tuple[str, ...]:
    if type(value) is not list or not all(type(one) is str for one in value):
        raise ValueError
    return tuple(value)


def _read_pairs(value: Any) -> dict[str, str | None]:
    if type(value) is not dict:
        raise ValueError
    for one in value.values():
        if one is not None and type(one) is not str:
            raise ValueError
    return value


TEXT = JsonType("a text", _read_exactly(str))
PATH = JsonType("a text that is not empty", _read_path)
WHOLE = JsonType("a whole number", _read_exactly(int))
FLAG = JsonType("true or false", _read_exactly(bool))
TEXTS = JsonType("a list of texts", _read_texts, list)
NAMES = JsonType("a list of texts", lambda value: frozenset(_read_texts(value)), sorted)
PAIRS = JsonType("an object of texts", _read_pairs, dict)


def object_type(kind: type[JsonObject]) -> JsonType:
    """Return the JSON type of a nested object."""
    return JsonType(f"an object ({kind.__name__})", kind.from_body, kind.to_body)
