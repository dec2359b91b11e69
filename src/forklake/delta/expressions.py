"""Validation of SQL expressions from foreign Delta logs: which ones are safe to evaluate.

Spark evaluates them, and some Spark functions read files, call Java methods or are not
deterministic. So an expression is accepted only if it consists of columns of one row, operators,
and functions of the list below, which only compute.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from forklake.model.names import folded

_FUNCTIONS = frozenset(
    """
    abs acos array array_contains array_distinct array_join array_max array_min array_position
    array_size arrays_overlap ascii asin atan atan2 base64 bigint binary bit_length boolean bround
    btrim cardinality cast cbrt ceil ceiling char char_length character_length chr coalesce concat
    concat_ws contains conv cos cosh crc32 date date_add date_diff date_format date_from_unix_date
    date_sub date_trunc dateadd datediff day dayofmonth dayofweek dayofyear decimal decode degrees
    double element_at elt encode endswith exp expm1 extract factorial filter find_in_set float
    floor forall from_unixtime get_json_object greatest hash hex hour if ifnull ilike initcap
    instr int isnan isnotnull isnull lcase least left length levenshtein ln locate log log10 log1p
    log2 lower lpad ltrim make_date make_timestamp map map_contains_key map_keys map_values md5
    minute mod month named_struct nanvl negative nullif nvl nvl2 octet_length overlay parse_url pi
    pmod position positive pow power quarter radians regexp_count regexp_extract regexp_like
    regexp_replace repeat replace reverse right rint rlike round rpad rtrim second sha sha1 sha2
    shiftleft shiftright sign signum sin sinh size slice smallint sort_array soundex split
    split_part sqrt startswith string struct substr substring substring_index tan tanh timestamp
    timestamp_micros timestamp_millis timestamp_seconds tinyint to_date to_timestamp
    to_unix_timestamp transform translate trim trunc try_add try_cast try_divide try_multiply
    try_subtract ucase unbase64 unhex unix_date unix_micros unix_millis unix_seconds upper weekday
    weekofyear width_bucket xxhash64 year
    """.split()
)
# Words before a parenthesis that are not functions.
_WORDS = frozenset("and or not in between when then else case like is div dec numeric".split())
# Where sqlglot and Spark may disagree about what is a literal or a comment.
_AMBIGUOUS = ("\\", "--", "/*")
_BEYOND_THE_ROW = (exp.Query, exp.Window, exp.Placeholder, exp.Parameter, exp.Star)
_WITHOUT_PARENTHESES = tuple(Spark.parser_class.NO_PAREN_FUNCTIONS.values())


class UnusableExpression(Exception):
    """The reason why an expression is not evaluated."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A safe expression, and the columns that it reads."""

    text: str
    columns: tuple[str, ...]


def require_usable(text: str, columns: Collection[str]) -> Expression:
    """Return the expression if it is safe and reads only `columns`. Raise Unusable otherwise."""
    if any(one in text for one in _AMBIGUOUS):
        raise UnusableExpression("it contains escapes or comments")
    try:
        parsed = sqlglot.parse_one(text, read="spark", into=exp.Condition)
        tokens = Spark().tokenize(text)
    except (SqlglotError, RecursionError):
        raise UnusableExpression("it cannot be parsed") from None
    _refuse_calls(tokens)
    if parsed.find(*_BEYOND_THE_ROW) or parsed.find(*_WITHOUT_PARENTHESES):
        raise UnusableExpression("it reads more than its row")
    known = {folded(name): name for name in columns}
    named = {folded(one.parts[0].name) for one in parsed.find_all(exp.Column)}
    if named - known.keys():
        raise UnusableExpression(f"the column '{min(named - known.keys())}' does not exist")
    return Expression(text, tuple(sorted(known[name] for name in named)))


def _refuse_calls(tokens: list[Token]) -> None:
    """Raise Unusable if a function is not in the list, or is qualified with a schema."""
    before = None
    for token, after in pairwise(tokens):
        is_called = after.token_type is TokenType.L_PAREN and _is_word(token)
        if is_called and token.text.lower() not in _FUNCTIONS | _WORDS:
            raise UnusableExpression(f"the function '{token.text}' is not known to be safe")
        if is_called and before is not None and before.token_type is TokenType.DOT:
            raise UnusableExpression(f"the function '{token.text}' is qualified with a schema")
        before = token


def _is_word(token: Token) -> bool:
    is_name = token.token_type in (TokenType.IDENTIFIER, TokenType.VAR)
    return is_name or token.text[:1].isalnum() or token.text.startswith("_")
