"""Rows seen by all readers, which must agree: in a catalog and its forks, now and in the past."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import forklake
from forklake import Catalog, Metastore, Session
from forklake.delta.publication import publish_table as publish_delta
from forklake.iceberg.publication import publish_table as publish_iceberg
from forklake.model.changes import ChangeKind
from forklake.store.stock_schema import expose
from tests.delta.readers import Rows, canonical_rows
from tests.interop.readers import (
    attach,
    bare_duckdb,
    by_deltalake,
    by_duckdb_iceberg,
    by_pyiceberg,
)

CATALOGS = ("sales", "inherited", "copied")
TABLE = """
    CREATE TABLE orders (
        id BIGINT, region VARCHAR, day DATE, amount DECIMAL(10, 2), made TIMESTAMP,
        moment TIMESTAMPTZ, ratio DOUBLE, flag BOOLEAN, small SMALLINT, gone INTEGER, note VARCHAR,
        raw BLOB, tags VARCHAR[], place STRUCT(x INTEGER, y VARCHAR)
    );
    ALTER TABLE orders SET PARTITIONED BY (region, year(day));
"""
ROWS = """
    SELECT i AS id, CASE i % 4 WHEN 3 THEN NULL ELSE 'r ' || (i % 4) END AS region,
        DATE '2024-12-30' + CAST(i % 5 AS INTEGER) AS day, CAST(i AS DECIMAL(10, 2)) / 4 AS amount,
        CASE WHEN i % 3 > 0 THEN TIMESTAMP '2024-02-29 12:34:56.789012' END AS made,
        TIMESTAMPTZ '2024-06-01 01:00:00+02' AS moment,
        CASE WHEN i % 5 > 0 THEN i / 7.0 END AS ratio, i % 2 = 0 AS flag,
        CAST(i % 100 AS SMALLINT) AS small, CASE WHEN i % 2 > 0 THEN 'note ' || i END AS note,
        CASE WHEN i % 6 > 0 THEN encode('b' || i) END AS raw,
        CASE WHEN i % 4 > 0 THEN ['a', NULL, 'c' || i] END AS tags,
        CASE WHEN i % 7 > 0 THEN {{'x': CAST(i AS INTEGER), 'y': 'p'}} END AS place
    FROM range({begin}, {end}) AS r(i)
