"""Functions whose meaning depends on the types of their arguments, made known to Spark.

Spark calls the builder of a function when it knows the arguments and their types. Ours, one small
class of Java, takes the first choice that fits and gives its template, filled: an ordinary
expression, which Spark optimises and pushes down like any other.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any
from weakref import WeakSet

from pyspark.sql import SparkSession

from forklake.errors import Unsupported
from forklake.spark.engine.engine import Engine
from forklake.sql.translate.functions import FUNCTIONS
from forklake.sql.translate.templates import ByType

PREFIX = "_duck_"

# What a word in a choice stands for, as a pattern of Spark's names of types.
KINDS = {
    "any": "[^;]*",
    "null": "void",
    "boolean": "boolean",
    "integer": "tinyint|smallint|int|bigint",
    "decimal": r"decimal\(\d+,\d+\)",
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
    "list": "array<[^;]*>",
    "map": "map<[^;]*>",
    "struct": "struct<[^;]*>",
}
KINDS["without fractions"] = r"(?![^;]*(?:decimal|float|double))[^;]*"
KINDS["without integers"] = r"(?![^;]*(?:int\b|string))[^;]*"
KINDS["scalar"] = "(?!array<|map<|struct<)[^;]*"
KINDS["number"] = f"{KINDS['integer']}|{KINDS['decimal']}|{KINDS['float']}"

# Names for functions that are called by signs or several words.
SIGNS = {
    "/": "divide",
    "//": "divide_whole",
    "%": "remainder",
    "-": "subtract",
    "+": "add",
    "||": "join",
    "[]": "element",
    "[:]": "slice",
}

_ready: WeakSet[SparkSession] = WeakSet()


def is_needed(text: str) -> bool:
    """Whether a text in Spark SQL calls such functions."""
    return PREFIX in text


def register(engine: Engine) -> None:
    """Make the functions known to a session, once; Unsupported if it has no Java machine."""
    if engine.spark in _ready:
        return
    if not engine.is_native:
        raise Unsupported(
            "This needs functions inside of Spark's Java machine, which Spark Connect has not.",
            remedy="Write it in Spark SQL with dialect='spark', or run Spark in this process.",
        )
    jvm: Any = engine.spark._jvm
    jvm.forklake.Dispatch.register(engine.spark._jsparkSession, _table())
    _ready.add(engine.spark)


def spark_name(name: str) -> str:
    """Under which name Spark knows a function of DuckDB's."""
    return PREFIX + SIGNS.get(name, name.replace(" ", "_"))


@cache
def _table() -> str:
    """The functions with their choices, as JSON."""
    return json.dumps(
        {
            spark_name(name): [name, *((pattern(types), text) for types, text in entry.choices)]
            for name, entry in FUNCTIONS.items()
            if isinstance(entry, ByType)
        }
    )


def pattern(types: str) -> str:
    """A choice like "list of integer, text|date" as a regular expression over types."""
    return "".join(f"(?:{_pattern(one.strip())});" for one in types.split(","))


def _pattern(words: str) -> str:
    if words.startswith("list of "):
        return f"array<(?:{_pattern(words.removeprefix('list of '))})>"
    return "|".join(KINDS[word] for word in re.split(r"\|", words))
