"""Stored SQL, which is read-only: hostile texts are generated from the registry of functions."""

from __future__ import annotations

import pytest

from forklake import Session
from forklake.catalog.definitions import MacroSpec
from forklake.errors import InvalidInput
from forklake.sql.functions.registry import FUNCTIONS

CHANGING = [name for name, one in FUNCTIONS.items() if one.changes_data]
REFUSED = "changes data|reads files"
TRIGGERS = [
    "SELECT * FROM {}",
    "DESCRIBE SELECT * FROM {}",
    "SUMMARIZE SELECT * FROM {}",
    "EXPLAIN SELECT * FROM {}",
    "CREATE VIEW over AS SELECT * FROM {}",
    "CREATE TABLE copy AS SELECT * FROM {}",
    "INSERT INTO t SELECT 1 FROM {}",
]


def plant(lake: Session, source: str) -> list[str]:
    """Write stored SQL without the checks at creation, and return sources that use it."""
    with lake.changing(lake.attachment("lake")) as change:
        work = change.transaction
        work.create_view("v", f"SELECT * FROM {source}", schema="main", dialect="duckdb")
        table = MacroSpec(f"SELECT * FROM {source}", [], {}, "duckdb")
        work.create_macro("tm", [table], schema="main", type="table")
        scalar = MacroSpec(f"(SELECT count(*) FROM {source})", [], {}, "duckdb")
        work.create_macro("m", [scalar], schema="main", type="scalar")
    return ["v", "tm()", "(SELECT m() AS x)"]


@pytest.mark.parametrize("name", [*CHANGING, "read_parquet", "read_csv"])
def test_stored_sql_changes_nothing_and_reads_no_files(lake: Session, name: str) -> None:
    lake.execute("CREATE TABLE t(i INT)")
    prefix = "" if name.startswith("read_") else "ducklake_"
    call = f"{prefix}{name}('lake', 'x', 'y')"
    sources = plant(lake, call)
    before = lake.viewing(lake.attachment("lake")).state.snapshot_id
    for source in [*sources, f"(SELECT * FROM {call})"] if prefix else sources:
        for trigger in TRIGGERS:
            with pytest.raises(InvalidInput, match=REFUSED):
                lake.execute(trigger.format(source))
    for definition in ("VIEW w AS", "MACRO w() AS TABLE"):
        with pytest.raises(InvalidInput, match=REFUSED):
            lake.execute(f"CREATE {definition} SELECT * FROM {call}")
    with pytest.raises(InvalidInput, match=REFUSED):
        lake.execute(f"CREATE MACRO w() AS (SELECT count(*) FROM {call})")
    assert lake.viewing(lake.attachment("lake")).state.snapshot_id == before


@pytest.mark.parametrize("name", CHANGING)
def test_an_argument_of_a_macro_cannot_name_a_catalog_to_change(lake: Session, name: str) -> None:
    lake.execute("CREATE TABLE t(i INT)")
    specs = {
        "m": MacroSpec(f"x.{name}('y')", ["x"], {}, "duckdb"),
        "d": MacroSpec(f"x.main.{name}('y')", ["x"], {"x": "'lake'"}, "duckdb"),
        "outer_m": MacroSpec("1 + m('lake')", [], {}, "duckdb"),
    }
    with lake.changing(lake.attachment("lake")) as change:
        work = change.transaction
        for macro, spec in specs.items():
            work.create_macro(macro, [spec], schema="main", type="scalar")
        table = MacroSpec(f"SELECT x.{name}('y') AS a, 1 AS b", ["x"], {}, "duckdb")
        work.create_macro("tm", [table], schema="main", type="table")
        for number, call in enumerate(("m('lake')", "m(lake)", "d()", "outer_m()")):
            text = f"SELECT {call} AS a, 1 AS b"
            work.create_view(f"v{number}", text, schema="main", dialect="duckdb")
    before = lake.viewing(lake.attachment("lake")).state.snapshot_id
    sources = ["v0", "v1", "v2", "v3", "tm('lake')", "(SELECT m(lake) AS a)", "(SELECT d() AS a)"]
    for source in sources:
        for trigger in TRIGGERS:
            with pytest.raises(InvalidInput, match="changes data"):
                lake.execute(trigger.format(source))
    for text in ("SELECT m(lake)", "SELECT 1 + d()", "UPDATE t SET i = m('lake')"):
        with pytest.raises(InvalidInput, match="changes data"):
            lake.execute(text)
    assert lake.viewing(lake.attachment("lake")).state.snapshot_id == before


def test_a_view_cannot_read_another_catalog_through_an_argument(
    lake: Session, metadata: str
) -> None:
    lake.execute("CREATE TABLE t(i INT)")
    lake.execute("SELECT ducklake_fork_catalog('lake', 'other')")
    lake.execute("CREATE MACRO m(x) AS (SELECT max(id) FROM (SELECT x.current_snapshot() AS id))")
    lake.attach(metadata, "other", catalog="other")
    lake.execute("CREATE VIEW own AS SELECT m('lake') AS id")
    lake.execute("CREATE VIEW foreign_one AS SELECT m('other') AS id")
    assert lake.sql("SELECT m('other')").count() == lake.sql("FROM own").count() == 1
    with pytest.raises(InvalidInput, match="another catalog"):
        lake.execute("FROM foreign_one")


@pytest.mark.parametrize("name", ["now", "count", "upper", "ducklake_snapshots", "snapshots"])
def test_macros_never_replace_built_in_functions(lake: Session, name: str) -> None:
    with pytest.raises(InvalidInput, match="a built-in function has this name"):
        lake.execute(f"CREATE MACRO {name}(x) AS 1")
    spec = MacroSpec("'planted'", ["x"], {}, "duckdb")
    with lake.changing(lake.attachment("lake")) as change:
        change.transaction.create_macro("upper", [spec], schema="main", type="scalar")
    assert lake.sql("SELECT upper('a')").collect()[0][0] == "A"


def test_changing_functions_run_only_as_outermost_call(lake: Session) -> None:
    lake.execute("SELECT * FROM ducklake_set_option('lake', 'parquet_compression', 'zstd')")
    lake.execute("SELECT ducklake_set_option('lake', 'parquet_compression', 'snappy')")
    with pytest.raises(InvalidInput, match="changes data"):
        lake.execute("SELECT * FROM (FROM ducklake_expire_snapshots('lake'))")


def test_macro_bombs_and_deep_expressions_end_early(lake: Session) -> None:
    lake.execute("CREATE MACRO m0() AS 1")
    for level in range(1, 30):
        lake.execute(f"CREATE MACRO m{level}() AS m{level - 1}() + m{level - 1}()")
    with pytest.raises(InvalidInput, match="more than 25,000 expression nodes"):
        lake.execute("SELECT m29()")
    with pytest.raises(InvalidInput, match="nested too deeply"):
        lake.execute("SELECT " + " || ".join(["'a'"] * 3000))
