"""Differences from DuckDB listed in docs/sql.md, as patterns for random expressions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.sql.expression_comparison import Difference


@dataclass(frozen=True)
class Documented:
    """A sort of difference, with the sentence of docs/sql.md that describes it."""

    words: str
    sort: str
    expression: str = ""  # a regular expression that the text matches
    shown: str = ""  # one that the shown result matches

    def covers(self, found: Difference) -> bool:
        """Return whether a difference is of this sort."""
        return (
            found.sort == self.sort
            and re.search(self.expression, found.expression.text) is not None
            and re.search(self.shown, found.shown) is not None
        )


_LITERAL = r"(?<![\w.'])\d"
_NULL = r"\bNULL\b"

DOCUMENTED = (
    Documented(
        "FLOAT with whole numbers or decimals is computed as DOUBLE",
        "value",
        r" [-+*/%] | // |mod\(|least\(|greatest\(|coalesce\(|CASE ",
        r"^FLOAT \| DOUBLE",
    ),
    Documented(
        "A literal does not become narrower",
        "no error",
        _LITERAL,
        r"Overflow in (?:\w+ )+(?:of INT(?:8|16|32)\b|\()",
    ),
    Documented("A literal does not become narrower", "value", rf"(?s)bit_count\(.*{_LITERAL}"),
    Documented(
        "FLOAT with whole numbers or decimals is computed as DOUBLE", "type", "", r"FLOAT \| DOUBLE"
    ),
    Documented("NULL does not hide the error", "no answer", _NULL, "overflow|out of range"),
    Documented("Unsigned numbers are checked when", "no error", r"\bu\d", r"Overflow .* of UINT"),
    Documented("`-` and `~` of unsigned numbers", "value", r"^[-~]", r"^U\w+ \|"),
    Documented(
        "HUGEINT holds 38 digits",
        "no answer",
        "hu|u64",
        r"cannot be represented as Decimal\(38, 0\)|sum of decimals|more than 38 digits",
    ),
    Documented("one that does not fit is an error", "no answer", r"sum\(", "(?i)overflow"),
    Documented("`round` of a whole number", "no answer", r"round\(", "Overflow"),
    Documented("Regular expressions are those of RE2/J", "value", r"^regexp_.*'g?i'"),
    Documented("with more than 38 digits are rounded", "value", "hu", r"^DECIMAL\(38"),
    Documented("`corr` of NaN or infinity", "no error", r"corr\(", "STDDEV_POP"),
    Documented("NaN has no sign", "value", shown=r"-nan"),
    Documented("NaN has no sign", "value", "list_distinct", r"nan, nan"),
    Documented(
        "before the year 1 or after 9999",
        "value",
        r"strftime|year|era|century",
        r": Decimal\('-|'0000|BC",
    ),
    Documented("`date_sub` of TIMESTAMPTZ", "value", r"^date_sub\(.*\b(?:tz|ty)\b"),
    Documented(
        "in a list of wider numbers with `IN`", "no error", " IN ", "Unimplemented type for cast"
    ),
    Documented("that `TRY_CAST` makes NULL", "value", r"TRY_CAST\(.*\bIN\b"),
    Documented("divided by a constant `-0.0`", "value", r"/ -0\.0"),
    Documented(
        "the last digit of functions such as",
        "value",
        r"(?:cbrt|exp|ln|log|log2|log10|sin|cos|tan|cot|asin|acos|atan|atan2|sinh|cosh|tanh|pow|power"
        r"|degrees|radians)\(|\^|\*\*|avg|sum|stddev|var",
        r"VARCHAR",
    ),
    Documented(
        "is compared as it is", "no error", r"hu|u64", r"Could not cast value -?\d+ to DECIMAL"
    ),
    Documented("of DECIMAL are DOUBLE", "type", r"^quantile_cont|^percentile_cont|^median"),
    Documented(
        "of DECIMAL are DOUBLE", "value", r"^quantile_cont|^percentile_cont|^median", "^DECIMAL"
    ),
    Documented("NULL without a type", "type", _NULL),
    Documented("Fields of `row(…)`", "type", r"^row\(|^list_zip\("),
    Documented(
        "intervals of months with intervals of days",
        "no answer",
        shown=r"data type mismatch.*INTERVAL",
    ),
    Documented(
        "results that are intervals of months",
        "no answer",
        shown=r"UNSUPPORTED_DATA_TYPE_FOR_ARROW_CONVERSION.*Interval",
    ),
)


def is_documented(found: Difference) -> bool:
    """Return whether docs/sql.md lists a difference."""
    return any(one.covers(found) for one in DOCUMENTED)
