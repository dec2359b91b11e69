"""Queries that a commit sends in the round trip that locks the head.

Each query comes with the function that takes its result. Cached table state is not queried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from forklake.model.changes import Change, parse_changes
from forklake.model.ids import FOREVER, ColumnId, TableId
from forklake.model.kinds import (
    COLUMN_STATISTICS,
    DELTA_VERSION,
    INLINED_TABLE,
    TABLE_STATISTICS,
    Kind,
)
from forklake.model.plan import CommitPlan, Committed, TableWork
from forklake.model.snapshots import Head
from forklake.model.stream_keys import is_covered
from forklake.store.database import Connection, Rows
from forklake.store.expired import expired_since_statement
from forklake.store.heads import as_head, queue_for_head
from forklake.store.idempotency import used_key_statement
from forklake.store.operations import Operation, Statement
from forklake.store.quotas import limit_statement
from forklake.store.rows import Reader, decoded
from forklake.store.table_writer import KnownTables
from forklake.store.visibility import newest_rows

Question = tuple[Operation, Callable[[Rows], None]]
_COMMITS = (
    "SELECT h.snapshot_id, h.changes_made, h.idempotency_key, s.schema_version"
    " FROM ducklake_snapshot_changes h JOIN ducklake_snapshot s"
    " ON s.snapshot_id = h.snapshot_id WHERE h.catalog_id = :catalog"
)


# State of the catalog


@dataclass(slots=True)
class Line:
    """State of a catalog as a commit finds it once it holds the head lock."""

    head: Head | None = None  # None if the catalog was dropped
    since: Rows = field(default_factory=list)  # commits since the transaction began
    with_key: Rows = field(default_factory=list)
    is_outlived: bool = False  # snapshots expired that the conflict check would have to read
    limit: int | None = None  # quota of the catalog in bytes

    def questions(self, connection: Connection, plan: CommitPlan) -> Iterator[Question]:
        """Yield the queries; the first one takes the lock."""
        base = {"catalog": plan.catalog_id}
        yield queue_for_head(connection, plan.catalog_id), self._take_head
        text = f"{_COMMITS} AND h.snapshot_id > :start ORDER BY h.snapshot_id"
        yield Statement(text, base | {"start": plan.start}, True), self.since.extend
        yield expired_since_statement(plan.catalog_id, plan.start), self._take_expired
        yield limit_statement(plan.catalog_id), self._take_limit
        if plan.info.idempotency_key is not None:
            # A key given by the user may have been used by another process, at any time before.
            yield used_key_statement(plan.catalog_id, plan.key), self.with_key.extend

    def _take_head(self, rows: Rows) -> None:
        self.head = as_head(rows)

    def _take_expired(self, rows: Rows) -> None:
        self.is_outlived = bool(rows)

    def _take_limit(self, rows: Rows) -> None:
        self.limit = int(rows[0][0]) if rows else None

    def committed_as(self, key: str) -> Committed | None:
        """Return the earlier commit with this idempotency key, or None."""
        rows = (row for row in self.since + self.with_key if is_covered(key, row[2] or ""))
        return next((Committed(row[0], row[3], was_applied_before=True) for row in rows), None)

    def changes(self) -> list[Change]:
        """Return what other transactions have changed since this one began."""
        return [change for row in self.since for change in parse_changes(row[1])]


# Tables


def table_questions(
    connection: Connection, plan: CommitPlan, known: KnownTables
) -> Iterator[Question]:
    """Yield the queries for table state that a plan needs and `known` lacks."""
    asking = _Asking(connection, plan, known)
    for table_id, work in plan.tables.items():
        if table_id >= 0:
            yield from asking.of_data(table_id, work)
    for table_id in plan.faces.keys() - known.versions.keys():
        if table_id >= 0:
            yield asking.newest(DELTA_VERSION, table_id), partial(asking.take_versions, table_id)
    holding = {
        number for number, work in plan.tables.items() if work.truncates or work.inlined_rows
    }
    for table_id in sorted((holding | set(plan.dropped_tables)) - known.inlined.keys()):
        if table_id >= 0:
            yield asking.inlined(table_id), partial(asking.take_inlined, table_id)


@dataclass(slots=True)
class _Asking:
    connection: Connection
    plan: CommitPlan
    known: KnownTables

    def of_data(self, table_id: TableId, work: TableWork) -> Iterator[Question]:
        if table_id not in self.known.statistics:
            question = self.newest(TABLE_STATISTICS, table_id)
            yield question, partial(self._take_statistics, table_id)
        bounded = {bound.column_id for _, file in work.data_files for bound in file.bounds}
        columns = tuple(sorted(bounded - self.known.bounds.get(table_id, {}).keys()))
        if columns and not work.truncates:
            question = self.newest(COLUMN_STATISTICS, table_id, columns)
            yield question, partial(self._take_bounds, table_id, columns)

    def newest(
        self, kind: Kind, table_id: TableId, keys: tuple[ColumnId, ...] | None = None
    ) -> Statement:
        given = {"catalog": self.plan.catalog_id, "snapshot": FOREVER, "scope": table_id}
        text = newest_rows(kind, self.connection.dialect, keys, inherits=self.plan.inherits)
        return Statement(text, given, is_plain_read=True)

    def inlined(self, table_id: TableId) -> Statement:
        plan = self.plan
        reader = Reader(self.connection, plan.catalog_id, FOREVER, inherits=plan.inherits)
        return reader.statement(INLINED_TABLE, scope=table_id)

    def _take_statistics(self, table_id: TableId, rows: Rows) -> None:
        self.known.statistics[table_id] = next(iter(decoded(TABLE_STATISTICS, rows)), None)

    def _take_bounds(self, table_id: TableId, columns: tuple[ColumnId, ...], rows: Rows) -> None:
        known = self.known.bounds.setdefault(table_id, {})
        known |= dict.fromkeys(columns)
        known |= {row.column_id: row for row in decoded(COLUMN_STATISTICS, rows)}

    def take_versions(self, table_id: TableId, rows: Rows) -> None:
        self.known.versions[table_id] = decoded(DELTA_VERSION, rows)

    def take_inlined(self, table_id: TableId, rows: Rows) -> None:
        self.known.inlined[table_id] = decoded(INLINED_TABLE, rows)
