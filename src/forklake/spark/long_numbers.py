"""Numbers in Spark SQL that no BIGINT holds, written so that Spark compares them as values.

Spark takes `l < 9223372036854775808` for TRUE, of a NULL too, if `l` is a column of integers and
the number a literal. A cast of a text is not folded before types are known, and compares right.
"""

from __future__ import annotations

import re

_MOST = 2**63 - 1
_DIGITS = 38
_TOKEN = re.compile(
    r"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*`  # what only looks like a number
    | --[^\n]* | /\*.*?\*/
    | (?<![\w.])(?P<number>\d+(?:\.\d*)?)(?:BD)?(?![\w.])""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_LONG = re.compile(r"\d{19}")


def cast_long_numbers(text: str) -> str:
    """Return an expression or a query of Spark with each literal beyond BIGINT as a cast."""
    return _TOKEN.sub(_cast, text) if _LONG.search(text) else text


def _cast(found: re.Match[str]) -> str:
    whole, _, fraction = (found["number"] or "").partition(".")
    digits = len(whole.lstrip("0")) + len(fraction)
    if not whole or int(whole) < _MOST or digits > _DIGITS:
        return found[0]
    if int(whole) == _MOST and not fraction.strip("0"):
        return found[0]
    return f"CAST('{found['number']}' AS DECIMAL({digits}, {len(fraction)}))"
