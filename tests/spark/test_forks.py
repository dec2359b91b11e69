"""Forks of a lake, which are independent and never change each other's files."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from forklake import ColumnSpec, Session
from forklake.errors import NotFound
from forklake.session.changing.merge_into import when_matched, when_not_matched
from forklake.session.insert import insert_rows
from tests.fix_metastore import Place
from tests.spark.builders import rows_of

COLUMNS = [ColumnSpec("id", "int64"), ColumnSpec("v", "int32"), ColumnSpec("p", "varchar")]
FORKS = 8
Rows = dict[int, tuple[int | None, str | None]]


def rows(session: Session, name: str, **when: int) -> Rows:
    """Return all rows by id."""
    found = session.table(name, **when).collect()  # type: ignore[arg-type]
    shown = {row["id"]: (row["v"], row["p"]) for row in found}
    assert len(shown) == len(found)
    return shown


def digests(folder: Path) -> dict[str, str]:
    """Return the hashes of all files by path."""
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def write_range(session: Session, name: str, start: int, end: int) -> None:
    """Append rows with these ids."""
    made = (
        f"SELECT id, CAST(id % 7 AS INT) AS v, concat('p', id % 2) AS p FROM range({start}, {end})"
    )
    session.write(session.engine.spark.sql(made), name)


def of_range(start: int, end: int) -> Rows:
    """Return the rows that `write_range` appends."""
    return {one: (one % 7, f"p{one % 2}") for one in range(start, end)}


@pytest.fixture
def parent(session: Session, tmp_path: Path, place: Place) -> Session:
    """Return a lake whose table has two files, deleted rows, updated rows, and inlined rows."""
    session.attach(
        place.uri,
        "parent",
        catalog="parent",
        metadata_schema=place.metadata_schema,
        data_path=str(tmp_path / "data"),
        create_if_not_exists=True,
    )
    session.use("parent")
    session.create_table("t", COLUMNS, partition_by=["p"])
    write_range(session, "t", 0, 50)
    write_range(session, "t", 50, 100)
    session.delete("t", "id IN (3, 60)")
    session.update("t", {"v": "v + 100"}, "id IN (4, 61)")
    session.set_option("parent", "data_inlining_row_limit", 3)
    insert_rows(session, "t", [(100, 100, "m"), (101, 101, "m")])
    return session


def of_parent() -> Rows:
    """Return the rows of that table."""
    held = of_range(0, 100)
    del held[3], held[60]
    held[4], held[61] = (104, "p0"), (105, "p1")
    return held | {100: (100, "m"), 101: (101, "m")}


def _work(parent: Session, number: int) -> Rows:
    """Run all kinds of statements on a fork, varied by fork, and return the expected rows."""
    name = f"fork_{number}.main.t"
    held = of_parent()
    with parent.cursor() as session:
        write_range(session, name, 1000, 1010 + number)
        held |= of_range(1000, 1010 + number)
        session.delete(name, f"id % 8 = {number} AND id < 100")
        held = {one: row for one, row in held.items() if one % 8 != number or one >= 100}
        with session.transaction():
            session.add_column(name, "extra", "int32", default=str(number))
            session.update(name, {"p": f"'fork {number}'"}, "id = 100")
            held[100] = (100, f"fork {number}")
        source = session.engine.spark.sql(f"SELECT id, {number} AS v FROM range(95, 105)")
        session.merge(
            name,
            source,
            "target.id = source.id",
            [
                when_matched().update({"v": "source.v"}),
                when_not_matched().insert({"id": "source.id", "v": "source.v"}),
            ],
        )
        held |= {one: (number, held.get(one, (0, None))[1]) for one in range(95, 105)}
        seen = session.table(name)
        assert {row["extra"] for row in seen.where("id < 95").collect()} == {number}
    return held


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["postgresql"])
def test_eight_forks_are_written_at_once_and_their_parent_is_unchanged(
    parent: Session, tmp_path: Path
) -> None:
    before, files = (
        rows(
            parent,
            "t",
        ),
        digests(tmp_path / "data"),
    )
    snapshots = parent.snapshots("parent")
    assert before == of_parent()
    for number in range(FORKS):
        parent.fork("parent", f"fork_{number}", attach_as=f"fork_{number}")
    with ThreadPoolExecutor(FORKS) as pool:
        expected = list(pool.map(lambda number: _work(parent, number), range(FORKS)))
    for number, held in enumerate(expected):
        assert rows(parent, f"fork_{number}.main.t") == held
        assert rows(parent, f"fork_{number}.main.t", version=snapshots[-1].snapshot_id) == before
    assert rows(parent, "t") == before
    assert parent.snapshots("parent") == snapshots
    now = digests(tmp_path / "data")
    assert {path: now[path] for path in files} == files
    view = parent.viewing(parent.attachment("parent"))
    own_folder = str(tmp_path / "data" / parent.attachment("parent").catalog.row.path)
    assert all(one.path.startswith(own_folder) for one in view.scan_files(view.state.table("t")))
    assert not any(
        str(tmp_path / "data" / path).startswith(own_folder) for path in now if path not in files
    )


@pytest.mark.parametrize("backend", ["sqlite"])
def test_forks_of_forks_outlive_their_ancestors(parent: Session, tmp_path: Path) -> None:
    at = parent.snapshots("parent")[-1].snapshot_id
    parent.fork("parent", "child", attach_as="child")
    parent.delete("child.main.t", "id < 10")
    parent.truncate("t")  # after the fork, which is not affected
    child = {one: row for one, row in of_parent().items() if one >= 10}
    parent.fork("child", "grandchild", attach_as="grandchild")
    parent.fork("parent", "late", at=at, attach_as="late")
    parent.delete("grandchild.main.t", "id BETWEEN 10 AND 20 OR id = 100")
    parent.delete("child.main.t", "p = 'p1'")
    write_range(parent, "grandchild.main.t", 200, 203)
    grandchild = {one: row for one, row in child.items() if one > 20 and one != 100}
    grandchild |= of_range(200, 203)
    child = {one: row for one, row in child.items() if row[1] != "p1"}

    def check() -> None:
        assert rows(parent, "child.main.t") == child
        assert rows(parent, "grandchild.main.t") == grandchild
        assert rows(parent, "late.main.t") == of_parent()
        assert rows(parent, "grandchild.main.t", version=at) == of_parent()

    assert rows(parent, "t") == {}
    check()
    files = digests(tmp_path / "data")
    parent.drop_table("t")
    check()
    metastore = parent.attachment("parent").metastore
    parent.use("late")
    parent.detach("parent")
    metastore.drop_catalog("parent")
    check()
    with parent.cursor() as other:
        assert other.update("grandchild.main.t", {"v": "-v"}, "id IN (21, 200, 101)") == 3
    grandchild |= {21: (0, "p1"), 200: (-(200 % 7), "p0"), 101: (-101, "m")}
    check()
    now = digests(tmp_path / "data")
    assert {path: now[path] for path in files} == files
    with pytest.raises(NotFound):
        metastore.catalog("parent")
    assert rows_of(parent.table("late.main.t").where("id = 3")) == []
