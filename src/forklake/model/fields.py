"""Fields: the columns of a table as a tree, with the names that they have inside data files.

A field's physical name is given when it is created and stays through renames. No other field with
the same parent ever gets it, dropped ones included: all files that were ever written can be read
together by physical names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from forklake.errors import InvalidInput
from forklake.model.ids import UNCOMMITTED, ColumnId, SnapshotId

# Tags that Forklake keeps for itself, since what they tell must outlive old snapshots: on columns
# the physical name where it is not the name, and the type before each promotion (numbered; the
# tag's begin is the promotion's snapshot); on tables the physical names of dropped columns, the
# highest number that a column had, the order of rows in new files, the rules for rows, and why rows
# cannot be read or changed.
_INTERNAL = "_forklake_"
PHYSICAL_NAME = f"{_INTERNAL}physical_name"
TYPE_BEFORE = f"{_INTERNAL}type_before_"
DROPPED_NAMES = f"{_INTERNAL}dropped_names"
HIGHEST_COLUMN = f"{_INTERNAL}highest_column"
SORTED_BY = f"{_INTERNAL}sorted_by"
RULES = f"{_INTERNAL}rules"
UNREADABLE = f"{_INTERNAL}unreadable"
UNWRITABLE = f"{_INTERNAL}unwritable"
# Promotions that Spark's reader does not do by itself: such files are read as what they were.
_READ_APART = frozenset({("int8", "float32"), ("int16", "float32")})


def is_read_apart(before: str, after: str) -> bool:
    """Whether files of one type have to be read with that type, then cast to the other."""
    return (before, after) in _READ_APART


def is_internal_tag(key: str) -> bool:
    """Whether a tag is Forklake's own."""
    return key.startswith(_INTERNAL)


def checked_tag(key: str) -> str:
    """The key of a tag that a user sets."""
    if is_internal_tag(key.lower()):
        raise InvalidInput(
            f"The tag {key!r} is reserved: keys do not begin with {_INTERNAL}.",
            remedy="Choose another key.",
        )
    return key


@dataclass(frozen=True, slots=True)
class Field:
    """One node of a table's schema.

    `promotions` tells at which snapshots its type was widened, and what it was before, oldest
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
        """The type with which files that began in a snapshot were written."""
        if begin_snapshot != UNCOMMITTED:
            for promoted, before in self.promotions:
                if promoted == UNCOMMITTED or begin_snapshot < promoted:
                    return before
        return self.type

    def as_stored(self) -> Field:
        """The same under the names that it has in files."""
        inside = tuple(part.as_stored() for part in self.fields)
        return replace(self, name=self.physical_name, fields=inside)
