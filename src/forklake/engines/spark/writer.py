"""Changes of tables on Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from forklake.engines.assignments import Assignment
from forklake.engines.changes import PendingChange
from forklake.engines.merge_clauses import Clause, MergeCounts
from forklake.engines.row_matches import Matching
from forklake.engines.spark.changing.delete import delete_rows
from forklake.engines.spark.changing.merge_into import merge_rows
from forklake.engines.spark.changing.update import update_rows
from forklake.engines.spark.expressions import Condition
from forklake.engines.spark.writing import write as writes
from forklake.engines.targets import Target
from forklake.model.entities import Table
from forklake.model.files import NewDataFile
from forklake.model.rules import Check

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


@dataclass(frozen=True, slots=True)
class SparkWriter:
    """Writer of rows, as part of changes."""

    engine: Engine

    def append(
        self,
        change: PendingChange,
        table: Table,
        rows: DataFrame,
        *,
        by_name: bool = False,
        checks: Sequence[Check] = (),
    ) -> int:
        """Add the rows of a relation to a table, and return their number.

        All rows must satisfy the rules of the table, and `checks`.
        """
        return writes.append(
            self.engine,
            change,
            table,
            rows,
            by_name=by_name,
            checks=checks,
        )

    def write_files(
        self,
        change: PendingChange,
        target: Target,
        rows: DataFrame,
        *,
        row_ids: bool,
        rows_per_file: int | None = None,
    ) -> list[NewDataFile]:
        """Write rows, as files store them, to new files that are not added to the table yet."""
        files, _ = writes.new_files(
            self.engine, change, target, rows, row_ids=row_ids, rows_per_file=rows_per_file
        )
        return list(files.values())

    def delete_rows(
        self,
        found: Matching,
        where: Condition | None,
        *,
        using: DataFrame | None = None,
        source_alias: str | None = None,
    ) -> int:
        """Delete the rows for which a condition is true, and return their number."""
        return delete_rows(self.engine, found, where, using=using, source_alias=source_alias)

    def update_rows(
        self,
        found: Matching,
        assigned: Mapping[str, Assignment],
        where: Condition | None,
        *,
        source: DataFrame | None = None,
        source_alias: str | None = None,
        on: Condition | None = None,
    ) -> int:
        """Set columns of the rows for which a condition is true, and return their number."""
        return update_rows(
            self.engine, found, assigned, where, source=source, source_alias=source_alias, on=on
        )

    def merge_rows(
        self,
        found: Matching,
        source: DataFrame,
        source_alias: str,
        on: Condition,
        clauses: Sequence[Clause],
    ) -> MergeCounts:
        """Change a table by the rows of a source, with the first clause that applies."""
        return merge_rows(self.engine, found, source, source_alias, on, clauses)
