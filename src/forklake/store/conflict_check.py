"""Conflict check of a commit against what others have committed since its transaction began."""

from __future__ import annotations

from collections.abc import Sequence

from forklake.errors import Conflict
from forklake.model.changes import Change, ChangeKind
from forklake.model.conflicts import Finding, Mine, Rule, find_conflicts
from forklake.model.ids import TableId
from forklake.model.kinds import ALL_CONTENT, ALL_FILES, DATA_FILE, INLINED_ROW
from forklake.model.plan import CommitPlan
from forklake.store.database import Connection
from forklake.store.operations import Statement
from forklake.store.read_check import find_broken_read

K = ChangeKind
_DEEDS = {
    K.DROPPED_SCHEMA: "dropped schema",
    K.DROPPED_TABLE: "dropped table",
    K.DROPPED_VIEW: "dropped view",
    K.CREATED_SCHEMA: "created schema",
    K.ALTERED_SCHEMA: "altered schema",
    K.CREATED_TABLE: "created table",
    K.CREATED_VIEW: "created view",
    K.CREATED_SCALAR_MACRO: "created macro",
    K.CREATED_TABLE_MACRO: "created table macro",
    K.DROPPED_SCALAR_MACRO: "dropped macro",
    K.DROPPED_TABLE_MACRO: "dropped table macro",
    K.INSERTED: "inserted rows into table",
    K.DELETED: "deleted rows from table",
    K.ALTERED_TABLE: "altered table",
    K.ALTERED_VIEW: "altered view",
    K.INLINED_INSERT: "inserted rows into table",
    K.INLINED_DELETE: "deleted rows from table",
    K.FLUSHED: "flushed inlined rows of table",
    K.MERGED: "merged files of table",
    K.REWRITTEN: "rewrote files of table",
    K.FORKED: "forked catalog",
    K.MATERIALIZED: "materialized the catalog",
    K.MERGED_FROM: "merged fork",
}
_DROPS = frozenset({ChangeKind.DROPPED_TABLE, ChangeKind.DROPPED_SCHEMA})


def require_not_outrun(connection: Connection, plan: CommitPlan, since: Sequence[Change]) -> None:
    """Raise Conflict if the plan cannot be added to what was committed since its start."""
    if not since:
        return
    if plan.ends_rows and any(one.kind is ChangeKind.MATERIALIZED for one in since):
        raise Conflict(
            "Transaction conflict: this transaction deleted rows that the fork had inherited, and a"
            " concurrent commit materialized the fork.",
            remedy="Run the transaction again.",
        )
    dropped = {one.object_id for one in since if one.kind in _DROPS}
    if dropped & plan.presumed:
        raise Conflict(
            "Transaction conflict: this transaction set an option of a table or schema that a"
            " concurrent commit dropped.",
            remedy="List the tables, and set the option of one that exists.",
        )
    broken = find_broken_read(connection, plan, since)
    if broken is not None:
        raise Conflict(
            "Transaction conflict: this transaction read what a concurrent commit changed: the"
            f" commit {_describe_change(plan, broken)}.",
            remedy="Run the transaction again, or set isolation_level to 'snapshot'.",
            theirs=str(broken),
        )
    mine = Mine(
        frozenset(plan.changes), plan.schema_names(), plan.schema_of, plan.reads.checked_tables()
    )
    for finding in find_conflicts(mine, since):
        is_certain = finding.rule is Rule.CONFLICT
        if is_certain or _shares_file(connection, plan, finding):
            raise Conflict(
                f"Transaction conflict: this transaction {_describe_change(plan, finding.mine)},"
                f" and a concurrent commit {_describe_change(plan, finding.theirs)}.",
                remedy="Run the transaction again.",
                mine=str(finding.mine),
                theirs=str(finding.theirs),
            )


def _describe_change(plan: CommitPlan, change: Change) -> str:
    """Return what a change did, with the object's name where it is known, else its number."""
    what = _DEEDS[change.kind]
    if change.name:
        return f"{what} '{'.'.join(change.name)}'"
    if change.object_id is None:
        return what
    is_catalog = change.kind in (K.FORKED, K.MERGED_FROM)
    name = None if is_catalog else plan.name_of(change.object_id)
    return f"{what} {change.object_id if name is None else repr(name)}"


def _shares_file(connection: Connection, plan: CommitPlan, finding: Finding) -> bool:
    """Return whether another commit ended rows of the same data files since the start."""
    table_id = TableId(finding.mine.object_id or 0)
    work = plan.tables.get(table_id)
    if work is None or not (work.touched_files or work.ended_rows):
        return False  # truncating a table ends whatever rows it has at commit
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
