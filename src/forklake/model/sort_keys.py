"""Sort order of rows in new files of a table: its keys, and the text that stores them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass

from forklake.model.ids import ColumnId


@dataclass(frozen=True, slots=True)
class SortKey:
    """A sort key: a column by its id, so that renaming it changes nothing."""

    column_id: ColumnId
    is_descending: bool = False
    nulls_first: bool = False


def to_text(keys: Iterable[SortKey]) -> str:
    """Encode sort keys as the text that a table stores."""
    return json.dumps([astuple(key) for key in keys])


def from_text(text: str) -> tuple[SortKey, ...]:
    """Decode sort keys from the text that a table stores."""
    return tuple(SortKey(ColumnId(column), *rest) for column, *rest in json.loads(text))
