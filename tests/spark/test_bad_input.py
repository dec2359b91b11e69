"""Bad input of every kind: a Forklake error names the cause, and nothing is changed."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from forklake import ColumnSpec, ForklakeError, Session, list_of, struct
from forklake.errors import (
    AlreadyExists,
    Corruption,
    InvalidInput,
    NotFound,
    Unavailable,
    Unsupported,
)
from forklake.files.deletes import Deleted, write_delete_files
from forklake.model.scans import ScanFile
from forklake.session.changing.merge_into import when_matched, when_not_matched
from forklake.session.insert import insert_rows
from tests.spark.builders import add_file, delete_rows, rows_of

COLUMNS = [
    ColumnSpec("id", "int64", nulls_allowed=False),
    ColumnSpec("small", "int8"),
    ColumnSpec("price", "decimal(5,2)"),
    ColumnSpec("day", "date"),
    ColumnSpec("s", struct(x="int16", l=list_of("int32"))),
]
ROW = (1, 2, "3.50", "2024-01-01", {"x": 1, "l": [1, 2]})
Try = Callable[[], object]
# Errors that a user sees when a DataFrame is read; Spark raises them.
READING = (PySparkException, Py4JJavaError)


@pytest.fixture
def shop(lake: Session) -> Session:
    """Return a lake with a table of one row in a file."""
    lake.set_option("lake", "data_inlining_row_limit", 0)
    lake.create_table("t", COLUMNS)
    insert_rows(lake, "t", [ROW])
    return lake


def frame(session: Session, text: str) -> DataFrame:
    """Return the result of a Spark query."""
    return session.engine.spark.sql(text)


def files(session: Session) -> list[ScanFile]:
    """Return the files of the table."""
    view = session.viewing(session.attachment("lake"))
    return view.scan_files(view.state.table("t"))


@contextmanager
def nothing_changes(session: Session) -> Iterator[None]:
    """Check that neither the snapshot nor any file changes."""

    def seen() -> tuple[int, set[Path]]:
        attachment = session.attachment("lake")
        found = {path for path in Path(attachment.data_path).rglob("*") if path.is_file()}
        return attachment.catalog.current_snapshot(), found

    before = seen()
    yield
    assert seen() == before


def refused(kind: type[ForklakeError], *stated: str, attempt: Try) -> None:
    """Check that an attempt raises such an error, on one line that contains the given texts."""
    with pytest.raises(kind) as caught:
        attempt()
    assert "\n" not in caught.value.message
    for one in stated:
        assert one in caught.value.message, caught.value.message
    assert caught.value.remedy


# Rows


@pytest.mark.parametrize("limit", [0, 10])
def test_misfit_values_are_refused_by_every_way_to_write(shop: Session, limit: int) -> None:
    shop.set_option("lake", "data_inlining_row_limit", limit)
    bad: list[tuple[int, str, Any, tuple[str, ...]]] = [
        (0, "CAST(NULL AS BIGINT)", None, ("t.id", "NOT NULL")),
        (1, "128", 128, ("t.small", "int8")),
        (1, "'many'", "many", ("t.small", "many")),
        (2, "1000.00BD", "1000.00", ("t.price", "decimal(5,2)")),
        (3, "'2024-02-30'", "2024-02-30", ("t.day", "2024-02-30")),
        (4, "named_struct('x', 40000, 'l', array(1))", {"x": 40000, "l": [1]}, ("t.s",)),
        (4, "named_struct('nosuch', 1)", {"nosuch": 1}, ("t.s", "nosuch")),
        (4, "7", 7, ("t.s",)),
    ]
    good = ["2L", "2", "3.50BD", "DATE'2024-01-01'", "named_struct('x', 1, 'l', array(1))"]
    names = [one.name for one in COLUMNS]
    with nothing_changes(shop):
        for at, text, value, stated in bad:
            chosen = [text if at == place else one for place, one in enumerate(good)]
            rows = frame(shop, f"SELECT {', '.join(chosen)}")
            refused(InvalidInput, *stated, attempt=partial(shop.write, rows, "t"))
            given = [value if at == place else one for place, one in enumerate(ROW)]
            refused(InvalidInput, *stated, attempt=partial(insert_rows, shop, "t", [given]))
            refused(
                InvalidInput,
                *stated,
                attempt=partial(shop.update, "t", {names[at]: text}),
            )
    assert rows_of(shop.table("t").select("id", "small")) == [(1, 2)]


def test_rows_of_another_shape_are_refused(shop: Session) -> None:
    everything = ", ".join(f"NULL AS {one.name}" for one in COLUMNS)
    spark = shop.engine.spark
    attempts: list[tuple[Try, str]] = [
        (lambda: shop.write(frame(shop, "SELECT 1"), "t"), "5 columns but 1"),
        (lambda: shop.write(frame(shop, f"SELECT {everything}, 1"), "t"), "5 columns but 6"),
        (lambda: shop.write(frame(shop, "SELECT 1 id, 2 nosuch"), "t", by_name=True), "'nosuch'"),
        (lambda: shop.write(frame(shop, "SELECT 1 id, 2 ID"), "t", by_name=True), "'ID'"),
        (lambda: shop.write(spark.createDataFrame([], StructType()), "t"), "5 columns but 0"),
        (lambda: insert_rows(shop, "t", [(1, 2)]), "5 columns"),
        (lambda: insert_rows(shop, "t", [{"id": 1, "nosuch": 2}]), "'nosuch'"),
        (lambda: insert_rows(shop, "t", [{"id": 1, "ID": 2}]), "'id'"),
        (lambda: insert_rows(shop, "t", [{"id": 1}, {"id": 2, "small": 1}]), "'small'"),
        (lambda: insert_rows(shop, "t", pa.table({"nosuch": [1]})), "'nosuch'"),
        (lambda: insert_rows(shop, "t", [7]), "7"),
        (lambda: shop.update("t", {"nosuch": "1"}), "'nosuch'"),
        (lambda: shop.update("t", {"id": "1", "ID": "2"}), "'ID'"),
        (lambda: shop.update("t", {"s.nosuch": "1"}), "s.nosuch"),
        (lambda: shop.update("t", {"small": "nosuch + 1"}), "nosuch"),
        (lambda: shop.delete("t", "nosuch > 1"), "nosuch"),
        (lambda: shop.table("t", where="nosuch > 1"), "nosuch"),
        (lambda: shop.table("t", where="id >"), "id >"),
        (
            lambda: shop.merge(
                "t",
                frame(shop, "SELECT 1 AS id"),
                "target.id = source.id",
                [when_matched().update()],
            ),
            "'small'",
        ),
        (
            lambda: shop.merge(
                "t",
                frame(shop, "SELECT 9 AS id"),
                "target.id = source.id",
                [when_not_matched().insert({"small": "source.id"})],
            ),
            "t.id",
        ),
        (
            lambda: shop.merge(
                "t",
                frame(shop, "SELECT * FROM VALUES (1), (1) AS v(id)"),
                "target.id = source.id",
                [when_matched().delete()],
            ),
            "more than one row",
        ),
    ]
    with nothing_changes(shop):
        for attempt, stated in attempts:
            refused(InvalidInput, stated, attempt=attempt)
        for name in ("nosuch", "nosuch.t", "lake.nosuch.t"):
            for use in (shop.table, shop.truncate, shop.delete):
                refused(NotFound, "nosuch", attempt=partial(use, name))
        empty = frame(shop, f"SELECT {everything} WHERE false")
        assert shop.write(empty, "t") == insert_rows(shop, "t", []) == 0


# Tables


def test_invalid_tables_are_refused(shop: Session) -> None:
    spark = shop.engine.spark
    nothing = spark.createDataFrame([], StructType())
    twice = frame(shop, "SELECT 1 AS a, 2 AS A")
    attempts: list[tuple[type[ForklakeError], Try, str]] = [
        (InvalidInput, lambda: shop.create_table("new", []), "new"),
        (InvalidInput, lambda: shop.write(nothing, "new", mode="error"), "new"),
        (InvalidInput, lambda: shop.write(twice, "new", mode="error"), "'a'"),
        (AlreadyExists, lambda: shop.write(twice, "t", mode="error"), "'lake.main.t'"),
        (NotFound, lambda: shop.write(twice, "new"), "new"),
        (InvalidInput, lambda: shop.write(twice, "new", mode="upsert"), "upsert"),
        (AlreadyExists, lambda: shop.create_table("T", COLUMNS), "T"),
        (AlreadyExists, lambda: shop.add_column("t", "SMALL", "int32"), "SMALL"),
        (InvalidInput, lambda: shop.create_table("a" * 5000, COLUMNS), "aaaa"),
        (InvalidInput, lambda: shop.create_table(["lake", "main", ""], COLUMNS), "table"),
        (InvalidInput, lambda: shop.create_table(["lake", "main", "a\nb"], COLUMNS), "a\\nb"),
        (InvalidInput, lambda: shop.create_table("a.b.c.d", COLUMNS), "a.b.c.d"),
        (InvalidInput, lambda: shop.add_column("t", "_ducklake_x", "int32"), "_ducklake_x"),
        (InvalidInput, lambda: shop.set_column_type("t", "id", "int32"), "'id'"),
        (InvalidInput, lambda: shop.add_column("t", "n", "int8", default="300"), "300"),
        (Unsupported, lambda: shop.add_column("t", "n", "money"), "money"),
        (
            Unsupported,
            lambda: shop.write(frame(shop, "SELECT INTERVAL '1' MONTH AS i"), "new", mode="error"),
            "i",
        ),
        (
            InvalidInput,
            lambda: shop.create_table("new", COLUMNS, partition_by=["century(day)"]),
            "century",
        ),
        (NotFound, lambda: shop.create_table("new", COLUMNS, partition_by=["nosuch"]), "nosuch"),
    ]
    with nothing_changes(shop):
        for kind, attempt, stated in attempts:
            refused(kind, stated, attempt=attempt)


def test_names_may_be_almost_anything(shop: Session) -> None:
    odd = ['my "best" one', "a.b", "`tick`", "größe 表 🦆", "50% off; DROP TABLE t --", "x" * 200]
    for number, name in enumerate(odd):
        place = ["lake", "main", name]
        shop.create_table(place, [ColumnSpec(name, "int64")], partition_by=[(name, "identity")])
        insert_rows(shop, place, [{name: number}])
    shown = reduce(DataFrame.union, [shop.table(["lake", "main", name]) for name in odd])
    assert rows_of(shown) == [(number,) for number in range(len(odd))]
    assert shop.table(["lake", "main", odd[0]]).columns == odd[:1]
    shop.create_table("all", [ColumnSpec(name, "int64") for name in odd])
    shop.write(shop.engine.spark.createDataFrame([tuple(range(6)), (9,) * 6], odd), "all")
    own = ["`" + name.replace("`", "``") + "`" for name in odd]
    assert shop.update("all", {name: f"{name} + 100" for name in own}, f"{own[1]} = 1") == 1
    assert shop.delete("all", " AND ".join(f"{name} = 9" for name in own)) == 1
    where = " AND ".join(f"{name} = {100 + at}" for at, name in enumerate(own))
    assert [row.asDict() for row in shop.table("all", where=where).collect()] == [
        {name: 100 + at for at, name in enumerate(odd)}
    ]
    state = shop.viewing(shop.attachment("lake")).state
    assert {one.table_name for one in state.tables("main")} == {"t", "all", *odd}


# Files


def _damage(path: str, how: str) -> None:
    file = Path(path)
    match how:
        case "missing":
            file.unlink()
        case "truncated":
            file.write_bytes(file.read_bytes()[:-20])
        case "empty":
            file.write_bytes(b"")
        case "overwritten":
            file.write_bytes(b"This is no Parquet file." * 50)  # language: ok


@pytest.mark.parametrize("how", ["missing", "truncated", "empty", "overwritten"])
def test_a_damaged_data_file_is_named_and_no_change_is_committed(shop: Session, how: str) -> None:
    (file,) = files(shop)
    _damage(file.path, how)
    name = Path(file.path).name
    kind = NotFound if how == "missing" else Corruption
    source = frame(shop, "SELECT 1L AS id")
    clauses = [when_matched().delete()]
    with nothing_changes(shop):
        with pytest.raises(READING, match=name):
            shop.table("t").collect()
        for attempt in (
            lambda: shop.delete("t", "small > 1"),
            lambda: shop.update("t", {"small": "1"}),
            lambda: shop.merge("t", source, "target.id = source.id", clauses),
            lambda: shop.write(shop.table("t"), "t"),
        ):
            refused(kind, name, attempt=attempt)


@pytest.fixture
def delete_file(shop: Session) -> str:
    """Return the path of a delete file."""
    number = add_file(shop, "t", [{"id": one} for one in range(10, 20)])
    delete_rows(shop, "t", {number: [0, 1]})
    path = files(shop)[-1].delete_path
    assert path is not None
    return path


@pytest.mark.parametrize("how", ["missing", "truncated", "overwritten"])
def test_a_damaged_delete_file_is_named_and_no_change_is_committed(
    shop: Session, delete_file: str, how: str
) -> None:
    _damage(delete_file, how)
    name = Path(delete_file).name
    kind = NotFound if how == "missing" else Corruption
    with nothing_changes(shop):
        with pytest.raises(READING, match=name):
            shop.table("t").collect()
        refused(kind, name, attempt=lambda: shop.delete("t", "id > 15"))
        refused(kind, name, attempt=lambda: shop.write(shop.table("t"), "t"))


def test_a_delete_file_of_another_data_file_is_refused(shop: Session, delete_file: str) -> None:
    other = Deleted(files(shop)[0].path, [0, 1])
    (written,) = write_delete_files(str(Path(delete_file).parent), [other])
    os.replace(written.path, delete_file)
    with nothing_changes(shop):
        refused(
            Corruption,
            Path(delete_file).name,
            Path(other.data_path).name,
            attempt=lambda: shop.delete("t", "id > 15"),
        )


@contextmanager
def full_disk(process: int, most: int) -> Iterator[None]:
    """Limit the length of files that a process can write, as a full disk would."""
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_no_half_written_file(shop: Session) -> None:
    shop.create_table("big", [ColumnSpec("id", "int64"), ColumnSpec("noise", "varchar")])
    noise = pa.table({"id": range(30_000), "noise": [os.urandom(40).hex() for _ in range(30_000)]})
    handle: Any = shop.engine.spark.sparkContext._jvm
    jvm = int(handle.java.lang.ProcessHandle.current().pid())
    shuffled = frame(shop, "SELECT id, concat(rand(), uuid()) AS noise FROM range(0, 60000, 1, 1)")
    with nothing_changes(shop):
        with full_disk(os.getpid(), 2**20):
            refused(Unavailable, "big", attempt=lambda: insert_rows(shop, "big", noise))
        with full_disk(jvm, 2**20):
            refused(Unavailable, attempt=lambda: shop.write(shuffled, "big"))
    assert insert_rows(shop, "big", noise) == 30_000
    assert shop.write(shuffled, "big") == 60_000
    with nothing_changes(shop), full_disk(os.getpid(), 2**10):
        refused(Unavailable, "big", attempt=lambda: shop.delete("big", "id % 3 = 0"))
    assert shop.table("big").count() == 90_000
