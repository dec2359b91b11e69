"""Values of inlined rows: their validation, and a lossless encoding for the metastore.

Booleans, bytes and integers up to 64 bits are stored as such, all other scalars as text. A nested
value is JSON: a struct is an object with column ids as keys, so that it survives renamed and added
fields; a list is an array; a map is an array of pairs, because its keys need not be text.

Decoded values are Python objects: `Decimal`, `date`, `datetime` (in UTC for types with a zone),
`bytes`, `str` for uuid and json, and `dict` by field name for a struct. A map is a `dict`, or a
list of pairs if its keys are nested.
"""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time
from decimal import Decimal
from typing import Any

from forklake.errors import InvalidInput
from forklake.model.fields import Field
from forklake.model.types import NESTED
from forklake.model.values import INTEGER_RANGES, from_text, to_text

_FLOATS = {"float32", "float64"}
_TEXTS = {"varchar", "json"}
# Types that `values` has no text for: the accepted Python type, and the decoder of their text.
_PLAIN_TEXTS: dict[str, tuple[type, Callable[[str], Any]]] = {
    "interval": (str, str),
    "timetz": (time, time.fromisoformat),
}
_KEPT_AS_NUMBERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"}
# Not every database stores a NUL in a text: such a text is stored as JSON behind this mark.
_MARK = "\x01"


# Validation


def checked(field: Field, value: Any) -> Any:
    """Return a value converted to the type of the field; nested values become JSON.

    Raises:
        InvalidInput: the value does not fit the type.
    """
    if value is None:
        return None
    if field.type in NESTED:
        return json.dumps(_encoded(field, value), separators=(",", ":"))
    return _scalar(field, value)


def _scalar(field: Field, value: Any) -> Any:
    kind = field.type
    found: Any = None
    if kind in INTEGER_RANGES:
        low, high = INTEGER_RANGES[kind]
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        found = value if is_integer and low <= value <= high else None
    elif kind in _FLOATS:
        found = _float(kind, value)
    elif kind == "blob":
        found = bytes(value) if isinstance(value, bytes | bytearray | memoryview) else None
    elif kind in _TEXTS:
        found = value if isinstance(value, str) and _is_unicode(value) else None
    elif kind in _PLAIN_TEXTS:
        found = value if isinstance(value, _PLAIN_TEXTS[kind][0]) else None
    elif kind.startswith("timestamp"):
        found = _moment(kind, value)
    else:
        text = to_text(kind, value)
        found = None if text is None else from_text(kind, text)
    if found is None:
        raise _misfit(field, value)
    return found


def _float(kind: str, value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        number = float(value)
        return number if kind == "float64" else struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return None


def _moment(kind: str, value: Any) -> datetime | None:
    has_zone = isinstance(value, datetime) and value.tzinfo is not None
    if has_zone != (kind == "timestamptz"):
        return None
    text = to_text(_text_type(kind), value)
    return None if text is None else from_text(_text_type(kind), text)


def _text_type(kind: str) -> str:
    return "timestamp" if kind == "timestamp_ns" else kind


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def _misfit(field: Field, value: Any) -> InvalidInput:
    shown = repr(value)
    return InvalidInput(
        f"The value {shown[:80] + ('…' if len(shown) > 80 else '')} of column '{field.name}' is not"
        f" a value of type {field.type}.",
        remedy="Cast the value to this type first.",
        column=field.name,
    )


def _encoded(field: Field, value: Any) -> Any:
    """Return a value as an object for JSON."""
    if value is None:
        return None
    match field.type:
        case "struct":
            parts = _parts(field, value)
            return {str(int(one.column_id)): _encoded(one, parts[one.name]) for one in field.fields}
        case "list":
            if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
                raise _misfit(field, value)
            return [_encoded(field.fields[0], one) for one in value]
        case "map":
            key, item = field.fields
            return [[_encoded(key, k), _encoded(item, v)] for k, v in _pairs(field, value)]
    scalar = _scalar(field, value)
    if isinstance(scalar, bytes):
        return base64.b64encode(scalar).decode()
    if isinstance(scalar, bool | int | str):
        return scalar
    if isinstance(scalar, float):
        return scalar if math.isfinite(scalar) else repr(scalar)
    return _text(field.type, scalar)


def _text(kind: str, scalar: Any) -> str | None:
    return scalar.isoformat() if kind == "timetz" else to_text(_text_type(kind), scalar)


def _parts(field: Field, value: Any) -> Mapping[str, Any]:
    names = [one.name for one in field.fields]
    if isinstance(value, tuple) and len(value) == len(names):
        return dict(zip(names, value, strict=True))
    if not isinstance(value, Mapping) or not set(value) <= set(names):
        raise _misfit(field, value)
    return {name: value.get(name) for name in names}


def _pairs(field: Field, value: Any) -> list[tuple[Any, Any]]:
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, list | tuple) or any(
        not isinstance(pair, list | tuple) or len(pair) != 2 or pair[0] is None for pair in pairs
    ):
        raise _misfit(field, value)
    return [(key, item) for key, item in pairs]


