"""MERGE INTO on Spark: rows of a table change by those of a source, joined once.

The result of the join is kept until the end, because it is used twice: for the rows of the table to
end, and for the rows to write.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from forklake.engines.assignments import values_of
from forklake.engines.local.removal import Ended
from forklake.engines.merge_clauses import Action, Clause, MergeCounts, When
from forklake.engines.row_matches import Matching
from forklake.engines.spark.changing.matched_rows import matched_rows
from forklake.engines.spark.changing.new_versions import new_rows, new_versions
from forklake.engines.spark.changing.removal import end_rows
from forklake.engines.spark.expressions import Condition, analysing, expression, joined
from forklake.engines.spark.quoting import quoted
from forklake.engines.spark.remote import analysed, persisted
from forklake.engines.spark.writing import align
from forklake.engines.spark.writing.write import append_versions, estimated_bytes

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

_SMALL = 64 * 2**20  # bytes
_CLAUSE, _IN_TARGET, _IN_SOURCE = "__clause", "__in_target", "__in_source"
# How to join so that rows without a match are kept: (those of the source, those of the table).
_JOINS = {
    (False, False): "inner",
    (True, False): "right",
    (False, True): "left",
    (True, True): "full",
}


def merge_rows(
    engine: Engine,
    found: Matching,
    source: DataFrame,
    source_alias: str,
    on: Condition,
    clauses: Sequence[Clause],
) -> MergeCounts:
    """Change a table by the rows of a source, and return the numbers of changed rows.

    It is an error if two rows of the source would change one row of the table.
    """
    kinds = {clause.when for clause in clauses}
    merging = _Merge(engine, found, source, source_alias, clauses)
    how = _JOINS[When.NOT_MATCHED in kinds, When.NOT_MATCHED_BY_SOURCE in kinds]
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
                engine,
                found.change,
                found.target,
                written,
                counts.inserted + counts.updated,
                has_new=ended.has_new or bool(counts.inserted),
            )
    return counts


@dataclass(frozen=True, slots=True)
class _Merge:
    """MERGE INTO a table."""

    engine: Engine
    found: Matching
    source: DataFrame
    source_alias: str
    clauses: Sequence[Clause]

    @property
    def _table(self) -> str:
        return self.found.target.table.table_name

    def rows(self, on: Condition, how: str, is_small: bool) -> DataFrame:
        """Return joined rows that a clause applies to, with the number of that clause.

        Spark cannot broadcast a source whose unmatched rows must be kept. A small one is
        therefore first broadcast in a semi join that finds the matching rows of the table.
        """
        expressions = [value for one in self.clauses for value in values_of(one.assigned)]
        expressions += [one.condition for one in self.clauses if one.condition is not None]
        mine = (
            matched_rows(self.engine, self.found, on, *expressions)
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
                test = test & expression(clause.condition)
            value = None if clause.action is Action.NOTHING else number
            applies = applies.when(test, F.lit(value).cast("int"))
        return applies

    def written(self, rows: DataFrame) -> DataFrame | None:
        """Return the rows to write, as files store them; None if no clause writes any."""
        target = self.found.target
        frames = []
        for number, clause in enumerate(self.clauses):
            chosen = rows.where(F.col(_CLAUSE) == number).select(self._scope(clause.when))
            if clause.action is Action.UPDATE:
                frames.append(new_versions(chosen, target, clause.assigned, self.found.alias))
            elif clause.action is Action.INSERT:
                frames.append(new_rows(chosen, target, clause.assigned))
        return reduce(DataFrame.union, frames) if frames else None

    def _scope(self, when: When) -> str:
        match when:
            case When.NOT_MATCHED:
                return f"{quoted(self.source_alias)}.*"
            case When.NOT_MATCHED_BY_SOURCE:
                return f"{quoted(self.found.alias)}.*"
        return "*"

    def counts(self, rows: DataFrame) -> MergeCounts:
        """Return the number of rows by action."""
        counted = dict.fromkeys(Action, 0)
        for row in rows.groupBy(_CLAUSE).count().collect():
            counted[self.clauses[row[_CLAUSE]].action] += row["count"]
        return MergeCounts(counted[Action.INSERT], counted[Action.UPDATE], counted[Action.DELETE])

    def ended(self, rows: DataFrame) -> Ended:
        """End the rows of the table that are updated or deleted."""
        changed = rows.where(F.col(_IN_TARGET).isNotNull())
        return end_rows(self.engine, self.found, changed, refuse_doubles=True)


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
