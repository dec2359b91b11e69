"""Partitions on PostgreSQL: created from the common description; reads prune them by lineage.

All other tests run on a partitioned metastore too: FORKLAKE_TEST_PARTITIONS=4 pytest -k postgresql.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

import forklake
from forklake import Metastore, NewDataFile
from forklake.errors import AlreadyExists, InvalidInput, Unsupported
from forklake.model.entities import Table
from forklake.model.kinds import DATA_FILE
from forklake.store.operations import with_parameters
from forklake.store.partitioning import PARTITIONED
from forklake.store.postgresql_dialect import PostgresDialect
from forklake.store.schema.metastore import TABLES, define_metastore
from forklake.store.visibility import visible_rows
from tests.behavior.builders import a_file, a_table
from tests.fix_metastore import Place, postgres_schema

COUNT = 4


@pytest.fixture
def place(shared_database: str) -> Iterator[Place]:
    """Yield a place for a partitioned metastore."""
    with postgres_schema(shared_database, COUNT) as found:
        yield found


def query(place: Place, text: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """Return the result of a query that is sent to PostgreSQL directly."""
    with psycopg.connect(place.uri.removeprefix("ducklake:postgres:")) as connection:
        schema = sql.Identifier(place.metadata_schema or "public")
        connection.execute(sql.SQL("SET search_path TO {}").format(schema))
        cursor = connection.execute(text.encode(), parameters)
        return cursor.fetchall() if cursor.description else []


def filled(metastore: Metastore, name: str, files: int = 3) -> Table:
    """Create a catalog with a table of some files, and return the table."""
    catalog = metastore.create_catalog(name, data_path="/lake")
    return a_table(catalog, "events", files=[f"{name}-{number}" for number in range(files)])


class TestTheSchema:
    def test_each_large_table_is_partitioned_and_keeps_keys_indexes_and_settings(self) -> None:
        plain, divided = (
            {one.name: one for one in reversed(define_metastore("postgresql", count))}
            for count in (0, 3)
        )
        tables = {one.name: one for one in TABLES}
        assert set(plain) <= set(divided)
        assert len(divided) == len(plain) + 3 * len(PARTITIONED)
        for name, column in PARTITIONED.items():
            assert column in tables[name].column_names
            body, _, _ = plain[name].text.partition("\n)")
            assert divided[name].text == f"{body}\n) PARTITION BY HASH ({column})"
            assert not divided[name].settings
            assert divided[f"{name}_002"].settings == plain[name].settings != frozenset()

    @pytest.mark.parametrize("count", [1, -1, 257])
    def test_invalid_numbers_of_partitions_are_refused(self, count: int) -> None:
        with pytest.raises(InvalidInput, match=f"{count} partitions"):
            forklake.open("ducklake:postgres:dbname=nowhere", create=True, partitions=count)

    def test_embedded_databases_have_no_partitions(self, tmp_path: Path) -> None:
        with pytest.raises(Unsupported, match="not supported for a metastore in sqlite"):
            forklake.open(f"ducklake:{tmp_path / 'lake.db'}", create=True, partitions=4)
        assert not (tmp_path / "lake.db").exists()

    def test_the_number_of_partitions_cannot_be_changed(self, place: Place) -> None:
        with place.open():
            pass
        other = Place(place.backend, place.uri, place.metadata_schema, 8)
        with pytest.raises(AlreadyExists, match="has 4 partitions, not 8"):
            other.open()
        with forklake.open(place.uri, metadata_schema=place.metadata_schema) as metastore:
            assert metastore.count() == 0


# Files of very many other catalogs, so that pruning has an effect.
_OTHERS = """
INSERT INTO ducklake_data_file (catalog_id, data_file_id, table_id, begin_snapshot, path,
    path_is_relative, file_format, record_count, file_size_bytes)
SELECT 1000 + mod(n, 400), 100000 + n, 1000 + mod(n, 400), 1, 'other-' || n, true, 'parquet', 1, 1
FROM generate_series(1, 20000) n
"""


def test_a_listing_reads_only_the_partitions_of_its_lineage(place: Place) -> None:
    with place.open() as metastore:
        table = filled(metastore, "parent")
        fork = metastore.fork("parent", "fork")
        query(place, _OTHERS)
        query(place, "ANALYZE")
        assert len(fork.now().data_files(table)) == 3
        listing = visible_rows(DATA_FILE, PostgresDialect(), scoped=True)
        text = with_parameters(listing, lambda name: f"%({name})s")
        given = {"catalog": int(fork.catalog_id), "snapshot": int(fork.head().snapshot_id)}
        plan = query(
            place, f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", **given, scope=int(table.table_id)
        )[0][0][0]["Plan"]
        holding = query(
            place,
            "SELECT DISTINCT tableoid::regclass::text FROM ducklake_data_file"
            " WHERE table_id = %(table)s",
            table=int(table.table_id),
        )
    read = {node["Relation Name"] for node in _nodes(plan) if _is_read_file_table(node)}
    assert {name.rpartition(".")[2] for (name,) in holding} <= read
    assert len(read) <= 2  # the partitions of the parent and of the fork, which has no rows yet


def _is_read_file_table(node: dict[str, Any]) -> bool:
    is_table = str(node.get("Relation Name")).startswith("ducklake_data_file")
    return is_table and bool(node["Actual Loops"])


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)


def test_catalogs_work_on_a_partitioned_metastore_from_creation_to_reclamation(
    place: Place,
) -> None:
    """Commit, fork, end inherited files, time-travel, expire, materialize, drop and reclaim."""
    with place.open() as metastore:
        table = filled(metastore, "main", files=5)
        main = metastore.catalog("main")
        fork = metastore.fork("main", "fork")
        copy = metastore.fork("main", "copy", mode="copy")
        with fork.transaction() as transaction:
            transaction.end_data_files(table, transaction.data_files(table)[:2])
            transaction.add_data_files(table, [a_file("fork-new")])
        with main.transaction() as transaction:
            transaction.end_data_files(table, transaction.data_files(table))
        assert [len(one.now().data_files(table)) for one in (main, fork, copy)] == [0, 4, 5]
        many: list[NewDataFile] = [a_file(f"bulk-{number}") for number in range(300)]
        with main.transaction() as transaction:
            transaction.add_data_files(table, many)
        assert len(main.now().data_files(table)) == 300

        main.expire_snapshots(older_than=datetime.now(UTC) + timedelta(hours=1))
        assert [len(one.now().data_files(table)) for one in (main, fork, copy)] == [300, 4, 5]
        metastore.materialize("fork")
        metastore.drop_catalogs(["main", "copy"])
        assert len(metastore.reclaim_dropped().catalogs) == 2
        assert len(fork.now().data_files(table)) == 4
        metastore.drop_catalog("fork")
        metastore.reclaim_dropped()
    for name in PARTITIONED:
        assert query(place, f"SELECT count(*) FROM {name}") == [(0,)], name
