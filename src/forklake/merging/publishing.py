"""Publishing: what a fork has done becomes part of what it was forked from, as one snapshot.

The same the other way round brings a fork up to date. A merge is an ordinary transaction of its
target: whoever committed there meanwhile is never overwritten; the merge starts over instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from forklake.catalog.metastore import Metastore
from forklake.errors import Conflict, InvalidInput, NotFound
from forklake.merging.definitions import Comparison, DefinitionMerge
from forklake.merging.outcome import DefinitionConflict, Merged, TableMerge, refused
from forklake.merging.sides import Side, sides_of
from forklake.merging.tables import TableSide, TableSides
from forklake.merging.taking import Choice, NewTable, SharedTable, called
from forklake.model.entities import Table
from forklake.model.ids import TableId
from forklake.model.kinds import TABLE
from forklake.model.merges import MergeNote
from forklake.model.names import folded
from forklake.model.snapshots import CommitInfo
from forklake.spark.attachments import Attachment
from forklake.spark.names import perhaps, split_name
from forklake.spark.work import Change
from forklake.store.holds import hold_statement, refuse_held

if TYPE_CHECKING:
    from forklake.spark.session import Session

OnConflict = Choice | Mapping[str, Choice]
CHOICES: tuple[Choice, ...] = ("fail", "ours", "theirs")
_ATTEMPTS = 10


def publish(
    session: Session,
    metastore: Metastore,
    fork: str,
    *,
    into: str | None = None,
    tables: Sequence[str] | None = None,
    on_conflict: OnConflict = "fail",
    dry_run: bool = False,
    holder: str | None = None,
    message: str | None = None,
    author: str | None = None,
    extra_info: str | None = None,
    idempotency_key: str | None = None,
) -> Merged:
    """Merge what a catalog has done since the last time into another, as one snapshot.

    Args:
        session: whose Spark compares rows; it is not started where files tell enough.
        fork: the catalog whose changes are taken.
        into: the catalog that gets them; what the fork was forked from, if it is not said. Naming
            a fork of the first one brings that fork up to date.
        tables: take only these; the rest can be merged later.
        on_conflict: whose version of a row is used that both changed: `ours`, the target's,
            `theirs`, the source's, or none, which fails; for all tables, or by their names.
        dry_run: only tell what would be done, and what would be in the way.
        holder: who holds the fork, if it belongs to a run.
        idempotency_key: what was merged under it before is not merged again.
    """
    _check_choices(on_conflict)
    if session.in_transaction:
        raise InvalidInput(
            "A merge is a transaction of its own.", remedy="Commit or roll back first."
        )
    into = into if into is not None else parent_of(metastore, fork)
    merging = _Merging(session, metastore, (fork, into), tables, on_conflict, dry_run)
    for name in (fork, into):
        _refuse_held(metastore, name, holder)
    info = CommitInfo(author, message or f"merge {fork}", extra_info, idempotency_key)
    for attempt in range(1, _ATTEMPTS + 1):
        plan = merging.plan()
        with ExitStack() as stack:
            merged = plan.evaluated(stack)
            if dry_run:
                return merged
            plan.require_no_conflicts()
            if plan.is_empty:
                return merged
            try:
                return plan.committed(merged, info)
            except Conflict:  # somebody else committed to the target
                if attempt == _ATTEMPTS:
                    raise
    raise AssertionError


def _check_choices(on_conflict: OnConflict) -> None:
    given = [on_conflict] if isinstance(on_conflict, str) else list(on_conflict.values())
    for one in given:
        if one not in CHOICES:
            raise InvalidInput(
                f"{one!r} does not say what happens to rows that both sides changed.",
                remedy=f"Use one of: {', '.join(CHOICES)}.",
            )


def parent_of(metastore: Metastore, fork: str) -> str:
    """The name of what a catalog was forked from."""
    parent = metastore.catalog(fork).row.parent_catalog_id
    names = metastore.names([parent]) if parent is not None else {}
    if not names:
        raise InvalidInput(
            f"The catalog '{fork}' is no fork of a catalog that is there.",
            remedy="Say into which catalog it is to be merged.",
        )
    return next(iter(names.values()))


def _refuse_held(metastore: Metastore, name: str, holder: str | None) -> None:
    with metastore.database.reading() as connection:
        (rows,) = connection.run([hold_statement(metastore.catalog(name).catalog_id)])
    refuse_held(rows, name, "merged", by=holder)


@dataclass(frozen=True)
class _Merging:
    """What was asked for."""

    session: Session
    metastore: Metastore
    names: tuple[str, str]  # source and target
    tables: Sequence[str] | None
    on_conflict: OnConflict
    dry_run: bool

    def plan(self) -> _Plan:
        """What there is to do at this moment."""
        source, target = sides_of(self.metastore, *self.names)
        chosen = None if self.tables is None else self._chosen(source, target)
        data = TableSides()
        definitions = Comparison(source, target, data.are_touched, chosen).merge()
        kept = {row.table_id for row in target.now.state.rows(TABLE)}
        kept -= {row.table_id for row in definitions.ended if isinstance(row, Table)}
        touched = [
            row.table_id
            for row in source.now.state.tables()
            if row.table_id in kept and data.are_touched(source, row.table_id)
        ]
        wanted = [one for one in touched if chosen is None or one in chosen]
        made = [] if chosen is None else _made(source)
        left_out = {*touched, *made} - {*wanted, *(chosen or ())}
        return _Plan(
            self,
            source,
            target,
            definitions,
            [self._shared(data.of(source, one), data.of(target, one)) for one in wanted],
            [
                NewTable(self.session, data.of(source, one.table_id), target)
                for one in definitions.new_tables
            ],
            () if chosen is None else tuple(sorted(chosen)),
            tuple(sorted(called(source, one) for one in left_out)),
        )

    def _shared(self, source: TableSide, target: TableSide) -> SharedTable:
        choice = self.choice(called(source.side, source.table_id))
        return SharedTable(self.session, source, target, choice)

    def _chosen(self, source: Side, target: Side) -> set[TableId]:
        return {self._found(name, source, target) for name in self.tables or ()}

    def _found(self, name: str, source: Side, target: Side) -> TableId:
        *schema, table = split_name(name)
        for state in (source.now.state, target.now.state):
            within = state.find_schema(schema[-1] if schema else "main")
            found = state.find_relation(table, within.schema_name) if within else None
            if isinstance(found, Table):
                return found.table_id
        known = [called(source, row.table_id) for row in source.now.state.tables()]
        raise NotFound(
            f"Table '{name}' does not exist in '{source.catalog.name}'",
            remedy=perhaps(name, known, what="tables"),
        )

    def choice(self, table: str) -> Choice:
        """Whose version of rows of a table is used."""
        if isinstance(self.on_conflict, str):
            return self.on_conflict
        given = {folded(name): one for name, one in self.on_conflict.items()}
        return given.get(folded(table), given.get(folded(table.removeprefix("main.")), "fail"))


def _made(source: Side) -> list[TableId]:
    """The tables that the source made since the target last heard of it."""
    arrived = source.arrived()
    return [
        row.table_id
        for row in source.now.state.tables()
        if row.begin_snapshot not in arrived
        and source.origin(row.table_id).state.get(TABLE, (row.table_id,)) is None
    ]


@dataclass
class _Plan:
    """A merge on top of one snapshot of the target."""

    asked: _Merging
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
        """Whether the target has heard of everything."""
        return not (self.definitions.taken or self.definitions.ended or self.shared or self.new)

    def evaluated(self, stack: ExitStack) -> Merged:
        """What the merge does."""
        self.problems += self.definitions.conflicts
        found = []
        if not self.definitions.conflicts:
            found = [one.evaluated(stack) for one in self.shared]
            self.problems += [one.outcome for one in self.shared if one.is_stopped]
            found += [one.outcome for one in self.new]
        return Merged(
            self.source.catalog.name,
            self.target.catalog.name,
            None,
            tuple(found),
            tuple(self.definitions.words),
            tuple(self.definitions.conflicts),
            self.left_out,
            self.asked.dry_run,
        )

    def require_no_conflicts(self) -> None:
        """Conflict if something is in the way."""
        if self.problems:
            raise refused(self.source.catalog.name, self.target.catalog.name, self.problems)

    def committed(self, merged: Merged, info: CommitInfo) -> Merged:
        """The merge, done."""
        target = self.target
        attachment = Attachment(target.catalog.name, self.asked.metastore, target.catalog)
        with self.asked.session.committing(Change(attachment, info, target.now)) as change:
            transaction = change.transaction
            transaction.retire(self.definitions.ended)
            transaction.adopt(self.definitions.taken, self.definitions.children)
            for shared in self.shared:
                shared.write(change)
            for new in self.new:
                new.write(change)
            transaction.note_merge(self._note())
        committed = change.transaction.committed
        assert committed is not None
        return replace(merged, snapshot_id=committed.snapshot_id)

    def _note(self) -> MergeNote:
        defines = self.definitions.taken or self.definitions.ended
        return MergeNote(
            self.source.catalog.catalog_id,
            self.source.now.snapshot_id,
            self.chosen,
            only_appends=not defines and all(one.only_adds for one in self.shared),
        )
