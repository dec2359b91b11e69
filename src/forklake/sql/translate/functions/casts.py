"""Casts that are not Spark's: to text, to bytes, and to integers, which rounds."""

from __future__ import annotations

from forklake.sql.translate.templates import Template, by_type

# The type that Spark holds an integer in, and the highest value of one without a sign.
WHOLE: dict[str, tuple[str, int | None]] = {
    "TINYINT": ("tinyint", None),
    "SMALLINT": ("smallint", None),
    "INT": ("int", None),
    "BIGINT": ("bigint", None),
    "INT128": ("decimal(38, 0)", None),
    "UTINYINT": ("smallint", 2**8 - 1),
    "USMALLINT": ("int", 2**16 - 1),
    "UINT": ("bigint", 2**32 - 1),
    "UBIGINT": ("decimal(20, 0)", 2**64 - 1),
    "UINT128": ("decimal(38, 0)", 10**38 - 1),
}
# Floats are rounded half to even, decimals and texts half away from zero.
_ROUNDED = {
    "float": "rint(cast(_0 as double))",
    "decimal": "round(_0)",
    "text": "round({cast}(_0 as decimal(38, 10)))",
    "integer": "_0",
    "boolean": "cast(_0 as int)",
}

# NULL is left out when lists are put together by a function.
_LISTS = (
    ("list, list", "concat(coalesce(_0, array()), coalesce(_1, array()))"),
    ("list, null", "_0"),
    ("null, list", "_1"),
)
# Moments are rounded to whole seconds or milliseconds.
_MICROS = "unix_micros(cast(cast(_0 as timestamp_ntz) as timestamp)) + {half}"
_MOMENT = f"cast(timestamp_micros({_MICROS} - pmod({_MICROS}, {{size}})) as timestamp_ntz)"


def _whole(spark: str, highest: int | None, cast: str) -> Template:
    def checked(value: str) -> str:
        if highest is None:
            return f"{cast}({value} as {spark})"
        method = "java_tryUnsigned" if cast == "try_cast" else "java_unsigned"
        wide = f"cast({value} as decimal(38, 0))"
        return f"cast({method}({wide}, cast({highest} as decimal(38, 0))) as {spark})"

    return by_type(*((kind, checked(value.format(cast=cast))) for kind, value in _ROUNDED.items()))


CASTS: dict[str, Template | tuple[Template, ...]] = {
    **{f"cast {name.lower()}": _whole(*to, "cast") for name, to in WHOLE.items()},
    **{f"try_cast {name.lower()}": _whole(*to, "try_cast") for name, to in WHOLE.items()},
    # Inside of structs and maps values are cast as Spark does, where it is the same.
    "cast nested": by_type(
        ("without fractions, any", "cast(_0 as {1})"),
        ("any, without integers", "cast(_0 as {1})"),
    ),
    "varchar": by_type(
        ("text", "_0"),
        ("double", "java_doubleText(_0)"),
        ("single", "java_floatText(_0)"),
        ("timestamp_ntz", "java_momentText(_0)"),
        ("timestamptz", "concat(java_momentText(cast(_0 as timestamp_ntz)), '+00')"),
        ("date", "java_dayText(_0)"),
        ("blob", "java_blobText(_0)"),
        ("list", "java_listText(_0, '{0}')"),
        ("struct", "java_structText(_0, '{0}')"),
        ("map", "java_mapText(_0, '{0}')"),
        ("boolean|integer|decimal|time|null", "cast(_0 as string)"),
    ),
    **{
        f"cast timestamp_{unit}": by_type(
            ("text|date|timestamp", _MOMENT.format(size=size, half=size // 2))
        )
        for unit, size in (("s", 1_000_000), ("ms", 1_000))
    },
    "cast blob": by_type(("text", "java_blob(_0)"), ("blob", "_0")),
    "||": by_type(
        ("list, list", "concat(_0, _1)"),
        ("blob, blob", "concat(_0, _1)"),
        ("scalar, scalar", "concat(_duck_varchar(_0), _duck_varchar(_1))"),
    ),
    "concat": by_type(
        *_LISTS, ("scalar, scalar", "concat_ws('', _duck_varchar(_0), _duck_varchar(_1))")
    ),
    "list_concat": by_type(*_LISTS),
}
