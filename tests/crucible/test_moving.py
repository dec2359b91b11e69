"""Moving an account between stamps: all rows arrive, none stay behind, and none are lost when the
move is interrupted at any phase."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from forklake import Catalog, ColumnSpec, Metastore
from forklake.access.callers import LOCAL
from forklake.access.roles import Right
from forklake.crucible.account_moves import MoveResult, finish_moves, move_account
from forklake.errors import (
    AlreadyExists,
    Conflict,
    ForklakeError,
    InvalidInput,
    NotFound,
    Unavailable,
)
from forklake.model.entities import Table
from forklake.model.requests import CreateRequest, ForkRequest
from forklake.store import catalog_families as rows
from forklake.store import phases
from forklake.store.schema.description import Backend
from forklake.store.stamps import Account, State
from tests.behavior.test_schema import tables_of
from tests.concurrency.consistency import problems
from tests.concurrency.writers import TABLE, append, new_file, table_of
from tests.crucible.fix_stamps import World, world
from tests.properties.observe import observe

MOVE_PHASES = [phase for phase in phases.PHASES if phase.startswith("move.")]
ACCOUNT, OTHER = "mine", "theirs"


@pytest.fixture
def lakes(postgres_server: Any) -> Iterator[World]:
    """Yield two stamps; at home two accounts with catalogs, forks, and dropped forks."""
    with world(postgres_server) as found:
        for account in (ACCOUNT, OTHER):
            caller = found.caller(f"owner of {account}", account)
            access = found.access(account)
            access.catalogs.create(
                caller, CreateRequest([f"{account}-base", f"{account}-other"], data_path="/data")
            )
            fill(found, account)
            access.catalogs.fork(
                caller, ForkRequest(f"{account}-base", [f"{account}-fork", f"{account}-gone"])
            )
            access.catalogs.fork(caller, ForkRequest(f"{account}-gone", [f"{account}-heir"]))
            access.catalogs.fork(
                caller, ForkRequest(f"{account}-base", [f"{account}-copy"], mode="copy")
            )
            change(found.metastore(account).catalog(f"{account}-fork"), 1)
            change(found.metastore(account).catalog(f"{account}-heir"), 2)
            access.catalogs.drop(caller, [f"{account}-gone"])
            access.catalogs.rename(caller, f"{account}-other", f"{account}-renamed")
            access.quotas.set(LOCAL, caller.name, catalogs=50, bytes=10**12, sessions=5)
        yield found


def fill(lakes: World, account: str) -> None:
    """Create a Delta table with files, inlined rows, deletes, a tag and an option, and a view."""
    base = lakes.metastore(account).catalog(f"{account}-base")
    with base.transaction() as transaction:
        columns = [ColumnSpec("id", "bigint"), ColumnSpec("name", "varchar")]
        transaction.create_table(TABLE, columns)
    table = table_of(base)
    with base.transaction() as transaction:
        files = [new_file(f"{account}-{number}.parquet", 10, 10 * number) for number in range(6)]
        transaction.add_data_files(table, files)
        named = [{"id": number, "name": f"row {number}"} for number in range(8)]
        transaction.insert_rows(table, named)
        transaction.create_view("view", "SELECT 1 AS one")
        transaction.set_tag(table, "tag", account)
        transaction.set_option("target_file_size", "16MB")
    change(base, 0)
    add_delta_table(lakes, base, table)


def change(catalog: Catalog, number: int) -> None:
    """End a file and rows, delete positions, add a column and files."""
    table = table_of(catalog)
    with catalog.transaction() as transaction:
        files = sorted(transaction.data_files(table), key=lambda file: file.path)
        transaction.end_data_files(table, [files[0]])
        transaction.delete_positions(table, files[1], [number])
        transaction.delete_rows(table, transaction.inlined_rows(table)[:1])
        transaction.insert_rows(table, [{"id": 100 + number, "name": "new"}])
        transaction.add_column(table, ColumnSpec(f"column_{number}", "int", default="7"))
        transaction.add_data_files(table, [new_file(f"{catalog.name}-new.parquet", 3)])


def add_delta_table(lakes: World, catalog: Catalog, table: Table) -> None:
    """Write the metastore rows of a Delta table, as its log would have left them."""
    at = catalog.current_snapshot()
    own = f"{catalog.catalog_id}, {table.table_id}, {at}, NULL"
    dsn = lakes.places["home"].uri.removeprefix("ducklake:postgres:")
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in (
            f"INSERT INTO dl_tables VALUES ({own}, 'face', 'place', 'own')",
            f"INSERT INTO dl_table_versions VALUES ({own}, 0, 1, 'WRITE', 'key')",
            f"INSERT INTO dl_actions VALUES ({own}, 0, 'metaData', '', '{{}}')",
            "INSERT INTO dl_mirror_status VALUES"
            f" ({catalog.catalog_id}, {table.table_id}, 'files', 0, 0, '', '', now(), now())",
            "INSERT INTO dl_file_actions SELECT catalog_id, data_file_id, table_id, NULL, '{}'"
            f" FROM ducklake_data_file WHERE catalog_id = {catalog.catalog_id}",
        ):
            connection.execute(statement.encode())


Seen = dict[str, dict[int, Any]]


def read_contents(metastore: Metastore, account: str) -> Seen:
    """Return the visible contents of all catalogs of an account at every snapshot."""
    found: Seen = {}
    for row in metastore.all_catalogs(prefix=f"{account}-"):
        catalog = Catalog(metastore, row)
        history = catalog.snapshots()
        found[row.catalog_name] = {
            snapshot.snapshot_id: (snapshot, observe(catalog, snapshot.snapshot_id))
            for snapshot in history
        }
        found[row.catalog_name][-1] = observe(catalog)
    return found


def list_rows(lakes: World, stamp: str, ids: set[int]) -> dict[str, list[str]]:
    """Return all rows of some catalogs in a stamp, by metastore table."""
    return {
        name: sorted(map(str, (row for row in found if row["catalog_id"] in ids)))
        for name, found in lakes.raw(stamp).tables.items()
        if found and "catalog_id" in found[0]
    }


def list_ids(lakes: World, stamp: str, account: str) -> set[int]:
    """Return the ids of an account's catalogs in a stamp, also of dropped ones."""
    catalogs = lakes.raw(stamp)["catalog"]
    return {row["catalog_id"] for row in catalogs if row["catalog_name"].startswith(account)}