# Encoding


def to_stored(column_type: str, value: Any) -> Any:
    """Encode a validated value for the metastore."""
    if value is None or column_type in _KEPT_AS_NUMBERS or column_type in NESTED:
        return value
    if isinstance(value, bool | bytes):
        return value
    if column_type in _FLOATS:
        return repr(float(value))
    text = value if isinstance(value, str) else _text(column_type, value)
    if text is not None and ("\0" in text or text.startswith(_MARK)):
        return _MARK + json.dumps(text)
    return text


# Decoding


def shown(field: Field, value: Any) -> Any:
    """Return a validated value in the form for readers: nested ones with field names."""
    if value is None or field.type not in NESTED:
        return value
    return _decoded(field, json.loads(value))


def from_stored(field: Field, stored: Any) -> Any:
    """Decode a stored value to the form for readers."""
    if isinstance(stored, str) and stored.startswith(_MARK):
        return json.loads(stored.removeprefix(_MARK))
    if stored is None or isinstance(stored, bytes):
        return stored
    if field.type in NESTED:
        return _decoded(field, json.loads(stored))
    return _read(field.type, stored)


def initial_value(field: Field) -> Any:
    """Return the value of a column in rows that were written before it existed."""
    if field.initial_default is None or field.type in NESTED:
        return None
    return default_value(field.type, field.initial_default)


def default_value(column_type: str, text: str) -> Any:
    """Return the value of a literal default; raise InvalidInput if it does not fit the type."""
    return from_text(_text_type(column_type), text)


def _decoded(field: Field, stored: Any) -> Any:
    if stored is None:
        return None
    match field.type:
        case "struct":
            return {one.name: _decoded_part(one, stored) for one in field.fields}
        case "list":
            return [_decoded(field.fields[0], one) for one in stored]
        case "map":
            key, item = field.fields
            pairs = [(_decoded(key, k), _decoded(item, v)) for k, v in stored]
            return pairs if key.type in NESTED else dict(pairs)
        case "blob":
            return base64.b64decode(stored)
    return _read(field.type, stored)


def _decoded_part(field: Field, stored: Mapping[str, Any]) -> Any:
    key = str(int(field.column_id))
    return _decoded(field, stored[key]) if key in stored else initial_value(field)


def _read(kind: str, stored: Any) -> Any:
    """Decode a scalar, which may have been stored while the column had a narrower type."""
    if kind in _PLAIN_TEXTS:
        return _PLAIN_TEXTS[kind][1](stored)
    if kind == "boolean":
        return bool(stored)
    if kind in INTEGER_RANGES:
        return int(stored)
    if kind in _FLOATS:
        return float(stored)
    return stored if kind in _TEXTS else from_text(_text_type(kind), str(stored))
