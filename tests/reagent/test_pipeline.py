"""A workbook with Spark: files and databases in, tables and Delta tables out, and checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from forklake import Session
from forklake.engines.spark.engine import Engine
from forklake.reagent import LocalPlace, run_workbook
from tests.fix_metastore import Place
from tests.reagent.conftest import Make


@pytest.fixture
def files(tmp_path: Path, engine: Engine) -> Path:
    """Write rows in several formats, and return the folder."""
    (tmp_path / "orders-1.csv").write_text("id|city|amount\n1|Rome|10.5\n2|Oslo|20\n3|Rome|7\n")
    (tmp_path / "cities.json").write_text('{"city": "Rome", "land": "it"}\n{"city": "Oslo"}\n')
    pq.write_table(pa.table({"id": [2, 9], "amount": [0.5, 1.0]}), tmp_path / "late.parquet")
    return tmp_path


def fetched(engine: Engine, place: Place, query: str) -> list[dict[str, Any]]:
    """Return the rows of a query."""
    with Session(engine.spark) as session:
        session.attach(place.uri, catalog="sales", metadata_schema=place.metadata_schema)
        session.use("sales")
        rows: list[dict[str, Any]] = session.execute(query).arrow().to_pylist()
        return rows


def test_rows_of_files_are_written_to_tables_in_every_mode(
    lab: LocalPlace, place: Place, engine: Engine, files: Path, make: Make
) -> None:
    def by_land(orders: Any, cities: Any, least: int) -> Any:
        joined = orders.join(cities, "city").where(orders.amount >= least)
        return joined.groupBy("city", "land").count()

    workbook = make(
        {
            "load": {
                "inputs": {"source": {"csv": "orders-${part}.csv", "options": {"delim": "|"}}},
                "sql": "SELECT * FROM source",
                "output": {"table": "orders", "partition_by": ["city"]},
                "checks": [
                    {"row_count": {"min": 3, "max": 3}},
                    {"not_null": ["id", "city"]},
                    {"unique": ["id"]},
                    {"accepted": {"city": ["Rome", "Oslo"]}, "where": "amount > $least"},
                    {"sql": "SELECT * FROM orders WHERE amount > 15", "warn": True, "name": "dear"},
                ],
            },
            "late": {
                "inputs": {"late": {"parquet": ["late.parquet"]}},
                "after": ["load"],
                "sql": "SELECT id, 'Bonn' AS city, amount FROM late;",
                "output": {"table": "orders", "mode": "merge", "key": ["id"]},
            },
            "report": {
                "inputs": {"orders": {"table": "orders"}, "cities": {"json": "cities.json"}},
                "python": by_land,
                "output": {"table": "report", "mode": "overwrite", "delta": "report.delta"},
            },
            "fix": {
                "after": ["report"],
                "sql": "SELECT 1 AS id, 11.0 AS amount, 'Rome' AS city",
                "output": {"table": "orders", "mode": "replace_where", "where": "city = 'Rome'"},
            },
        },
        parameters={"least": 5, "part": 1},
        isolation="fork",
    )
    report = run_workbook(workbook, lab)
    assert report.succeeded, report.failure()
    orders = fetched(engine, place, "SELECT id, city, amount FROM orders ORDER BY id")
    assert orders == [
        {"id": 1, "city": "Rome", "amount": 11.0},
        {"id": 2, "city": "Bonn", "amount": 0.5},
        {"id": 9, "city": "Bonn", "amount": 1.0},
    ]
    table = DeltaTable(str(files / "report.delta")).to_pyarrow_table()
    assert table.to_pylist() == [{"city": "Rome", "land": "it", "count": 2}]
    assert {name: one.rows for name, one in report.tasks.items()} == {
        "load": 3,
        "late": 2,
        "report": 1,
        "fix": 1,
    }
    found = report.tasks["load"].checks
    assert [(one.passed, one.warn) for one in found] == [(True, False)] * 4 + [(False, True)]
    assert (found[4].name, found[4].found) == ("dear", "1 row found")

    again = run_workbook(workbook, lab, only=["report"], isolation="direct")
    assert again.succeeded, again.failure()
    assert DeltaTable(str(files / "report.delta")).to_pyarrow_table()["count"].to_pylist() == [1]

    as_json, as_html = report.write(files / "reports")
    assert json.loads(as_json.read_text())["tasks"][0]["snapshots"]
    text = as_html.read_text()
    assert text.count("<rect") == 4
    assert "orders: id unique" in text
    assert "src=" not in text
    assert "href=" not in text


@pytest.mark.parametrize(
    ("check", "found"),
    [
        ({"row_count": {"equals": 3}}, "exactly 3 rows (2 rows found)"),
        ({"not_null": ["name"]}, "name not null (1 row found)"),
        ({"unique": ["id"]}, "id unique (1 row found)"),
        ({"accepted": {"id": [2]}}, "id among the accepted values (2 rows found)"),
        ({"sql": "SELECT * FROM t WHERE id = $n", "name": "mine"}, "mine (2 rows found)"),
    ],
)
def test_a_failed_check_rolls_the_task_back(
    check: dict[str, Any], found: str, metadata_only: LocalPlace, engine: Engine, make: Make
) -> None:
    task = {"sql": "INSERT INTO t VALUES (1, 'a'), (1, NULL)", "checks": [{"table": "t", **check}]}
    if "sql" in check:
        del task["checks"][0]["table"]  # type: ignore[attr-defined]
    report = run_workbook(make({"a": task}, parameters={"n": 1}), metadata_only)
    failure = report.tasks["a"].error
    assert failure is not None
    assert found in failure.message
    assert report.tasks["a"].snapshots == []
    view = metadata_only.catalogs.catalog("sales").now()
    assert view.inlined_rows(view.state.table("t")) == []


def test_errors_of_spark_are_passed_on(lab: LocalPlace, engine: Engine, make: Make) -> None:
    def broken(session: Any) -> Any:
        return session.engine.spark.sql("SELECT java_method('java.lang.Integer', 'parseInt', 'x')")

    tasks = {
        "wrong": {"sql": "SELECT nothing FROM range(3)", "output": {"table": "u"}},
        "broken": {"python": broken, "output": {"table": "u"}},
    }
    report = run_workbook(make(tasks), lab, keep_going=True)
    wrong, bad = report.tasks["wrong"].error, report.tasks["broken"].error
    assert wrong is not None
    assert wrong.code == "not_found"
    assert "nothing" in wrong.message
    assert bad is not None
    assert 'For input string: "x"' in bad.message


def test_jobs_of_a_timed_out_task_are_cancelled(
    lab: LocalPlace, engine: Engine, make: Make
) -> None:
    endless = "SELECT max(range % 7) AS n FROM range(1000000000000000)"
    tasks = {"a": {"sql": endless, "output": {"table": "u"}, "timeout_seconds": 1}}
    report = run_workbook(make(tasks), lab)
    failure = report.failure()
    assert failure is not None
    assert "longer than 1 seconds" in failure.message
    assert lab.catalogs.catalog("sales").now().state.tables() == []


def test_concurrently_changed_rows_are_not_overwritten(
    metadata_only: LocalPlace, place: Place, engine: Engine, make: Make
) -> None:
    def meanwhile() -> None:
        fetched(engine, place, "UPDATE t SET name = 'theirs' WHERE id = 1")

    setup = make({"a": {"sql": "INSERT INTO t VALUES (1, 'a'), (2, 'b')"}})
    assert run_workbook(setup, metadata_only).succeeded
    tasks: dict[str, Any] = {
        "ours": {"sql": "UPDATE t SET name = 'ours' WHERE id = 1; INSERT INTO t VALUES (3, 'c')"},
        "theirs": {"python": meanwhile, "after": ["ours"], "atomic": False},
    }
    report = run_workbook(make(tasks, isolation="fork"), metadata_only)
    assert {one.state.value for one in report.tasks.values()} == {"done"}
    assert report.error is not None
    assert report.error.code == "conflict"
    assert not report.succeeded
    found = fetched(engine, place, "FROM t ORDER BY id")
    assert found == [{"id": 1, "name": "theirs"}, {"id": 2, "name": "b"}]
    assert [row.catalog_name for row in metadata_only.catalogs.catalogs()] == ["sales"]


def test_inputs_may_be_databases_and_old_snapshots(
    lab: LocalPlace, place: Place, engine: Engine, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "jdbc:derby:memory:shop;create=true"
    monkeypatch.setenv("SHOP", address)
    spark = engine.spark
    machine: Any = spark._jvm
    # So that it writes no log file.
    machine.System.setProperty("derby.stream.error.field", "java.lang.System.err")
    spark.sql("SELECT 1 AS id, 'Ada' AS name").write.jdbc(address, "people", mode="overwrite")
    database = {"jdbc": "${env:SHOP}", "query": "SELECT * FROM people"}
    tasks: dict[str, Any] = {
        "load": {
            "inputs": {"people": database},
            "sql": "SELECT id, name FROM people",
            "output": {"table": "p"},
        }
    }
    first = run_workbook(make(tasks), lab)
    assert first.succeeded, first.failure()
    (snapshot,) = first.tasks["load"].snapshots
    assert run_workbook(make(tasks), lab).succeeded
    tasks = {
        "back": {
            "inputs": {"p": {"table": "p", "snapshot": "${at}"}},
            "sql": "SELECT * FROM p",
            "output": {"table": "back"},
        }
    }
    report = run_workbook(make(tasks, required=["at"]), lab, parameters={"at": snapshot})
    assert report.succeeded, report.failure()
    assert fetched(engine, place, "FROM back") == [{"id": 1, "name": "Ada"}]

    database["query"] = "SELECT * FROM nobody"  # language: ok
    bad = {"load": {"inputs": {"x": database}, "sql": "SELECT 1"}}
    failure = run_workbook(make(bad), lab).failure()
    assert failure is not None
    assert "database of the input" in failure.message
    assert "derby" not in failure.message
