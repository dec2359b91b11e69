"""Compaction: move rows to new files, with their row ids and the snapshots that inserted them.

Each batch of files is a separate commit. The old files end and the new files begin in it, so older
snapshots, and forks of them, still read the old files. No lock is held while rows move: a batch is
skipped if a concurrent commit changed one of its files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.engines.interface import DataEngine
from forklake.engines.spark.progress import progress
from forklake.engines.targets import Target
from forklake.errors import Conflict, Corruption, InvalidInput
from forklake.maintenance.file_groups import Batch, FileGroup, batch_groups
from forklake.model.changes import ChangeKind
from forklake.model.entities import Table
from forklake.model.files import NewDataFile
from forklake.model.ids import DataFileId
from forklake.model.kinds import PARTITION, TABLE
from forklake.model.scans import ScanFile
from forklake.model.snapshots import CommitInfo
from forklake.session.attachments import Attachment
from forklake.session.names import split_name
from forklake.session.unit_of_work import UnitOfWork

if TYPE_CHECKING:
    from forklake.session.session import Session

_NO_LIMIT = 2**62
_MOST_JOBS = 32  # at the same time


# Tables


@dataclass(frozen=True)
class CompactionTable:
    """A table at the snapshot from which it is compacted."""

    session: Session
    attachment: Attachment
    seen: SnapshotReads
    table: Table

    @property
    def engine(self) -> DataEngine:
        """The engine that moves the rows."""
        return self.session.engine

    @property
    def target(self) -> Target:
        """The table as target of new files."""
        return Target(self.attachment, self.seen.state, self.table)

    @property
    def file_size(self) -> int:
        """The target size of files in bytes."""
        return self.target.number("target_file_size") or _NO_LIMIT

    @property
    def schema_name(self) -> str:
        """The name of its schema."""
        return self.seen.state.schema_of(self.table).schema_name

    def open_change(self, function: str) -> AbstractContextManager[UnitOfWork]:
        """Return a change based on the snapshot `seen`, which commits at the end of the block."""
        change = UnitOfWork(self.attachment, CommitInfo(message=function), self.seen)
        return self.session.committing(change)

    def partition_values(
        self, files: Sequence[ScanFile]
    ) -> Mapping[DataFileId, tuple[str | None, ...]]:
        """Return the partition values of those files that are partitioned."""
        numbers = [one.file.data_file_id for one in files if one.file.partition_id is not None]
        rows = self.seen.partition_values(self.table, numbers) if numbers else []
        found: dict[DataFileId, tuple[str | None, ...]] = {}
        for row in sorted(rows, key=lambda row: row.partition_key_index):
            found[row.data_file_id] = (*found.get(row.data_file_id, ()), row.partition_value)
        return found


def select_tables(
    session: Session, alias: str, table: str | Sequence[str] | None, schema: str | None
) -> Iterator[CompactionTable]:
    """Yield the selected tables with auto_compact, each read when the caller gets to it."""
    if session.in_transaction:
        raise InvalidInput(
            "Files cannot be compacted inside a transaction: each step is a separate commit.",
            remedy="Run COMMIT or ROLLBACK first.",
        )
    attachment = session.attachment(alias)
    attachment.require_writable()
    for named in _find_tables(attachment, table, schema):
        seen = attachment.catalog.now()
        found = seen.state.get(TABLE, (named.table_id,))
        if isinstance(found, Table):
            selected = CompactionTable(session, attachment, seen, found)
            if selected.target.option("auto_compact") == "true":
                yield selected


def _find_tables(
    attachment: Attachment, table: str | Sequence[str] | None, schema: str | None
) -> list[Table]:
    state = attachment.catalog.now().state
    if table is None:
        return state.tables(schema)
    match split_name(table):
        case (name,):
            return [state.table(name, schema or "main")]
        case (inside, name) if schema is None:
            return [state.table(name, inside)]
    raise InvalidInput(
        f"{table!r} is not a table of the catalog '{attachment.alias}'.",
        remedy="Name it as `table` or `schema.table`.",
    )


# Files


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """Result for one table: files read, written, and skipped because of concurrent commits."""

    schema_name: str
    table_name: str
    files_processed: int
    files_created: int
    files_skipped: int = 0


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction function: which files it chooses, and how its commits are recorded."""

    function: str
    kind: ChangeKind
    choose: Callable[[CompactionTable], list[FileGroup]]
    max_compacted_files: int | None = None

    def run(self, tables: Iterable[CompactionTable]) -> list[CompactionResult]:
        """Compact tables, and return the results of those that had files to compact."""
        started_by_table: list[tuple[CompactionTable, list[Future[_BatchResult]]]] = []
        with _Jobs() as jobs:
            for table in tables:
                started = [
                    jobs.start(table.engine, partial(self._compact_batch, table, batch))
                    for batch in self._plan_batches(table)
                ]
                if started:
                    started_by_table.append((table, started))
            jobs.finish()
        return [
            _summarize(table, [one.result() for one in started])
            for table, started in started_by_table
        ]

    def _plan_batches(self, table: CompactionTable) -> list[Batch]:
        groups = self.choose(table)[: self.max_compacted_files]
        rows = table.seen.state.beneath(PARTITION, table.table.table_id)
        current = rows[0].partition_id if rows else None
        return list(batch_groups(groups, current, table.file_size))

    def _compact_batch(self, table: CompactionTable, batch: Batch) -> _BatchResult:
        files = [file for group in batch for file in group.files]
        try:
            with (
                progress(f"{self.function} of {table.table.table_name}"),
                table.open_change(self.function) as change,
            ):
                new = _move_rows(table, change, batch)
                old = [one.file for one in files]
                change.transaction.compact(table.table, self.kind, files=old, data_files=new)
        except Conflict:
            return _BatchResult(skipped=len(files))
        return _BatchResult(len(files), len(new))


