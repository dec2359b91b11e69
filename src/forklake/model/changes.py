"""Changes made by a snapshot, and the text that `ducklake_snapshot_changes` stores for them.

The text is a comma-separated list of `kind:object`. Objects that existed before are given by id
(`inserted_into_table:7`), new objects by quoted name (`created_table:"main"."t"`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from forklake.errors import Corruption
from forklake.model.names import quoted


class ChangeKind(Enum):
    """The kinds of change, in the order in which a snapshot lists them."""

    DROPPED_SCHEMA = "dropped_schema"
    DROPPED_TABLE = "dropped_table"
    DROPPED_VIEW = "dropped_view"
    CREATED_SCHEMA = "created_schema"
    ALTERED_SCHEMA = "altered_schema"
    CREATED_TABLE = "created_table"
    CREATED_VIEW = "created_view"
    CREATED_SCALAR_MACRO = "created_scalar_macro"
    CREATED_TABLE_MACRO = "created_table_macro"
    DROPPED_SCALAR_MACRO = "dropped_scalar_macro"
    DROPPED_TABLE_MACRO = "dropped_table_macro"
    INSERTED = "inserted_into_table"
    DELETED = "deleted_from_table"
    ALTERED_TABLE = "altered_table"
    ALTERED_VIEW = "altered_view"
    INLINED_INSERT = "inlined_insert"
    INLINED_DELETE = "inlined_delete"
    FLUSHED = "inline_flush"
    MERGED = "merge_adjacent"
    REWRITTEN = "rewrite_delete"
    FORKED = "forked_from"
    MATERIALIZED = "materialized"
    MERGED_FROM = "merged_from"


# Names that older writers used.
_ALIASES = {
    "flushed_inlined": ChangeKind.FLUSHED,
    "compacted_table": ChangeKind.MERGED,
}
_ORDER = {kind: position for position, kind in enumerate(ChangeKind)}
_KINDS = {kind.value: kind for kind in ChangeKind} | _ALIASES
_ENTRY = re.compile(r'([a-z_]+):(?:(-?\d+)|("(?:[^"]|"")*")(?:\.("(?:[^"]|"")*"))?)(?:,|$)')


@dataclass(frozen=True, slots=True)
class Change:
    """One change: of an existing object by id, or the creation of an object by name.

    `constrains` marks an ALTER that was verified against the existing rows (SET NOT NULL); rows
    added by concurrent commits were not verified. It is used by the commit only and is not stored.
    """

    kind: ChangeKind
    object_id: int | None = None
    name: tuple[str, ...] = ()
    constrains: bool = False

    def __str__(self) -> str:
        subject = str(self.object_id) if not self.name else ".".join(map(quoted, self.name))
        return f"{self.kind.value}:{subject}"


def format_changes(changes: Iterable[Change]) -> str:
    """Return the text of changes, without duplicates, in the order of `ChangeKind`."""
    unique = dict.fromkeys(changes)
    ordered = sorted(unique, key=lambda change: _ORDER[change.kind])
    return ",".join(dict.fromkeys(str(change) for change in ordered))


def parse_changes(text: str | None) -> tuple[Change, ...]:
    """Return the changes listed in a text; raise Corruption if it is not valid."""
    found: list[Change] = []
    position = 0
    while text and position < len(text):
        match = _ENTRY.match(text, position)
        if match is None or match[1] not in _KINDS:
            raise Corruption(
                f"The change list {text!r} cannot be read at position {position}.",
                remedy="The metastore was written by a newer version, or was edited by hand.",
            )
        names = tuple(part[1:-1].replace('""', '"') for part in match.group(3, 4) if part)
        identity = int(match[2]) if match[2] else None
        found.append(Change(_KINDS[match[1]], identity, names))
        position = match.end()
    return tuple(found)
