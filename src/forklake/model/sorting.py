"""The order of rows in new files of a table: its keys, and the text in which a table keeps them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass

from forklake.model.ids import ColumnId


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column by which rows are in order; known by its id, so that a rename changes nothing."""

    column_id: ColumnId
    is_descending: bool = False
    nulls_first: bool = False


def to_text(keys: Iterable[SortKey]) -> str:
    """Keys as a table keeps them."""
    return json.dumps([astuple(key) for key in keys])


def from_text(text: str) -> tuple[SortKey, ...]:
    """The keys that a table keeps."""
    return tuple(SortKey(ColumnId(column), *rest) for column, *rest in json.loads(text))
