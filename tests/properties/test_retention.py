"""Retention: the rule, its SQL statement, and long histories in which nothing needed is lost."""

from __future__ import annotations

import os
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklake.model.ids import FOREVER, SnapshotId
from forklake.model.retention import may_go, runs_of
from forklake.store.retention import Versioned, that_may_go
from tests.fix_metastore import Place, mysql_database, postgres_schema
from tests.properties.retention import World

# Run more with: FORKLAKE_STEPS=10000
STEPS = int(os.environ.get("FORKLAKE_STEPS", "500"))
STEPS_OF_A_WORLD = 100
numbers = st.integers(0, 30)


@given(st.sets(numbers), numbers, st.one_of(st.none(), numbers))
def test_a_row_may_be_deleted_when_no_snapshot_sees_it(
    points: set[int], begin: int, end: int | None
) -> None:
    inside = [one for one in points if begin <= one and (end is None or one < end)]
    assert may_go(begin, end, sorted(points)) == (not inside)


@given(st.sets(numbers), st.sets(numbers))
def test_runs_contain_expired_snapshots_and_no_kept_ones(expired: set[int], kept: set[int]) -> None:
    kept -= expired
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    runs = runs_of(
        [(SnapshotId(one), moment) for one in expired], [SnapshotId(one) for one in sorted(kept)]
    )
    for one in range(31):
        inside = [run for run in runs if run.begin_snapshot <= one < run.end_snapshot]
        assert len(inside) <= 1
        assert bool(inside) or one not in expired
        assert not inside or one not in kept
    assert {run.begin_snapshot for run in runs} <= expired
    assert all(run.end_snapshot in kept or run.end_snapshot == FOREVER for run in runs)


@pytest.mark.parametrize("seed", range(3))
def test_the_statement_agrees_with_the_rule(place: Place, seed: int) -> None:
    random = Random(seed)
    with place.open() as metastore, metastore.database.writing() as connection:
        points: dict[int, list[int]] = {}
        for catalog in (1, 2):
            points[catalog] = sorted(random.sample(range(40), 8))
            for number in points[catalog][:5]:
                connection.fetch(
                    "INSERT INTO ducklake_snapshot_changes (catalog_id, snapshot_id)"
                    f" VALUES ({catalog}, {number})"
                )
            for fork, number in enumerate(points[catalog][5:], start=100 * catalog):
                connection.fetch(
                    f"INSERT INTO ducklake_catalog_lineage VALUES ({fork}, 1, {catalog}, {number})"
                )
                connection.fetch(
                    f"INSERT INTO ducklake_catalog_head VALUES ({fork}, 50, 0, :moment)",
                    moment=datetime(2026, 1, 1, tzinfo=UTC),
                )
        rows = set()
        for _ in range(60):
            begin = random.randrange(40)
            end = random.choice([None, begin + 1, random.randrange(begin + 1, 60)])
            rows.add((random.choice([1, 2, 3]), random.randrange(10**6), begin, end))
        for catalog, number, begin, end in rows:
            ended = "NULL" if end is None else end
            connection.fetch(
                "INSERT INTO ducklake_table_stats VALUES"
                f" ({catalog}, {number}, 0, 0, 0, {begin}, {ended})"
            )
        chosen = that_may_go(Versioned("ducklake_table_stats"), connection.dialect)
        found = connection.fetch(
            f"SELECT table_id FROM ducklake_table_stats WHERE {chosen}",
            catalogs=connection.dialect.array([1, 2]),
        )
    assert sorted(number for (number,) in found) == sorted(
        number
        for catalog, number, begin, end in rows
        if catalog in points and may_go(begin, end, points[catalog])
    )


def live(place: Place, folder: Path, seed: int, steps: int) -> None:
    """Run one world from its beginning to its end."""
    world = World(place, folder, Random(seed))
    with closing(world.metastore):
        try:
            for _ in range(steps):
                world.step()
                world.check()
            world.check_all()
            world.finish()
            world.check_all()
            world.check_nothing_is_left()
        except BaseException as reason:
            reason.add_note(f"in the world of the seed {seed}")
            raise


@pytest.mark.slow
@pytest.mark.timeout(0 if STEPS > 1000 else 300)
def test_nothing_visible_is_ever_lost_on_sqlite(tmp_path: Path) -> None:
    first = Random().randrange(10**9)
    for seed in range(first, first + STEPS // STEPS_OF_A_WORLD):
        folder = tmp_path / str(seed)
        folder.mkdir()
        place = Place("sqlite", f"ducklake:sqlite:{folder / 'metastore.db'}")
        live(place, folder / "files", seed, STEPS_OF_A_WORLD)


@pytest.mark.slow
def test_nothing_visible_is_ever_lost_on_duckdb(tmp_path: Path) -> None:
    place = Place("duckdb", f"ducklake:duckdb:{tmp_path / 'metastore.db'}")
    live(place, tmp_path / "files", Random().randrange(10**9), 60)


@pytest.mark.slow
def test_nothing_visible_is_ever_lost_on_postgresql(tmp_path: Path, shared_database: str) -> None:
    with postgres_schema(shared_database) as place:
        live(place, tmp_path / "files", Random().randrange(10**9), STEPS_OF_A_WORLD)


@pytest.mark.slow
def test_nothing_visible_is_ever_lost_on_mysql(tmp_path: Path, mysql_address: str) -> None:
    with mysql_database(mysql_address) as place:
        live(place, tmp_path / "files", Random().randrange(10**9), 60)
