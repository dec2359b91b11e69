"""What differs between two catalogs, as values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

LISTED = 20  # rows of a table that are shown if nobody says how many


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row that only one has, or that is another there; rows are JSON. The id is the first's
    for rows that it has, else the second's; None where rows are compared by what they say."""

    did: str
    row_id: int | None
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class TableDifference:
    """What the second catalog has otherwise than the first.

    Args:
        did: `added`, `removed` or `changed`: the table itself.
        columns: what is different about its columns, in words.
        added, removed, changed: how many rows.
    """

    table: str
    did: str
    columns: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    changed: int = 0
    rows: tuple[RowDifference, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is no difference."""
        counts = self.added or self.removed or self.changed
        return self.did == "changed" and not (self.columns or counts)


@dataclass(frozen=True, slots=True)
class Diff:
    """What a second catalog has otherwise than a first one.

    `is_by_row_id`: they are on one line of forks, and rows are told apart by their ids. Otherwise
    they are compared by all columns, and none counts as changed.
    """

    first: str
    second: str
    is_by_row_id: bool
    tables: tuple[TableDifference, ...] = ()
    definitions: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether both are the same."""
        return not (self.tables or self.definitions)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)