"""
# Conditions that prune files, in SQL and in the syntax of pyiceberg.
CONDITIONS = {
    "id >= 30": "id >= 30",
    "day = DATE '2025-01-02'": "day = '2025-01-02'",
    "amount < 2.5": "amount < 2.50",
    "ratio > 5.0": "ratio > 5.0",
    "flag": "flag = true",
    "made IS NULL": "made is null",
    "moment >= TIMESTAMPTZ '2024-06-01 00:00:00+00'": "moment >= '2024-06-01T00:00:00+00:00'",
    "remark = 'changed'": "remark = 'changed'",
    "small = 13": "small = 13",
    "place.x = 12": "place.x = 12",
    "extra IS NOT NULL": "extra is not null",
}


@dataclass(frozen=True)
class Lake:
    """A catalog and two forks, with all their readers."""

    session: Session
    metastore: Metastore
    stock: duckdb.DuckDBPyConnection
    root: str

    def by_spark(self, catalog: str, version: int | None = None) -> pa.Table:
        at = "" if version is None else f" AT (VERSION => {version})"
        return self.session.sql(f"SELECT * FROM {catalog}.orders{at}").toArrow()

    def by_stock(self, catalog: str, version: int | None = None, where: str = "TRUE") -> Rows:
        at = "" if version is None else f" AT (VERSION => {version})"
        text = f"SELECT * FROM {catalog}.orders{at} WHERE {where}"
        return canonical_rows(self.stock.execute(text).to_arrow_table())

    def by_our_duckdb(self, catalog: str, version: int | None = None) -> Rows:
        with self.metastore.duckdb(catalog, version=version) as node:
            node.prepare("FROM orders")
            return canonical_rows(node.connection.execute("FROM orders").to_arrow_table())

    def as_iceberg(self, catalog: str) -> str:
        found, place = self.metastore.catalog(catalog), f"{self.root}/iceberg/{catalog}"
        return publish_iceberg(found, "orders", location=place, history=100).metadata_location

    def as_delta(self, catalog: str) -> str:
        place = f"{self.root}/delta/{catalog}"
        publish_delta(self.metastore.catalog(catalog), "orders", "main", place)
        return place


@pytest.fixture
def lake(session: Session, postgres_dsn: str, tmp_path: Path) -> Iterator[Lake]:
    """Yield a lake with all kinds of changes: before the forks, and in all three catalogs after."""
    uri = f"ducklake:postgres:{postgres_dsn}"
    with ExitStack() as stack:
        metastore = stack.enter_context(forklake.open(uri, create=True))
        metastore.create_catalog("sales", data_path=str(tmp_path / "data"))
        expose(metastore.database)
        session.attach(uri, "sales", catalog="sales")
        _before(session)
        for name, mode in (("inherited", "inherit"), ("copied", "copy")):
            metastore.fork("sales", name, mode=mode)
            session.attach(uri, name, catalog=name)
        _after(session, metastore)
        stock = stack.enter_context(bare_duckdb("postgres_scanner", "ducklake"))
        for name in CATALOGS:
            attach(stock, postgres_dsn, name, catalog=name)
        yield Lake(session, metastore, stock, str(tmp_path))


def _before(session: Session) -> None:
    session.use("sales")
    session.sql(TABLE)
    session.sql(f"INSERT INTO orders BY NAME {rows(0, 40)}")
    session.sql("DELETE FROM orders WHERE id IN (3, 4, 17)")
    session.sql("ALTER TABLE orders RENAME COLUMN note TO remark")
    session.sql("ALTER TABLE orders DROP COLUMN gone")
    session.sql("ALTER TABLE orders ADD COLUMN extra INTEGER")
    session.sql("UPDATE orders SET extra = 1, remark = 'changed' WHERE id % 10 = 5")


def _after(session: Session, metastore: Metastore) -> None:
    session.sql("DELETE FROM sales.orders WHERE id < 3 OR id = 11")
    session.sql("INSERT INTO sales.orders (id, region, extra) VALUES (900, 'r 9', 9)")
    session.sql("ALTER TABLE inherited.orders RENAME COLUMN region TO area")
    session.sql("DELETE FROM inherited.orders WHERE area = 'r 1'")
    session.sql("UPDATE inherited.orders SET amount = amount + 1 WHERE id > 35")
    session.sql("CALL ducklake_merge_adjacent_files('inherited')")
    session.sql("ALTER TABLE copied.orders SET PARTITIONED BY (flag)")
    session.sql(f"INSERT INTO copied.orders BY NAME {rows(50, 60).replace('note', 'remark')}")
    # So few that they are deleted in the metastore, beside a delete file of the same data file.
    metastore.catalog("copied").set_option("data_inlining_row_limit", 100)
    session.sql("DELETE FROM copied.orders WHERE id IN (7, 55)")


def rows(begin: int, end: int) -> str:
    return ROWS.format(begin=begin, end=end)


def test_all_readers_see_the_same_rows_now_and_in_the_past(lake: Lake) -> None:
    counts = set()
    for name in CATALOGS:
        now, metadata, log = lake.by_spark(name), lake.as_iceberg(name), lake.as_delta(name)
        expected = canonical_rows(now)
        counts.add(expected.total())
        assert lake.by_our_duckdb(name) == expected
        assert lake.by_stock(name) == expected
        assert canonical_rows(by_pyiceberg(metadata)) == expected
        assert canonical_rows(by_duckdb_iceberg(metadata)) == expected
        assert canonical_rows(by_deltalake(log)) == expected
        for text, spelled in CONDITIONS.items():
            some = canonical_rows(duckdb.sql(f"FROM now WHERE {text}").to_arrow_table())
            assert lake.by_stock(name, where=text) == some, text
            assert canonical_rows(by_pyiceberg(metadata, where=spelled)) == some, text
        for version in _past(lake.metastore.catalog(name)):
            before = canonical_rows(lake.by_spark(name, version))
            assert lake.by_our_duckdb(name, version) == before
            assert lake.by_stock(name, version) == before
            assert canonical_rows(by_pyiceberg(metadata, version)) == before
    assert len(counts) == len(CATALOGS)  # the forks differ


def _past(catalog: Catalog) -> list[int]:
    """Return two snapshots that changed the table: the oldest with rows, and the newest but one."""
    changed = [
        int(one.snapshot_id)
        for one in catalog.snapshots()
        if any(change.object_id is not None for change in one.changes)
    ]
    kinds = {ChangeKind.INSERTED, ChangeKind.DELETED, ChangeKind.ALTERED_TABLE}
    assert kinds <= {change.kind for one in catalog.snapshots() for change in one.changes}
    return [changed[1], changed[2], changed[5], changed[-2]]
