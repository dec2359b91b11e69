"""Whether a commit can be added on top of what others have committed since it was begun."""

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

_DROPS = frozenset({ChangeKind.DROPPED_TABLE, ChangeKind.DROPPED_SCHEMA})


def require_not_outrun(connection: Connection, plan: CommitPlan, since: Sequence[Change]) -> None:
    """Raise Conflict if the plan and what was committed meanwhile cannot both be."""
    if not since:
        return
    if plan.ends_rows and any(one.kind is ChangeKind.MATERIALIZED for one in since):
        raise Conflict("The fork was materialised meanwhile.", remedy="Run the transaction again.")
    dropped = {one.object_id for one in since if one.kind in _DROPS}
    if dropped & plan.presumed:
        raise Conflict(
            "What an option was set for was dropped meanwhile.", remedy="Look what is there now."
        )
    mine = Mine(frozenset(plan.changes), plan.schema_names)
    for finding in find_conflicts(mine, since):
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