def check_consistency(lakes: World) -> None:
    """Check that both stamps are consistent."""
    for stamp, place in lakes.places.items():
        assert problems(place, every_snapshot=True) == [], stamp


def test_all_rows_arrive_and_none_stay_behind(lakes: World) -> None:
    ids = list_ids(lakes, "home", ACCOUNT)
    before, stays = (
        read_contents(lakes.stamps.home, ACCOUNT),
        read_contents(lakes.stamps.home, OTHER),
    )
    rows_before = list_rows(lakes, "home", ids)
    assert rows_before["dl_file_actions"]
    assert len(before) == 5

    moved = move_account(lakes.stamps, ACCOUNT, "east", pause=0)
    assert (moved.account, moved.stamp, moved.catalogs) == (ACCOUNT, "east", 6)
    assert lakes.stamps.find_account(ACCOUNT) == Account(ACCOUNT, "east")
    east = lakes.metastore(ACCOUNT)
    assert east is lakes.stamps.metastore("east")
    assert read_contents(east, ACCOUNT) == before
    after = list_rows(lakes, "east", ids)
    assert {name: found for name, found in after.items() if found} == {
        name: found for name, found in rows_before.items() if found
    }
    assert read_contents(lakes.stamps.home, ACCOUNT) == {}
    left = {name for name, found in list_rows(lakes, "home", ids).items() if found}
    assert left == {"ducklake_catalog", "ducklake_catalog_lineage", "crucible_audit"}
    assert read_contents(lakes.stamps.home, OTHER) == stays
    check_consistency(lakes)

    caller = lakes.caller(f"owner of {ACCOUNT}", ACCOUNT)
    access = lakes.access(ACCOUNT)
    assert len(access.visible.catalogs(caller)) == 5
    assert access.quotas.find(LOCAL, caller.name).catalogs == 50
    catalog = access.authorization.catalog(caller, f"{ACCOUNT}-fork", "statement.write")
    append(catalog, table_of(catalog), "later.parquet")
    access.catalogs.fork(caller, ForkRequest(f"{ACCOUNT}-fork", [f"{ACCOUNT}-later"]))
    check_consistency(lakes)

    # Folders of moved catalogs are not used again, also after the old rows are reclaimed.
    lakes.stamps.home.reclaim_dropped()
    again = lakes.stamps.home.create_catalog(f"{ACCOUNT}-base", data_path="/data")
    assert again.row.path == f"{again.row.catalog_uuid}/"


