"""Sessions of the service: isolated, ordered, cancellable, limited and closed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import duckdb
import pytest

from forklake.access.callers import LOCAL
from forklake.crucible.sessions.sessions import Sessions
from forklake.crucible.sessions.statements import StatementRequest, StatementState
from forklake.crucible.settings import Settings
from forklake.engines.local.calculator import calculator, interrupt
from forklake.errors import ForklakeError, NotFound, QuotaExceeded
from tests.crucible.fix_sessions import LONG, open_session
from tests.crucible.served import RunningService

if TYPE_CHECKING:
    from forklake.engines.spark.engine import Engine


def test_sessions_are_isolated(spark_service: RunningService) -> None:
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    other = open_session(spark_service.client_of("alice"), "alice-sales", alias="same")
    alice.run_successfully("CREATE SCHEMA s; CREATE TABLE s.t (id INTEGER); USE lake.s; BEGIN")
    alice.run_successfully("PREPARE add AS INSERT INTO t VALUES ($1); EXECUTE add(1)")
    assert alice.rows("SELECT * FROM t") == [[1]]
    assert other.rows("SELECT * FROM s.t") == []
    assert other.run_failing("EXECUTE add(2)") == "not_found"
    assert other.run_failing("SELECT * FROM lake.s.t") == "not_found"
    assert other.run_failing("COMMIT") == "invalid_input"
    states = [one.client.get(one.path).json() for one in (alice, other)]
    assert [one["in_transaction"] for one in states] == [True, False]
    assert [one["current"] for one in states] == [["lake", "s"], ["same", "main"]]
    assert alice.run_successfully("COMMIT")["kind"] == "COMMIT"
    assert other.rows("SELECT * FROM s.t") == [[1]]
    alice.run_successfully("BEGIN; INSERT INTO t VALUES (2)")
    assert alice.client.delete(alice.path).status_code == 204
    assert alice.client.get(alice.path).status_code == 404
    assert other.rows("SELECT count(*) FROM s.t") == [[1]]  # the open transaction was rolled back


def test_statements_run_in_order_and_sessions_side_by_side(spark_service: RunningService) -> None:
    people = [
        open_session(spark_service.client_of(one), f"{one}-sales", alias="lake")
        for one in ("alice", "bob")
    ]
    for person in people:
        person.run_successfully("CREATE TABLE t (id INTEGER)")
    blocked = people[0].run(LONG, wait_seconds=0)
    waiting = [people[0].run(f"INSERT INTO t VALUES ({n})", wait_seconds=0) for n in range(5)]
    assert {one["state"] for one in waiting} == {"queued"}
    with ThreadPoolExecutor(4) as pool:  # the other session is not blocked by this one
        counts = list(
            pool.map(lambda n: people[1].run_successfully(f"INSERT INTO t VALUES ({n})"), range(4))
        )
    assert [one["changed"] for one in counts] == [1] * 4
    assert people[0].client.get(people[0].path).json()["waiting"] == 5
    path = f"{people[0].path}/statements"
    assert people[0].client.post(f"{path}/{waiting[1]['statement']}/cancel").status_code == 200
    assert people[0].client.post(f"{path}/{blocked['statement']}/cancel").status_code == 200
    assert people[0].rows("SELECT id FROM t ORDER BY rowid") == [[0], [2], [3], [4]]
    listed = people[0].client.get(path).json()["statements"]
    assert [one["statement"] for one in listed] == sorted(one["statement"] for one in listed)


def test_a_statement_is_polled_cancelled_and_timed_out(
    spark_service: RunningService, engine: Engine
) -> None:
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    alice.run_successfully("CREATE TABLE t (id BIGINT); SELECT 1")
    tracker = engine.spark.sparkContext.statusTracker()
    sent = alice.run(LONG, wait_seconds=0)
    path = f"{alice.path}/statements/{sent['statement']}"
    while not tracker.getActiveJobsIds():  # until Spark runs it
        assert alice.client.get(path).json()["state"] in ("queued", "running")
    early = alice.client.get(f"{path}/rows")
    assert (early.status_code, early.json()["error"]["code"]) == (400, "invalid_input")
    assert alice.client.post(f"{path}/cancel").status_code == 200
    ended = alice.client.get(path, params={"wait_seconds": 30}).json()
    assert (ended["state"], ended["error"]["code"]) == ("cancelled", "cancelled")
    assert alice.client.get(f"{path}/rows").status_code == 409
    assert not tracker.getActiveJobsIds()
    again = alice.client.post(f"{path}/cancel").json()
    assert again == alice.client.get(path).json()  # a finished statement does not change
    for sql in (LONG, f"INSERT INTO t {LONG}", f"CREATE TABLE u AS {LONG}"):
        late = alice.run(sql, timeout_seconds=0.4)
        assert late["state"] == "cancelled", (sql, late)
        assert late["error"]["details"] == {"reason": "timeout"}
    assert alice.rows("SELECT count(*) FROM t") == [[0]]
    assert alice.rows("SHOW TABLES") == [["t"]]


def test_queries_leave_no_threads_behind(spark_service: RunningService) -> None:
    def called_back() -> int:
        return sum(one.name.endswith("(run)") for one in threading.enumerate())

    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    alice.run_successfully("CREATE TABLE t (id INTEGER); INSERT INTO t SELECT range FROM range(10)")
    requested = []
    for _ in range(16):  # each time Spark lists the files from another of its threads
        assert alice.rows("SELECT count(*) FROM t") == [[10]]
        requested.append(called_back())
    assert requested[-1] == requested[-5]


def test_duckdb_computations_can_be_interrupted() -> None:
    over = threading.Event()
    thread = threading.get_ident()

    def stop() -> None:
        while not over.wait(0.01):
            interrupt(thread)

    with calculator() as cursor, ThreadPoolExecutor(1) as pool:
        pool.submit(stop)
        with pytest.raises(duckdb.InterruptException):
            cursor.execute("SELECT sum(hash(range)) FROM range(100000000000)").fetchall()
        over.set()
    interrupt(thread)  # while it computes nothing


def test_a_failing_statement_does_not_affect_other_sessions(spark_service: RunningService) -> None:
    alice = open_session(spark_service.client_of("alice"), "alice-sales", alias="lake")
    bob = open_session(spark_service.client_of("bob"), "bob-sales", alias="lake")
    long, longer = "repeat('x', 60000000)", "repeat('x', (range + 60000000)::INTEGER)"
    for sql in (
        f"SELECT {' || '.join([long] * 30)} FROM range(2)",  # while Spark plans it
        f"SELECT {' || '.join([longer] * 30)} FROM range(2)",  # in a task
    ):
        sent = alice.run(sql, wait_seconds=0)
        assert bob.rows("SELECT 1 + 1") == [[2]]
        path = f"{alice.path}/statements/{sent['statement']}"
        ended = alice.client.get(path, params={"wait_seconds": 30}).json()
        assert ended["state"] == "failed"
        assert "OutOfMemory" in ended["error"]["message"]
        assert alice.rows("SELECT 40 + 2") == [[42]]
        assert bob.rows("SELECT 1 + 1") == [[2]]
    assert alice.run_failing("SELECT error('on purpose')") == "invalid_input"
    assert alice.run_failing("SELECT 1 / 'x'") == "invalid_input"
    assert alice.run_failing("not a statement") == "invalid_input"


@pytest.fixture
def sessions(spark_service: RunningService, engine: Engine) -> Callable[..., Sessions]:
    """Return a factory of sessions with other settings, without a background watcher."""

    def made(clock: Callable[[], float], **settings: object) -> Sessions:
        given = spark_service.service.settings.model_copy(update=settings)
        return Sessions(Settings.model_validate(given), clock=clock)

    return made


def test_idle_sessions_are_closed(
    spark_service: RunningService, sessions: Callable[..., Sessions]
) -> None:
    now = [0.0]
    some = sessions(lambda: now[0], idle_seconds=60)
    access = spark_service.service.access
    idle, busy = (some.open(access, LOCAL, "alice-sales", alias="lake") for _ in range(2))
    sql = "CREATE TABLE t (id INTEGER); BEGIN; INSERT INTO t VALUES (1)"
    statement = idle.submit(StatementRequest(LOCAL, sql, None, "duckdb", 60))
    assert statement.wait(30)
    assert statement.state is StatementState.DONE, statement.error
    now[0] = 59.0
    some.check_all()
    assert some.find(LOCAL, busy.session_id) is busy  # counts as a use
    now[0] = 61.0
    some.check_all()
    assert some.list_for(LOCAL) == [busy]
    with pytest.raises(NotFound):
        some.find(LOCAL, idle.session_id)
    assert idle.wait_closed()
    assert not idle.session.in_transaction
    requested = busy.submit(StatementRequest(LOCAL, "SELECT count(*) FROM t", None, "duckdb", 60))
    assert requested.wait(30)
    assert requested.result().page(0, 1).to_pylist() == [{"count_star()": 0}]
    overdue = busy.submit(StatementRequest(LOCAL, LONG, None, "duckdb", 5))
    while overdue.state is StatementState.QUEUED:
        pass
    now[0] = 67.0
    some.check_all()
    assert overdue.wait(30)
    assert overdue.state is StatementState.CANCELLED
    some.shutdown()
    assert some.all() == []
    with pytest.raises(ForklakeError):
        some.open(access, LOCAL, "alice-sales")


def test_sessions_and_statements_are_limited(
    spark_service: RunningService, sessions: Callable[..., Sessions]
) -> None:
    access = spark_service.service.access
    some = sessions(lambda: 0.0, sessions=3, sessions_per_principal=2, result_bytes=2**21)
    alice, bob, root = (
        access.authentication.identify(spark_service.keys[one]) for one in ("alice", "bob", "root")
    )
    first = some.open(access, alice, "alice-sales")
    some.open(access, alice, "alice-sales")
    with pytest.raises(QuotaExceeded, match="'alice' already has"):
        some.open(access, alice, "alice-sales")
    access.quotas.set(root, "bob", sessions=0)
    with pytest.raises(QuotaExceeded, match="at most 0"):
        some.open(access, bob, "bob-sales")
    some.open(access, root, "bob-sales")
    with pytest.raises(QuotaExceeded, match="maximum number of open sessions"):
        some.open(access, root, "bob-sales")
    some.close(alice, first.session_id)
    some.open(access, root, "bob-sales").submit(
        StatementRequest(root, "SELECT 1", None, "duckdb", 5)
    )
    one = some.list_for(root)[0]
    much = one.submit(StatementRequest(root, "SELECT * FROM range(1000000)", None, "duckdb", 60))
    fits = one.submit(StatementRequest(root, "SELECT * FROM range(200000)", None, "duckdb", 60))
    for statement in (much, fits):
        assert statement.wait(60)
    assert isinstance(much.error, QuotaExceeded)
    assert fits.result().page(199_999, 10).to_pylist() == [{"range": 199_999}]
    blocked = one.submit(StatementRequest(root, LONG, None, "duckdb", 60))
    while blocked.state is StatementState.QUEUED:
        pass
    for _ in range(32):
        one.submit(StatementRequest(root, "SELECT 1", None, "duckdb", 60))
    with pytest.raises(QuotaExceeded, match="already has 32 queued statements"):
        one.submit(StatementRequest(root, "SELECT 1", None, "duckdb", 60))
    some.shutdown()
    assert blocked.state is StatementState.CANCELLED
    with pytest.raises(ForklakeError):
        blocked.result()
