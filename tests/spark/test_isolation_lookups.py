"""Lookups of session methods in a transaction, which are checked at its commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from forklake import Session
from forklake.errors import Conflict, NotFound

pytestmark = pytest.mark.usefixtures("engine")  # views are checked on Spark

Lookup = Callable[[Session], object]
# Lookups of a transaction, and a concurrent statement that conflicts with each.
LOOKUPS: dict[str, tuple[Lookup, str]] = {
    "table": (lambda session: session.table("n"), "CREATE TABLE n (id INTEGER)"),
    "view as a table": (lambda session: session.table("w"), "DROP VIEW w"),
    "schema of a table": (lambda session: session.table("s.n"), "CREATE SCHEMA s"),
    "schema to use": (lambda session: session.use("s"), "CREATE SCHEMA s"),
    "snapshot to come": (lambda session: session.table("t", version=99), "DELETE FROM t"),
    "history": (lambda session: session.snapshots("lake"), "INSERT INTO t VALUES (2)"),
}


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Session]:
    """Yield a session on a new catalog with a table `t` of inlined rows."""
    with Session() as found:
        found.attach(
            f"ducklake:{tmp_path / 'meta.db'}", "lake", catalog="sales", create_if_not_exists=True
        )
        found.use("lake")
        found.execute("CALL lake.set_option('data_inlining_row_limit', 10)")
        found.execute("CREATE TABLE t (id INTEGER); CREATE TABLE u (id INTEGER)")
        found.execute("INSERT INTO t VALUES (1); CREATE VIEW w AS SELECT 1 AS one")
        yield found


@pytest.mark.parametrize("name", LOOKUPS)
def test_lookup_by_a_method_conflicts_with_its_change(lake: Session, name: str) -> None:
    mine, theirs = LOOKUPS[name]
    with lake.cursor() as other:
        other.use("lake")
        lake.begin()
        with suppress(NotFound):
            mine(lake)
        lake.insert("u", [{"id": 1}])
        other.execute(theirs)
        with pytest.raises(Conflict):
            lake.commit()


@pytest.mark.parametrize("path", ["folder/../meta.db", "link/meta.db", "link.db"])
def test_reads_by_another_path_of_the_metastore_are_checked(
    lake: Session, tmp_path: Path, path: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "link.db").symlink_to("meta.db")
    lake.attach(f"ducklake:{tmp_path}/{path}", "same", catalog="sales")
    with lake.cursor() as other:
        lake.begin()
        lake.execute("DESCRIBE same.t")
        lake.insert("lake.u", [{"id": 1}])
        other.execute("ALTER TABLE lake.t ADD COLUMN more INTEGER")
        with pytest.raises(Conflict):
            lake.commit()
