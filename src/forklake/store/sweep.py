"""Sweep: delete rows that no snapshot can see and schedule their files for deletion.

It takes no locks on catalogs: a row that may be deleted once may be deleted ever after
(`model.retention`). There is one sweep at a time: otherwise two sweeps that delete the last rows of
a file would not see that these are the last. Transactions that copy rows share the lock, so that no
row is deleted while it is copied. Each batch of files is a transaction, with everything that is
deleted with them: an interrupted sweep is simply run again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from forklake.model.children import (
    Child,
    ColumnMapping,
    FileAction,
    FileColumnStatistics,
    FilePartitionValue,
    MacroImplementation,
    MacroParameter,
    NameMapping,
    PartitionColumn,
)
from forklake.model.ids import CatalogId
from forklake.model.kinds import (
    DATA_FILE,
    DELETE_FILE,
    INLINED_TABLE,
    MACRO,
    PARTITION,
    TABLE,
    Kind,
)
from forklake.store.database import Connection, Database, Dialect, Lock
from forklake.store.deadlock_retry import again_if_undone
from forklake.store.listings import are_kept, idle_text
from forklake.store.operations import Operation, Statement
from forklake.store.phases import reached
from forklake.store.retention import (
    SCHEMA_VERSIONS,
    Versioned,
    schema_versions_that_may_go,
    that_may_go,
    versioned_tables,
)
from forklake.store.scheduled import schedule_text
from forklake.store.table_cache import is_ours

# Files in a transaction. Each batch compares all intervals of the catalogs.
BATCH = 25_000
# Children of parents that may have rows in several catalogs, and the columns that may still refer
# to the parent. The children are deleted when none does.
_USED_IN: dict[type[Child], tuple[tuple[str, str], ...]] = {
    MacroImplementation: ((MACRO.name, "macro_id"),),
    MacroParameter: ((MACRO.name, "macro_id"),),
    PartitionColumn: ((PARTITION.name, "partition_id"), (DATA_FILE.name, "partition_id")),
    NameMapping: ((ColumnMapping.NAME, "mapping_id"),),
}
# Children of data files, and the column of their key between table and file, if there is one.
_OF_FILES: dict[type[Child], str | None] = {
    FileColumnStatistics: "column_id",
    FilePartitionValue: "partition_key_index",
    FileAction: None,
}


def sweep(database: Database, catalogs: Sequence[CatalogId]) -> int:
    """Delete rows of catalogs that no snapshot sees. Return the number of files scheduled."""
    noted = 0
    for kind in (DATA_FILE, DELETE_FILE):
        is_more = bool(_with_dead_rows(database, catalogs, [Versioned(kind.name)]))
        while is_more:
            count, is_more = _sweep_files(database, catalogs, kind)
            noted += count
    tables = _with_dead_rows(database, catalogs, list(versioned_tables()))
    if tables or _has_inlined_rows(database, catalogs):
        _drop_tables(database, _sweep_definitions(database, catalogs, tables))
    return noted


@again_if_undone
def _sweep_files(database: Database, catalogs: Sequence[CatalogId], kind: Kind) -> tuple[int, bool]:
    """Sweep a batch of files. Return the number scheduled, and whether there may be more."""
    with database.writing() as connection:
        sweeping = _Sweeping(connection, catalogs)
        noted, is_more = sweeping.files(kind)
        if kind is DATA_FILE and are_kept(database):
            sweeping.listings()
        sweeping.commit()
        return noted, is_more


@again_if_undone
def _sweep_definitions(
    database: Database, catalogs: Sequence[CatalogId], tables: Sequence[Versioned]
) -> dict[str, int]:
    with database.writing() as connection:
        sweeping = _Sweeping(connection, catalogs)
        ended = sweeping.definitions(tables)
        sweeping.commit()
        return ended


def _with_dead_rows(
    database: Database, catalogs: Sequence[CatalogId], tables: Sequence[Versioned]
) -> list[Versioned]:
    """Return those tables that have rows to delete.

    Most often there are none, and then the sweep does not have to take the lock.
    """
    if not catalogs:
        return []
    with database.reading() as connection:
        dialect = connection.dialect
        given = {"catalogs": dialect.array(sorted(catalogs))}
        answers = connection.run(
            [
                Statement(
                    f"SELECT 1 FROM {table.name} WHERE {that_may_go(table, dialect)} LIMIT 1", given
                )
                for table in tables
            ]
        )
    return [table for table, found in zip(tables, answers, strict=True) if found]


def _has_inlined_rows(database: Database, catalogs: Sequence[CatalogId]) -> bool:
    """Return whether there are tables of inlined rows.

    Their rows are only read under the lock, because the tables may be dropped.
    """
    if not catalogs:
        return False
    with database.reading() as connection:
        given = {"catalogs": connection.dialect.array(sorted(catalogs))}
        return bool(connection.fetch(_inlined_tables(connection.dialect), **given))


def _inlined_tables(dialect: Dialect) -> str:
    """Return the SELECT of tables that may hold inlined rows of the catalogs or of ancestors."""
    return (
        "SELECT DISTINCT t.table_name, t.table_id FROM ducklake_catalog_lineage l"
        " JOIN ducklake_inlined_data_tables t ON t.catalog_id = l.ancestor_id"
        f" WHERE {dialect.any_of('l.catalog_id', 'catalogs')}"
    )


@dataclass(frozen=True, slots=True)
class _File:
    """Row of a file that is deleted.

    `rows` is the number of rows of the file, or None if catalogs that are not swept have one too.
    """

    catalog_id: CatalogId
    number: int
    table_id: int
    rows: int | None
    is_ours: bool
    partition_id: int | None = None


class _Sweeping:
    """One transaction of a sweep."""

    def __init__(self, connection: Connection, catalogs: Sequence[CatalogId]) -> None:
        self._connection = connection
        self._dialect = connection.dialect
        self._given = {"catalogs": connection.dialect.array(sorted(catalogs))}
        self._todo: list[Operation] = []
        connection.run(connection.lock(Lock.SWEEP))
        reached("sweep.locked")

    def commit(self) -> None:
        reached("sweep.prepared")
        self._connection.commit(self._todo)
        reached("sweep.committed")

    # Files

    def files(self, kind: Kind) -> tuple[int, bool]:
        """Delete rows of files and of all that belongs to them.

        Return the number of files scheduled for deletion, and whether there may be more.
        """
        rows = self._connection.fetch(self._files_text(kind), **self._given)
        found = [_File(*row) for row in rows]
        # Copies of one row may be deleted together: then their file is scheduled once.
        copies = Counter(file.number for file in found)
        last = [file for file in found if file.rows == copies[file.number]]
        ours = {file.number: file for file in last if file.is_ours}.values()
        note = schedule_text(kind, self._dialect.any_of(str(kind.entity), "files"))
        self._each_catalog(note, ours, now=datetime.now(UTC))
        among = self._dialect.any_of(str(kind.entity), "files")
        self._each_catalog(
            f"DELETE FROM {kind.name} WHERE catalog_id = :catalog AND {among}", found
        )
        if kind is DATA_FILE:
            self._children_of_files(last)
        return len(ours), len(found) == BATCH

    def listings(self) -> None:
        """Delete listings for whose files no row is left."""
        self._todo.append(Statement(idle_text(self._dialect), self._given))

    def _files_text(self, kind: Kind) -> str:
        same = f"FROM {kind.name} o WHERE o.{kind.entity} = r.{kind.entity}"
        is_swept = self._dialect.any_of("o.catalog_id", "catalogs")
        # Rows are counted only if all are swept: a file can have a copy in each of many catalogs.
        rows = (
            f"CASE WHEN NOT EXISTS (SELECT 1 {same} AND NOT {is_swept})"
            f" THEN (SELECT count(*) {same}) END"
        )
        chosen = that_may_go(Versioned(kind.name), self._dialect)
        return (
            f"SELECT r.catalog_id, r.{kind.entity}, r.table_id,"
            f" {rows}, {is_ours(kind)}{', r.partition_id' if kind is DATA_FILE else ''}"
            f" FROM {kind.name} r WHERE {chosen} LIMIT {BATCH}"
        )

    def _each_catalog(self, text: str, files: Iterable[_File], **parameters: Any) -> None:
        """Add a statement on files for each catalog that has rows of them."""
        by_catalog: dict[CatalogId, list[int]] = {}
        for file in files:
            by_catalog.setdefault(file.catalog_id, []).append(file.number)
        for catalog_id, numbers in by_catalog.items():
            given = {"catalog": catalog_id, "files": self._dialect.array(numbers)}
            self._todo.append(Statement(text, given | parameters))

    def _children_of_files(self, gone: Sequence[_File]) -> None:
        by_table: dict[int, list[int]] = {}
        for file in gone:
            by_table.setdefault(file.table_id, []).append(file.number)
        for table_id, numbers in by_table.items():
            for child, key in _OF_FILES.items():
                self._delete_children(child, key, table_id, numbers)
        self._unless_used(PartitionColumn, (file.partition_id for file in gone))

    def _delete_children(
        self, child: type[Child], key: str | None, table_id: int, numbers: Sequence[int]
    ) -> None:
        """Delete children; listing all values of the key column makes it a primary key lookup."""
        any_of, array = self._dialect.any_of, self._dialect.array
        text = (
            f"DELETE FROM {child.NAME} WHERE table_id = :table AND {any_of(child.PARENT, 'files')}"
        )
        given: dict[str, Any] = {"table": table_id, "files": array(numbers)}
        if key is not None:
            ((highest,),) = self._connection.fetch(
                f"SELECT max({key}) FROM {child.NAME} WHERE table_id = :table", table=table_id
            )
            if highest is None:
                return
            text += f" AND {any_of(key, 'keys')}"
            given["keys"] = array(range(highest + 1))
        self._todo.append(Statement(text, given))

    def _unless_used(self, child: type[Child], parents: Iterable[int | None]) -> None:
        """Delete the children of parents that have no reference after the statements so far."""
        numbers = sorted({number for number in parents if number is not None})
        if not numbers:
            return
        unused = "".join(
            f" AND NOT EXISTS (SELECT 1 FROM {table} u"
            f" WHERE u.{column} = {child.NAME}.{child.PARENT})"
            for table, column in _USED_IN[child]
        )
        self._todo.append(
            Statement(
                f"DELETE FROM {child.NAME}"
                f" WHERE {self._dialect.any_of(child.PARENT, 'parents')}{unused}",
                {"parents": self._dialect.array(numbers)},
            )
        )

    # Everything else

    def definitions(self, tables: Sequence[Versioned]) -> dict[str, int]:
        """Delete all other rows: of `tables`, and of the tables of inlined rows.

        Return the tables of inlined rows that ended in a catalog, with their lake tables.
        """
        inlined = dict(self._connection.fetch(_inlined_tables(self._dialect), **self._given))
        ended = set(self._numbers(INLINED_TABLE, "table_name"))
        for name in inlined:
            self._delete(Versioned(name))
        macros = self._numbers(MACRO, "macro_id")
        partitions = self._numbers(PARTITION, "partition_id")
        mappings = self._mappings(self._numbers(TABLE, "table_id"))
        for table in tables:
            self._delete(table)
        versions = schema_versions_that_may_go(self._dialect)
        self._todo.append(Statement(f"DELETE FROM {SCHEMA_VERSIONS} WHERE {versions}", self._given))
        self._delete_mappings(mappings)
        for child, numbers in (
            (MacroImplementation, macros),
            (MacroParameter, macros),
            (PartitionColumn, partitions),
            (NameMapping, mappings),
        ):
            self._unless_used(child, numbers)
        return {name: number for name, number in inlined.items() if name in ended}

    def _mappings(self, tables: Sequence[int]) -> list[int]:
        """Return the mappings of tables, each of which is kept as long as its table."""
        rows = self._connection.fetch(
            f"SELECT mapping_id FROM {ColumnMapping.NAME}"
            f" WHERE {self._dialect.any_of('table_id', 'tables')}",
            tables=self._dialect.array(tables),
        )
        return [number for (number,) in rows]

    def _delete_mappings(self, mappings: Sequence[int]) -> None:
        """Delete those mappings whose table has no row in any catalog."""
        self._todo.append(
            Statement(
                f"DELETE FROM {ColumnMapping.NAME}"
                f" WHERE {self._dialect.any_of('mapping_id', 'mappings')} AND NOT EXISTS"
                f" (SELECT 1 FROM {TABLE.name} u WHERE u.table_id = {ColumnMapping.NAME}.table_id)",
                {"mappings": self._dialect.array(mappings)},
            )
        )

    def _delete(self, table: Versioned) -> None:
        chosen = that_may_go(table, self._dialect)
        self._todo.append(Statement(f"DELETE FROM {table.name} WHERE {chosen}", self._given))

    def _numbers(self, kind: Kind, column: str) -> list[Any]:
        chosen = that_may_go(Versioned(kind.name), self._dialect)
        text = f"SELECT DISTINCT {column} FROM {kind.name} WHERE {chosen}"
        return [value for (value,) in self._connection.fetch(text, **self._given)]


def _drop_tables(database: Database, names: Mapping[str, int]) -> None:
    """Drop tables of inlined rows that no catalog refers to any more.

    The locks exclude concurrent reads of these tables by a sweep, and their re-creation.
    """
    for name, table_id in names.items():
        with database.writing() as connection:
            connection.run([*connection.lock(Lock.SWEEP), *connection.lock(Lock.INLINED, table_id)])
            known = connection.fetch(
                "SELECT catalog_id FROM ducklake_inlined_data_tables WHERE table_name = :name",
                name=name,
            )
            if not known:
                connection.commit([Statement(f"DROP TABLE IF EXISTS {name}")])
