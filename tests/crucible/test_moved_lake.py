"""A lake with files and a Delta table, read by Spark and other readers before and after a move."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklake import Session, maintenance
from forklake.crucible.account_moves import move_account
from forklake.delta.audit import audit_catalog
from forklake.delta.publication import publish_table
from forklake.model.requests import CreateRequest, ForkRequest
from tests.concurrency.consistency import problems
from tests.crucible.fix_stamps import World, world
from tests.delta.readers import READERS

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine

NAMES = ("acme-lake", "acme-fork")
VIRTUAL = ["rowid", "snapshot_id"]


def rows(found: World, engine: Engine, account: str) -> dict[tuple[str, int], list[Any]]:
    """Return the rows, with virtual columns, of the table in both catalogs at every snapshot."""
    seen: dict[tuple[str, int], list[Any]] = {}
    stamp = found.stamps.find_account(account).stamp
    with Session(engine.spark) as session:
        for number, name in enumerate(NAMES):
            alias = f"lake_{number}"
            session.attach(found.places[stamp].uri, alias, catalog=name)
            session.use(alias)
            for snapshot in session.snapshots(alias)[1:]:
                at = snapshot.snapshot_id
                frame = session.table("orders", version=at, virtual=VIRTUAL)
                seen[name, at] = sorted(tuple(row) for row in frame.collect())
    return seen


def test_files_and_delta_tables_are_readable_after_a_move(
    engine: Engine, postgres_server: Any, tmp_path: Path
) -> None:
    with world(postgres_server) as found:
        caller = found.caller("ada", "acme")
        found.access("acme").catalogs.create(
            caller, CreateRequest(["acme-lake"], data_path=str(tmp_path / "data"))
        )
        with Session(engine.spark) as session:
            session.attach(found.places["home"].uri, "lake", catalog="acme-lake")
            session.use("lake")
            session.sql("CREATE TABLE orders (id BIGINT, name VARCHAR)")
            for start in (0, 10):
                session.sql(
                    f"INSERT INTO orders SELECT i, 'n' || i FROM range({start}, {start + 10}) r(i)"
                )
            assert maintenance.merge_adjacent_files(session, "lake", "orders")
            session.sql("DELETE FROM orders WHERE id IN (3, 13)")
        lake = found.stamps.home.catalog("acme-lake")
        publish_table(lake, "orders", "main", str(tmp_path / "delta"))
        found.access("acme").catalogs.fork(caller, ForkRequest("acme-lake", ["acme-fork"]))
        with Session(engine.spark) as session:
            session.attach(found.places["home"].uri, "lake", catalog="acme-fork")
            session.use("lake")
            session.sql("DELETE FROM orders WHERE id < 5")
        before = rows(found, engine, "acme")
        newest = max(at for name, at in before if name == "acme-lake")
        # From the virtual columns of the files.
        assert len({row[-1] for row in before["acme-lake", newest]}) == 2

        move_account(found.stamps, "acme", "east", pause=0)
        assert rows(found, engine, "acme") == before
        with Session(engine.spark) as session:
            session.attach(found.places["east"].uri, "lake", catalog="acme-lake")
            session.use("lake")
            session.sql("INSERT INTO orders SELECT 100, 'later'")
        assert audit_catalog(found.metastore("acme").catalog("acme-lake")) == []
        reported = READERS["deltalake"](str(tmp_path / "delta"), None)["id"].to_pylist()
        assert sorted(reported) == [*(n for n in range(20) if n not in {3, 13}), 100]
        for place in found.places.values():
            assert problems(place, every_snapshot=True) == []
