"""The rows that a commit writes, given everything that was read under the lock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from forklake.model.changes import Change, format_changes
from forklake.model.entities import DeltaAction, DeltaVersion, Option, Row
from forklake.model.ids import TableId
from forklake.model.kinds import ALL_CONTENT, BENEATH_TABLE, KIND_OF
from forklake.model.plan import CommitPlan
from forklake.model.snapshots import Head
from forklake.store.faces import following_version
from forklake.store.heads import following, move_head, snapshot_insert, versions_insert
from forklake.store.ledger import Ledger
from forklake.store.operations import Insert, Operation
from forklake.store.table_writing import TableWriting

_CHANGES_COLUMNS = (
    "catalog_id",
    "snapshot_id",
    "changes_made",
    "author",
    "commit_message",
    "commit_extra_info",
    "idempotency_key",
)


@dataclass(slots=True, kw_only=True)
class Writing:
    """One commit being written."""

    plan: CommitPlan
    head: Head
    ledger: Ledger
    tables: TableWriting
    versions: dict[TableId, list[DeltaVersion]]  # the newest of Delta tables, on each line
    new_head: Head = field(init=False)  # after the commit

    def __post_init__(self) -> None:
        changed = self.plan.changes_definitions
        self.new_head = following(self.head, self.ledger.allocation, changed=changed)

    def operations(self) -> list[Operation]:
        """Everything to send, the head last."""
        done: list[Operation] = [
            snapshot_insert(self.ledger.allocation, self.new_head),
            self._changes(),
        ]
        if self.plan.changes_definitions:
            done += self._definitions()
        done += self._grouped(self.plan.children)
        for local_id, work in self.plan.tables.items():
            done += self.tables.operations(local_id, work)
        done += self._grouped(list(self._faces()))
        done += self.ledger.tombstones()
        done.append(move_head(self.plan.catalog_id, self.new_head))
        return done

    def _changes(self) -> Insert:
        info = self.plan.info
        row = (
            self.plan.catalog_id,
            self.ledger.snapshot,
            format_changes(self._final(change) for change in self.plan.changes),
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

    def _definitions(self) -> Iterator[Operation]:
        yield versions_insert([self.plan.catalog_id], self.new_head)
        yield from self.ledger.end(self.plan.ended_rows)
        # Two may set an option for the first time: the last one holds.
        options = [row for row in self.plan.new_rows if isinstance(row, Option)]
        yield from self.ledger.supersede(options)
        for table_id in self.plan.dropped_tables:
            yield from self.tables.empty(table_id, BENEATH_TABLE, ALL_CONTENT)
        yield from self._grouped(self.plan.new_rows)

    def _faces(self) -> Iterator[Row]:
        """The next version of each Delta table, and what it says."""
        group = self.plan.key if len(self.plan.faces) > 1 else None
        for table_id, told in self.plan.faces.items():
            version, time = following_version(
                told, self.versions.get(table_id, []), self.new_head.snapshot_time
            )
            yield DeltaVersion(
                table_id=table_id,
                version=version,
                timestamp=time,
                operation=told.operation,
                transaction_id=self.plan.key,
                group_id=group,
            )
            for kind, key, body in told.actions:
                yield DeltaAction(table_id=table_id, version=version, kind=kind, key=key, body=body)

    def _grouped(self, rows: list[Any]) -> Iterator[Operation]:
        """Rows of several classes, one insert for each."""
        by_class: dict[type[Any], list[Any]] = {}
        for row in rows:
            by_class.setdefault(type(row), []).append(row)
        for row_class, members in by_class.items():
            kind = KIND_OF.get(row_class)
            name, columns = (
                (kind.name, kind.columns) if kind else (row_class.NAME, row_class.columns())
            )
            yield self.ledger.insert(name, columns, members)
