"""Functions that depend on the types of their arguments: pairs of types and templates.

Spark passes the arguments and their types to the class `Dispatch`, which uses the first choice
whose types match.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PREFIX = "_duck_"

# Words of a choice, each with its pattern over names of Spark types.
KINDS = {
    "any": "[^;]*",
    "null": "void",
    "boolean": "boolean",
    "integer": "tinyint|smallint|int|bigint",
    **{name: name for name in ("tinyint", "smallint", "int", "bigint")},
    "huge": r"decimal\([23]\d,0\)",  # an unsigned or a huge integer
    "ubigint": r"decimal\(20,0\)",
    "decimal": r"decimal\(\d+,\d+\)",
    "fraction": r"decimal\((?<digits>\d+),\k<digits>\)",  # no digits before the point
    "float": "float|double",
    "text": "string",
    "single": "float",
    "double": "double",
    "blob": "binary",
    "date": "date",
    "time": r"time\(\d\)",
    "timestamp": "timestamp|timestamp_ntz",
    "timestamp_ntz": "timestamp_ntz",
    "timestamptz": "timestamp",
    "interval": "interval[^;]*",
    "interval of months": "interval (?:year|month)[^;]*",
    "interval of days": "interval (?:day|hour|minute|second)[^;]*",
    "mixed interval": "interval",
    "uuid": "uuid",  # a lake column; Spark itself uses strings
    "list": "array<[^;]*>",
    "map": "map<[^;]*>",
    "struct": "struct<[^;]*>",
}
KINDS["nested"] = f"{KINDS['list']}|{KINDS['map']}|{KINDS['struct']}"
KINDS["without fractions"] = r"(?![^;]*(?:decimal|float|double))[^;]*"
KINDS["without integers"] = r"(?![^;]*(?:int\b|string))[^;]*"
KINDS["scalar"] = "(?!array<|map<|struct<)[^;]*"
KINDS["number"] = f"{KINDS['integer']}|{KINDS['decimal']}|{KINDS['float']}"


@dataclass(frozen=True, slots=True)
class ByType:
    """Choices (types of the arguments, template), of which the first match is used."""

    choices: tuple[tuple[str, str], ...]

    def takes(self, count: int) -> bool:
        """Return whether a choice has `count` arguments."""
        return any(types.count(",") + 1 == count for types, _ in self.choices)


def by_type(*choices: tuple[str, str]) -> ByType:
    """Return choices from pairs such as ("list, integer", template)."""
    return ByType(choices)


def pattern(types: str) -> str:
    """Return the regular expression over types of a choice like "list of integer, text|date"."""
    return "".join(f"(?:{_pattern(one.strip())});" for one in types.split(","))


def _pattern(words: str) -> str:
    if words.startswith("list of "):
        return f"array<(?:{_pattern(words.removeprefix('list of '))})>"
    return "|".join(KINDS[word] for word in re.split(r"\|", words))
