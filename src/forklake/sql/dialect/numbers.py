"""Numbers with an exponent and a sign after it: sqlglot takes `1e3+1` for one number.

`x / 1e3+1` would be x divided by 1001.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

_SUM = re.compile(r"(\d[\d_]*(?:\.\d*)?[eE]\d+|\.\d+[eE]\d+)([+-])\d")
_NUMBER = re.compile(r"\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?")
_SIGNS = {"+": TokenType.PLUS, "-": TokenType.DASH}


def split_exponents(tokens: Sequence[Token], sql: str) -> list[Token]:
    """Return tokens in which every number is one number."""
    result: list[Token] = []
    end = -1  # of the number that was read last
    for token in tokens:
        if token.start <= end:
            continue  # read already, as the exponent of a number behind a sign
        rest: Token | None = token
        while rest is not None and rest.token_type == TokenType.NUMBER:
            parts = _SUM.match(rest.text)
            if parts is None:
                break
            number, sign = parts[1], parts[2]
            sign_offset = rest.start + len(number)
            following = _NUMBER.match(sql, sign_offset + 1)
            assert following is not None
            result.append(_cut_token(rest, number, TokenType.NUMBER, rest.start))
            result.append(_cut_token(rest, sign, _SIGNS[sign], sign_offset))
            end = following.end() - 1
            rest = _cut_token(rest, following[0], TokenType.NUMBER, sign_offset + 1)
        if rest is not None:
            result.append(rest)
    return result


def _cut_token(whole: Token, text: str, kind: TokenType, start: int) -> Token:
    """Return a token of a part of the text; columns are those of last characters."""
    end = start + len(text) - 1
    return Token(kind, text, whole.line, whole.col + end - whole.end, start, end, [])
