"""Functions whose translation depends on the types of their arguments, registered in Spark.

Spark calls the builder of a function when the types of its arguments are resolved. Our builder, a
small Java class, takes the first choice that fits and returns its template, filled: an ordinary
expression, which Spark optimizes and pushes down like any other.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from forklake.engines.spark.choices import PREFIX, ByType, pattern
from forklake.sql.translate.functions import FUNCTIONS

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

# Names of operators in names of Spark functions.
OPERATOR_NAMES = {
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

# Functions for nested values, and the Spark functions that do the same for all other values.
_SCALAR_EQUIVALENTS = {
    "order_key": "",
    "aggregate_max": "max",
    "aggregate_min": "min",
    "list_upwards": "sort_array",
    "list_min": "array_min",
    "list_max": "array_max",
}


def is_needed(text: str) -> bool:
    """Return whether a text in Spark SQL calls functions of this module."""
    return PREFIX in text


def remove_typed_functions(text: str) -> str:
    """Return a text without functions that depend on types, for Spark Connect.

    Values that are sorted or compared must not be nested there.
    """
    for name, equivalent in _SCALAR_EQUIVALENTS.items():
        text = text.replace(f"{PREFIX}{name}(", f"{equivalent}(")
    return text


def register_functions(engine: Engine) -> None:
    """Register the functions in a Spark session, once. Raise Unsupported with Spark Connect."""
    engine.queries.define_functions(_functions_as_json())


def spark_name(name: str) -> str:
    """Return the name under which a DuckDB function is registered in Spark."""
    return PREFIX + OPERATOR_NAMES.get(name, name.replace(" ", "_"))


@cache
def _functions_as_json() -> str:
    """Return the functions with their choices as JSON."""
    return json.dumps(
        {
            spark_name(name): [name, *((pattern(types), text) for types, text in entry.choices)]
            for name, entry in FUNCTIONS.items()
            if isinstance(entry, ByType)
        }
    )
