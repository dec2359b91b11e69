"""DELETE and TRUNCATE: the deleted rows, and the effect on files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyspark.sql import functions as F  # noqa: N812

from forklake import ColumnSpec, Session
from forklake.engines.spark.changing import removal
from forklake.errors import Conflict, Forbidden, InvalidInput, NotFound
from forklake.model.entities import Table
from forklake.model.scans import ScanFile
from tests.spark.builders import add_file, insert, rows_of

COLUMNS = [ColumnSpec("id", "int64"), ColumnSpec("v", "int32"), ColumnSpec("p", "varchar")]


def some(*ids: int) -> list[dict[str, Any]]:
    """Return rows; every fifth has no value."""
    return [{"id": one, "v": None if one % 5 == 0 else one % 3, "p": f"p{one % 2}"} for one in ids]


def found(session: Session, name: str = "t", alias: str = "lake") -> Table:
    """Return a table."""
    return session.viewing(session.attachment(alias)).state.table(name)


def files(session: Session, name: str = "t", alias: str = "lake") -> list[ScanFile]:
    """Return the files of a table, with their deletes."""
    return session.viewing(session.attachment(alias)).scan_files(found(session, name, alias))


def ids(session: Session, name: str = "t", **when: Any) -> list[int]:
    """Return the ids of all rows."""
    return sorted(row[0] for row in session.table(name, **when).select("id").collect())


def snapshot(session: Session, alias: str = "lake") -> int:
    """Return the newest snapshot."""
    return session.attachment(alias).catalog.current_snapshot()


def on_disk(session: Session, alias: str = "lake") -> set[str]:
    """Return the names of all files of a catalog."""
    root = Path(session.attachment(alias).data_path)
    return {path.name for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def filled(lake: Session) -> Session:
    """Return a session with a table of three files with ten rows each, and three inlined rows."""
    lake.create_table("t", COLUMNS)
    for start in (0, 10, 20):
        add_file(lake, "t", some(*range(start, start + 10)))
    insert(lake, "t", some(30, 31, 32))
    return lake


def test_repeated_deletes_keep_one_delete_file_per_data_file(filled: Session) -> None:
    started = snapshot(filled)
    model = {row["id"]: row for row in some(*range(33))}
    for condition, keeps in (
        ("id IN (1, 12, 31)", lambda row: row["id"] not in (1, 12, 31)),
        ("v = 1", lambda row: row["v"] != 1),  # null is not true
        ("NOT v = 2 AND id < 25", lambda row: row["v"] in (None, 2) or row["id"] >= 25),
        ("v IS NULL AND p = 'p0'", lambda row: row["v"] is not None or row["p"] != "p0"),
    ):
        before = len(model)
        model = {key: row for key, row in model.items() if keeps(row)}
        assert filled.delete("t", condition) == before - len(model)
        assert ids(filled) == sorted(model)
        assert all(one.deleted_positions == () for one in files(filled))
    assert snapshot(filled) == started + 4
    for one in files(filled):
        path = one.delete_path
        assert one.delete_file is not None
        assert path is not None
        held = duckdb.sql(f"SELECT file_path, pos FROM '{path}' ORDER BY pos").fetchall()
        start = int(duckdb.sql(f"SELECT min(id) FROM '{one.path}'").fetchall()[0][0])
        assert held == [(one.path, at) for at in range(10) if start + at not in model]
        assert one.delete_file.delete_count == len(held)
    statistics = filled.attachment("lake").catalog.now().statistics(found(filled))
    assert statistics.record_count == len(model)
    assert ids(filled, version=started) == list(range(33))
    assert ids(filled, version=started + 1) == [n for n in range(33) if n not in (1, 12, 31)]


def test_whole_files_end_without_a_delete_file(filled: Session) -> None:
    assert filled.delete("t", "id BETWEEN 10 AND 21") == 12
    first, last = files(filled)
    assert (first.delete_file, last.deleted_positions) == (None, ())
    assert last.delete_file is not None
    assert last.delete_file.delete_count == 2
    assert filled.delete("t", F.col("id").between(22, 29)) == 8
    assert [one.path for one in files(filled)] == [first.path]
    assert sum("delete" in name for name in on_disk(filled)) == 1
    assert ids(filled) == [*range(10), 30, 31, 32]


def test_a_delete_without_matches_creates_no_snapshot(filled: Session) -> None:
    started, before = snapshot(filled), on_disk(filled)
    assert filled.delete("t", "v = 7") == 0
    assert filled.delete("t", "v = NULL") == 0
    filled.create_table("empty", COLUMNS)
    assert filled.delete("empty") == filled.truncate("empty") == 0
    assert filled.delete("empty", "id = 1") == 0
    assert snapshot(filled) == started + 1
    assert on_disk(filled) == before


def test_few_rows_are_deleted_in_the_metastore(filled: Session) -> None:
    filled.set_option("lake", "data_inlining_row_limit", 3, table="t")
    before = on_disk(filled)
    assert filled.delete("t", "id IN (2, 11, 31)") == 3
    assert [one.deleted_positions for one in files(filled)] == [(2,), (1,), ()]
    assert filled.delete("t", "id IN (3, 12)") == 2
    assert [one.deleted_positions for one in files(filled)] == [(2, 3), (1, 2), ()]
    assert on_disk(filled) == before
    # More rows make delete files, which absorb the positions that were in the metastore.
    assert filled.delete("t", "id BETWEEN 4 AND 8") == 5
    first, second, _ = files(filled)
    assert first.delete_file is not None
    assert first.delete_file.delete_count == 7
    assert (first.deleted_positions, second.deleted_positions) == ((), (1, 2))
    # Further small deletes are kept beside the delete file, until the whole file has ended.
    assert filled.delete("t", "id = 0") == 1
    assert files(filled)[0].deleted_positions == (0,)
    assert ids(filled) == [1, 9, 10, *range(13, 31), 32]
    assert filled.delete("t", "id IN (1, 9)") == 2
    assert len(files(filled)) == 2


def test_deletes_of_all_rows_read_no_files(filled: Session) -> None:
    filled.delete("t", "id IN (1, 31)")
    before = on_disk(filled)
    for path in Path(filled.attachment("lake").data_path).rglob("*.parquet"):
        path.write_bytes(b"")  # they are not opened
    assert filled.delete("t", "TRUE") == 31
    assert (ids(filled), files(filled), on_disk(filled)) == ([], [], before)
    insert(filled, "t", some(1, 2))
    assert filled.truncate("t") == 2
    assert ids(filled) == []


def test_a_transaction_deletes_its_own_rows(filled: Session) -> None:
    started = snapshot(filled)
    before = on_disk(filled)
    filled.begin()
    add_file(filled, "t", some(*range(40, 50)))
    insert(filled, "t", some(50, 51))
    assert filled.delete("t", "id IN (0, 40, 41, 50)") == 4
    assert filled.delete("t", "id IN (1, 42, 30)") == 3
    assert ids(filled) == [*range(2, 30), 31, 32, *range(43, 50), 51]
    assert filled.delete("t", "id >= 43 AND id < 50") == 7  # the new file is gone
    assert len(files(filled)) == 3
    assert filled.delete("t", where=None) == 31
    insert(filled, "t", some(60))
    assert ids(filled) == [60]
    filled.rollback()
    assert (ids(filled), on_disk(filled)) == (list(range(33)), before)
    with filled.transaction():
        add_file(filled, "t", some(*range(40, 50)))
        insert(filled, "t", some(50, 51))
        filled.delete("t", "id IN (0, 40, 41, 50)")
        filled.delete("t", "id IN (1, 42, 30)")
    assert snapshot(filled) == started + 1
    assert ids(filled) == [*range(2, 30), 31, 32, *range(43, 50), 51]
    deletes = [one.delete_file.delete_count for one in files(filled) if one.delete_file]
    assert deletes == [2, 3]


def test_a_fork_writes_delete_files_for_its_parents_files_into_its_own_folder(
    filled: Session,
) -> None:
    filled.delete("t", "id = 3")
    mine = on_disk(filled)
    fork = filled.fork("lake", "fork", attach_as="fork")
    assert filled.delete("fork.t", "id IN (3, 4, 30) OR id BETWEEN 10 AND 19") == 12
    assert ids(filled, "fork.t") == [0, 1, 2, *range(5, 10), *range(20, 30), 31, 32]
    assert ids(filled) == [0, 1, 2, *range(4, 33)]
    (first, _) = files(filled, alias="fork")
    assert first.delete_path is not None
    assert f"/{fork.name}/" in first.delete_path
    assert first.delete_file is not None
    assert first.delete_file.delete_count == 2
    assert on_disk(filled) - mine == {Path(first.delete_path).name}
    assert filled.delete("lake.t", "id = 4") == 1
    assert filled.truncate("fork.t") == 20
    assert ids(filled) == [0, 1, 2, *range(5, 33)]


def test_rows_matching_a_source_frame_are_deleted(filled: Session) -> None:
    others = filled.engine.spark.createDataFrame(
        [(1, "p1"), (1, "p1"), (2, "x")], "id int, p string"
    )
    both = "target.id % 10 = source.id AND target.p = source.p AND target.id < 25"
    assert filled.delete("t", both, using=others) == 3
    assert ids(filled) == [n for n in range(33) if n not in (1, 11, 21)]
    same = filled.table("t").where("v = 2")
    assert filled.delete("t", "t.id = s.id", using=same, target_alias="t", source_alias="s") == 8
    assert filled.delete("t", "v = 2") == 0


def test_conditions_may_use_virtual_columns(filled: Session) -> None:
    assert filled.delete("t", "rowid = 7 OR file_row_number = 9") == 4
    assert ids(filled) == [n for n in range(33) if n not in (7, 9, 19, 29)]


def test_very_many_positions_are_written_by_executors(
    filled: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.delete("t", "id IN (1, 2)")
    filled.set_option("lake", "data_inlining_row_limit", 1, table="t")
    filled.delete("t", "id = 12")
    monkeypatch.setattr(removal, "MOST_POSITIONS", 10)
    assert filled.delete("t", "id < 19 AND id != 5 OR id > 24 AND id != 32") == 22
    assert ids(filled) == [5, 19, 20, 21, 22, 23, 24, 32]
    counts = [one.delete_file.delete_count for one in files(filled) if one.delete_file]
    assert (counts, [one.deleted_positions for one in files(filled)]) == ([9, 9, 5], [(), (), ()])
    assert filled.delete("t", "id > 20") == 5  # small again, after a delete by executors
    assert filled.delete("t", "id = 5") == 1
    assert ids(filled) == [19, 20]


def test_encrypted_tables_have_encrypted_delete_files(
    session: Session, metadata: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.attach(metadata, "lake", catalog="c", encrypted=True, create_if_not_exists=True)
    session.use("lake")
    session.create_table("t", COLUMNS)
    session.write(
        session.engine.spark.createDataFrame(
            [(n, n, "p") for n in range(100)], "id long, v int, p string"
        ).coalesce(1),
        "t",
    )
    assert session.delete("t", "id < 10") == 10
    assert session.delete("t", "id < 20") == 10
    monkeypatch.setattr(removal, "MOST_POSITIONS", 10)
    assert session.delete("t", "id < 40") == 20
    assert ids(session) == list(range(40, 100))
    written = [one.delete_path for one in files(session) if one.delete_path is not None]
    assert written
    assert all(Path(path).read_bytes()[:4] == b"PARE" for path in written)
    assert session.delete("t", "id < 50") == 10
    assert ids(session) == list(range(50, 100))


def test_a_concurrent_delete_of_the_same_rows_conflicts_and_leaves_no_files(
    filled: Session,
) -> None:
    before = on_disk(filled)
    other = filled.cursor()
    filled.begin()
    assert filled.delete("t", "id IN (1, 2)") == 2
    other.delete("t", "id IN (3, 4)")
    theirs = on_disk(filled) - before
    with pytest.raises(Conflict):
        filled.commit()
    other.close()
    assert ids(filled) == [0, 1, 2, *range(5, 33)]
    assert len(on_disk(filled) - before) == 1
    assert len(theirs) == 2


def test_bad_conditions_change_nothing(filled: Session) -> None:
    started, before = snapshot(filled), on_disk(filled)
    for condition in ("nosuch = 1", "id =", "id", "'a' > id", "v / 0 = 1"):
        with pytest.raises(InvalidInput):
            filled.delete("t", condition)
    with pytest.raises(InvalidInput, match="needs a condition"):
        filled.delete("t", using=filled.table("t"))
    with pytest.raises(NotFound):
        filled.delete("nosuch", "id = 1")
    assert (snapshot(filled), on_disk(filled)) == (started, before)
    filled.attach(
        f"ducklake:{Path(filled.attachment('lake').data_path).parent / 'meta.db'}",
        "fixed",
        catalog="sales",
        read_only=True,
    )
    with pytest.raises(Forbidden):
        filled.truncate("fixed.t")
    assert rows_of(filled.table("t").select("id").where("id = 7")) == [(7,)]
