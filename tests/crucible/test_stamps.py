"""Stamps: the metastore of each account, and ids that are unique among all stamps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import forklake
from forklake.crucible.account_moves import move_account
from forklake.crucible.settings import Settings
from forklake.crucible.stamps import Stamps
from forklake.errors import AlreadyExists, InvalidInput, NotFound, Unsupported
from forklake.model.requests import CreateRequest
from forklake.store.access import list_principals
from forklake.store.stamps import MOST_STAMPS, Account
from tests.crucible.fix_stamps import World, database, world
from tests.crucible.served import run_service


@pytest.fixture
def stamps(postgres_server: Any) -> Iterator[World]:
    """Yield two stamps."""
    with world(postgres_server) as found:
        yield found


def test_new_accounts_are_placed_on_the_stamp_with_the_fewest(stamps: World) -> None:
    found = [stamps.stamps.create_account(f"account-{number}").stamp for number in range(4)]
    assert sorted(found) == ["east", "east", "home", "home"]
    named = stamps.stamps.create_account("named", "east")
    assert named == Account("named", "east") == stamps.stamps.account("named")
    unknown = "never-heard-of"  # language: ok
    assert stamps.stamps.account(unknown) == Account(unknown, "home")
    with pytest.raises(AlreadyExists):
        stamps.stamps.create_account("named")
    with pytest.raises(NotFound):
        stamps.stamps.create_account("other", "west")


def test_accounts_see_the_catalogs_of_their_stamp(stamps: World) -> None:
    stamps.stamps.create_account("far", "east")
    near, far = stamps.caller("nora", "near"), stamps.caller("fred", "far")
    stamps.access("near").catalogs.create(near, CreateRequest(["near-1"]))
    stamps.access("far").catalogs.create(far, CreateRequest(["far-1"]))
    assert [row.catalog_name for row in stamps.stamps.access_of(near).visible.catalogs(near)] == [
        "near-1"
    ]
    assert [row.catalog_name for row in stamps.stamps.access_of(far).visible.catalogs(far)] == [
        "far-1"
    ]
    assert stamps.metastore("far") is stamps.stamps.metastore("east")
    assert stamps.metastore("near") is stamps.stamps.home


def test_an_account_with_principals_stays_at_home_until_it_is_moved(stamps: World) -> None:
    stamps.caller("nora", "near")
    with pytest.raises(InvalidInput, match="has principals"):
        stamps.stamps.create_account("near", "east")
    assert stamps.stamps.create_account("near").stamp == "home"


def test_ids_are_unique_among_stamps(stamps: World) -> None:
    for metastore in stamps.stamps.metastores():
        for number in range(3):
            catalog = metastore.create_catalog(f"c-{number}", data_path="/data")
            with catalog.transaction() as transaction:
                transaction.create_table("t", [forklake.ColumnSpec("x", "int")])
    given = {
        stamp: {
            row[column]
            for table, column in (
                ("catalog", "catalog_id"),
                ("schema", "schema_id"),
                ("table", "table_id"),
                ("catalog_head", "snapshot_id"),
            )
            for row in stamps.raw(stamp)[table]
        }
        for stamp in ("home", "east")
    }
    assert {number % MOST_STAMPS for number in given["home"]} == {0}
    assert {number % MOST_STAMPS for number in given["east"]} == {1}


def test_stamps_are_reopened_and_other_metastores_refused(
    stamps: World, postgres_server: Any
) -> None:
    uris = {name: place.uri for name, place in stamps.places.items()}
    home = stamps.stamps.home
    Stamps(home, {"east": uris["east"]}).close()
    with pytest.raises(InvalidInput, match="cannot become"):
        Stamps(home, {"west": uris["east"]})  # a different stamp
    with database(postgres_server) as uri:
        with forklake.open(uri, create=True) as other:
            other.create_catalog("there")
        with pytest.raises(InvalidInput, match="cannot become"):
            Stamps(home, {"east": uris["east"], "north": uri})
    with pytest.raises(InvalidInput):
        Stamps(home, {"home": uris["east"]})


def test_a_service_routes_every_account_to_its_stamp(postgres_server: Any) -> None:
    with database(postgres_server) as home, database(postgres_server) as east:
        settings = Settings(metastore=home, create=True, stamps={"east": east}, data_path="/data")
        with run_service(settings) as service:
            root = service.client_of("root")
            made = root.post("/v1/accounts", json={"name": "far", "stamp": "east"})
            assert (made.status_code, made.json()["stamp"]) == (201, "east")
            assert root.get("/v1/accounts").json()["stamps"] == ["home", "east"]
            fred = {"name": "fred", "account": "far", "prefixes": ["fred-"]}
            assert root.post("/v1/principals", json=fred).status_code == 201
            limits = {"catalogs": 1, "bytes": None, "sessions": None}
            assert root.put("/v1/principals/fred/quota", json=limits).json() == limits
            key = root.post("/v1/principals/fred/keys").json()["key"]
            client = service.client(key)
            assert client.post("/v1/catalogs", json={"name": "fred-1"}).status_code == 201
            assert client.post("/v1/catalogs", json={"name": "fred-2"}).status_code == 429
            assert service.service.stamps.metastore("east").count() == 1
            assert service.service.home.count() == 0
            assert client.get("/v1/accounts").status_code == 403

            move_account(service.service.stamps, "far", "home", pause=0)
            service.service.stamps.clear_cache()
            assert client.get("/v1/catalogs/fred-1").status_code == 200
            assert service.service.stamps.metastore("east").count() == 0
            root.delete("/v1/principals/fred")
            service.service.run_chores()
            with service.service.stamps.metastore("east").database.reading() as connection:
                known = {one.name: one.is_disabled for one in list_principals(connection)}
            assert (known["fred"], known["alice"]) == (True, False)


def test_a_single_metastore_works_without_stamps(tmp_path: Path) -> None:
    with forklake.open(f"ducklake:{tmp_path / 'one.db'}", create=True) as home:
        stamps = Stamps(home)
        assert stamps.metastore_of("anybody") is home  # language: ok
        assert (stamps.names, stamps.accounts()) == (("home",), [])
        with pytest.raises(Unsupported):
            stamps.create_account("new")
        with pytest.raises(Unsupported):
            Stamps(home, {"east": f"ducklake:{tmp_path / 'two.db'}"})