def _move_rows(table: CompactionTable, change: UnitOfWork, batch: Batch) -> list[NewDataFile]:
    """Write the live rows of a batch to new files, and return these."""
    files = [file for group in batch for file in group.files if file.live_rows]
    if not files:
        return []
    partition_id, values = batch[0].partition
    target = table.target
    is_current = (
        target.partitioning is not None and target.partitioning.partition_id == partition_id
    )
    rows = table.engine.tables.scan_to_move(table.seen, table.table, files)
    new = table.engine.writer.write_files(
        change,
        target if is_current else replace(target, is_flat=True),
        rows,
        row_ids=False,
        rows_per_file=max(group.rows_per_file(table.file_size) for group in batch),
    )
    _require_all(files, new, table)
    if is_current:
        return new
    return [replace(one, partition_id=partition_id, partition_values=values) for one in new]


def _require_all(
    files: Sequence[ScanFile], new: Sequence[NewDataFile], table: CompactionTable
) -> None:
    """Raise Corruption if the new files lack rows, so that the batch is not committed."""
    expected, found = sum(one.live_rows for one in files), sum(one.record_count for one in new)
    if found < expected:
        raise Corruption(
            f"Compaction of table '{table.table.table_name}' expected {expected} rows and read"
            f" {found}. Nothing was changed.",
            remedy="Check the data files against their delete files.",
        )


@dataclass(frozen=True, slots=True)
class _BatchResult:
    processed: int = 0
    created: int = 0
    skipped: int = 0


def _summarize(table: CompactionTable, results: Sequence[_BatchResult]) -> CompactionResult:
    return CompactionResult(
        table.schema_name,
        table.table.table_name,
        sum(one.processed for one in results),
        sum(one.created for one in results),
        sum(one.skipped for one in results),
    )


# Jobs


@dataclass
class _Jobs:
    """Runner of concurrent jobs: as many as the engine runs at once, since each has one task."""

    _pool: ThreadPoolExecutor | None = None
    _started: list[Future[_BatchResult]] = field(default_factory=list)

    def start(self, engine: DataEngine, job: Callable[[], _BatchResult]) -> Future[_BatchResult]:
        """Submit a job. It starts when a slot is free."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_count_slots(engine), "forklake-compaction")
        self._started.append(self._pool.submit(job))
        return self._started[-1]

    def finish(self) -> None:
        """Wait for all jobs. If one fails, cancel the waiting ones and raise its error."""
        done, waiting = wait(self._started, return_when=FIRST_EXCEPTION)
        for one in waiting:
            one.cancel()
        for one in done:
            one.result()

    def __enter__(self) -> _Jobs:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _count_slots(engine: DataEngine) -> int:
    return max(1, min(_MOST_JOBS, engine.parallelism))
