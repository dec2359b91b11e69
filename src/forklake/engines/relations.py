"""Rows and expressions of a data engine, as far as code above engines handles them.

Both belong to the engine that made them: to all other code they are handles without attributes.
"""

from __future__ import annotations

from typing import Any

# Rows, such as a DataFrame of Spark. `Any`, because each engine has a type of its own.
Relation = Any
# An SQL text, or an expression object of the engine, such as a Column of Spark.
Expression = Any
