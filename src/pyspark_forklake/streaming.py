"""Streams that read tables.

An offset is a snapshot: all changes up to it have been read. A stream begins with the whole table,
or with the changes of a snapshot, and then reads the changes of later snapshots.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from forklake.engines.local.arrow_plan import Changes, Planner
from forklake.engines.local.feed import COLUMNS, read_changes, read_rows
from forklake.errors import InvalidInput, NotFound
from forklake.model.entities import Table
from forklake.model.fields import Field
from forklake.model.ids import SnapshotId
from forklake.model.kinds import TABLE
from forklake.session.places import Place, When, number, switch
from pyspark_forklake.datasource import ReadPart, exactly, shown_fields

if TYPE_CHECKING:
    from forklake.catalog.catalog import Catalog

_LATEST = "latest"
_WHOLE = -1  # smaller than all snapshots: the stream begins with the whole table
# Seconds after which an offset moves on although the table did not change, so that its snapshot
# does not expire.
_REST = 3600.0

Offset = dict[str, int]


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reader of rows inserted into a table, or with `readChangeFeed` of all its changes.

    Options: `startingVersion` (a snapshot, whose changes come first, or `latest`),
    `maxSnapshotsPerTrigger`, `ignoreDeletes` and `ignoreChanges`.
    """

    def __init__(
        self, place: Place, when: When, schema: StructType, options: Mapping[str, str]
    ) -> None:
        known = {key.lower(): value for key, value in options.items()}
        self._place = place
        self._when = when
        self._schema = schema
        self._is_feed = switch("readChangeFeed", known.get("readchangefeed"))
        self._ignores_changes = switch("ignoreChanges", known.get("ignorechanges"))
        self._ignores_deletes = self._ignores_changes or switch(
            "ignoreDeletes", known.get("ignoredeletes")
        )
        most = known.get("maxsnapshotspertrigger")
        self._most = None if most is None else number("maxSnapshotsPerTrigger", most, 1)
        self._starting = known.get("startingversion")
        self._target: int | None = None
        self._rests_at_start = False
        self._moved = time.monotonic()
        self._looked_at: tuple[int, int] | None = None

    # The table

    @cached_property
    def _opened(self) -> _OpenTable:
        return _OpenTable(self._place, self._when, self._columns)

    @property
    def _columns(self) -> StructType:
        """Columns of the table itself."""
        count = len(self._schema) - (len(COLUMNS) if self._is_feed else 0)
        return StructType(self._schema.fields[:count])

    def stop(self) -> None:
        """Close the metastore."""
        if "_opened" in self.__dict__:
            self._opened.close()

    # Offsets

    def initialOffset(self) -> Offset:  # noqa: N802
        return self._opened.offset(self._first())

    def _first(self) -> int:
        """Return the snapshot after which the stream begins."""
        if self._starting is None:
            return _WHOLE
        head = self._opened.catalog.current_snapshot()
        if self._starting.lower() == _LATEST:
            # Recorded as an offset: after a crash, the latest snapshot would be another one.
            self._rests_at_start = True
            return head
        version = number("startingVersion", self._starting, 1)
        if version > head:
            raise NotFound(
                f"Snapshot {version}, at which the stream should start, does not exist.",
                remedy=f"Set startingVersion to at most {head}, the newest snapshot.",
            )
        return version - 1

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Limit the stream to the snapshots that exist now."""
        self._target = self._opened.catalog.current_snapshot()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadAllAvailable()

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        """Return the end of the next batch; the start itself if there is nothing new."""
        opened = self._opened
        begin = opened.snapshot(start)
        if self._rests_at_start:
            self._rests_at_start = False
            return start
        head = opened.head_of_same_table()
        last = head if self._target is None else min(head, self._target)
        if begin >= last:
            return start
        if begin == _WHOLE:
            return opened.offset(last)
        if self._looked_at == (begin, last) and not self._is_due:
            return start
        touched = opened.changes(begin, last).touched
        if self._most is not None and len(touched) > self._most:
            return self._move_to(touched[self._most - 1])
        if touched or self._is_due:
            return self._move_to(last)
        self._looked_at = begin, last
        return start

    @property
    def _is_due(self) -> bool:
        """Whether to move the offset although there is nothing to read."""
        return self._target is not None or time.monotonic() - self._moved > _REST

    def _move_to(self, snapshot: int) -> Offset:
        self._moved = time.monotonic()
        return self._opened.offset(snapshot)

    # Rows

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        opened = self._opened
        first, last = opened.snapshot(start), opened.snapshot(end)
        if first >= last:
            return []
        if first == _WHOLE:
            parts = opened.planner(last).whole_table()
        elif self._is_feed:
            parts = opened.planner(last).changed_rows(opened.changes(first, last))
        else:
            changes = opened.changes(first, last)
            self._require_appends(changes)
            parts = opened.planner(last).inserted_rows(changes)
        return [ReadPart(part) for part in parts]

    def _require_appends(self, changes: Changes) -> None:
        deletes = changes.deleting
        if self._ignores_deletes:
            deletes &= frozenset() if self._ignores_changes else changes.inserting
        if deletes:
            option = "ignoreChanges" if self._ignores_deletes else "ignoreDeletes or ignoreChanges"
            raise InvalidInput(
                f"Snapshot {min(deletes)} deleted or updated rows of table"
                f" '{self._place.table}'. A stream of inserted rows cannot show that.",
                remedy=f"Set the option {option}, or readChangeFeed to see all changes.",
            )

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, ReadPart)
        rows = read_changes if self._is_feed else read_rows
        return exactly(rows(partition.part), self._schema)


class _OpenTable:
    """Table that a stream reads, open in the process that plans, as long as the stream runs."""

    def __init__(self, place: Place, when: When, columns: StructType) -> None:
        self._life = ExitStack()
        session, name = self._life.enter_context(place.opened(when))
        self.catalog: Catalog = name.attachment.catalog
        seen = when.seen(self.catalog)
        self.pinned = seen.snapshot_id
        self._name = str(name)
        self._table: Table = session.find_table(seen, name)
        self._all_fields = seen.state.fields(self._table)
        self._fields: tuple[Field, ...] = shown_fields(self._all_fields, columns, name.table)

    def close(self) -> None:
        """Close the metastore."""
        self._life.close()

    def offset(self, snapshot: int) -> Offset:
        """Return the offset of a snapshot."""
        return {"snapshot": int(snapshot), "table": int(self._table.table_id)}

    def snapshot(self, offset: Offset) -> int:
        """Return the snapshot of an offset; raise InvalidInput if it belongs to another table."""
        if offset["table"] != self._table.table_id:
            raise InvalidInput(
                f"The checkpoint belongs to a former table with the name '{self._name}'.",
                remedy="Start the stream with a new checkpoint.",
            )
        return offset["snapshot"]

    def head_of_same_table(self) -> SnapshotId:
        """Return the newest snapshot; raise if the table was dropped or its columns changed."""
        state = self.catalog.refresh()
        table = state.get(TABLE, (self._table.table_id,))
        if not isinstance(table, Table):
            raise NotFound(
                f"Table '{self._name}' was dropped while a stream was reading it.",
                remedy="Stop the stream.",
            )
        if state.fields(table) != self._all_fields:
            raise InvalidInput(
                f"The columns of table '{self._name}' have changed since the stream started.",
                remedy="Restart the stream: it continues from its checkpoint.",
            )
        return state.snapshot_id

    def changes(self, after: int, last: int) -> Changes:
        """Return the changes after a snapshot, up to and including another one."""
        try:
            if after:  # there is nothing before the first snapshot
                self.catalog.at(version=after)
            seen = self.catalog.at(version=max(last, self.pinned))
        except NotFound:
            raise NotFound(
                f"Snapshot {after} of '{self._name}', at which the stream continues, has expired:"
                " the changes since then are incomplete.",
                remedy="Start the stream with a new checkpoint.",
            ) from None
        found = self.catalog.table_changes(seen, self._table, after + 1)
        return Changes(found, after, last)

    def planner(self, snapshot: int) -> Planner:
        """Return a planner at a snapshot, for the columns of the stream."""
        return Planner(self.catalog.at(version=snapshot), self._table, self._fields)
