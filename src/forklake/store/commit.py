"""The commit: one transaction, two round trips.

1. Stand in the catalog's line and lock its head. Then, in statements that begin after the lock and
   so see the previous holder's commit: read what was committed since the transaction began, take
   the ids, read the statistics to add to.
2. Check for conflicts, in Python; always, whatever attempt it is.
3. Write the rows, move the head and commit.

Ids are taken inside the lock: in one catalog their order is the order of commits. Catalogs do not
wait for each other. Only lost connections, deadlocks and serialization failures are tried again;
the key that every snapshot carries tells whether the first try went through after all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from forklake.errors import Conflict, NotFound, Unavailable
from forklake.model.changes import Change, ChangeKind, parse_changes
from forklake.model.conflicts import Finding, Mine, Rule, find_conflicts
from forklake.model.entities import (
    ColumnStatistics,
    DeltaVersion,
    InlinedTable,
    TableStatistics,
)
from forklake.model.ids import FOREVER, SnapshotId, TableId
from forklake.model.kinds import (
    ALL_CONTENT,
    ALL_FILES,
    COLUMN_STATISTICS,
    DATA_FILE,
    DELTA_VERSION,
    INLINED_ROW,
    INLINED_TABLE,
    TABLE_STATISTICS,
)
from forklake.model.plan import CommitPlan, Committed, KnownBounds, TableWork
from forklake.model.snapshots import Head
from forklake.store.appending import append_at_once
from forklake.store.database import Connection, Database, Rows
from forklake.store.expired import expired_since_statement
from forklake.store.heads import as_head, queue_for_head
from forklake.store.ledger import Ledger
from forklake.store.operations import Allocate, Allocation, Operation, Statement
from forklake.store.phases import reached
from forklake.store.rows import Reader, decoded
from forklake.store.table_writing import TableWriting
from forklake.store.visibility import newest_rows
from forklake.store.writing import Writing

_ATTEMPTS = 8
_DROPS = frozenset({ChangeKind.DROPPED_TABLE, ChangeKind.DROPPED_SCHEMA})


def commit(database: Database, plan: CommitPlan) -> Committed:
    """Apply a plan on top of whatever was committed since it was begun, or raise Conflict."""
    try:
        return append_at_once(database, plan) or _attempt(database, plan)
    except Unavailable:
        return _attempt_again(database, plan)


def _attempt(database: Database, plan: CommitPlan) -> Committed:
    reached("commit.begun")
    with database.writing() as connection:
        locked = _lock(connection, plan)
        reached("commit.locked")
        if locked.applied_as is not None:
            return locked.applied_as
        _check(connection, plan, locked)
        reached("commit.checked")
        writing = _writing(connection, plan, locked)
        operations = writing.operations()
        reached("commit.prepared")
        connection.commit(operations)
        reached("commit.committed")
        return Committed(
            writing.new_head.snapshot_id,
            writing.new_head.schema_version,
            tuple(locked.allocation.entity_ids),
            tuple(locked.allocation.file_ids),
            known_bounds=_learnt(plan, locked, writing),
        )


_attempt_again = retry(
    retry=retry_if_exception_type(Unavailable),
    stop=stop_after_attempt(_ATTEMPTS),
    wait=wait_random_exponential(multiplier=0.05, max=2.0),
    reraise=True,
)(_attempt)


@dataclass(frozen=True, slots=True)
class _Since:
    """What was committed since the transaction began."""

    snapshots: tuple[SnapshotId, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class _Locked:
    """What is known once the head is ours."""

    head: Head
    since: _Since
    allocation: Allocation
    statistics: dict[TableId, TableStatistics]
    bounds: dict[TableId, list[ColumnStatistics]]
    inlined_tables: dict[TableId, list[InlinedTable]]
    versions: dict[TableId, list[DeltaVersion]]
    is_outlived: bool = False  # snapshots expired that the transaction should know of
    applied_as: Committed | None = None


def _lock(connection: Connection, plan: CommitPlan) -> _Locked:
    """The first round trip."""
    queue = queue_for_head(connection, plan.catalog_id)
    reads = _reads(connection, plan)
    heads, *answers = connection.run([queue, *(operation for _, _, operation in reads)])
    head = as_head(heads)
    if head is None:
        raise NotFound(
            f"The catalog with id {plan.catalog_id} was dropped.", remedy="Nothing was changed."
        )
    found: dict[str, Rows] = {"since": [], "key": [], "expired": []}
    statistics: dict[TableId, TableStatistics] = {}
    bounds: dict[TableId, list[ColumnStatistics]] = {}
    inlined: dict[TableId, list[InlinedTable]] = {}
    versions: dict[TableId, list[DeltaVersion]] = {}
    for (what, table_id, _), rows in zip(reads, answers, strict=True):
        if what == "statistics":
            statistics.update((table_id, row) for row in decoded(TABLE_STATISTICS, rows))
        elif what == "bounds":
            bounds[table_id] = decoded(COLUMN_STATISTICS, rows)
        elif what == "inlined":
            inlined[table_id] = decoded(INLINED_TABLE, rows)
        elif what == "versions":
            versions[table_id] = decoded(DELTA_VERSION, rows)
        else:
            found[what] = rows
    (allocation,) = found["ids"]
    mine = [row for row in found["since"] + found["key"] if row[2] == plan.key]
    return _Locked(
        head=head,
        since=_Since(
            tuple(row[0] for row in found["since"]),
            tuple(change for row in found["since"] for change in parse_changes(row[1])),
        ),
        allocation=allocation,
        statistics=statistics,
        bounds=bounds,
        inlined_tables=inlined,
        versions=versions,
        is_outlived=bool(found["expired"]),
        applied_as=_applied(mine[0]) if mine else None,
    )


def _learnt(plan: CommitPlan, locked: _Locked, writing: Writing) -> dict[TableId, KnownBounds]:
    """What the next commit may know already."""
    is_alone = locked.head.snapshot_id == plan.start
    return {
        table_id: KnownBounds(writing.new_head.snapshot_id, columns, is_alone)
        for table_id, columns in writing.tables.widened.items()
    }


def _applied(row: Any) -> Committed:
    return Committed(row[0], row[3], was_applied_before=True)


def _writing(connection: Connection, plan: CommitPlan, locked: _Locked) -> Writing:
    ledger = Ledger(plan.catalog_id, plan.inherits, locked.allocation)
    return Writing(
        plan=plan,
        head=locked.head,
        ledger=ledger,
        tables=TableWriting(
            connection=connection,
            ledger=ledger,
            statistics=locked.statistics,
            bounds=locked.bounds,
            inlined_tables=locked.inlined_tables,
        ),
        versions=locked.versions,
    )


Read = tuple[str, TableId, Operation]
_NO_TABLE = TableId(-1)


def _reads(connection: Connection, plan: CommitPlan) -> list[Read]:
    """What to ask once the head is locked, in the same round trip."""
    base = {"catalog": plan.catalog_id}
    chosen = (
        "SELECT h.snapshot_id, h.changes_made, h.idempotency_key, s.schema_version"
        " FROM ducklake_snapshot_changes h JOIN ducklake_snapshot s"
        " ON s.snapshot_id = h.snapshot_id WHERE h.catalog_id = :catalog"
    )
    reads: list[Read] = [
        (
            "since",
            _NO_TABLE,
            Statement(
                f"{chosen} AND h.snapshot_id > :start ORDER BY h.snapshot_id",
                base | {"start": plan.start},
                is_plain_read=True,
            ),
        ),
        ("expired", _NO_TABLE, expired_since_statement(plan.catalog_id, plan.start)),
        ("ids", _NO_TABLE, Allocate(plan.new_entities, plan.new_files)),
    ]
    if plan.info.idempotency_key is not None:
        # A key of the user's own may have been used by another process, any time before.
        text = f"{chosen} AND h.idempotency_key = :key"
        reads.append(("key", _NO_TABLE, Statement(text, base | {"key": plan.key}, True)))
    for table_id, work in plan.tables.items():
        if table_id >= 0:
            reads += _table_reads(connection, plan, table_id, work)
    for table_id in plan.faces:
        if table_id >= 0:
            text = newest_rows(DELTA_VERSION, connection.dialect, None, inherits=plan.inherits)
            given = base | {"snapshot": FOREVER, "scope": table_id}
            reads.append(("versions", table_id, Statement(text, given, is_plain_read=True)))
    reader = Reader(connection, plan.catalog_id, FOREVER, inherits=plan.inherits)
    emptied = {table_id for table_id, work in plan.tables.items() if work.truncates}
    for table_id in sorted(emptied | set(plan.dropped_tables)):
        if table_id >= 0:
            reads.append(("inlined", table_id, reader.statement(INLINED_TABLE, scope=table_id)))
    return reads


def _table_reads(
    connection: Connection, plan: CommitPlan, table_id: TableId, work: TableWork
) -> list[Read]:
    parameters = {"catalog": plan.catalog_id, "snapshot": FOREVER, "scope": table_id}
    dialect = connection.dialect
    text = newest_rows(TABLE_STATISTICS, dialect, None, inherits=plan.inherits)
    reads: list[Read] = [("statistics", table_id, Statement(text, parameters, True))]
    bounded = {bound.column_id for _, file in work.data_files for bound in file.bounds}
    columns = tuple(sorted(bounded))
    if columns and not work.truncates:
        text = newest_rows(COLUMN_STATISTICS, dialect, columns, inherits=plan.inherits)
        reads.append(("bounds", table_id, Statement(text, parameters, True)))
    if work.inlined_rows:
        reader = Reader(connection, plan.catalog_id, FOREVER, inherits=plan.inherits)
        reads.append(("inlined", table_id, reader.statement(INLINED_TABLE, scope=table_id)))
    return reads


def _check(connection: Connection, plan: CommitPlan, locked: _Locked) -> None:
    """Raise Conflict if the plan cannot be added on top of what was committed meanwhile."""
    if locked.is_outlived:
        raise Conflict(
            "Snapshots from after this transaction began have expired: what they changed is not"
            " known any more.",
            remedy="Run the transaction again.",
        )
    since = locked.since
    if not since.changes:
        return
    if plan.ends_rows and any(one.kind is ChangeKind.MATERIALIZED for one in since.changes):
        raise Conflict("The fork was materialised meanwhile.", remedy="Run the transaction again.")
    dropped = {one.object_id for one in since.changes if one.kind in _DROPS}
    if dropped & plan.presumed:
        raise Conflict(
            "What an option was set for was dropped meanwhile.", remedy="Look what is there now."
        )
    mine = Mine(frozenset(plan.changes), plan.schema_names)
    for finding in find_conflicts(mine, since.changes):
        is_certain = finding.rule is Rule.CONFLICT
        if is_certain or _shares_file(connection, plan, finding):
            raise Conflict(
                f"Transaction conflict: this transaction's {_named(plan, finding.mine)} and"
                f" {_named(plan, finding.theirs)}, committed meanwhile, cannot both be.",
                remedy="Run the transaction again.",
                mine=str(finding.mine),
                theirs=str(finding.theirs),
            )


def _named(plan: CommitPlan, change: Change) -> str:
    """A change with the name of what it is about, where that is known."""
    name = plan.name_of(change.object_id) if change.object_id is not None else None
    return str(change) if name is None else f"{change} ({name})"


def _shares_file(connection: Connection, plan: CommitPlan, finding: Finding) -> bool:
    """Whether something else ended rows of the same data files since the transaction began."""
    table_id = TableId(finding.mine.object_id or 0)
    work = plan.tables.get(table_id)
    if work is None or not (work.touched_files or work.ended_rows):
        return False  # emptying a table ends whatever is in it by then
    dialect = connection.dialect
    parameters = {
        "catalog": plan.catalog_id,
        "table": table_id,
        "start": plan.start,
        "files": dialect.array(sorted(work.touched_files)),
        "rows": dialect.array(sorted(row.row_id for row in work.ended_rows)),
    }
    texts = _file_checks(
        dialect.any_of("data_file_id", "files"), dialect.any_of("entity_id", "files")
    )
    texts.append(
        "SELECT 1 FROM ducklake_tombstone WHERE catalog_id = :catalog AND table_id = :table"
        f" AND kind = {INLINED_ROW.code} AND end_snapshot > :start"
        f" AND {dialect.any_of('entity_id', 'rows')}"
    )
    texts += [
        f"SELECT 1 FROM {name} WHERE catalog_id = :catalog AND end_snapshot > :start"
        f" AND {dialect.any_of('row_id', 'rows')}"
        for name in sorted({row.stored_in for row in work.ended_rows})
    ]
    return any(connection.run([Statement(text, parameters) for text in texts]))


def _file_checks(among: str, entity_among: str) -> list[str]:
    mine = "WHERE catalog_id = :catalog AND table_id = :table"
    changed = "(begin_snapshot > :start OR end_snapshot > :start)"
    return [
        f"SELECT 1 FROM ducklake_data_file {mine} AND {among} AND end_snapshot > :start",
        f"SELECT 1 FROM ducklake_delete_file {mine} AND {among} AND {changed}",
        f"SELECT 1 FROM ducklake_inlined_delete {mine} AND {among} AND {changed}",
        f"SELECT 1 FROM ducklake_tombstone {mine} AND end_snapshot > :start AND (kind IN"
        f" ({ALL_FILES}, {ALL_CONTENT}) OR (kind = {DATA_FILE.code} AND {entity_among}))",
    ]
