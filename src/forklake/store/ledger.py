"""The ledger of a commit: new rows with their final ids, and the ends of old ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from forklake.model.entities import Row
from forklake.model.ids import ENTITY_ID_COLUMNS, FILE_ID_COLUMNS, CatalogId, SnapshotId, TableId
from forklake.model.kinds import INLINED_DELETE, KIND_OF, OPTION, Kind
from forklake.store.operations import Allocation, Insert, Operation, Statement, Values
from forklake.store.rows import insert_of

_TOMBSTONES = "ducklake_tombstone"
_TOMBSTONE_COLUMNS = (
    "catalog_id",
    "kind",
    "table_id",
    "entity_id",
    "entity_key",
    "begin_snapshot",
    "end_snapshot",
)


@dataclass(slots=True)
class Ledger:
    """Turns what is local to a transaction into rows of one catalog at one snapshot.

    A row of the catalog's own is ended where it stands; an inherited one by a tombstone. Each part
    of a commit brings an allocation of its own, all with the same snapshot.
    """

    catalog_id: CatalogId
    inherits: bool
    allocation: Allocation
    _tombstones: list[Values] = field(default_factory=list)
    _shared_tombstones: list[Values] = field(default_factory=list)
    _final: dict[str, Callable[[Any], Any]] = field(init=False)  # how values become so, by column

    def __post_init__(self) -> None:
        catalog_id, snapshot = self.catalog_id, self.snapshot
        self._final = {"catalog_id": lambda _: catalog_id, "begin_snapshot": lambda _: snapshot}
        self._final |= dict.fromkeys(ENTITY_ID_COLUMNS, unless_none(self.entity))
        self._final |= dict.fromkeys(FILE_ID_COLUMNS, unless_none(self.file))

    @property
    def snapshot(self) -> SnapshotId:
        """The snapshot that the commit is."""
        return self.allocation.snapshot_id

    def entity(self, number: int) -> Any:
        """The final id of a schema, table, view, macro or partitioning."""
        return number if number >= 0 else self.allocation.entity_ids[-number - 1]

    def file(self, number: int) -> Any:
        """The final id of a file or mapping."""
        return number if number >= 0 else self.allocation.file_ids[-number - 1]

    def insert(self, name: str, columns: tuple[str, ...], rows: Iterable[Any]) -> Insert:
        """New rows of one table."""
        return insert_of(name, columns, rows, self._final)

    def is_own(self, row: Row) -> bool:
        """Whether the catalog wrote the row itself."""
        return row.catalog_id == self.catalog_id

    def end(self, rows: Iterable[Row]) -> Iterator[Operation]:
        """End rows, whatever their version is by now."""
        for row in rows:
            kind = KIND_OF[type(row)]
            if self.is_own(row) or kind is OPTION:  # an option may be our own by now
                yield self._update(kind, row, "end_snapshot IS NULL")
            if not self.is_own(row):
                self.bury(kind, row)

    def supersede(self, rows: Iterable[Row]) -> Iterator[Operation]:
        """End whatever versions of our own there are by now of rows about to be inserted."""
        for row in rows:
            yield self._update(KIND_OF[type(row)], row, "end_snapshot IS NULL")

    def replace(self, kind: Kind, before: Row | None, after: Row) -> Iterator[Operation]:
        """End one version of a row and insert the next."""
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
        """A statement that ends rows: :ended is the snapshot, :catalog the catalog."""
        given = {"ended": self.snapshot, "catalog": self.catalog_id} | parameters
        return Statement(text, given, names_rows=names_rows)

    def bury(self, kind: Kind, row: Row) -> None:
        """End an inherited row."""
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
        # Several deletes of a file, and two who set one option, share a tombstone.
        shared = kind in (OPTION, INLINED_DELETE)
        (self._shared_tombstones if shared else self._tombstones).append(values)

    def empty(
        self, table_id: TableId, places: Sequence[tuple[str, str]], cut: int
    ) -> Iterator[Operation]:
        """End all that is beneath a table, also what was added meanwhile.

        Args:
            places: tables of the metastore and their column that names the lake table.
            cut: the kind of tombstone that stands for everything inherited.
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
        """The ends of inherited rows; those that may be there already are written only once."""
        if self._tombstones:
            yield Insert(_TOMBSTONES, _TOMBSTONE_COLUMNS, self._tombstones)
        if self._shared_tombstones:
            rows = list(dict.fromkeys(self._shared_tombstones))
            yield Insert(_TOMBSTONES, _TOMBSTONE_COLUMNS, rows, skips_existing=True)


def unless_none(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same for values that may be missing."""
    return lambda value: None if value is None else change(value)
