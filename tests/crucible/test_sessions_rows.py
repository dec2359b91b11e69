"""Rows of results: equal in JSON and Arrow, page by page, for every type."""

from __future__ import annotations

import base64
import math
from typing import Any

import pyarrow as pa
import pytest

from forklake.client import connect
from forklake.client.sessions import RemoteSession, RemoteStatement
from forklake.crucible.api.sessions import ARROW
from forklake.crucible.sessions import rows as kept
from tests.crucible.fix_sessions import Person, open_session
from tests.crucible.served import RunningService

EVERYTHING = """
SELECT n,
    (n % 2 = 0) AS boolean, n::TINYINT AS tiny, 9007199254740993 + n AS big,
    170141183460469231731687303715::HUGEINT AS huge,
    (n / 4)::FLOAT AS single,
    CASE n WHEN 0 THEN 'nan' WHEN 1 THEN 'inf' WHEN 2 THEN '-inf' ELSE '1.5' END::DOUBLE AS double,
    (n * 1.25)::DECIMAL(18, 3) AS exact, CASE WHEN n > 1 THEN 'täxt ' || n END AS text,
    '\\x00\\xFF'::BLOB AS bytes, DATE '2024-02-29' AS day, TIME '12:34:56.789' AS clock,
    TIMESTAMP '2024-02-29 12:34:56.789012' AS moment,
    TIMESTAMPTZ '2024-02-29 12:34:56+02:00' AS instant,
    TIMESTAMP '0001-01-01 00:00:00' AS long_ago,
    'e0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID AS uuid,
    [n, NULL, 3] AS list, [[1.5::DOUBLE], [], NULL] AS lists,
    {'a': n, 'b': {'c': 'x', 'd': NULL::DATE}} AS struct,
    MAP {'k': n, 'l': NULL} AS map, [{'m': MAP {'x': [DATE '2024-01-01']}}] AS deep,
    NULL AS nothing, CASE WHEN n > 9 THEN [n] END AS no_list
FROM range(5) AS r(n) ORDER BY n
"""


def pages(person: Person, number: int, limit: int) -> tuple[list[Any], pa.Table, dict[str, str]]:
    """Return all rows of a statement as JSON and as Arrow, and the types listed in the JSON."""
    path = f"{person.path}/statements/{number}/rows"
    rows: list[Any] = []
    tables: list[pa.Table] = []
    offset: int | None = 0
    while offset is not None:
        requested = {"offset": offset, "limit": limit}
        page = person.client.get(path, params=requested).json()
        rows += page["rows"]
        stream = person.client.get(path, params=requested, headers={"Accept": ARROW})
        assert stream.headers["content-type"] == ARROW
        tables.append(pa.ipc.open_stream(stream.content).read_all())
        offset = page["next"]
    return rows, pa.concat_tables(tables), {one["name"]: one["type"] for one in page["columns"]}


def as_json(value: Any, kind: pa.DataType) -> Any:
    """Return the expected JSON of an Arrow value, computed independently of the service."""
    if value is None:
        return None
    if pa.types.is_floating(kind) and not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if pa.types.is_binary(kind):
        return base64.b64encode(value).decode()
    if pa.types.is_timestamp(kind):
        text = value.strftime("%Y-%m-%d %H:%M:%S.%f").rjust(26, "0")
        return text + ("Z" if kind.tz else "")
    if pa.types.is_time(kind):
        return value.strftime("%H:%M:%S.%f") + ("000" if kind.unit == "ns" else "")
    if pa.types.is_decimal(kind) or pa.types.is_date(kind):
        return str(value)
    if pa.types.is_map(kind):
        return [[as_json(k, kind.key_type), as_json(v, kind.item_type)] for k, v in value]
    if pa.types.is_list(kind):
        return [as_json(one, kind.value_type) for one in value]
    if pa.types.is_struct(kind):
        return {one.name: as_json(value[one.name], one.type) for one in kind}
    return value


