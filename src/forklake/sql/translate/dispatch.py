"""Functions whose meaning depends on the types of their arguments, made known to Spark.

Spark calls the builder of a function when it knows the arguments and their types. Ours, one small
class of Java, takes the first choice that fits and gives its template, filled: an ordinary
expression, which Spark optimises and pushes down like any other.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any
from weakref import WeakSet

from pyspark.sql import SparkSession

from forklake.errors import Unsupported
from forklake.spark.engine.choices import PREFIX, ByType, pattern
from forklake.spark.engine.engine import Engine
from forklake.sql.translate.functions import FUNCTIONS

# Names for functions that are called by signs or several words.
SIGNS = {
    "/": "divide",
    "//": "divide_whole",
    "%": "remainder",
    "-": "subtract",
    "+": "add",
    "unary -": "negate",
    "||": "join",
    "&": "and",
    "|": "or",
    "~": "not",
    "<<": "shift_left",
    ">>": "shift_right",
    "[]": "element",
    "[:]": "slice",
}

# What functions for nested values are of all others.
_OF_SCALARS = {
    "order_key": "",
    "aggregate_max": "max",
    "aggregate_min": "min",
    "list_upwards": "sort_array",
    "list_min": "array_min",
    "list_max": "array_max",
}

_ready: WeakSet[SparkSession] = WeakSet()


def is_needed(text: str) -> bool:
    """Whether a text in Spark SQL calls such functions."""
    return PREFIX in text


def without_types(text: str) -> str:
    """A text for a Spark that cannot choose by types: values that are ordered are not nested."""
    for name, plain in _OF_SCALARS.items():
        text = text.replace(f"{PREFIX}{name}(", f"{plain}(")
    return text


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
