"""MERGE: rows of a source change, end or join those of a table, by the first clause that applies.

The two are joined once. What the join says about each row is kept until all is done: which rows of
the table end, and which rows are written.
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

from forklake.errors import InvalidInput
from forklake.model.names import folded
from forklake.spark.changing.assigning import Assignments, new_rows, new_versions
from forklake.spark.changing.matching import (
    Condition,
    Matching,
    about,
    analysing,
    expression,
    joined,
    matching,
    qualified,
)
from forklake.spark.changing.removal import Ended
from forklake.spark.engine.remote import analysed, persisted
from forklake.spark.names import quoted
from forklake.spark.reading.recording import record_read
from forklake.spark.writing import align
from forklake.spark.writing.write import append_versions, estimated_bytes

if TYPE_CHECKING:
    from forklake.spark.session import Session

_SMALL = 64 * 2**20  # bytes
_CLAUSE, _IN_TARGET, _IN_SOURCE = "__clause", "__in_target", "__in_source"


class When(Enum):
    """Where a row is."""

    MATCHED = "in both"
    NOT_MATCHED = "in the source only"
    NOT_MATCHED_BY_SOURCE = "in the table only"


class Action(Enum):
    """What happens to it."""

    UPDATE = "update"
    DELETE = "delete"
    INSERT = "insert"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class MergeClause:
    """What happens to rows that are somewhere and fulfil a condition.

    Without values, each column gets the value of the source's column of the same name.
    """

    when: When
    condition: Condition | None
    action: Action
    values: Assignments | None = None


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """How many rows a MERGE inserted, updated and deleted."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0


# Clauses


@dataclass(frozen=True, slots=True)
class _Begun:
    """A clause that does not say yet what happens."""

    when: When
    condition: Condition | None = None

    def do_nothing(self) -> MergeClause:
        """Leave such rows as they are, whatever later clauses say."""
        return MergeClause(self.when, self.condition, Action.NOTHING)


class _OnTarget(_Begun):
    """A clause about rows of the table."""

    def update(self, values: Assignments | None = None) -> MergeClause:
        """Set columns; all, by name, if none are given."""
        return MergeClause(self.when, self.condition, Action.UPDATE, values)

    def delete(self) -> MergeClause:
        """Delete the row."""
        return MergeClause(self.when, self.condition, Action.DELETE)


class _OnSource(_Begun):
    """A clause about rows of the source."""

    def insert(self, values: Assignments | None = None) -> MergeClause:
        """Insert a row with these values; all, by name, if none are given."""
        return MergeClause(self.when, self.condition, Action.INSERT, values)


def when_matched(condition: Condition | None = None) -> _OnTarget:
    """A clause about rows of the table that a row of the source matches."""
    return _OnTarget(When.MATCHED, condition)


def when_not_matched(condition: Condition | None = None) -> _OnSource:
    """A clause about rows of the source that match no row of the table."""
    return _OnSource(When.NOT_MATCHED, condition)


def when_not_matched_by_source(condition: Condition | None = None) -> _OnTarget:
    """A clause about rows of the table that no row of the source matches."""
    return _OnTarget(When.NOT_MATCHED_BY_SOURCE, condition)


# The statement

# Which rows a join keeps that have no partner: (those of the source, those of the table).
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
    """Merge the rows of a source into a table.

    Conditions and values are expressions that name the two by their aliases. A row of the table
    that two rows of the source would change is an error, and nothing is changed.
    """
    if not when:
        raise InvalidInput("A MERGE needs a clause.", remedy="Say what is to happen when.")
    place = session.resolve(name)
    with session.changing(place.attachment) as change:
        kinds = {clause.when for clause in when}
        is_narrow = When.NOT_MATCHED_BY_SOURCE not in kinds
        table = session.find_table(change.transaction, place)
        narrowed = about(target_alias, on) if is_narrow else None
        if When.NOT_MATCHED in kinds:  # its outcome depends on rows that it leaves as they are
            record_read(change.transaction, table, [] if narrowed is None else [narrowed])
        found = matching(session, change, table, target_alias, narrowed)
        merging = _Merging(found, source, source_alias, when)
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
class _Merging:
    """A MERGE into a table."""

    found: Matching
    source: DataFrame
    source_alias: str
    clauses: Sequence[MergeClause]

    @property
    def _table(self) -> str:
        return self.found.target.table.table_name

    def rows(self, on: Condition, how: str, is_small: bool) -> DataFrame:
        """Pairs of rows to which something happens, with the number of the clause that says so.

        Spark cannot send a source to where the table's rows are if it must keep rows of it that
        have no partner. A small one is therefore sent there before, to find those that have one.
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
        """The number of the first clause that applies; null if none does, or it does nothing."""
        applies = F.when(F.lit(False), F.lit(None).cast("int"))
        for number, clause in enumerate(self.clauses):
            test = _presence(clause.when)
            if clause.condition is not None:
                test = test & expression(self._in_scope(clause.when, clause.condition))
            value = None if clause.action is Action.NOTHING else number
            applies = applies.when(test, F.lit(value).cast("int"))
        return applies

    def _in_scope(self, when: When, condition: Condition) -> Condition:
        """A condition on rows that have no partner, in which names can only mean their columns."""
        match when:
            case When.NOT_MATCHED:
                return qualified(condition, self.source_alias, self.source.columns)
            case When.NOT_MATCHED_BY_SOURCE:
                own = [one.name for one in self.found.fields]
                return qualified(condition, self.found.alias, own)
        return condition

    def written(self, rows: DataFrame) -> DataFrame | None:
        """The rows to write, as files hold them; None if no clause writes any."""
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
        """Each column of the table with that of the source."""
        if clause.action not in (Action.UPDATE, Action.INSERT):
            return {}
        if clause.when is When.NOT_MATCHED_BY_SOURCE:
            raise InvalidInput(
                "A row that is not in the source has no values there.",
                remedy="Say what the columns are set to.",
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
                remedy="Give the values of the columns one by one.",
            )
        return {
            quoted(one.name): F.col(
                f"{quoted(self.source_alias)}.{quoted(theirs[folded(one.name)])}"
            )
            for one in wanted
        }

    def counts(self, rows: DataFrame) -> MergeCounts:
        """To how many rows which action happens."""
        counted = dict.fromkeys(Action, 0)
        for row in rows.groupBy(_CLAUSE).count().collect():
            counted[self.clauses[row[_CLAUSE]].action] += row["count"]
        return MergeCounts(counted[Action.INSERT], counted[Action.UPDATE], counted[Action.DELETE])

    def ended(self, rows: DataFrame) -> Ended:
        """End the rows of the table that change or go."""
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
