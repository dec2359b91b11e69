"""Numeric literals in Spark SQL beyond BIGINT, rewritten so that Spark compares their values.

Spark evaluates `l < 9223372036854775808` to TRUE, even for NULL, if `l` is an integer column and
the number is a literal. A cast of a string is not folded before types are resolved, and compares
correctly.
"""

from __future__ import annotations

import re

_MOST = 2**63 - 1
_DIGITS = 38
_TOKEN = re.compile(
    r"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*`  # strings and names may contain digits
    | --[^\n]* | /\*.*?\*/
    | (?<![\w.])(?P<number>\d+(?:\.\d*)?)(?:BD)?(?![\w.])""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_LONG = re.compile(r"\d{19}")


def cast_long_numbers(text: str) -> str:
    """Return a Spark expression or query in which each literal beyond BIGINT is a cast."""
    return _TOKEN.sub(_cast, text) if _LONG.search(text) else text


def _cast(found: re.Match[str]) -> str:
    whole, _, fraction = (found["number"] or "").partition(".")
    digits = len(whole.lstrip("0")) + len(fraction)
    if not whole or digits > _DIGITS or int(whole) < _MOST:
        return found[0]
    if int(whole) == _MOST and not fraction.strip("0"):
        return found[0]
    return f"CAST('{found['number']}' AS DECIMAL({digits}, {len(fraction)}))"
