"""MERGE INTO: rows of a table change by those of a source, with the first clause that applies.

The two are joined once. The result of the join is kept until the end, because it is used twice: for
the rows of the table to end, and for the rows to write.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from forklake.engines.spark.changing.assignments import Assignments, new_rows, new_versions
from forklake.engines.spark.changing.removal import Ended
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.remote import analysed, persisted
from forklake.engines.spark.writing import align
from forklake.engines.spark.writing.write import append_versions, estimated_bytes
from forklake.errors import InvalidInput
from forklake.model.names import folded
from forklake.session.changing.row_matches import (
    Condition,
    Matching,
    about,
    analysing,
    expression,
    joined,
    matching,
    qualified,
)
from forklake.session.read_records import record_read

if TYPE_CHECKING:
    from forklake.session.session import Session

_SMALL = 64 * 2**20  # bytes
_CLAUSE, _IN_TARGET, _IN_SOURCE = "__clause", "__in_target", "__in_source"


class When(Enum):
    """Where a row exists."""

    MATCHED = "in both"
    NOT_MATCHED = "in the source only"
    NOT_MATCHED_BY_SOURCE = "in the table only"


class Action(Enum):
    """Action of a clause on a row."""

    UPDATE = "update"
    DELETE = "delete"
    INSERT = "insert"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class MergeClause:
    """Action on rows that exist in certain relations and satisfy a condition.

    Without values, each column gets the value of the source column of the same name.
    """

    when: When
    condition: Condition | None
    action: Action
    values: Assignments | None = None


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """Number of rows that a MERGE INTO inserted, updated and deleted."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0


# Clauses


@dataclass(frozen=True, slots=True)
class _Clause:
    """Clause without an action yet."""

    when: When
    condition: Condition | None = None

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


def when_matched(condition: Condition | None = None) -> _OnTarget:
    """Return a clause on rows of the table that match a row of the source."""
    return _OnTarget(When.MATCHED, condition)


def when_not_matched(condition: Condition | None = None) -> _OnSource:
    """Return a clause on rows of the source that match no row of the table."""
    return _OnSource(When.NOT_MATCHED, condition)


def when_not_matched_by_source(condition: Condition | None = None) -> _OnTarget:
    """Return a clause on rows of the table that match no row of the source."""
    return _OnTarget(When.NOT_MATCHED_BY_SOURCE, condition)


# The statement

# How to join so that rows without a match are kept: (those of the source, those of the table).
_JOINS = {
    (False, False): "inner",
    (True, False): "right",
    (False, True): "left",
    (True, True): "full",
}


