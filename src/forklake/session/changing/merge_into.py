"""MERGE INTO: rows of a table change by those of a source, with the first clause that applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forklake.engines.assignments import Assignment, Assignments
from forklake.engines.merge_clauses import Action, Clause, MergeCounts, When
from forklake.engines.relations import Expression, Relation
from forklake.engines.row_matches import Matching
from forklake.engines.spark.quoting import quoted
from forklake.errors import InvalidInput
from forklake.model.names import folded
from forklake.session.changing.assignments import parse_insert, parse_update
from forklake.session.changing.row_matches import about, match_rows, qualified, record_places
from forklake.session.read_records import record_read

if TYPE_CHECKING:
    from forklake.session.session import Session


@dataclass(frozen=True, slots=True)
class MergeClause:
    """Action on rows that exist in certain relations and satisfy a condition.

    Without values, each column gets the value of the source column of the same name.
    """

    when: When
    condition: Expression | None
    action: Action
    values: Assignments | None = None


# Clauses


@dataclass(frozen=True, slots=True)
class _Clause:
    """Clause without an action yet."""

    when: When
    condition: Expression | None = None

    def do_nothing(self) -> MergeClause:
        """Return a clause that leaves such rows unchanged; later clauses do not apply to them."""
        return MergeClause(self.when, self.condition, Action.NOTHING)


class _OnTarget(_Clause):
    """Clause on rows of the table."""

    def update(self, values: Assignments | None = None) -> MergeClause:
        """Return a clause that sets columns; all, by name, if no values are given."""
        return MergeClause(self.when, self.condition, Action.UPDATE, values)

    def delete(self) -> MergeClause:
        """Return a clause that deletes the row."""
        return MergeClause(self.when, self.condition, Action.DELETE)


class _OnSource(_Clause):
    """Clause on rows of the source."""

    def insert(self, values: Assignments | None = None) -> MergeClause:
        """Return a clause that inserts a row with these values; all, by name, if none are given."""
        return MergeClause(self.when, self.condition, Action.INSERT, values)


def when_matched(condition: Expression | None = None) -> _OnTarget:
    """Return a clause on rows of the table that match a row of the source."""
    return _OnTarget(When.MATCHED, condition)


def when_not_matched(condition: Expression | None = None) -> _OnSource:
    """Return a clause on rows of the source that match no row of the table."""
    return _OnSource(When.NOT_MATCHED, condition)


def when_not_matched_by_source(condition: Expression | None = None) -> _OnTarget:
    """Return a clause on rows of the table that match no row of the source."""
    return _OnTarget(When.NOT_MATCHED_BY_SOURCE, condition)


# The statement


def merge(
    session: Session,
    name: str | Sequence[str],
    source: Relation,
    on: Expression,
    when: Sequence[MergeClause],
    *,
    target_alias: str = "target",
    source_alias: str = "source",
) -> MergeCounts:
    """Run MERGE INTO: change a table by the rows of a source.

    Conditions and values are expressions that refer to the two by their aliases. It is an error
    if two rows of the source would change one row of the table; then nothing is changed.
    """
    if not when:
        raise InvalidInput(
            "MERGE INTO has no clause.",
            remedy="Add at least one clause: when_matched, when_not_matched or"
            " when_not_matched_by_source.",
        )
    place = session.resolve(name)
    with session.changing(place.attachment) as change:
        kinds = {clause.when for clause in when}
        is_narrow = When.NOT_MATCHED_BY_SOURCE not in kinds
        table = session.find_table(change.transaction, place)
        narrowed = about(target_alias, on) if is_narrow else None
        if When.NOT_MATCHED in kinds:  # its outcome depends on rows that stay unchanged
            record_read(change.transaction, table, [] if narrowed is None else [narrowed])
        found = match_rows(session, change, table, target_alias, narrowed)
        planning = _Planning(found, session.engine.relations.column_names(source), source_alias)
        clauses = [planning.clause(one) for one in when]
        given = [value for one in when for value in (one.values or {}).values()]
        record_places(found, on, *given, *(one.condition for one in when))
        return session.engine.writer.merge_rows(found, source, source_alias, on, clauses)


@dataclass(frozen=True, slots=True)
class _Planning:
    """Names of the two relations, by which the clauses of a statement are resolved."""

    found: Matching
    source_columns: Sequence[str]
    source_alias: str

    def clause(self, given: MergeClause) -> Clause:
        """Return a clause whose names and values are resolved."""
        condition = given.condition
        if condition is not None:
            condition = self._in_scope(given.when, condition)
        return Clause(given.when, condition, given.action, self._assigned(given))

    def _in_scope(self, when: When, condition: Expression) -> Expression:
        """Return a condition on unmatched rows, with names qualified for their one relation."""
        match when:
            case When.NOT_MATCHED:
                return qualified(condition, self.source_alias, self.source_columns)
            case When.NOT_MATCHED_BY_SOURCE:
                own = [one.name for one in self.found.fields]
                return qualified(condition, self.found.alias, own)
        return condition

    def _assigned(self, given: MergeClause) -> Mapping[str, Assignment]:
        if given.action not in (Action.UPDATE, Action.INSERT):
            return {}
        values = given.values if given.values is not None else self._same_names(given.when)
        parse = parse_update if given.action is Action.UPDATE else parse_insert
        return parse(values, self.found.target)

    def _same_names(self, when: When) -> Assignments:
        """Return for each column of the table the source column of the same name."""
        if when is When.NOT_MATCHED_BY_SOURCE:
            raise InvalidInput(
                "WHEN NOT MATCHED BY SOURCE needs values: such rows have no source row to copy"
                " from.",
                remedy="Give a value for each column to set.",
            )
        theirs = {folded(name): name for name in self.source_columns}
        rules = self.found.target.rules
        wanted = [
            one
            for one in self.found.fields
            if folded(one.name) in theirs or rules.of_column(one.name) is None
        ]
        missing = [one.name for one in wanted if folded(one.name) not in theirs]
        if missing:
            table = self.found.target.table.table_name
            raise InvalidInput(
                f"The source has no column '{missing[0]}', which table '{table}' has.",
                remedy="Give a value for each column, or add the column to the source.",
            )
        return {
            quoted(one.name): f"{quoted(self.source_alias)}.{quoted(theirs[folded(one.name)])}"
            for one in wanted
        }
