"""Comparison of two catalogs: tables, their columns and their rows.

Files that both catalogs have with the same deletes hold the same rows and are not read. Spark
compares the rows of other files, unless only one catalog has such files: then they are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

from forklake.catalog.metastore import Metastore
from forklake.catalog.snapshot_reads import SnapshotReads
from forklake.engines.row_sets import RowSet, SharedColumns
from forklake.errors import InvalidInput
from forklake.merging.catalog_relation import CatalogRelation, relate_catalogs
from forklake.merging.definitions import describe_definition
from forklake.model.diffs import LISTED, Diff, RowDifference, TableDifference
from forklake.model.entities import InlinedRow, Option, Row, Table
from forklake.model.fields import Field
from forklake.model.kinds import KIND_OF, MACRO, OPTION, SCHEMA, VIEW
from forklake.model.merge_rules import ChangeStatus
from forklake.model.names import folded
from forklake.model.options import CATALOG_SCOPE_ID
from forklake.model.scans import ScanFile, is_partial
from forklake.model.state import CatalogState

if TYPE_CHECKING:
    from forklake.session.session import Session

_MOST = 10_000
_DEFINITIONS = (SCHEMA, VIEW, MACRO, OPTION)
_OWN = frozenset({"catalog_id", "begin_snapshot"})
_IDS = frozenset({"schema_id", "schema_uuid", "view_id", "view_uuid", "macro_id", "path"})


def diff(
    session: Session,
    metastore: Metastore,
    first: str,
    second: str,
    *,
    version: int | None = None,
    other_version: int | None = None,
    tables: Sequence[str] | None = None,
    rows: bool = False,
    limit: int = LISTED,
) -> Diff:
    """Return the changes from the first catalog to the second; both may be the same catalog.

    Args:
        session: its Spark compares rows; Spark is not started where metadata is sufficient.
        version, other_version: snapshots at which the first and the second catalog are read.
        tables: compare only these tables.
        rows: also return rows, at most `limit` for each table.
    """
    if not 1 <= limit <= _MOST:
        raise InvalidInput(
            f"The limit of rows shown for each table cannot be {limit}.",
            remedy=f"Use a limit from 1 to {_MOST}.",
        )
    one, other = metastore.catalog(first), metastore.catalog(second)
    first_view = one.now() if version is None else one.at(version=version)
    second_view = other.now() if other_version is None else other.at(version=other_version)
    if one.catalog_id == other.catalog_id:
        relation = CatalogRelation(
            first_view if first_view.snapshot_id < second_view.snapshot_id else second_view
        )
    else:
        relation = relate_catalogs(one, other)
    row_limit = limit if rows else 0
    found = [
        _compare_table(session, pair, relation, row_limit)
        for pair in _pairs(first_view, second_view, relation, tables)
    ]
    return Diff(
        first,
        second,
        relation.shares_lineage,
        tuple(one for one in found if not one.is_empty),
        tuple(_compare_all_definitions(first_view.state, second_view.state, relation))
        if tables is None
        else (),
    )


# Definitions


def _compare_all_definitions(
    one: CatalogState, other: CatalogState, relation: CatalogRelation
) -> Iterator[str]:
    before_rows, after_rows = _rows_by_key(one, relation), _rows_by_key(other, relation)
    for key in {**before_rows, **after_rows}:
        before, after = before_rows.get(key), after_rows.get(key)
        row = after or before
        assert row is not None
        status = _compare_definitions(before, after, relation)
        if status is not ChangeStatus.UNCHANGED:
            yield f"{describe_definition(row, other, one)} {status.value}"


def _compare_definitions(
    before: Row | None, after: Row | None, relation: CatalogRelation
) -> ChangeStatus:
    if before is None:
        return ChangeStatus.ADDED
    if after is None:
        return ChangeStatus.REMOVED
    is_same = _content(before, relation) == _content(after, relation)
    return ChangeStatus.UNCHANGED if is_same else ChangeStatus.CHANGED


def _content(row: Row, relation: CatalogRelation) -> dict[str, Any]:
    """Return the content of a definition without its owner, and without ids of unrelated lakes."""
    ignored = _OWN if relation.shares_lineage else _OWN | _IDS
    names = (one.name for one in fields(row) if one.name not in ignored)
    return {name: getattr(row, name) for name in names}


def _rows_by_key(state: CatalogState, relation: CatalogRelation) -> dict[Any, Row]:
    """Return definitions by id, or by name where the catalogs do not share a lineage."""
    rows = [row for kind in _DEFINITIONS for row in state.rows(kind)]
    if relation.shares_lineage:
        return {(type(row), KIND_OF[type(row)].identify(row)): row for row in rows}
    return {
        (type(row), describe_definition(row, state)): row
        for row in rows
        if not isinstance(row, Option) or row.scope_id == CATALOG_SCOPE_ID
    }


# Tables


@dataclass(frozen=True)
class _TablePair:
    """A table in both catalogs, or in one of them."""

    name: str
    first: SnapshotReads
    second: SnapshotReads
    before: Table | None
    after: Table | None


def _pairs(
    first: SnapshotReads,
    second: SnapshotReads,
    relation: CatalogRelation,
    tables: Sequence[str] | None,
) -> Iterator[_TablePair]:
    mine, theirs = _by_key(first.state, relation), _by_key(second.state, relation)
    wanted = None if tables is None else {_qualify(name) for name in tables}
    for key in {**mine, **theirs}:
        before, after = mine.get(key), theirs.get(key)
        names = [
            _name(view.state, table)
            for view, table in ((first, before), (second, after))
            if table is not None
        ]
        if wanted is None or wanted & {folded(name) for name in names}:
            yield _TablePair(names[-1], first, second, before, after)


def _by_key(state: CatalogState, relation: CatalogRelation) -> dict[Any, Table]:
    if relation.shares_lineage:
        return {row.table_id: row for row in state.tables()}
    return {folded(_name(state, row)): row for row in state.tables()}


def _name(state: CatalogState, table: Table) -> str:
    return f"{state.schema_of(table).schema_name}.{table.table_name}"


def _qualify(name: str) -> str:
    return folded(name if "." in name else f"main.{name}")


def _compare_table(
    session: Session, pair: _TablePair, relation: CatalogRelation, limit: int
) -> TableDifference:
    if pair.before is None or pair.after is None:
        view, table = (
            (pair.second, pair.after) if pair.before is None else (pair.first, pair.before)
        )
        assert table is not None
        count = TableContent.of(view, table).count(session)
        if pair.before is None:
            return TableDifference(pair.name, ChangeStatus.ADDED.value, added=count)
        return TableDifference(pair.name, ChangeStatus.REMOVED.value, removed=count)
    columns = tuple(
        _compare_columns(
            pair.first.state.fields(pair.before), pair.second.state.fields(pair.after), relation
        )
    )
    if _name(pair.first.state, pair.before) != pair.name:
        columns = (f"renamed from {_name(pair.first.state, pair.before)}", *columns)
    mine, theirs = remove_shared(
        TableContent.of(pair.first, pair.before), TableContent.of(pair.second, pair.after), relation
    )
    counts, rows = _compare_rows(session, mine, theirs, relation, limit)
    return TableDifference(pair.name, ChangeStatus.CHANGED.value, columns, *counts, rows)


def _compare_columns(
    before: Sequence[Field], after: Sequence[Field], relation: CatalogRelation
) -> Iterator[str]:
    def by_key(fields: Sequence[Field]) -> dict[Any, Field]:
        return {
            one.column_id if relation.shares_lineage else folded(one.name): one for one in fields
        }

    mine, theirs = by_key(before), by_key(after)
    for key in {**mine, **theirs}:
        one, other = mine.get(key), theirs.get(key)
        if one is None or other is None:
            shown = one or other
            assert shown is not None
            status = ChangeStatus.ADDED if one is None else ChangeStatus.REMOVED
            yield f"{shown.name} {status.value}"
            continue
        if one.name != other.name:
            yield f"{one.name} renamed to {other.name}"
        if shape(one) != shape(other):
            yield f"{other.name} changed from {one.type} to {other.type}"
        if one.nulls_allowed != other.nulls_allowed:
            yield f"{other.name} {'may' if other.nulls_allowed else 'must not'} be null"


def shape(field: Field) -> tuple[Any, ...]:
    """Return the type of a column with all nested fields."""
    return field.type, tuple((one.name, shape(one)) for one in field.fields)


# Rows


@dataclass(frozen=True)
class TableContent:
    """The rows of a table, or some of them."""

    view: SnapshotReads
    table: Table
    files: tuple[ScanFile, ...]
    rows: tuple[InlinedRow, ...]

    @classmethod
    def of(cls, view: SnapshotReads, table: Table) -> TableContent:
        """Return the content with all rows of a table."""
        return cls(view, table, tuple(view.scan_files(table)), tuple(view.inlined_rows(table)))

    @property
    def row_set(self) -> RowSet:
        """The rows, as data engines take them."""
        return RowSet(self.view, self.table, self.files, self.rows)

    @cached_property
    def is_empty(self) -> bool:
        """Whether it holds neither files nor inlined rows."""
        return not (self.files or self.rows)

    def count(self, session: Session) -> int:
        """Count the rows. Only files that also hold rows of later snapshots are read."""
        if any(is_partial(one, self.view.snapshot_id) for one in self.files):
            return session.engine.forks.count(self.row_set)
        in_files = sum(one.live_rows for one in self.files)
        return in_files + len(self.rows)

    def has_only_new_rows(self, first_new: int, merged: Sequence[tuple[int, int]]) -> bool:
        """Return whether all rows were written after the catalogs diverged, and by no merge.

        Args:
            first_new: the first row id that was assigned after the fork.
            merged: ranges (first id, count) of rows that a merge brought.
        """

        def is_own(row_id: int) -> bool:
            return row_id >= first_new and not any(
                first <= row_id < first + count for first, count in merged
            )

        return all(is_own(row.row_id) for row in self.rows) and all(
            one.file.row_id_start is not None
            and one.file.partial_file_info is None
            and is_own(one.file.row_id_start)
            for one in self.files
        )


def remove_shared(
    one: TableContent, other: TableContent, relation: CatalogRelation
) -> tuple[TableContent, TableContent]:
    """Return the rows of two tables without the files and inlined rows that both have."""

    def files(content: TableContent) -> dict[Any, ScanFile]:
        return {
            (
                file.file.data_file_id,
                file.delete_file.delete_file_id if file.delete_file else None,
                file.deleted_positions,
            ): file
            for file in content.files
        }

    def rows(content: TableContent) -> dict[Any, InlinedRow]:
        return {(row.row_id, row.begin_snapshot): row for row in content.rows}

    mine, theirs = files(one), files(other)
    own_rows, their_rows = rows(one), rows(other)
    same = mine.keys() & theirs.keys()
    same_rows = own_rows.keys() & their_rows.keys() if relation.shares_lineage else set()

    def rest(
        content: TableContent, held: dict[Any, ScanFile], kept: dict[Any, InlinedRow]
    ) -> TableContent:
        return TableContent(
            content.view,
            content.table,
            tuple(file for key, file in held.items() if key not in same),
            tuple(row for key, row in kept.items() if key not in same_rows),
        )

    return rest(one, mine, own_rows), rest(other, theirs, their_rows)


RowChanges = tuple[tuple[int, int, int], tuple[RowDifference, ...]]


def _compare_rows(
    session: Session,
    mine: TableContent,
    theirs: TableContent,
    relation: CatalogRelation,
    limit: int,
) -> RowChanges:
    """Count the rows added, removed and changed, and return up to `limit` of them."""
    if mine.is_empty and theirs.is_empty:
        return (0, 0, 0), ()
    if not limit and _have_no_common_rows(mine, theirs, relation):
        return (theirs.count(session), mine.count(session), 0), ()
    counts, rows = session.engine.forks.compare(
        mine.row_set, theirs.row_set, _shared_columns(mine, theirs, relation), limit
    )
    added, removed, changed = (
        counts.get(one.value, 0)
        for one in (ChangeStatus.ADDED, ChangeStatus.REMOVED, ChangeStatus.CHANGED)
    )
    return (added, removed, changed), tuple(RowDifference(*row) for row in rows)


def _shared_columns(
    mine: TableContent, theirs: TableContent, relation: CatalogRelation
) -> SharedColumns:
    """Return the columns that both tables have: by column id, or by name."""

    def key(one: Field) -> object:
        return one.column_id if relation.shares_lineage else folded(one.name)

    others = {key(one): one for one in theirs.row_set.fields}
    pairs = [(one, others[key(one)]) for one in mine.row_set.fields if key(one) in others]
    if not relation.shares_lineage:
        return SharedColumns(pairs)
    number = mine.table.table_id
    return SharedColumns(
        pairs, relation.first_new_row_id(number), relation.equal_row_ranges(number)
    )


def _have_no_common_rows(
    mine: TableContent, theirs: TableContent, relation: CatalogRelation
) -> bool:
    """Return whether no row of one table can be a row of the other."""
    if mine.is_empty or theirs.is_empty:
        return True
    if not relation.shares_lineage:
        return False
    first_new, ranges = (
        relation.first_new_row_id(mine.table.table_id),
        relation.equal_row_ranges(mine.table.table_id),
    )
    return reduce(
        bool.__and__,
        (
            mine.has_only_new_rows(first_new, [(one, count) for one, _, count in ranges]),
            theirs.has_only_new_rows(first_new, [(other, count) for _, other, count in ranges]),
        ),
    )
