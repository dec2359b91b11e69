"""Translations of DuckDB arithmetic, and of functions for numbers and values of any type."""

from __future__ import annotations

from forklake.sql.translate.templates import ByType, Template, by_type

ALIASES = {
    "ceiling": "ceil",
    "power": "pow",
    "log10": "log",
    "ifnull": "coalesce",
    "mod": "%",
    "divide": "//",
    "add": "+",
    "subtract": "-",
    "random": "rand",
}

_WHOLE_QUOTIENT = "(_0 div nullif(_1, 0))"
_HUGE = "cast(_0 as decimal(38, 0)), cast(_1 as decimal(38, 0))"


def _build_shift_templates(method: str) -> ByType:
    """Return a shift of as many bits as the wider of both types has."""
    widths = (
        *(("bigint, integer", "bigint", 64), ("integer, bigint", "bigint", 64)),
        *(("int, integer", "int", 32), ("integer, int", "int", 32)),
        *(("smallint, integer", "smallint", 16), ("integer, smallint", "smallint", 16)),
        ("integer, integer", "tinyint", 8),
    )
    return by_type(
        *(
            (kinds, f"cast({method}(cast(_0 as bigint), cast(_1 as bigint), {bits}) as {kind})")
            for kinds, kind, bits in widths
        )
    )