def merge(
    session: Session,
    name: str | Sequence[str],
    source: DataFrame,
    on: Condition,
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
        found = matching(session, change, table, target_alias, narrowed)
        merging = _Merge(found, source, source_alias, when)
        how = _JOINS[When.NOT_MATCHED in kinds, not is_narrow]
        is_small = how == "right" and _is_small(source)
        rows = merging.rows(on, how, is_small)
        with (
            align.translating(),
            persisted(source) if is_small else nullcontext(),
            persisted(rows) as kept,
        ):
            written = merging.written(kept)
            counts = merging.counts(kept)
            ended = merging.ended(kept) if counts.updated or counts.deleted else Ended(0, False)
            if written is not None and counts.inserted + counts.updated:
                append_versions(
                    session.engine,
                    change,
                    found.target,
                    written,
                    counts.inserted + counts.updated,
                    has_new=ended.has_new or bool(counts.inserted),
                )
        return counts


@dataclass(frozen=True, slots=True)
class _Merge:
    """MERGE INTO a table."""

    found: Matching
    source: DataFrame
    source_alias: str
    clauses: Sequence[MergeClause]

    @property
    def _table(self) -> str:
        return self.found.target.table.table_name

    def rows(self, on: Condition, how: str, is_small: bool) -> DataFrame:
        """Return joined rows that a clause applies to, with the number of that clause.

        Spark cannot broadcast a source whose unmatched rows must be kept. A small one is
        therefore first broadcast in a semi join that finds the matching rows of the table.
        """
        expressions = [value for one in self.clauses for value in (one.values or {}).values()]
        expressions += [one.condition for one in self.clauses if one.condition is not None]
        mine = (
            self.found.rows(on, *expressions)
            .withColumn(_IN_TARGET, F.lit(True))
            .alias(self.found.alias)
        )
        theirs = self.source.withColumn(_IN_SOURCE, F.lit(True)).alias(self.source_alias)
        if is_small:
            mine = joined(mine, F.broadcast(theirs), on, "left_semi", self._table)
        both = joined(mine, theirs, on, how, self._table)
        with analysing(self._table):
            decided = both.withColumn(_CLAUSE, self._first_clause())
            return analysed(decided.where(F.col(_CLAUSE).isNotNull()))

    def _first_clause(self) -> Column:
        """Return the number of the first matching clause; NULL for none, or if it does nothing."""
        applies = F.when(F.lit(False), F.lit(None).cast("int"))
        for number, clause in enumerate(self.clauses):
            test = _presence(clause.when)
            if clause.condition is not None:
                test = test & expression(self._in_scope(clause.when, clause.condition))
            value = None if clause.action is Action.NOTHING else number
            applies = applies.when(test, F.lit(value).cast("int"))
        return applies

    def _in_scope(self, when: When, condition: Condition) -> Condition:
        """Return a condition on unmatched rows, with names qualified for their one relation."""
        match when:
            case When.NOT_MATCHED:
                return qualified(condition, self.source_alias, self.source.columns)
            case When.NOT_MATCHED_BY_SOURCE:
                own = [one.name for one in self.found.fields]
                return qualified(condition, self.found.alias, own)
        return condition

    def written(self, rows: DataFrame) -> DataFrame | None:
        """Return the rows to write, as files store them; None if no clause writes any."""
        target = self.found.target
        frames = []
        for number, clause in enumerate(self.clauses):
            chosen = rows.where(F.col(_CLAUSE) == number).select(self._scope(clause.when))
            values = clause.values if clause.values is not None else self._same_names(clause)
            if clause.action is Action.UPDATE:
                frames.append(new_versions(chosen, target, values, self.found.alias))
            elif clause.action is Action.INSERT:
                frames.append(new_rows(chosen, target, values))
        return reduce(DataFrame.union, frames) if frames else None

    def _scope(self, when: When) -> str:
        match when:
            case When.NOT_MATCHED:
                return f"{quoted(self.source_alias)}.*"
            case When.NOT_MATCHED_BY_SOURCE:
                return f"{quoted(self.found.alias)}.*"
        return "*"

    def _same_names(self, clause: MergeClause) -> Assignments:
        """Return for each column of the table the source column of the same name."""
        if clause.action not in (Action.UPDATE, Action.INSERT):
            return {}
        if clause.when is When.NOT_MATCHED_BY_SOURCE:
            raise InvalidInput(
                "WHEN NOT MATCHED BY SOURCE needs values: such rows have no source row to copy"
                " from.",
                remedy="Give a value for each column to set.",
            )
        theirs = {folded(name): name for name in self.source.columns}
        rules = self.found.target.rules
        wanted = [
            one
            for one in self.found.fields
            if folded(one.name) in theirs or rules.of_column(one.name) is None
        ]
        missing = [one.name for one in wanted if folded(one.name) not in theirs]
        if missing:
            raise InvalidInput(
                f"The source has no column '{missing[0]}', which table '{self._table}' has.",
                remedy="Give a value for each column, or add the column to the source.",
            )
        return {
            quoted(one.name): F.col(
                f"{quoted(self.source_alias)}.{quoted(theirs[folded(one.name)])}"
            )
            for one in wanted
        }

    def counts(self, rows: DataFrame) -> MergeCounts:
        """Return the number of rows by action."""
        counted = dict.fromkeys(Action, 0)
        for row in rows.groupBy(_CLAUSE).count().collect():
            counted[self.clauses[row[_CLAUSE]].action] += row["count"]
        return MergeCounts(counted[Action.INSERT], counted[Action.UPDATE], counted[Action.DELETE])

    def ended(self, rows: DataFrame) -> Ended:
        """End the rows of the table that are updated or deleted."""
        changed = rows.where(F.col(_IN_TARGET).isNotNull())
        return self.found.removal().end(changed, refuse_doubles=True)


def _is_small(source: DataFrame) -> bool:
    size = estimated_bytes(source)
    return size is not None and size <= _SMALL


def _presence(when: When) -> Column:
    match when:
        case When.MATCHED:
            return F.col(_IN_TARGET).isNotNull() & F.col(_IN_SOURCE).isNotNull()
        case When.NOT_MATCHED:
            return F.col(_IN_TARGET).isNull()
        case When.NOT_MATCHED_BY_SOURCE:
            return F.col(_IN_SOURCE).isNull()
