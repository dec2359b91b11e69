"""DuckDB's arithmetic, and functions on numbers, on truth and on values of any type."""

from __future__ import annotations

from forklake.sql.translate.templates import Template, by_type

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

NUMBERS: dict[str, Template | tuple[Template, ...]] = {
    "/": by_type(
        ("interval, number", "_0 / _1"),
        ("number, number", "java_divide(cast(_0 as double), cast(_1 as double))"),
    ),
    "//": by_type(
        ("integer, integer", "_0 div nullif(_1, 0)"),
        ("number, number", "java_divide(cast(_0 as double), cast(_1 as double))"),
    ),
    "%": by_type(
        ("float, number", "java_remainder(cast(_0 as double), cast(_1 as double))"),
        ("number, float", "java_remainder(cast(_0 as double), cast(_1 as double))"),
        ("number, number", "_0 % nullif(_1, 0)"),
    ),
    "abs": "abs(_0)",
    "ceil": by_type(
        ("integer", "cast(_0 as {0})"),
        ("decimal", "ceil(_0)"),
        ("float", "java_ceil(cast(_0 as double))"),
    ),
    "floor": by_type(
        ("integer", "cast(_0 as {0})"),
        ("decimal", "floor(_0)"),
        ("float", "java_floor(cast(_0 as double))"),
    ),
    "round": by_type(
        ("integer", "cast(_0 as {0})"),
        ("decimal", "round(_0)"),
        ("float", "java_round(cast(_0 as double), 0)"),
        ("integer, integer", "round(_0, _1)"),
        ("decimal, integer", "round(_0, _1)"),
        ("float, integer", "java_round(cast(_0 as double), cast(_1 as int))"),
    ),
    "trunc": by_type(
        ("integer", "cast(_0 as {0})"),
        ("decimal", "sign(_0) * floor(abs(_0))"),
        ("float", "java_trunc(cast(_0 as double))"),
    ),
    "sign": "cast(sign(_0) as tinyint)",
    "sqrt": "sqrt(cast(_0 as double))",
    "cbrt": "cbrt(cast(_0 as double))",
    "exp": "exp(cast(_0 as double))",
    "ln": "ln(cast(_0 as double))",
    "log": ("log10(cast(_0 as double))", "log(_0, _1)"),
    "log2": "log2(cast(_0 as double))",
    "pow": "power(cast(_0 as double), cast(_1 as double))",
    "pi": "pi()",
    "sin": "sin(_0)",
    "cos": "cos(_0)",
    "tan": "tan(_0)",
    "cot": "cot(_0)",
    "asin": "asin(_0)",
    "acos": "acos(_0)",
    "atan": "atan(_0)",
    "atan2": "atan2(_0, _1)",
    "sinh": "sinh(_0)",
    "cosh": "cosh(_0)",
    "tanh": "tanh(_0)",
    "degrees": "degrees(_0)",
    "radians": "radians(_0)",
    "gcd": by_type(("integer, integer", "java_gcd(cast(_0 as bigint), cast(_1 as bigint))")),
    "lcm": by_type(("integer, integer", "java_lcm(cast(_0 as bigint), cast(_1 as bigint))")),
    "factorial": "cast(factorial(cast(_0 as int)) as decimal(38, 0))",
    "even": by_type(("number", "java_even(cast(_0 as double))")),
    "isnan": by_type(("number", "cast(_0 as double) = double('NaN')")),
    "isinf": by_type(("number", "abs(cast(_0 as double)) = double('Infinity')")),
    "isfinite": by_type(
        ("number", "not isnan(_0) and abs(cast(_0 as double)) <> double('Infinity')")
    ),
    "xor": by_type(("integer, integer", "_0 ^ _1")),
    "bit_count": "cast(bit_count(_0) as tinyint)",
    "greatest": "greatest(_all)",
    "least": "least(_all)",
    "coalesce": "coalesce(_all)",
    "nullif": "nullif(_0, _1)",
    "if": "if(_0, _1, _2)",
    "rand": "rand()",
    "error": "raise_error(_0)",
}
