"""Schema files as data: the objects that they create, with names and storage parameters.

Opening a metastore for the first time runs a file as it is. Its definitions describe a metastore of
this version, so that one created by an older version can be compared and completed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

_COMMENT = re.compile(r"--.*$", re.MULTILINE)
_CREATE = re.compile(
    r"CREATE (?:UNIQUE )?(SEQUENCE|TABLE|INDEX|VIEW) (?:IF NOT EXISTS )?(\w+)(?: ON (\w+))?"
)
_COLUMN = re.compile(r"^    (?!PRIMARY\b|UNIQUE\b)(\w+) ", re.MULTILINE)
_SETTINGS = re.compile(r"\) WITH \((.*?)\)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Definition:
    """CREATE statement of a schema file."""

    kind: str  # SEQUENCE, TABLE, INDEX or VIEW
    name: str
    table: str | None  # only for an index
    text: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names of a table."""
        body, _, _ = self.text.partition("\n)")  # before settings
        return tuple(_COLUMN.findall(body))

    @property
    def settings(self) -> frozenset[str]:
        """Storage parameters of a table, each as `name=value`."""
        found = _SETTINGS.search(self.text)
        parts = found[1].split(",") if found else []
        return frozenset(re.sub(r"\s", "", part) for part in parts)


def schema_text(name: str) -> str:
    """Return the text of a schema file."""
    return resources.files("forklake.store").joinpath(f"schema/{name}.sql").read_text()


@lru_cache
def definitions(text: str) -> tuple[Definition, ...]:
    """Return the definitions of a schema file, in its order."""
    statements = [one.strip() for one in _COMMENT.sub("", text).split(";")]
    made = ((_CREATE.match(one), one) for one in statements)
    return tuple(Definition(found[1], found[2], found[3], one) for found, one in made if found)