def test_a_move_is_refused_if_names_or_folders_are_taken(lakes: World) -> None:
    east, name = lakes.stamps.metastore("east"), f"{ACCOUNT}-fork"
    before = read_contents(lakes.stamps.home, ACCOUNT)
    east.create_catalog(name, data_path="/data")
    with pytest.raises(AlreadyExists, match=name):
        move_account(lakes.stamps, ACCOUNT, "east", pause=0)
    east.rename_catalog(name, "there")
    with pytest.raises(AlreadyExists, match="folder"):
        move_account(lakes.stamps, ACCOUNT, "east", pause=0)
    assert lakes.stamps.find_account(ACCOUNT) == Account(ACCOUNT, "home")
    assert read_contents(lakes.stamps.home, ACCOUNT) == before

    # Below another data path the same folder does not conflict.
    dsn = lakes.places["east"].uri.removeprefix("ducklake:postgres:")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("UPDATE ducklake_catalog SET data_path = '/elsewhere'")
    move_account(lakes.stamps, ACCOUNT, "east", pause=0)
    assert read_contents(east, ACCOUNT) == before
    row = east.catalog(name).row
    assert row.path == f"{row.catalog_uuid}/"
    check_consistency(lakes)


def test_accounts_with_forks_of_each_other_cannot_be_moved(lakes: World) -> None:
    theirs = lakes.caller(f"owner of {OTHER}", OTHER)
    mine = lakes.caller(f"owner of {ACCOUNT}", ACCOUNT)
    access = lakes.access(ACCOUNT)
    access.grants.add(mine, f"{ACCOUNT}-base", theirs.name, "forker")
    access.catalogs.fork(theirs, ForkRequest(f"{ACCOUNT}-base", [f"{OTHER}-of-mine"], mode="copy"))
    before = read_contents(lakes.stamps.home, ACCOUNT)
    for account in (ACCOUNT, OTHER):
        with pytest.raises(InvalidInput, match="cannot be moved"):
            move_account(lakes.stamps, account, "east", pause=0)
        assert lakes.stamps.find_account(account) == Account(account, "home")
    assert read_contents(lakes.stamps.home, ACCOUNT) == before
    check_consistency(lakes)


class Interruption(Exception):
    """Simulated end of the process."""


def interrupt_move(lakes: World, phase: str, stamp: str) -> None:
    """Start a move to a stamp, and interrupt it at a phase."""

    def observe_phase(name: str) -> None:
        if name == phase:
            raise Interruption

    phases.observer = observe_phase
    try:
        with pytest.raises(Interruption):
            move_account(lakes.stamps, ACCOUNT, stamp, pause=0)
    finally:
        phases.observer = None


def other_stamp(stamp: str) -> str:
    """Return the other one of the two stamps."""
    return "home" if stamp == "east" else "east"


SWITCHED = {"move.switched", "move.erased", "move.cleaned"}


def test_an_interrupted_move_starts_over(lakes: World) -> None:
    before = read_contents(lakes.stamps.home, ACCOUNT)
    old, new = "home", "east"
    for phase in MOVE_PHASES:
        interrupt_move(lakes, phase, new)
        lives = lakes.stamps.find_account(ACCOUNT).stamp
        assert lives == (new if phase in SWITCHED else old), phase
        assert read_contents(lakes.metastore(ACCOUNT), ACCOUNT) == before

        move_account(lakes.stamps, ACCOUNT, new, pause=0)
        assert lakes.stamps.find_account(ACCOUNT) == Account(ACCOUNT, new)
        assert read_contents(lakes.metastore(ACCOUNT), ACCOUNT) == before
        assert read_contents(lakes.stamps.metastore(old), ACCOUNT) == {}
        old, new = new, old
    assert move_account(lakes.stamps, ACCOUNT, old, pause=0) == MoveResult(ACCOUNT, old)
    check_consistency(lakes)
    change(lakes.metastore(ACCOUNT).catalog(f"{ACCOUNT}-fork"), 7)
    check_consistency(lakes)


