"""Paths of files as Spark takes them."""

from __future__ import annotations

import re

_PATTERN_CHARACTER = re.compile(r"([\[\]{}*?\\])")


def escape_pattern(path: str) -> str:
    r"""Return a path for Spark, escaping the characters `[]{}*?\` of Spark path patterns."""
    return _PATTERN_CHARACTER.sub(r"\\\1", path)
