"""Work on upgraded catalogs: statements have the same effect as on a new metastore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import forklake
from forklake import Session
from forklake.store.access import install
from forklake.store.automations import install_automations
from forklake.store.bootstrap import connect
from forklake.store.operations import Insert
from forklake.store.schema.versions import MIGRATION
from forklake.store.uri import parse_uri
from tests.fix_metastore import Place, new_place
from tests.upgrade import dumps
from tests.upgrade.make_dump import format_reads, read

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

WORK = """
INSERT INTO orders SELECT range, 'new', 2, NULL, 'new' FROM range(500, 520);
DELETE FROM orders WHERE id < 6;
UPDATE orders SET state = 'sent' WHERE id BETWEEN 300 AND 303;
MERGE INTO totals USING (SELECT 1 AS count UNION ALL SELECT 9) s ON totals.count = s.count
    WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (count) VALUES (s.count);
INSERT INTO visits VALUES ('p99', DATE '2024-02-01', 5);
ALTER TABLE nested ADD COLUMN extra BIGINT DEFAULT 7;
INSERT INTO nested VALUES (99, ['x'], {'x': 1.5, 'name': 'y'}, 8);
INSERT INTO published SELECT 30, 'upgraded';
DELETE FROM published WHERE id = 1;
CREATE TABLE added AS SELECT id FROM orders AT (VERSION => 5);
CALL ducklake_fork_catalog('lake', 'newest');
DROP TABLE added;
"""
IN_FORK = """
INSERT INTO orders SELECT range, 'fork', 3, NULL, 'new' FROM range(600, 620);
DELETE FROM orders WHERE id = 500;
"""
UPKEEP = """
CALL lake.merge_adjacent_files('orders');
CALL lake.flush_inlined_data();
CALL lake.expire_snapshots(older_than => INTERVAL '0 seconds');
CALL lake.cleanup_old_files(cleanup_all => true);
"""


def work(engine: Engine, place: Place, folder: Path) -> list[str]:
    """Change, fork, merge and clean up catalogs. Return what is read after each step."""
    found: list[str] = []

    def run(catalog: str, text: str) -> None:
        with Session(engine.spark) as session:
            session.attach(
                place.uri, "lake", catalog=catalog, metadata_schema=place.metadata_schema
            )
            session.use("lake")
            session.sql(text)

    def observe() -> None:
        with forklake.open(place.uri, metadata_schema=place.metadata_schema) as metastore:
            found.extend(format_reads(read(metastore)).splitlines())

    run("sales", WORK)
    observe()
    run("newest", IN_FORK)
    run("deeper", "UPDATE orders SET state = 'deepest' WHERE id = 200")
    run("newest", "CALL lake.merge()")
    observe()
    with forklake.open(place.uri, metadata_schema=place.metadata_schema) as metastore:
        metastore.drop_catalogs(["copy", "brief"])
    run("sales", UPKEEP)
    observe()
    found.append(f"{len(list(folder.rglob('*.parquet')))} files")
    return found


def load_new(place: Place, folder: Path) -> None:
    """Load the same catalogs into a metastore of this version."""
    with place.open() as metastore:
        install(metastore.database)
        install_automations(metastore.database)
    dumps.load_rows(place, folder)
    row = ("migration", str(MIGRATION), "metastore")
    insert = Insert("ducklake_metadata", ("key", "value", "scope"), [row])
    database = connect(parse_uri(place.uri), metadata_schema=place.metadata_schema)
    with database.writing() as connection:
        connection.commit([insert])
    database.close()


@pytest.mark.slow
@pytest.mark.parametrize("backend", dumps.WITH_ROWS, indirect=True)
def test_work_on_an_upgraded_metastore_is_that_on_a_new_one(
    engine: Engine,
    backend: str,
    vacant_place: Place,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    dumps.load(vacant_place, tmp_path / "upgraded")
    dumps.upgrade(vacant_place)
    found = work(engine, vacant_place, tmp_path / "upgraded")
    (tmp_path / "new").mkdir()
    with new_place(backend, tmp_path / "new", request) as other:
        load_new(other, tmp_path / "new")
        expected = work(engine, other, tmp_path / "new")
    assert found == expected