@pytest.mark.parametrize("where", ["memory", "file"])
def test_all_types_read_the_same_in_json_and_arrow(
    spark_service: RunningService, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    if where == "file":
        monkeypatch.setattr("forklake.crucible.sessions.result_transfer.IN_MEMORY", 0)
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    found = alice.run_successfully(EVERYTHING)
    assert found["row_count"] == 5
    rows, table, types = pages(alice, found["statement"], limit=2)
    assert types == {one.name: str(one.type) for one in table.schema}
    wanted = [
        [as_json(value[one.name], one.type) for one in table.schema] for value in table.to_pylist()
    ]
    assert rows == wanted
    assert [row[0] for row in rows] == [0, 1, 2, 3, 4]
    beyond = alice.client.get(f"{alice.path}/statements/{found['statement']}/rows?offset=99").json()
    assert (beyond["rows"], beyond["next"], beyond["row_count"]) == ([], None, 5)


def test_results_of_all_kinds_of_statements(spark_service: RunningService) -> None:
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    assert alice.run_successfully("CREATE TABLE t (id INTEGER, s VARCHAR)")["changed"] is None
    assert alice.run_successfully("INSERT INTO t SELECT range, 'x' FROM range(10)")["changed"] == 10
    assert alice.run_successfully("DELETE FROM t WHERE id < 4")["changed"] == 4
    nothing = alice.run_successfully("SELECT * FROM t WHERE id < 0")
    assert [one["name"] for one in nothing["columns"]] == ["id", "s"]
    assert pages(alice, nothing["statement"], 10)[0] == []
    twice = alice.run_successfully("SELECT id, id FROM t ORDER BY 1 DESC LIMIT 1")
    assert pages(alice, twice["statement"], 10)[0] == [[9, 9]]
    given = alice.rows("SELECT $a, $b, $c", parameters={"a": [1, 2], "b": None, "c": {"x": "y"}})
    assert given == [[[1, 2], None, {"x": "y"}]]
    assert alice.run_failing("SELECT ?", parameters=[1, 2]) == "invalid_input"
    many = alice.run_successfully("SELECT range FROM range(300000) ORDER BY range DESC")
    rows, table, _ = pages(alice, many["statement"], limit=100_000)
    assert rows[0] == [299_999]
    assert rows[-1] == [0]
    assert table["range"].to_pylist() == [row[0] for row in rows]
    unknown = alice.client.get(f"{alice.path}/statements/999")
    assert unknown.status_code == 404


def test_pages_are_limited_in_bytes(
    spark_service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "PAGE_BYTES", 10_000)
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    number = alice.run_successfully(
        "SELECT n, repeat('x', 999) AS s FROM range(50) AS r(n) ORDER BY n"
    )
    path = f"{alice.path}/statements/{number['statement']}/rows"
    first = alice.client.get(path, params={"limit": 1000}).json()
    assert 1 <= first["next"] == len(first["rows"]) < 11
    rows, table, _ = pages(alice, number["statement"], 1000)
    assert [row[0] for row in rows] == table["n"].to_pylist() == list(range(50))
    with connect(spark_service.address, spark_service.keys["alice"]) as client:
        remote = RemoteStatement(RemoteSession(client.transport, alice.session), 1)
        assert remote.result().arrow()["n"].to_pylist() == list(range(50))
    # A row that is larger than a page has its own page.
    large = alice.run_successfully("SELECT repeat('x', 20000) AS s FROM range(2)")["statement"]
    assert [len(row[0]) for row in pages(alice, large, 10)[0]] == [20_000, 20_000]


def test_values_do_not_fill_the_memory_of_the_service(spark_service: RunningService) -> None:
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    alice.run_successfully("CREATE TABLE t (s VARCHAR, l BIGINT[])")
    for value in ("repeat('x', 80000000), NULL", "NULL, range(10000000)"):
        assert alice.run_failing(f"INSERT INTO t VALUES ({value})") == "invalid_input"
    default = "repeat('x', 80000000)"  # the lists of above take seconds  # language: ok
    assert alice.run_failing(f"CREATE TABLE u (x VARCHAR DEFAULT {default})") == "invalid_input"
    assert alice.rows("SELECT count(*) FROM t") == [[0]]