def test_an_interrupted_move_can_be_settled(lakes: World) -> None:
    before = read_contents(lakes.stamps.home, ACCOUNT)
    lives = "home"
    for phase in ("move.locked", "move.arrived", "move.switched"):
        interrupt_move(lakes, phase, other_stamp(lives))
        assert finish_moves(lakes.stamps) == [ACCOUNT]
        assert finish_moves(lakes.stamps) == []
        lives = other_stamp(lives) if phase in SWITCHED else lives
        assert lakes.stamps.find_account(ACCOUNT) == Account(ACCOUNT, lives)
        assert read_contents(lakes.metastore(ACCOUNT), ACCOUNT) == before
        assert read_contents(lakes.stamps.metastore(other_stamp(lives)), ACCOUNT) == {}
    check_consistency(lakes)


def test_an_account_is_read_only_during_its_move(lakes: World) -> None:
    caller = lakes.caller(f"owner of {ACCOUNT}", ACCOUNT)
    base = lakes.metastore(ACCOUNT).catalog(f"{ACCOUNT}-base")
    table = table_of(base)
    found: list[str] = []

    def look(phase: str) -> None:
        if phase not in {"move.frozen", "move.copied"}:
            return
        access = lakes.access(ACCOUNT)
        assert lakes.stamps.find_account(ACCOUNT).state is State.MOVING
        assert len(access.visible.catalogs(caller)) == 5
        assert (
            access.authorization.catalog(caller, f"{ACCOUNT}-base", "table.get")
            .now()
            .data_files(table)
        )
        for attempt in (
            lambda: access.catalogs.create(caller, CreateRequest([f"{ACCOUNT}-new"])),
            lambda: access.catalogs.fork(
                caller, ForkRequest(f"{ACCOUNT}-base", [f"{ACCOUNT}-new"])
            ),
            lambda: access.catalogs.drop(caller, [f"{ACCOUNT}-base"]),
            lambda: access.catalogs.rename(caller, f"{ACCOUNT}-base", f"{ACCOUNT}-new"),
            lambda: access.authorization.catalog(caller, f"{ACCOUNT}-base", "statement.write"),
            lambda: access.grants.add(caller, f"{ACCOUNT}-base", f"owner of {OTHER}", "reader"),
            lambda: access.prefixes.add(LOCAL, "new-", caller.name, "admin"),
            lambda: access.quotas.set(LOCAL, caller.name, catalogs=1),
        ):
            with pytest.raises(Unavailable):
                attempt()
        assert access.authorization.rights(caller, [f"{ACCOUNT}-base"]).popitem()[1] == {Right.READ}
        with pytest.raises(Conflict):
            move_account(lakes.stamps, ACCOUNT, "east", pause=0)
        assert finish_moves(lakes.stamps) == []
        found.append(phase)

    phases.observer = look
    try:
        move_account(lakes.stamps, ACCOUNT, "east", pause=0)
    finally:
        phases.observer = None
    assert found == ["move.frozen", "move.copied"]
    assert lakes.access(ACCOUNT).catalogs.create(
        caller, CreateRequest([f"{ACCOUNT}-new"], data_path="/data")
    )


def test_a_commit_begun_before_a_move_waits_and_is_then_refused(lakes: World) -> None:
    base = lakes.metastore(ACCOUNT).catalog(f"{ACCOUNT}-base")
    table = table_of(base)
    locked = threading.Event()
    phases.observer = lambda phase: locked.set() if phase == "move.locked" else None

    def write() -> str:
        locked.wait(30)
        try:
            append(base, table, "too-late.parquet")
        except ForklakeError as reason:
            return type(reason).__name__
        return "written"

    try:
        with ThreadPoolExecutor(1) as threads:
            writing = threads.submit(write)
            move_account(lakes.stamps, ACCOUNT, "east", pause=0.2)
            outcome = writing.result()
    finally:
        phases.observer = None
    assert outcome == NotFound.__name__
    moved = lakes.metastore(ACCOUNT).catalog(f"{ACCOUNT}-base")
    assert "too-late.parquet" not in {file.path for file in moved.now().data_files(table)}
    check_consistency(lakes)


def test_every_metastore_table_of_catalogs_is_listed_as_moved_or_not_moved() -> None:
    named = {
        name for name, columns in tables_of(Backend.POSTGRESQL).items() if "catalog_id" in columns
    }
    assert named - set(rows.ERASED) == set()
    assert named - {*rows.COPIED, *rows.NOT_COPIED} == {
        "ducklake_catalog"
    }  # copied with its folder
