"""Interface of a data engine: what reads, computes and writes the rows of tables.

An engine gets the tables, files and snapshots to work on, and adds what it wrote to the transaction
of a change. It neither resolves names nor commits. Arguments are plain values, Arrow tables, and
relations, which only the engine that made them can use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import tzinfo
from typing import Any, Protocol

import pyarrow as pa

from forklake.catalog.catalog_view import CatalogView
from forklake.engines.assignments import Assignment
from forklake.engines.change_range import ChangeRange
from forklake.engines.changes import PendingChange
from forklake.engines.merge_clauses import Clause, MergeCounts
from forklake.engines.relations import Expression, Relation
from forklake.engines.row_matches import Matching
from forklake.engines.row_sets import RowSet, SharedColumns, SideChanges
from forklake.engines.summaries import ColumnSummary
from forklake.engines.targets import Target
from forklake.model.entities import InlinedRow, Table
from forklake.model.fields import Field
from forklake.model.files import NewDataFile
from forklake.model.merge_rules import ChangeStatus, Verdict
from forklake.model.rules import Check
from forklake.model.scans import ScanFile
from forklake.model.types import ColumnSpec


class Relations(Protocol):
    """Operations on relations."""

    def from_arrow(self, rows: pa.Table) -> Relation:
        """Return Arrow rows as a relation, in the types of queries."""

    def from_table_rows(self, rows: pa.Table, fields: Sequence[Field]) -> Relation:
        """Return Arrow rows with these columns as a relation."""

    def column_names(self, rows: Relation) -> list[str]:
        """Return the names of the columns of a relation."""

    def column_specs(self, rows: Relation) -> list[ColumnSpec]:
        """Return the columns of a table that can store a relation."""

    def rename_columns(self, rows: Relation, names: Sequence[str]) -> Relation:
        """Return rows with other names of their columns."""

    def drop_columns(self, rows: Relation, names: Sequence[str]) -> Relation:
        """Return rows without some of their columns."""

    def make_fields_nullable(self, rows: Relation) -> Relation:
        """Return rows that Arrow accepts: fields of nullable structs become nullable."""

    def keep(self, rows: Relation) -> AbstractContextManager[Relation]:
        """Yield the rows, computed once while in use, so that each use sees the same values."""


class Tables(Protocol):
    """Reader of tables."""

    def scan(
        self,
        view: CatalogView,
        table: Table,
        *,
        where: str | None = None,
        virtual: Sequence[str] = (),
    ) -> Relation:
        """Return the rows of a table: its columns, then the requested virtual columns."""

    def schema(self, view: CatalogView, table: Table, *, virtual: Sequence[str] = ()) -> Relation:
        """Return the columns that `scan` returns, as a relation without rows."""

    def scan_to_move(
        self,
        view: CatalogView,
        table: Table,
        files: Sequence[ScanFile] = (),
        rows: Sequence[InlinedRow] = (),
    ) -> Relation:
        """Return rows of files and inlined rows as new files store them, with their ids."""

    def count(self, view: CatalogView, table: Table) -> int:
        """Return the number of rows of a table."""

    def has_nulls(self, view: CatalogView, table: Table, path: Sequence[str]) -> bool:
        """Return whether some row has NULL in a column, or in a field of a struct."""

    def inserted_rows(self, changes: ChangeRange) -> Relation:
        """Return the inserted rows of a table, including new versions of updated ones."""

    def deleted_rows(self, changes: ChangeRange) -> Relation:
        """Return the deleted rows of a table, including old versions of updated ones."""

    def changed_rows(self, changes: ChangeRange) -> Relation:
        """Return inserted and deleted rows of a table, each with its change type."""


class Writer(Protocol):
    """Writer of rows, as part of changes."""

    def append(
        self,
        change: PendingChange,
        table: Table,
        rows: Relation,
        *,
        by_name: bool = False,
        checks: Sequence[Check] = (),
    ) -> int:
        """Add the rows of a relation to a table, and return their number.

        All rows must satisfy the rules of the table, and `checks`.
        """

    def write_files(
        self,
        change: PendingChange,
        target: Target,
        rows: Relation,
        *,
        row_ids: bool,
        rows_per_file: int | None = None,
    ) -> list[NewDataFile]:
        """Write rows, as files store them, to new files that are not added to the table yet."""

    def delete_rows(
        self,
        found: Matching,
        where: Expression | None,
        *,
        using: Relation | None = None,
        source_alias: str | None = None,
    ) -> int:
        """Delete the rows for which a condition is true, and return their number."""

    def update_rows(
        self,
        found: Matching,
        assigned: Mapping[str, Assignment],
        where: Expression | None,
        *,
        source: Relation | None = None,
        source_alias: str | None = None,
        on: Expression | None = None,
    ) -> int:
        """Set columns of the rows for which a condition is true, and return their number."""

    def merge_rows(
        self,
        found: Matching,
        source: Relation,
        source_alias: str,
        on: Expression,
        clauses: Sequence[Clause],
    ) -> MergeCounts:
        """Change a table by the rows of a source, with the first clause that applies."""


class Forks(Protocol):
    """Joins of the rows of two forks."""

    def join_sides(
        self, source: SideChanges, target: SideChanges | None, next_in_target: int
    ) -> Relation:
        """Return the rows that the source changed, with their ids and changes in the target.

        Args:
            target: None if the target has only new rows.
            next_in_target: the row id that the next new row gets in the target.
        """

    def count_pairs(self, rows: Relation) -> dict[tuple[ChangeStatus, ChangeStatus], int]:
        """Count joined rows by the changes of both sides."""

    def first_conflicts(
        self, rows: Relation, fields: Sequence[Field], limit: int
    ) -> list[tuple[int, str, str, str | None, str | None]]:
        """Return the first joined rows that both sides changed.

        Each has its id, what source and target did, and both rows as JSON.
        """

    def end_old_versions(
        self, rows: Relation, verdicts: Sequence[Verdict], found: Matching
    ) -> None:
        """Delete the rows of the target that the source updated or deleted."""

    def add_new_versions(
        self,
        rows: Relation,
        verdicts: Sequence[Verdict],
        fields: Sequence[Field],
        target: Target,
        change: PendingChange,
        count: int,
    ) -> None:
        """Add the new rows and new versions of the source to the target.

        Args:
            fields: columns of the source.
            count: number of these rows.
        """

    def copy_rows(self, rows: RowSet, target: Target, change: PendingChange, count: int) -> None:
        """Write the rows of files to new files of another table, with the same row ids."""

    def count(self, rows: RowSet) -> int:
        """Return the number of rows of a set."""

    def compare(
        self, mine: RowSet, theirs: RowSet, shared: SharedColumns, limit: int
    ) -> tuple[dict[str, int], list[tuple[str, int | None, str | None, str | None]]]:
        """Count the rows added, removed and changed from `mine` to `theirs`, and list some."""


class Queries(Protocol):
    """Queries in Spark SQL."""

    def rows(self, text: str) -> Relation:
        """Return the rows of a query in Spark SQL."""

    def explain(self, text: str) -> str:
        """Return the plan of a query in Spark SQL."""

    def run(self, rows: Relation) -> int:
        """Compute all rows without keeping them, and return their number."""

    def summarize(self, rows: Relation) -> list[ColumnSummary]:
        """Return statistics of all columns."""

    def register(self, rows: Relation) -> str:
        """Give rows a name in queries, and return the name."""

    def forget(self, names: Iterable[str]) -> None:
        """Remove names, once the queries with them are analyzed."""

    def define_functions(self, table: str) -> None:
        """Register functions whose meaning depends on types; see `sql.translate.dispatch`."""

    def read_files(
        self,
        format: str,
        files: Sequence[str],
        options: Mapping[str, Any],
        *,
        root: str | None,
        keys: Sequence[str],
        filename: bool | str,
    ) -> Relation:
        """Return the rows of Parquet, CSV or JSON files, which need not belong to a table."""

    def read_database(self, options: Mapping[str, Any]) -> Relation:
        """Return the rows of a table or a query of another database, over JDBC."""


class DataEngine(Protocol):
    """Engine of a session, for the rows of its tables."""

    @property
    def time_zone(self) -> tzinfo | None:
        """Time zone in which texts are read as timestamps; None if Python does not have it."""

    @property
    def parallelism(self) -> int:
        """Number of tasks that can run at the same time."""

    @property
    def relations(self) -> Relations:
        """Operations on relations."""

    @property
    def tables(self) -> Tables:
        """Reader of tables."""

    @property
    def writer(self) -> Writer:
        """Writer of rows, as part of changes."""

    @property
    def forks(self) -> Forks:
        """Joins of the rows of two forks."""

    @property
    def queries(self) -> Queries:
        """Queries in Spark SQL."""