NUMBERS: dict[str, Template | tuple[Template, ...]] = {
    "/": by_type(
        ("interval, number", "_0 / _1"),
        ("number, number", "java_divide(cast(_0 as double), cast(_1 as double))"),
    ),
    "//": by_type(
        ("bigint, integer", _WHOLE_QUOTIENT),
        ("integer, bigint", _WHOLE_QUOTIENT),
        ("int, integer", f"cast({_WHOLE_QUOTIENT} as int)"),
        ("integer, int", f"cast({_WHOLE_QUOTIENT} as int)"),
        ("smallint, integer", f"cast({_WHOLE_QUOTIENT} as smallint)"),
        ("integer, smallint", f"cast({_WHOLE_QUOTIENT} as smallint)"),
        ("integer, integer", f"cast({_WHOLE_QUOTIENT} as tinyint)"),
        ("integer|huge, integer|huge", f"java_quotient({_HUGE})"),
        ("number, number", "cast(_0 as double) / nullif(cast(_1 as double), 0D)"),
    ),
    "unary -": by_type(("decimal", "java_negate(_0)"), ("any", "-_0")),
    "%": by_type(
        ("integer, integer", "_0 % nullif(_1, 0)"),
        ("integer|huge, integer|huge", "cast(_0 % nullif(_1, 0) as decimal(38, 0))"),
        ("float, number", "java_remainder(cast(_0 as double), cast(_1 as double))"),
        ("number, float", "java_remainder(cast(_0 as double), cast(_1 as double))"),
        ("number, number", "_0 % nullif(_1, 0)"),
    ),
    "abs": by_type(("decimal", "java_absolute(_0)"), ("number", "abs(_0)")),
    "ceil": by_type(
        ("integer|huge", "cast(_0 as double)"),
        ("decimal", "ceil(_0)"),
        ("float", "java_ceil(cast(_0 as double))"),
    ),
    "floor": by_type(
        ("integer|huge", "cast(_0 as double)"),
        ("decimal", "floor(_0)"),
        ("float", "java_floor(cast(_0 as double))"),
    ),
    "round": by_type(
        ("integer", "cast(_0 as {0})"),
        ("decimal", "round(_0)"),
        ("float", "java_round(cast(_0 as double), 0)"),
        ("integer, integer", "round(_0, _1)"),
        ("decimal, integer", "round(_0, _1)"),
        ("single, integer", "cast(java_round(cast(_0 as double), cast(_1 as int)) as float)"),
        ("float, integer", "java_round(cast(_0 as double), cast(_1 as int))"),
    ),
    "trunc": by_type(
        ("integer", "cast(_0 as {0})"),
        ("decimal", "if(_0 < 0, ceil(_0), floor(_0))"),
        ("float", "java_trunc(cast(_0 as double))"),
    ),
    "sign": by_type(
        ("float", "cast(if(isnan(_0), 0D, sign(_0)) as tinyint)"),
        ("number", "cast(sign(_0) as tinyint)"),
    ),
    "sqrt": by_type(("number", "java_sqrt(cast(_0 as double))")),
    "cbrt": "cbrt(cast(_0 as double))",
    "exp": "exp(cast(_0 as double))",
    "check statistic": by_type(("double", "java_statistic(_0)")),
    "ln": by_type(("number", "java_ln(cast(_0 as double))")),
    "log": by_type(
        ("number", "java_log10(cast(_0 as double))"),
        ("number, number", "java_log(cast(_0 as double), cast(_1 as double))"),
    ),
    "log2": by_type(("number", "java_log2(cast(_0 as double))")),
    "pow": by_type(("number, number", "java_pow(cast(_0 as double), cast(_1 as double))")),
    "pi": "pi()",
    **{
        name: by_type(("number", f"java_{name}(cast(_0 as double))"))
        for name in ("sin", "cos", "tan", "cot", "asin", "acos")
    },
    "atan": "atan(_0)",
    "atan2": by_type(("number, number", "java_atan2(cast(_0 as double), cast(_1 as double))")),
    "sinh": "sinh(_0)",
    "cosh": "cosh(_0)",
    "tanh": "tanh(_0)",
    "degrees": "degrees(_0)",
    "radians": "radians(_0)",
    "gcd": by_type(("integer, integer", "java_gcd(cast(_0 as bigint), cast(_1 as bigint))")),
    "lcm": by_type(("integer, integer", "java_lcm(cast(_0 as bigint), cast(_1 as bigint))")),
    "factorial": by_type(("integer", "java_factorial(cast(_0 as bigint))")),
    "even": by_type(("number", "java_even(cast(_0 as double))")),
    "isnan": by_type(("number", "cast(_0 as double) = double('NaN')")),
    "isinf": by_type(("number", "abs(cast(_0 as double)) = double('Infinity')")),
    "isfinite": by_type(
        ("number", "not isnan(_0) and abs(cast(_0 as double)) <> double('Infinity')")
    ),
    "&": by_type(
        ("integer, integer", "_0 & _1"), ("integer|huge, integer|huge", f"java_and({_HUGE})")
    ),
    "|": by_type(
        ("integer, integer", "_0 | _1"), ("integer|huge, integer|huge", f"java_or({_HUGE})")
    ),
    "xor": by_type(
        ("integer, integer", "_0 ^ _1"),
        ("integer|huge, integer|huge", f"java_exclusiveOr({_HUGE})"),
    ),
    "~": by_type(("integer", "~_0"), ("ubigint", "java_unsignedNot(_0)"), ("huge", "java_not(_0)")),
    "<<": _build_shift_templates("java_shiftLeft"),
    ">>": _build_shift_templates("java_shiftRight"),
    "bit_count": by_type(  # counts the bits of the type; Spark counts those of 64 bits
        ("tinyint", "cast(bit_count(_0 & 255) as tinyint)"),
        ("smallint", "cast(bit_count(_0 & 65535) as tinyint)"),
        ("int", "cast(bit_count(_0 & 4294967295L) as tinyint)"),
        ("bigint", "cast(bit_count(_0) as tinyint)"),
        ("huge", "cast(java_bitCount(_0) as tinyint)"),
    ),
    "greatest": "greatest(_all)",
    "least": "least(_all)",
    "coalesce": "coalesce(_all)",
    "nullif": "nullif(_0, _1)",
    "if": "if(_0, _1, _2)",
    "rand": "rand()",
    "error": "raise_error(_0)",
}
