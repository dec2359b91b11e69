"""Fields: the columns of a table as a tree, with their names inside of data files.

The physical name of a field is assigned when it is created and survives renames. No other field
with the same parent ever gets it, even after the field was dropped: all files ever written can be
read together by physical names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from forklake.errors import InvalidInput
from forklake.model.ids import UNCOMMITTED, ColumnId, SnapshotId

# Internal tags, for facts that must outlive old snapshots. On columns: the physical name if it
# differs from the name, and the type before each promotion (numbered; the tag begins at the
# snapshot of the promotion). On tables: the physical names of dropped columns, the highest column
# id ever used, the sort order of new files, the rules for rows, and why rows cannot be read or
# changed.
_INTERNAL = "_forklake_"
PHYSICAL_NAME = f"{_INTERNAL}physical_name"
TYPE_BEFORE = f"{_INTERNAL}type_before_"
DROPPED_NAMES = f"{_INTERNAL}dropped_names"
HIGHEST_COLUMN = f"{_INTERNAL}highest_column"
SORTED_BY = f"{_INTERNAL}sorted_by"
RULES = f"{_INTERNAL}rules"
UNREADABLE = f"{_INTERNAL}unreadable"
UNWRITABLE = f"{_INTERNAL}unwritable"
# Promotions that the Spark reader does not support: such files are read with the old type.
_READ_APART = frozenset({("int8", "float32"), ("int16", "float32")})


def is_read_apart(before: str, after: str) -> bool:
    """Return whether files of type `before` must be read as such and then cast to `after`."""
    return (before, after) in _READ_APART


def is_internal_tag(key: str) -> bool:
    """Return whether a tag is an internal tag of Forklake."""
    return key.startswith(_INTERNAL)


def checked_tag(key: str) -> str:
    """Return the key of a tag set by a user; raise InvalidInput if it is reserved."""
    if is_internal_tag(key.lower()):
        raise InvalidInput(
            f"The tag {key!r} is reserved: keys cannot begin with {_INTERNAL}.",
            remedy="Choose another key.",
        )
    return key


@dataclass(frozen=True, slots=True)
class Field:
    """One node of the schema of a table.

    `promotions` lists the snapshots that widened its type, with the type before each, oldest
    first; a promotion of the open transaction has the snapshot UNCOMMITTED.
    """

    column_id: ColumnId
    name: str
    physical_name: str
    type: str
    nulls_allowed: bool
    initial_default: str | None
    default_value: str | None
    default_value_type: str | None
    fields: tuple[Field, ...] = ()
    promotions: tuple[tuple[SnapshotId, str], ...] = ()

    def type_in(self, begin_snapshot: SnapshotId) -> str:
        """Return the type of this field in files that began in a snapshot."""
        if begin_snapshot != UNCOMMITTED:
            for promoted, before in self.promotions:
                if promoted == UNCOMMITTED or begin_snapshot < promoted:
                    return before
        return self.type

    def as_stored(self) -> Field:
        """Return the same field, and its subfields, with physical names as names."""
        inside = tuple(part.as_stored() for part in self.fields)
        return replace(self, name=self.physical_name, fields=inside)
