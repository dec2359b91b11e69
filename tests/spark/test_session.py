"""Sessions: transactions over tables and files, and definitions by name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType
from tenacity import wait_none

from forklake import ColumnSpec, Session, struct
from forklake.engines.spark.engine import Engine
from forklake.errors import (
    AlreadyExists,
    Conflict,
    InvalidInput,
    NotFound,
    Unavailable,
    Unsupported,
)
from forklake.store import commit, phases
from tests.spark.builders import add_file, insert, rows_of

COLUMNS = [ColumnSpec("id", "int64")]


def files_on_disk(session: Session) -> list[Path]:
    """Return the paths of all files of the lake."""
    return [one for one in Path(session.attachment("lake").data_path).rglob("*") if one.is_file()]


def tables(session: Session, alias: str = "lake") -> list[str]:
    """Return the names of all tables."""
    return [one.table_name for one in session.viewing(session.attachment(alias)).state.tables()]


# Sharing one Spark


def test_sessions_share_spark_and_keep_their_views_and_settings_apart(
    lake: Session, engine: Engine
) -> None:
    lake.create_table("t", COLUMNS)
    add_file(lake, "t", [{"id": 1}])
    lake.table("t").createOrReplaceTempView("seen")
    lake.engine.spark.conf.set("spark.sql.shuffle.partitions", "7")
    with lake.cursor() as cursor:
        spark = cursor.engine.spark
        assert not spark.catalog.tableExists("seen")
        assert spark.conf.get("spark.sql.shuffle.partitions") != "7"
        assert spark.sparkContext is engine.spark.sparkContext
        assert rows_of(cursor.table("t")) == [(1,)]
    assert rows_of(lake.engine.spark.sql("SELECT * FROM seen")) == [(1,)]


def test_importing_forklake_does_not_import_spark() -> None:
    code = (
        "import sys, forklake; forklake.open; assert 'pyspark' not in sys.modules;"
        "forklake.connect().close(); assert 'py4j' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# Transactions


def test_a_transaction_is_one_snapshot_over_many_tables(lake: Session) -> None:
    before = len(lake.snapshots("lake"))
    with lake.transaction(author="me", message="all at once"):
        for name in ("t", "u"):
            lake.create_table(name, COLUMNS)
            add_file(lake, name, [{"id": 1}])
        insert(lake, "u", [{"id": 2}])
        assert rows_of(lake.table("u")) == [(1,), (2,)]
    *_, last = lake.snapshots("lake")
    assert len(lake.snapshots("lake")) == before + 1
    assert (last.author, last.commit_message) == ("me", "all at once")
    assert rows_of(lake.table("t")) == [(1,)]
    assert not lake.in_transaction


def test_a_rollback_discards_changes_and_removes_files(lake: Session) -> None:
    lake.create_table("t", COLUMNS)
    lake.begin()
    add_file(lake, "t", [{"id": 1}])
    lake.create_table("u", COLUMNS)
    assert len(files_on_disk(lake)) == 1
    lake.rollback()
    assert (files_on_disk(lake), tables(lake)) == ([], ["t"])
    with suppress(ZeroDivisionError), lake.transaction():
        add_file(lake, "t", [{"id": 1}])
        raise ZeroDivisionError
    assert files_on_disk(lake) == []
    lake.begin()
    add_file(lake, "t", [{"id": 1}])
    other = lake.cursor()
    lake.close()
    assert (files_on_disk(other), rows_of(other.table("t"))) == ([], [])
    other.close()


def test_begin_and_end_of_transactions_must_match(lake: Session) -> None:
    for end in (lake.commit, lake.rollback):
        with pytest.raises(InvalidInput, match="No transaction is open"):
            end()
    with lake.transaction(), pytest.raises(InvalidInput, match="cannot be nested"):
        lake.begin()
    with lake.transaction():
        lake.create_schema("s")
        lake.rollback()
    assert [one.schema_name for one in lake.viewing(lake.attachment("lake")).state.schemas()] == [
        "main"
    ]


def test_a_transaction_changes_one_catalog_and_reads_pinned_snapshots_of_others(
    lake: Session, metadata: str
) -> None:
    lake.attach(metadata, "other", catalog="other", create_if_not_exists=True)
    with lake.cursor() as cursor, lake.transaction():
        assert tables(lake, "other") == []
        cursor.create_table("other.main.t", COLUMNS)
        assert tables(lake, "other") == []
        lake.create_table("t", COLUMNS)
        with pytest.raises(InvalidInput, match="has changed catalog 'lake'"):
            lake.create_schema("other.s")
    assert (tables(lake), tables(lake, "other")) == (["t"], ["t"])


def test_after_a_failed_change_a_transaction_can_only_be_rolled_back(lake: Session) -> None:
    lake.create_table("t", COLUMNS)
    lake.begin()
    add_file(lake, "t", [{"id": 1}])
    with pytest.raises(AlreadyExists):
        lake.create_table("t", COLUMNS)
    with pytest.raises(InvalidInput, match="statement of this transaction failed"):
        lake.create_schema("s")
    with pytest.raises(InvalidInput, match="was rolled back"):
        lake.commit()
    assert files_on_disk(lake) == []


def test_a_refused_commit_removes_its_files(lake: Session) -> None:
    lake.create_table("t", COLUMNS)
    with lake.cursor() as other:
        lake.begin()
        add_file(lake, "t", [{"id": 1}])
        other.drop_table("t")
        with pytest.raises(Conflict):
            lake.commit()
        assert files_on_disk(lake) == []
        other.create_table("t", COLUMNS)
    lake.set_commit_message("me", "be strict")
    lake.set_option("lake", "require_commit_message", True)
    with pytest.raises(InvalidInput, match="requires a commit message"):
        add_file(lake, "t", [{"id": 1}])
    assert files_on_disk(lake) == []
    lake.set_commit_message("me", "why")
    add_file(lake, "t", [{"id": 1}])
    lake.begin()
    add_file(lake, "t", [{"id": 2}])
    lake.set_commit_message("you", "because", '{"n": 1}')
    lake.commit()
    *_, first, second = lake.snapshots("lake")
    assert (first.author, first.commit_message) == ("me", "why")
    assert (second.author, second.commit_extra_info) == ("you", '{"n": 1}')


@pytest.mark.parametrize("is_committed", [False, True])
def test_files_are_kept_after_a_commit_with_unknown_outcome(
    lake: Session, monkeypatch: pytest.MonkeyPatch, is_committed: bool
) -> None:
    lake.create_table("t", COLUMNS)
    is_lost = not is_committed

    def lose(phase: str) -> None:
        nonlocal is_lost
        is_lost = is_lost or phase == "commit.committed"
        if is_lost:
            raise Unavailable("The answer was lost.")

    monkeypatch.setattr(commit._attempt_again.retry, "wait", wait_none())
    monkeypatch.setattr(phases, "observer", lose)
    with pytest.raises(Unavailable):
        add_file(lake, "t", [{"id": 1}])
    monkeypatch.undo()
    assert len(files_on_disk(lake)) == 1
    assert rows_of(lake.table("t")) == ([(1,)] if is_committed else [])


# Definitions


def test_tables_are_created_from_spark_schemas(lake: Session) -> None:
    schema = StructType(
        [StructField("id", LongType(), nullable=False), StructField("day", StringType())]
    )
    lake.create_table("t", schema, partition_by=["day"])
    state = lake.viewing(lake.attachment("lake")).state
    table = state.table("t")
    assert [
        (one.column_name, one.column_type, one.nulls_allowed) for one in state.columns(table)
    ] == [("id", "int64", False), ("day", "varchar", True)]
    assert [key.transform for key in state.partitioning(table)] == ["identity"]
    with pytest.raises(AlreadyExists):
        lake.create_table("t", schema)
    lake.create_table("t", COLUMNS, if_not_exists=True)
    lake.create_table("t", COLUMNS, or_replace=True)
    assert lake.table("t").columns == ["id"]
    with pytest.raises(Unsupported, match="interval"):
        lake.create_table("u", [ColumnSpec("i", "interval")])
    assert tables(lake) == ["t"]


def test_definitions_are_changed_by_name(lake: Session) -> None:
    lake.create_schema("s")
    lake.create_schema("lake.s", if_not_exists=True)
    lake.create_table(
        "s.t", [*COLUMNS, ColumnSpec("at", "timestamp"), ColumnSpec("v", struct(x="int32"))]
    )
    lake.rename_table("s.t", "u")
    lake.add_column("s.u", "v.y", "date")
    lake.rename_column("s.u", "v.x", "z")
    lake.set_column_type("s.u", "v.z", LongType())
    lake.drop_column("s.u", "id")
    lake.set_default("s.u", "at", "2024-01-31 00:00:00")
    lake.set_partitioning("s.u", ["year(at)", ("at", "month")])
    state = lake.viewing(lake.attachment("lake")).state
    table = state.table("u", "s")
    at, value = state.fields(table)
    assert (at.default_value, at.default_value_type) == ("2024-01-31 00:00:00", "literal")
    assert [(one.name, one.type) for one in value.fields] == [("z", "int64"), ("y", "date")]
    assert [key.transform for key in state.partitioning(table)] == ["year", "month"]
    lake.set_partitioning("s.u", [])
    with pytest.raises(InvalidInput, match="is not empty"):
        lake.drop_schema("s")
    lake.drop_table("s.u")
    lake.drop_table("s.u", if_exists=True)
    lake.drop_table("gone.u", if_exists=True)
    lake.drop_schema("lake.s")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda lake: lake.add_column("t", "id", "int32"), AlreadyExists),
        (lambda lake: lake.add_column("t", "x.y", "int32"), NotFound),
        (lambda lake: lake.add_column("t", "x", "nothing"), Unsupported),
        (lambda lake: lake.drop_column("t", "id"), InvalidInput),
        (lambda lake: lake.drop_column("t", "x"), NotFound),
        (lambda lake: lake.set_column_type("t", "id", "int32"), InvalidInput),
        (lambda lake: lake.set_partitioning("t", ["week(id)"]), InvalidInput),
        (lambda lake: lake.set_partitioning("t", ["a.b"]), InvalidInput),
        (lambda lake: lake.rename_table("nothing", "u"), NotFound),
        (lambda lake: lake.create_table("a.b.c.d", COLUMNS), InvalidInput),
        (lambda lake: lake.create_schema("a.b.c"), InvalidInput),
        (lambda lake: lake.set_option("lake", "nothing", 1), InvalidInput),
    ],
)
def test_an_invalid_definition_change_has_no_effect(
    lake: Session, change: Callable[[Session], None], error: type[Exception]
) -> None:
    lake.create_table("t", COLUMNS)
    before = lake.snapshots("lake")
    with pytest.raises(error):
        change(lake)
    assert lake.snapshots("lake") == before
