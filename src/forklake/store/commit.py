"""Commits: one transaction, two round trips each.

1. Queue for the catalog and lock its head. Then, in statements that begin after the lock is held
   and so see the previous holder's commit: read what was committed since the transaction began,
   take the ids, read the statistics to add to.
2. Check for conflicts, in Python, on every attempt.
3. Write the rows, move the head and commit.

Ids are taken while the lock is held: within a catalog their order is the commit order. Commits to
different catalogs do not wait for each other. Only lost connections, deadlocks and serialization
failures are retried; the key stored with every snapshot shows whether an earlier attempt was
committed after all.

A series is many commits in one database transaction. It holds the head lock throughout, so only its
first commit queries the state before it and checks for conflicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from forklake.errors import Conflict, NotFound, Unavailable
from forklake.model.ids import TableId
from forklake.model.plan import CommitPlan, Committed, KnownBounds
from forklake.model.snapshots import Head
from forklake.store.adoption import require_mergeable
from forklake.store.commit_queries import Line, Question, table_questions
from forklake.store.commit_writer import Writing
from forklake.store.conflict_check import require_not_outrun
from forklake.store.database import Connection, Database
from forklake.store.fast_append import append_at_once
from forklake.store.heads import move_head
from forklake.store.id_reserve import Reserve
from forklake.store.operations import Allocation, Insert, Operation, Statement
from forklake.store.phases import reached
from forklake.store.quotas import require_bytes
from forklake.store.row_writer import Ledger
from forklake.store.statement_batches import staged
from forklake.store.table_writer import KnownTables, TableWriting

_ATTEMPTS = 8
MOST_ROWS = 20_000  # rows that a series buffers before it sends them


def commit(database: Database, plan: CommitPlan) -> Committed:
    """Apply a plan on top of the commits since it began, or raise Conflict."""
    with database.committing(plan.catalog_id):
        try:
            return append_at_once(database, plan) or _attempt(database, plan)
        except Unavailable:
            return _attempt_again(database, plan)


def _attempt(database: Database, plan: CommitPlan) -> Committed:
    with series(database) as commits:
        return commits.write(plan)


_attempt_again = retry(
    retry=retry_if_exception_type(Unavailable),
    stop=stop_after_attempt(_ATTEMPTS),
    wait=wait_random_exponential(multiplier=0.05, max=2.0),
    reraise=True,
)(_attempt)


@contextmanager
def series(database: Database) -> Iterator[Series]:
    """Yield a series of commits to one catalog that become visible together, or not at all."""
    reached("commit.begun")
    with database.writing() as connection:
        commits = Series(connection)
        yield commits
        commits.finish()


class Series:
    """Commits of one catalog in one database transaction, each with its own snapshot.

    A plan with `continues` shares its snapshot with the plan that follows it.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known = KnownTables()
        self._ids = Reserve()
        self._head: Head | None = None  # newest complete snapshot; None until the lock is held
        self._open: Writing | None = None  # the snapshot that is not complete
        self._last: CommitPlan | None = None
        self._limit: int | None = None  # quota of the catalog in bytes
        self._waiting: list[Sequence[Operation]] = []  # to be sent
        self._rows = 0  # number of rows in `_waiting`

    @property
    def head(self) -> Head | None:
        """The newest snapshot, complete or not; None before anything is written."""
        return self._open.new_head if self._open else self._head

    def write(self, plan: CommitPlan) -> Committed:
        """Add a commit on top of the others. The first one may raise Conflict."""
        if self._last is None:
            line = Line()
            self._query([*line.questions(self._connection, plan), *self._list_queries(plan)])
            self._head = _require_head(plan, line)
            reached("commit.locked")
            if (applied := line.committed_as(plan.key)) is not None:
                return applied
            self._check(plan, line)
            self._limit = line.limit
            reached("commit.checked")
        else:
            self._query(list(self._list_queries(plan)))
        if self._limit is not None:
            self._send()  # the check counts what this series has written
            require_bytes(self._connection, plan, self._limit)
        return self._write(plan)

    def _write(self, plan: CommitPlan) -> Committed:
        writing, allocation = self._begin(plan)
        operations = list(writing.part(plan, allocation))
        if not plan.continues:
            operations += writing.closing()
            self._head, self._open = writing.new_head, None
        self._last = plan
        self._send_later(operations)
        return Committed(
            writing.new_head.snapshot_id,
            writing.new_head.schema_version,
            tuple(allocation.entity_ids),
            tuple(allocation.file_ids),
            known_bounds={} if plan.continues else _collect_bounds(plan, writing),
        )

    def _begin(self, plan: CommitPlan) -> tuple[Writing, Allocation]:
        """Return the snapshot to which a plan belongs, begun if necessary, and the plan's ids."""
        if self._open is not None:
            return self._open, self._ids.take(plan, self._open.ledger.snapshot)
        assert self._head is not None
        allocation = self._ids.take(plan)
        ledger = Ledger(plan.catalog_id, plan.inherits, allocation)
        tables = TableWriting(connection=self._connection, ledger=ledger, known=self._known)
        self._open = Writing(plan=plan, head=self._head, ledger=ledger, tables=tables)
        return self._open, allocation

    # Queries

    def _list_queries(self, plan: CommitPlan) -> Iterator[Question]:
        """Yield the queries for what a plan needs and the series has not cached."""
        ids = self._ids.missing(plan, begins=self._open is None)
        if ids is not None:
            yield ids, lambda rows: self._ids.put(*rows)
        yield from table_questions(self._connection, plan, self._known)

    def _query(self, questions: Sequence[Question]) -> None:
        if questions:
            if any(isinstance(operation, Statement) for operation, _ in questions):
                self._send()  # the queries must see what this series has written
            answers = self._connection.run([operation for operation, _ in questions])
            for (_, take), rows in zip(questions, answers, strict=True):
                take(rows)

    def _check(self, plan: CommitPlan, line: Line) -> None:
        """Raise Conflict if the plan cannot be added on top of what others have committed."""
        if line.is_outlived:
            raise Conflict(
                "Snapshots that were committed after this transaction began have expired, so it"
                " cannot be checked for conflicts with them.",
                remedy="Run the transaction again.",
            )
        since = line.changes()
        require_not_outrun(self._connection, plan, since)
        require_mergeable(self._connection, plan, since)

    # Sending

    def _send_later(self, operations: Sequence[Operation]) -> None:
        self._waiting.append(operations)
        self._rows += sum(len(one.rows) for one in operations if isinstance(one, Insert))
        if self._rows > MOST_ROWS:
            self._send()

    def _send(self) -> None:
        if self._waiting:
            for stage in staged(self._waiting):
                self._connection.run(stage)
            self._waiting, self._rows = [], 0
            reached("series.sent")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield the connection, which sees all that the series has written."""
        self._send()
        yield self._connection

    def finish(self) -> None:
        """Send what is buffered, move the head and commit, if anything was written."""
        if self._last is None:
            return
        assert self._head is not None
        assert self._open is None, "the last snapshot is not complete"
        *before, last = staged(self._waiting) if self._waiting else [()]
        reached("commit.prepared")
        for stage in before:
            self._connection.run(stage)
        self._connection.commit([*last, move_head(self._last.catalog_id, self._head)])
        reached("commit.committed")


def _require_head(plan: CommitPlan, line: Line) -> Head:
    if line.head is None:
        raise NotFound(
            f"The catalog with id {plan.catalog_id} was dropped. Nothing was changed.",
            remedy="List the catalogs and run the transaction on another one.",
        )
    return line.head


def _collect_bounds(plan: CommitPlan, writing: Writing) -> dict[TableId, KnownBounds]:
    """Return column bounds for the next commit, which need not query them again."""
    is_alone = writing.head.snapshot_id == plan.start
    return {
        table_id: KnownBounds(writing.new_head.snapshot_id, columns, is_alone)
        for table_id, columns in writing.tables.widened.items()
    }
