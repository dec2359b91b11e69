"""Casts with the semantics of DuckDB, by the type of the value: templates of Spark SQL.

`cast` fails on a value that the type does not have, `try_cast` returns NULL. Casts to decimals take
a NULL of the type as their second argument.
"""

from __future__ import annotations

from forklake.engines.spark.choices import ByType, by_type

# The Spark type that holds an integer type, and the maximum of an unsigned one.
WHOLE: dict[str, tuple[str, int | None]] = {
    "TINYINT": ("TINYINT", None),
    "SMALLINT": ("SMALLINT", None),
    "INT": ("INT", None),
    "BIGINT": ("BIGINT", None),
    "INT128": ("DECIMAL(38, 0)", None),
    "UTINYINT": ("SMALLINT", 2**8 - 1),
    "USMALLINT": ("INT", 2**16 - 1),
    "UINT": ("BIGINT", 2**32 - 1),
    "UBIGINT": ("DECIMAL(20, 0)", 2**64 - 1),
    "UINT128": ("DECIMAL(38, 0)", 10**38 - 1),
}
_UNITS = {"timestamp_s": 1_000_000, "timestamp_ms": 1_000}
_SHORT = {"TINYINT", "SMALLINT", "INT"}  # a double represents all of their values exactly


def _whole(word: str, name: str) -> ByType:
    """Return the cast to an integer type.

    Floats are rounded half to even, decimals and strings half away from zero.
    """
    spark, highest = WHOLE[name]
    text = _java(word, "whole" if highest is None else "natural")
    double = "cast(_0 as double)"
    if highest is not None:  # a fraction below zero is not rounded to it
        double = f"if({double} < 0, least({double}, -1D), {double})"
    exact = f"{_java(word, 'wholeDouble')}({double}, '{spark}')"
    values = {
        "text": f"{text}(_0, '{spark}')",
        "float": "rint(cast(_0 as double))" if spark in _SHORT and highest is None else exact,
        "decimal": "round(_0)",
        "integer": "_0",
        "boolean": "cast(_0 as int)",
        "null": "cast(null as int)",
    }
    return by_type(
        *((kind, _cast_template(word, value, spark, highest)) for kind, value in values.items())
    )


def _cast_template(word: str, value: str, spark: str, highest: int | None) -> str:
    if highest is None:
        return f"{word}({value} as {spark})"
    wide = f"cast({value} as decimal(38, 0))"
    unsigned = f"{_java(word, 'unsigned')}({wide}, cast({highest} as decimal(38, 0)))"
    return f"cast({unsigned} as {spark})"


def _java(word: str, method: str) -> str:
    return f"java_try{method[0].upper()}{method[1:]}" if word == "try_cast" else f"java_{method}"


def _others(word: str) -> dict[str, ByType]:
    moment = f"{_java(word, 'moment')}(_0)"
    is_json = "try_parse_json(_0) is not null"
    json = f"if({is_json}, _0, null)" if word == "try_cast" else f"java_json(_0, {is_json})"
    return {
        "float": by_type(
            ("text", f"{_java(word, 'shortFraction')}(_0, 'FLOAT')"),
            ("double", f"{_java(word, 'narrow')}(_0, 'FLOAT')"),
            ("number|boolean|null", "cast(_0 as float)"),
        ),
        "double": by_type(
            ("text", f"{_java(word, 'fraction')}(_0, 'DOUBLE')"),
            ("number|boolean|null", "cast(_0 as double)"),
        ),
        "decimal": by_type(
            ("text, any", f"cast({_java(word, 'fixed')}(_0, '{{1}}') as {{1}})"),
            ("double, any", f"cast({_java(word, 'fixedDouble')}(_0, '{{1}}') as {{1}})"),
            ("single, any", f"cast({_java(word, 'fixedSingle')}(_0, '{{1}}') as {{1}})"),
            ("boolean, any", f"{word}(cast(_0 as int) as {{1}})"),
            ("number|null, any", f"{word}(_0 as {{1}})"),
        ),
        "boolean": by_type(
            ("text", f"{_java(word, 'truth')}(_0, 'BOOLEAN')"),
            ("number", "_0 <> 0"),
            ("boolean|null", "cast(_0 as boolean)"),
        ),
        "date": by_type(
            ("text", f"{_java(word, 'day')}(_0)"),
            ("date|timestamp|null", "cast(_0 as date)"),
        ),
        "timestamp": by_type(
            ("text", moment),
            ("date|timestamp|null", f"{word}(_0 as timestamp_ntz)"),
        ),
        "timestamptz": by_type(
            ("text", f"{_java(word, 'instant')}(_0)"),
            ("date|timestamp|null", f"{word}(_0 as timestamp)"),
        ),
        **{
            unit: by_type(
                ("text", f"java_rounded({moment}, {size}L)"),
                ("date|timestamp", f"java_rounded(cast(_0 as timestamp_ntz), {size}L)"),
                ("null", "cast(_0 as timestamp_ntz)"),
            )
            for unit, size in _UNITS.items()
        },
        "time": by_type(
            ("text", f"cast({_java(word, 'clock')}(_0) as time(6))"),
            ("timestamp_ntz", "make_time(hour(_0), minute(_0), date_part('second', _0))"),
            ("time|null", "cast(_0 as time(6))"),
        ),
        "uuid": by_type(("text", f"{_java(word, 'uuid')}(_0)"), ("null", "cast(_0 as string)")),
        "json": by_type(
            ("text", json),
            ("integer|boolean|null", "cast(_0 as string)"),
        ),
        "blob": by_type(
            ("uuid", "unhex(replace(_0, '-', ''))"),
            ("text", f"{_java(word, 'blob')}(_0)"),
            ("blob|null", "cast(_0 as binary)"),
        ),
    }


_VARCHAR = by_type(
    ("text", "_0"),
    ("double", "java_doubleText(_0)"),
    ("single", "java_floatText(_0)"),
    ("timestamp_ntz", "java_momentText(_0)"),
    ("timestamptz", "concat(java_momentText(_0), '+00')"),
    ("date", "java_dayText(_0)"),
    ("blob", "java_blobText(_0)"),
    ("list", "java_listText(_0, {json 0})"),
    ("struct", "java_structText(_0, {json 0})"),
    ("map", "java_mapText(_0, {json 0})"),
    ("fraction", "concat(if(_0 < 0, '-', ''), substring(cast(abs(_0) as string), 2))"),
    ("boolean|integer|decimal|time|null", "cast(_0 as string)"),
)
CASTS: dict[str, ByType] = {
    **{
        f"{word} {name.lower()}": _whole(word, name)
        for word in ("cast", "try_cast")
        for name in WHOLE
    },
    **{
        f"{word} {name}": entry
        for word in ("cast", "try_cast")
        for name, entry in _others(word).items()
    },
    "varchar": _VARCHAR,
    # A string converted to the type that it is compared with.
    "compared uuid": by_type(("text, uuid", "java_tryUuid(_0)"), ("text, any", "_0")),
}
