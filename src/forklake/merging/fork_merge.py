"""Fork merge: apply the changes of a source catalog to a target catalog as one snapshot.

A fork is merged into its parent, or a parent into its fork to bring the fork up to date. A merge is
an ordinary transaction of the target: if it conflicts with a concurrent commit, it starts over.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from forklake.catalog.metastore import Metastore
from forklake.errors import Conflict, InvalidInput, NotFound
from forklake.merging.definitions import DefinitionComparison, DefinitionMerge
from forklake.merging.refusals import merge_conflict
from forklake.merging.sides import Side, read_sides
from forklake.merging.table_merge import NewTable, SharedTable, qualified_name
from forklake.merging.tables import TableSide, TableSides
from forklake.model.entities import Table
from forklake.model.ids import TableId
from forklake.model.kinds import TABLE
from forklake.model.merge_outcomes import DefinitionConflict, Merged, TableMerge
from forklake.model.merges import MergeNote
from forklake.model.names import folded
from forklake.model.requests import Choice, MergeRequest
from forklake.model.snapshots import CommitInfo
from forklake.session.attachments import Attachment
from forklake.session.names import perhaps, split_name
from forklake.session.unit_of_work import UnitOfWork
from forklake.store.holds import hold_statement, refuse_held

if TYPE_CHECKING:
    from forklake.session.session import Session

_ATTEMPTS = 10


def merge_fork(
    session: Session,
    metastore: Metastore,
    request: MergeRequest,
    *,
    holder: str | None = None,
    author: str | None = None,
) -> Merged:
    """Merge the changes of a catalog since its last merge into another catalog, as one snapshot.

    Args:
        session: its Spark compares rows; Spark is not started where metadata is sufficient.
        holder: the holder of the catalogs, if they are held.
    """
    if session.in_transaction:
        raise InvalidInput(
            "A merge is a separate transaction: it cannot run inside an open one.",
            remedy="Run COMMIT or ROLLBACK first.",
        )
    fork = request.fork
    into = request.into if request.into is not None else parent_of(metastore, fork)
    task = _MergeTask(session, metastore, into, request)
    for name in (fork, into):
        _refuse_held(metastore, name, holder)
    message = request.message or f"merge {fork}"
    info = CommitInfo(author, message, request.extra_info, request.idempotency_key)
    for attempt in range(1, _ATTEMPTS + 1):
        plan = task.plan()
        with ExitStack() as stack:
            merged = plan.evaluate(stack)
            if request.dry_run:
                return merged
            plan.require_no_conflicts()
            if plan.is_empty:
                return merged
            try:
                return plan.commit(merged, info)
            except Conflict:  # with a concurrent commit to the target
                if attempt == _ATTEMPTS:
                    raise
    raise AssertionError


def parent_of(metastore: Metastore, fork: str) -> str:
    """Return the name of the parent of a catalog."""
    parent = metastore.catalog(fork).row.parent_catalog_id
    names = metastore.names([parent]) if parent is not None else {}
    if not names:
        raise InvalidInput(
            f"Catalog '{fork}' is not a fork, or its parent was dropped.",
            remedy="Name the catalog to merge it into: `into` (`--into` of the command line).",
        )
    return next(iter(names.values()))


def _refuse_held(metastore: Metastore, name: str, holder: str | None) -> None:
    with metastore.database.reading() as connection:
        (rows,) = connection.run([hold_statement(metastore.catalog(name).catalog_id)])
    refuse_held(rows, name, "merged", by=holder)


@dataclass(frozen=True)
class _MergeTask:
    """The arguments of a merge."""

    session: Session
    metastore: Metastore
    target: str
    request: MergeRequest

    def plan(self) -> _MergePlan:
        """Compare source and target as they are now, and return the changes to apply."""
        source, target = read_sides(self.metastore, self.request.fork, self.target)
        chosen = None if self.request.tables is None else self._chosen_tables(source, target)
        data = TableSides()
        definitions = DefinitionComparison(source, target, data.is_touched, chosen).merge()
        kept = {row.table_id for row in target.now.state.rows(TABLE)}
        kept -= {row.table_id for row in definitions.ended if isinstance(row, Table)}
        touched = [
            row.table_id
            for row in source.now.state.tables()
            if row.table_id in kept and data.is_touched(source, row.table_id)
        ]
        wanted = [one for one in touched if chosen is None or one in chosen]
        created = [] if chosen is None else _created_tables(source)
        left_out = {*touched, *created} - {*wanted, *(chosen or ())}
        return _MergePlan(
            self,
            source,
            target,
            definitions,
            [self._shared_table(data.of(source, one), data.of(target, one)) for one in wanted],
            [
                NewTable(self.session, data.of(source, one.table_id), target)
                for one in definitions.new_tables
            ],
            () if chosen is None else tuple(sorted(chosen)),
            tuple(sorted(qualified_name(source, one) for one in left_out)),
        )

    def _shared_table(self, source: TableSide, target: TableSide) -> SharedTable:
        choice = self.choice(qualified_name(source.side, source.table_id))
        return SharedTable(self.session, source, target, choice)

    def _chosen_tables(self, source: Side, target: Side) -> set[TableId]:
        return {self._find_table_id(name, source, target) for name in self.request.tables or ()}

    def _find_table_id(self, name: str, source: Side, target: Side) -> TableId:
        *schema, table = split_name(name)
        for state in (source.now.state, target.now.state):
            within = state.find_schema(schema[-1] if schema else "main")
            found = state.find_relation(table, within.schema_name) if within else None
            if isinstance(found, Table):
                return found.table_id
        known = [qualified_name(source, row.table_id) for row in source.now.state.tables()]
        raise NotFound(
            f"Table '{name}' does not exist in '{source.catalog.name}'",
            remedy=perhaps(name, known, what="tables"),
        )

    def choice(self, table: str) -> Choice:
        """Return which version of conflicting rows wins in a table."""
        chosen = self.request.on_conflict
        if isinstance(chosen, str):
            return chosen
        given = {folded(name): one for name, one in chosen.items()}
        return given.get(folded(table), given.get(folded(table.removeprefix("main.")), "fail"))


def _created_tables(source: Side) -> list[TableId]:
    """Return the tables that the source created since its last merge into the target."""
    arrived = source.arrived_snapshots()
    return [
        row.table_id
        for row in source.now.state.tables()
        if row.begin_snapshot not in arrived
        and source.origin(row.table_id).state.get(TABLE, (row.table_id,)) is None
    ]


@dataclass
class _MergePlan:
    """A merge on top of one snapshot of the target."""

    task: _MergeTask
    source: Side
    target: Side
    definitions: DefinitionMerge
    shared: list[SharedTable]
    new: list[NewTable]
    chosen: tuple[TableId, ...]
    left_out: tuple[str, ...]
    problems: list[DefinitionConflict | TableMerge] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the target already has all changes of the source."""
        return not (self.definitions.taken or self.definitions.ended or self.shared or self.new)

    def evaluate(self, stack: ExitStack) -> Merged:
        """Compute the changes and conflicts of the merge, without writing anything.

        Cached Spark frames are released when `stack` is closed.
        """
        self.problems += self.definitions.conflicts
        found = []
        if not self.definitions.conflicts:
            found = [one.evaluate(stack) for one in self.shared]
            self.problems += [one.outcome for one in self.shared if one.is_stopped]
            found += [one.outcome for one in self.new]
        return Merged(
            self.source.catalog.name,
            self.target.catalog.name,
            None,
            tuple(found),
            tuple(self.definitions.descriptions),
            tuple(self.definitions.conflicts),
            self.left_out,
            self.task.request.dry_run,
        )

    def require_no_conflicts(self) -> None:
        """Raise Conflict if the merge has conflicts that are not decided."""
        if self.problems:
            raise merge_conflict(self.source.catalog.name, self.target.catalog.name, self.problems)

    def commit(self, merged: Merged, info: CommitInfo) -> Merged:
        """Apply the merge as one commit of the target, and return the outcome."""
        target = self.target
        attachment = Attachment(target.catalog.name, self.task.metastore, target.catalog)
        with self.task.session.committing(UnitOfWork(attachment, info, target.now)) as change:
            transaction = change.transaction
            transaction.retire(self.definitions.ended)
            transaction.adopt(self.definitions.taken, self.definitions.children)
            for shared in self.shared:
                shared.write(change)
            for new in self.new:
                new.write(change)
            transaction.note_merge(self._build_note())
        committed = change.transaction.committed
        assert committed is not None
        return replace(merged, snapshot_id=committed.snapshot_id)

    def _build_note(self) -> MergeNote:
        defines = self.definitions.taken or self.definitions.ended
        return MergeNote(
            self.source.catalog.catalog_id,
            self.source.now.snapshot_id,
            self.chosen,
            only_appends=not defines and all(one.only_adds for one in self.shared),
        )
