"""Metastores of version 0.1.0 on every database: refused, upgraded, and then like new ones."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import forklake
from forklake import Metastore
from forklake.errors import Unsupported
from forklake.store import phases
from forklake.store.bootstrap import connect, upgrade_database
from forklake.store.migrations import MIGRATIONS
from forklake.store.operations import Statement
from forklake.store.schema.versions import MIGRATION
from forklake.store.upgrade import Upgrade, upgrade
from forklake.store.uri import parse_uri
from tests.cli.conftest import CommandLine
from tests.fix_metastore import Place, new_place
from tests.upgrade import dumps
from tests.upgrade.fingerprint import Fingerprint, fingerprint_of
from tests.upgrade.make_dump import format_reads, read

NAMES = tuple(one.name for one in MIGRATIONS)
# Names inside views that later versions changed. What the views return is the same.
RENAMED = {"told": "described", "said": "raw_action"}  # language: ok

WITH_ROWS = pytest.mark.parametrize("backend", dumps.WITH_ROWS, indirect=True)


@pytest.fixture
def old(vacant_place: Place, tmp_path: Path) -> Place:
    """Return a metastore of version 0.1.0 with catalogs."""
    dumps.load(vacant_place, tmp_path / "lake")
    return vacant_place


@pytest.fixture
def empty(vacant_place: Place) -> Place:
    """Return a metastore of version 0.1.0 without catalogs."""
    dumps.load_empty(vacant_place)
    return vacant_place


def open_again(place: Place) -> Metastore:
    """Open a metastore that exists."""
    return forklake.open(place.uri, metadata_schema=place.metadata_schema)


def upgrade_place(place: Place) -> Upgrade:
    """Upgrade a metastore as a separate process would, with its own connections."""
    return upgrade_database(place.uri, metadata_schema=place.metadata_schema)


def fingerprint(place: Place) -> Fingerprint:
    """Return the schema of a metastore."""
    database = connect(parse_uri(place.uri), metadata_schema=place.metadata_schema)
    with database.reading() as connection:
        found = fingerprint_of(connection)
    database.close()
    for before, after in RENAMED.items():
        found["views"] = [
            (name, text.replace(before, after)) for name, text in map(tuple, found["views"])
        ]
    # Tables of inlined rows belong to catalogs, not to the schema.
    return {
        kind: [row for row in rows if not str(row[0]).startswith("ducklake_inlined_data_1")]
        for kind, rows in found.items()
    }


def test_migrations_are_numbered_without_gaps() -> None:
    assert [one.number for one in MIGRATIONS] == list(range(1, MIGRATION + 1))
    for one in MIGRATIONS:
        assert one.name.startswith(f"{one.number:04}_")
        assert one.change.endswith(".")
        assert len(one.change) < 100


def test_older_metastore_is_refused_until_it_is_upgraded(empty: Place) -> None:
    before = fingerprint(empty)
    with pytest.raises(Unsupported, match="made by an older version of Forklake") as caught:
        open_again(empty)
    assert "forklake init --upgrade" in caught.value.remedy
    assert fingerprint(empty) == before
    done = upgrade_place(empty)
    assert tuple(one.name for one in done.migrations) == NAMES
    assert done.restored == ()
    with open_again(empty) as metastore:
        assert metastore.create_catalog("first").name == "first"


def test_newer_metastore_is_refused(place: Place) -> None:
    with place.open() as metastore, metastore.database.writing() as connection:
        text = "UPDATE ducklake_metadata SET value = '99' WHERE key = 'migration'"
        connection.commit([Statement(text, {})])
    for use in (open_again, upgrade_place):
        with pytest.raises(Unsupported, match="it has migration 99") as caught:
            use(place)
        assert "pip install --upgrade forklake" in caught.value.remedy


def test_upgraded_metastore_has_the_schema_of_a_new_one(
    empty: Place, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    dumps.load_optional(empty)
    upgrade_place(empty)
    (tmp_path / "new").mkdir()
    with new_place(empty.backend, tmp_path / "new", request) as other:
        compare_with_new(empty, other)


def compare_with_new(upgraded: Place, new: Place) -> None:
    """Check that two metastores have the same schema."""
    from forklake.store.access import install
    from forklake.store.automations import install_automations

    with new.open() as metastore:
        install(metastore.database)
        install_automations(metastore.database)
    expected = fingerprint(new)
    for kind, found in fingerprint(upgraded).items():
        assert found == expected[kind], kind


@WITH_ROWS
def test_every_snapshot_of_every_catalog_reads_as_before(old: Place) -> None:
    upgrade_place(old)
    expected = (dumps.FOLDER / f"{old.backend}.reads").read_text()
    with open_again(old) as metastore:
        assert format_reads(read(metastore)).splitlines() == expected.splitlines()


@WITH_ROWS
def test_access_rules_automations_and_delta_tables_are_kept(old: Place) -> None:
    upgrade_place(old)
    cli = CommandLine(old.uri)
    schema = ["--metadata-schema", old.metadata_schema] if old.metadata_schema else []

    def document(*arguments: str) -> Any:
        return cli.document(*arguments, *schema)

    principals = document("access", "principal", "list")
    assert [one["name"] for one in principals["principals"]] == ["ada", "ben"]
    (grant,) = document("access", "grants", "sales")["grants"]
    assert (grant["principal"], grant["role"]) == ("ben", "reader")
    assert document("access", "quota", "ada")["catalogs"] == 7
    automations = document("automations", "list")["automations"]
    assert sorted(one["name"] for one in automations) == ["arrivals", "nightly"]
    cli.ok("delta", "check", "sales", *schema)
    serious = document("doctor")["findings"]
    assert [one for one in serious if one["weight"] == "serious"] == []


def test_upgrading_again_changes_nothing(empty: Place) -> None:
    upgrade_place(empty)
    before = fingerprint(empty)
    assert upgrade_place(empty) == Upgrade((), ())
    assert fingerprint(empty) == before


def test_concurrent_upgrades_apply_each_migration_once(empty: Place) -> None:
    if empty.backend == "duckdb":  # a file belongs to one process, which has one database
        database = connect(parse_uri(empty.uri))
        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(upgrade, [database, database]))
        database.close()
    else:
        start = threading.Barrier(2)

        def run(_: int) -> Upgrade:
            start.wait()
            return upgrade_place(empty)

        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(run, range(2)))
    assert sorted(one.name for each in done for one in each.migrations) == sorted(NAMES)
    open_again(empty).close()


@pytest.mark.parametrize("phase", ["upgrade.locked", "upgrade.applied", "upgrade.committed"])
def test_interrupted_upgrade_is_completed_by_the_next(
    empty: Place, phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(reached: str) -> None:
        if reached == phase:
            raise KeyboardInterrupt

    monkeypatch.setattr(phases, "observer", interrupt)
    with pytest.raises(KeyboardInterrupt):
        upgrade_place(empty)
    monkeypatch.setattr(phases, "observer", None)
    is_done = phase == "upgrade.committed" and empty.backend != "mysql"
    if not is_done:
        with pytest.raises(Unsupported, match="older version"):
            open_again(empty)
    done = upgrade_place(empty)
    committed = phase == "upgrade.committed"
    expected = NAMES if not committed else () if is_done else NAMES[1:]
    assert tuple(one.name for one in done.migrations) == expected
    with open_again(empty) as metastore:
        assert metastore.count() == 0


def test_missing_tables_are_restored_by_an_upgrade(place: Place) -> None:
    with place.open() as metastore:
        with metastore.database.writing() as connection:
            connection.fetch("DROP TABLE ducklake_catalog_lease")
            connection.commit()
        done = upgrade(metastore.database)
        assert done.migrations == ()
        assert "ducklake_catalog_lease" in done.restored
