"""Row writer of a commit: new rows with their final ids, and ends of old rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from forklake.model.entities import Row
from forklake.model.ids import ENTITY_ID_COLUMNS, FILE_ID_COLUMNS, CatalogId, SnapshotId, TableId
from forklake.model.kinds import INLINED_DELETE, KIND_OF, OPTION, Kind
from forklake.store.operations import Allocation, Insert, Operation, Statement, Values
from forklake.store.rows import insert_of
from forklake.store.schema.catalog_tables import TOMBSTONE

_TOMBSTONES = "ducklake_tombstone"
_TOMBSTONE_COLUMNS = TOMBSTONE.column_names


@dataclass(slots=True)
class Ledger:
    """Converts rows with transaction-local ids to rows of one catalog at one snapshot.

    A row of the catalog itself is ended by an UPDATE, an inherited one by a tombstone. Each part of
    a commit has an allocation of its own, all with the same snapshot.
    """

    catalog_id: CatalogId
    inherits: bool
    allocation: Allocation
    _tombstones: list[Values] = field(default_factory=list)
    _shared_tombstones: list[Values] = field(default_factory=list)
    _final: dict[str, Callable[[Any], Any]] = field(init=False)  # conversion of values, by column

    def __post_init__(self) -> None:
        catalog_id, snapshot = self.catalog_id, self.snapshot
        self._final = {"catalog_id": lambda _: catalog_id, "begin_snapshot": lambda _: snapshot}
        self._final |= dict.fromkeys(ENTITY_ID_COLUMNS, unless_none(self.entity))
        self._final |= dict.fromkeys(FILE_ID_COLUMNS, unless_none(self.file))

    @property
    def snapshot(self) -> SnapshotId:
        """Id of the snapshot that the commit creates."""
        return self.allocation.snapshot_id

    def entity(self, number: int) -> Any:
        """Return the final id of a schema, table, view, macro or partitioning."""
        return number if number >= 0 else self.allocation.entity_ids[-number - 1]

    def file(self, number: int) -> Any:
        """Return the final id of a file or mapping."""
        return number if number >= 0 else self.allocation.file_ids[-number - 1]

    def insert(self, name: str, columns: tuple[str, ...], rows: Iterable[Any]) -> Insert:
        """Return the operation that inserts new rows into one table."""
        return insert_of(name, columns, rows, self._final)

    def is_own(self, row: Row) -> bool:
        """Return whether the row belongs to the catalog itself, not to an ancestor."""
        return row.catalog_id == self.catalog_id

    def end(self, rows: Iterable[Row]) -> Iterator[Operation]:
        """Yield the operations that end rows, also if they have a newer version by now."""
        for row in rows:
            kind = KIND_OF[type(row)]
            # An inherited option may have been overridden by a row of the catalog since.
            if self.is_own(row) or kind is OPTION:
                yield self._update(kind, row, "end_snapshot IS NULL")
            if not self.is_own(row):
                self.bury(kind, row)

    def supersede(self, rows: Iterable[Row]) -> Iterator[Operation]:
        """Yield the operations that end the catalog's versions of rows about to be inserted."""
        for row in rows:
            yield self._update(KIND_OF[type(row)], row, "end_snapshot IS NULL")

    def replace(self, kind: Kind, before: Row | None, after: Row) -> Iterator[Operation]:
        """Yield the operations that end one version of a row and insert the next."""
        if before is not None and self.is_own(before):
            yield self._update(kind, before, "begin_snapshot = :began", names_rows=True)
        elif before is not None:
            self.bury(kind, before)
        yield self.insert(kind.name, kind.columns, [after])

    def _update(self, kind: Kind, row: Row, version: str, *, names_rows: bool = False) -> Statement:
        matches = " AND ".join(f"{column} = :{column}" for column in kind.identity)
        return self.ending(
            f"UPDATE {kind.name} SET end_snapshot = :ended WHERE catalog_id = :catalog"
            f" AND {matches} AND {version}",
            names_rows=names_rows,
            began=row.begin_snapshot,
            **{column: getattr(row, column) for column in kind.identity},
        )

    def ending(self, text: str, *, names_rows: bool = False, **parameters: Any) -> Statement:
        """Return a statement that ends rows: :ended is the snapshot, :catalog the catalog."""
        given = {"ended": self.snapshot, "catalog": self.catalog_id} | parameters
        return Statement(text, given, names_rows=names_rows)

    def bury(self, kind: Kind, row: Row) -> None:
        """End an inherited row by a tombstone."""
        scope, entity, text = kind.tombstone_key(row)
        values = (
            self.catalog_id,
            kind.code,
            scope,
            entity,
            text,
            row.begin_snapshot,
            self.snapshot,
        )
        # Deletes of one file, and concurrent changes to one option, write the same tombstone.
        shared = kind in (OPTION, INLINED_DELETE)
        (self._shared_tombstones if shared else self._tombstones).append(values)

    def empty(
        self, table_id: TableId, places: Sequence[tuple[str, str]], cut: int
    ) -> Iterator[Operation]:
        """Yield the operations that end all rows of a table, concurrent additions included.

        Args:
            places: tables of the metastore and their column that refers to the lake table.
            cut: the kind of tombstone that ends everything inherited.
        """
        for name, scope in places:
            yield self.ending(
                f"UPDATE {name} SET end_snapshot = :ended WHERE catalog_id = :catalog"
                f" AND {scope} = :scope AND end_snapshot IS NULL",
                scope=table_id,
            )
        if self.inherits:
            row = (self.catalog_id, cut, table_id, 0, "", 0, self.snapshot)
            self._shared_tombstones.append(row)

    def tombstones(self) -> Iterator[Operation]:
        """Yield the inserts of tombstones. Those that may exist already are skipped if they do."""
        if self._tombstones:
            yield Insert(_TOMBSTONES, _TOMBSTONE_COLUMNS, self._tombstones)
        if self._shared_tombstones:
            rows = list(dict.fromkeys(self._shared_tombstones))
            yield Insert(_TOMBSTONES, _TOMBSTONE_COLUMNS, rows, skips_existing=True)


def unless_none(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a conversion that leaves None unchanged."""
    return lambda value: None if value is None else change(value)
