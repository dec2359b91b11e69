"""Writer of a snapshot: the rows of a commit, given everything that was read under the lock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from forklake.model.changes import Change, format_changes
from forklake.model.delta_tables import FaceCommit
from forklake.model.entities import DeltaAction, DeltaVersion, Option, Row
from forklake.model.ids import TableId
from forklake.model.kinds import ALL_CONTENT, BENEATH_TABLE, KIND_OF
from forklake.model.plan import CommitPlan
from forklake.model.snapshots import Head
from forklake.store.adoption import merge_insert
from forklake.store.delta_tables import following_version
from forklake.store.heads import following, snapshot_insert, versions_insert
from forklake.store.idempotency import key_insert
from forklake.store.operations import Allocation, Insert, Operation
from forklake.store.row_writer import Ledger
from forklake.store.schema.catalog_tables import SNAPSHOT_CHANGES
from forklake.store.table_writer import TableWriting

_CHANGES_COLUMNS = SNAPSHOT_CHANGES.column_names


@dataclass(slots=True, kw_only=True)
class Writing:
    """Writer of one snapshot: of one plan, or of several that are its parts."""

    plan: CommitPlan  # the first part
    head: Head  # before the snapshot
    ledger: Ledger
    tables: TableWriting
    _first: Allocation = field(init=False)
    _defines: bool = False
    _changes: set[Change] = field(default_factory=set)
    _told: dict[TableId, FaceCommit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._first = self.ledger.allocation

    @property
    def new_head(self) -> Head:
        """Head after the parts so far."""
        return following(self.head, self._first, changed=self._defines)

    def part(self, plan: CommitPlan, allocation: Allocation) -> Iterator[Operation]:
        """Yield the operations of one plan, whose ids were allocated for it."""
        self.ledger.allocation = allocation
        self._defines |= plan.changes_definitions
        self._changes.update(self._final(change) for change in plan.changes)
        if plan.changes_definitions:
            yield from self._definitions(plan)
        yield from self._grouped(plan.children)
        for local_id, work in plan.tables.items():
            yield from self.tables.operations(local_id, work)
        self._told |= {self.ledger.entity(number): told for number, told in plan.faces.items()}
        yield from self._grouped(list(self._actions(plan)))

    def closing(self) -> Iterator[Operation]:
        """Yield the operations that complete the snapshot, except for moving the head."""
        yield snapshot_insert(self.ledger.allocation, self.new_head)
        yield self._changes_insert()
        if self.plan.info.idempotency_key is not None:
            yield key_insert(self.plan.catalog_id, self.plan.key, self.new_head)
        yield from self.tables.closing()
        yield from self._grouped(list(self._versions()))
        if self.plan.merge is not None:
            catalog_id, moved = self.plan.catalog_id, self.tables.moved
            yield merge_insert(catalog_id, self.ledger.snapshot, self.plan.merge, moved)
        yield from self.ledger.tombstones()

    def _changes_insert(self) -> Insert:
        info = self.plan.info
        row = (
            self.plan.catalog_id,
            self.ledger.snapshot,
            format_changes(self._changes),
            info.author,
            info.message,
            info.extra_info,
            self.plan.key,
        )
        return Insert("ducklake_snapshot_changes", _CHANGES_COLUMNS, [row])

    def _final(self, change: Change) -> Change:
        if change.object_id is None or change.object_id >= 0:
            return change
        return replace(change, object_id=self.ledger.entity(change.object_id))

    def _definitions(self, plan: CommitPlan) -> Iterator[Operation]:
        yield versions_insert([plan.catalog_id], self.new_head)
        yield from self.ledger.end(plan.ended_rows)
        # Concurrent transactions may set an option for the first time: the last one wins.
        options = [row for row in plan.new_rows if isinstance(row, Option)]
        yield from self.ledger.supersede(options)
        for table_id in plan.dropped_tables:
            yield from self.tables.empty(table_id, BENEATH_TABLE, ALL_CONTENT)
        yield from self._grouped(plan.new_rows)

    def _actions(self, plan: CommitPlan) -> Iterator[Row]:
        """Yield the Delta actions of a plan."""
        for number, told in plan.faces.items():
            table_id: TableId = self.ledger.entity(number)
            version, _ = self._version(table_id, told)
            for kind, key, body in told.actions:
                yield DeltaAction(table_id=table_id, version=version, kind=kind, key=key, body=body)

    def _versions(self) -> Iterator[Row]:
        """Yield the next version of each Delta table, which is cached as its newest."""
        key = self.plan.key
        for table_id, told in self._told.items():
            version, time = self._version(table_id, told)
            row = DeltaVersion(
                table_id=table_id,
                version=version,
                timestamp=time,
                operation=told.operation,
                transaction_id=key,
                group_id=key if len(self._told) > 1 else None,
            )
            self.tables.known.versions[table_id] = [row]
            yield row

    def _version(self, table_id: TableId, told: FaceCommit) -> tuple[int, int]:
        newest = self.tables.known.versions.get(table_id, [])
        return following_version(told, newest, self.new_head.snapshot_time)

    def _grouped(self, rows: list[Any]) -> Iterator[Operation]:
        """Yield an insert for each class of rows."""
        by_class: dict[type[Any], list[Any]] = {}
        for row in rows:
            by_class.setdefault(type(row), []).append(row)
        for row_class, members in by_class.items():
            kind = KIND_OF.get(row_class)
            name, columns = (
                (kind.name, kind.columns) if kind else (row_class.NAME, row_class.columns())
            )
            yield self.ledger.insert(name, columns, members)
