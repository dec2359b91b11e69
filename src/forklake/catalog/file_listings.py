"""Maintenance of the listings of files of large tables (`store.listings`).

A listing is rebuilt when enough new files have been added: the rebuild then takes a small part of
the time that adding the files took.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from forklake.catalog.catalog import Catalog
from forklake.catalog.file_columns import FILE, fetch_bounds, fetch_chosen
from forklake.catalog.zones import has_zones, make_zones
from forklake.model.entities import Table
from forklake.model.ids import CatalogId, ColumnId, SnapshotId
from forklake.model.kinds import COLUMN, DATA_FILE, TABLE
from forklake.model.orders import Order, order_of
from forklake.model.state import CatalogState
from forklake.store.columns import as_bytes
from forklake.store.listings import NO_COLUMN, Listed, Part, are_kept, last_listing, put_listing
from forklake.store.operations import Statement
from forklake.store.rows import Reader

_ENDING = FILE.append(pa.field("end_snapshot", pa.int64()))
LEAST = 5_000  # minimum new files for a listing
_GROWTH = 20  # rebuild once the previous listing has at most so many times the new files
_OWN = (
    f"SELECT * FROM {DATA_FILE.name} r WHERE r.catalog_id = :catalog AND r.table_id = :scope"
    " AND r.begin_snapshot > :since AND r.begin_snapshot <= :snapshot"
)

_LARGE = (
    f"SELECT table_id FROM {DATA_FILE.name} WHERE catalog_id = :catalog"
    " GROUP BY table_id HAVING count(*) >= :least"
)


def keep_listing(catalog: Catalog, table: Table, *, least: int = LEAST) -> bool:
    """Rebuild the listing of the files that a catalog added to a table, if it is worthwhile."""
    if not are_kept(catalog.database):
        return False
    seen = catalog.now()
    owner = (catalog.catalog_id, seen.snapshot_id)
    columns = _orders(seen.state, table)
    with seen.reading() as reader:
        if not _is_due(reader, owner, table, least):
            return False
        parts = list(_parts(reader, owner, Statement(_OWN, _given(owner, table)), columns))
    put_listing(catalog.database, table.table_id, parts)
    return True


def keep_listings(catalog: Catalog, *, least: int = LEAST) -> int:
    """Rebuild the worthwhile listings of all tables of a catalog; return their number."""
    with catalog.database.reading() as connection:
        rows = connection.fetch(_LARGE, catalog=catalog.catalog_id, least=least)
    large = {number for (number,) in rows}
    tables: list[Table] = catalog.now().state.rows(TABLE)
    chosen = [table for table in tables if table.table_id in large]
    return sum(keep_listing(catalog, table, least=least) for table in chosen)


Owner = tuple[CatalogId, SnapshotId]


def _given(owner: Owner, table: Table, since: int = -1) -> dict[str, int]:
    catalog_id, snapshot_id = owner
    given = {"catalog": catalog_id, "scope": table.table_id, "snapshot": snapshot_id}
    return given | {"since": since}


def _is_due(reader: Reader, owner: Owner, table: Table, least: int) -> bool:
    ((since,),) = reader.fetch(last_listing(owner[0], table.table_id))
    new, count = (
        reader.fetch(Statement(f"SELECT count(*) FROM ({_OWN}) n", given))[0][0]
        for given in (_given(owner, table, since), _given(owner, table))
    )
    return bool(new >= least and new * _GROWTH >= count - new)


def _orders(state: CatalogState, table: Table) -> dict[ColumnId, Order | None]:
    """Return the leaf columns of a table, with the order of their bounds."""
    columns = state.beneath(COLUMN, table.table_id)
    parents = {column.parent_column for column in columns}
    return {
        column.column_id: order_of(column.column_type)
        for column in columns
        if column.column_id not in parents
    }


def _parts(
    reader: Reader, owner: Owner, wanted: Statement, columns: Mapping[ColumnId, Order | None]
) -> Iterator[Listed]:
    """Yield the parts of a listing by column, with only one column in memory at a time."""
    files = fetch_chosen(reader, wanted, _ENDING)
    numbers = files["data_file_id"]
    ended = pc.fill_null(pc.less_equal(files["end_snapshot"], owner[1]), False)
    for place, body in _divided(files.select(FILE.names), ended):
        yield Listed(*owner, Part.FILES, NO_COLUMN, place, body)
    for column, order in columns.items():
        bounds = fetch_bounds(reader, wanted, column, numbers)
        for place, body in _divided(bounds, ended):
            yield Listed(*owner, Part.BOUNDS, column, place, body)
        if order is not None and has_zones(order):
            zones = make_zones(numbers, bounds, order)
            yield Listed(*owner, Part.ZONES, column, 0, as_bytes(zones.bounds))
            for zone, group in enumerate(zones.numbers):
                yield Listed(*owner, Part.NUMBERS, column, zone, as_bytes(group))


def _divided(table: pa.Table, ended: pa.ChunkedArray) -> Iterator[tuple[int, bytes]]:
    """Yield the encoded rows of live files as part 0, and of ended files, if any, as part 1."""
    yield 0, as_bytes(table.filter(pc.invert(ended)))
    if pc.any(ended).as_py():
        yield 1, as_bytes(table.filter(ended))
