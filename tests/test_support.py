"""The servers and tools that other tests rely on."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest

from forklake.engines.spark.java import find_java
from tests.fix_java import RefusedJava
from tests.fix_postgres import ExternalPostgres, Postgres, PostgresServer
from tests.fix_proxy import CuttableProxy, Direction


def execute(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement.encode())


def rows(dsn: str) -> list[int]:
    with psycopg.connect(dsn) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM item ORDER BY id")]


class TestSharedServer:
    def test_provides_a_separate_database(self, postgres_dsn: str) -> None:
        execute(postgres_dsn, "CREATE TABLE item (id int)")
        assert rows(postgres_dsn) == []

    def test_provides_an_empty_database(self, postgres_dsn: str) -> None:
        with psycopg.connect(postgres_dsn) as connection:
            found = connection.execute("SELECT to_regclass('item')").fetchone()
        assert found == (None,)

    def test_is_durable(self, postgres_dsn: str) -> None:
        with psycopg.connect(postgres_dsn) as connection:
            assert connection.execute("SHOW fsync").fetchone() == ("on",)

    def test_may_be_an_external_server(self, postgres_server: Postgres) -> None:
        external = ExternalPostgres(postgres_server.dsn("whichever"))
        with psycopg.connect(external.dsn("postgres")) as connection:
            assert connection.info.dbname == "postgres"


class TestDisposableServer:
    def test_keeps_committed_rows_when_killed(self, disposable_postgres: PostgresServer) -> None:
        dsn = disposable_postgres.dsn()
        execute(dsn, "CREATE TABLE item (id int)")
        execute(dsn, "INSERT INTO item VALUES (1)")

        with psycopg.connect(dsn) as lost:
            lost.execute("INSERT INTO item VALUES (2)")
            disposable_postgres.kill()
            with pytest.raises(psycopg.OperationalError):
                lost.commit()

        disposable_postgres.start()
        assert rows(dsn) == [1]

    def test_restarts_with_other_settings(self, disposable_postgres: PostgresServer) -> None:
        disposable_postgres.settings["max_connections"] = 17
        disposable_postgres.restart()
        with psycopg.connect(disposable_postgres.dsn()) as connection:
            assert connection.execute("SHOW max_connections").fetchone() == ("17",)

    def test_reports_why_it_does_not_start(self, disposable_postgres: PostgresServer) -> None:
        disposable_postgres.stop()
        disposable_postgres.settings["no_such_setting"] = "on"
        with pytest.raises(RuntimeError, match="no_such_setting"):
            disposable_postgres.start()

    def test_ends_with_the_interpreter(self) -> None:
        script = """if True:
            from tests.fix_postgres import PostgresServer
            server = PostgresServer()
            server.start()
            print(server._process.pid, server.directory)
        """
        command = [sys.executable, "-c", script]
        root = Path(__file__).parent.parent
        output = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
        pid, directory = output.stdout.split()
        assert not psutil.pid_exists(int(pid))
        assert not os.path.exists(directory)


class TestProxy:
    def test_is_transparent(self, postgres_proxy: CuttableProxy, postgres_dsn: str) -> None:
        execute(postgres_proxy.dsn(), "CREATE TABLE item (id int, text text)")
        with psycopg.connect(postgres_proxy.dsn()) as connection:
            connection.execute("INSERT INTO item VALUES (%s, %s)", (1, "x" * 10_000_000))
        assert rows(postgres_dsn) == [1]

    def test_reports_errors_of_the_server(self, postgres_proxy: CuttableProxy) -> None:
        with (
            psycopg.connect(postgres_proxy.dsn()) as connection,
            pytest.raises(psycopg.errors.DivisionByZero),
        ):
            connection.execute("SELECT 1 / 0")

    def test_cuts_all_connections_at_once(self, postgres_proxy: CuttableProxy) -> None:
        with psycopg.connect(postgres_proxy.dsn()) as first:
            with psycopg.connect(postgres_proxy.dsn()) as second:
                postgres_proxy.cut()
                with pytest.raises(psycopg.OperationalError):
                    second.execute("SELECT 1")
            with pytest.raises(psycopg.OperationalError):
                first.execute("SELECT 1")
        execute(postgres_proxy.dsn(), "SELECT 1")

    def test_cuts_a_waiting_connection(
        self, postgres_proxy: CuttableProxy, postgres_dsn: str
    ) -> None:
        lock = "SELECT pg_advisory_lock(1)"
        waiters = """
            SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
            WHERE datname = current_database() AND NOT granted
        """
        with (
            ThreadPoolExecutor() as executor,
            psycopg.connect(postgres_dsn, autocommit=True) as holder,
        ):
            holder.execute(lock)
            waiting = executor.submit(execute, postgres_proxy.dsn(), lock)
            while holder.execute(waiters).rowcount == 0:
                pass
            postgres_proxy.cut()
            with pytest.raises(psycopg.OperationalError):
                waiting.result()

    @pytest.mark.parametrize(
        ("direction", "deliver", "expected"),
        [
            pytest.param("to_server", True, [1], id="reply to the commit lost"),
            pytest.param("to_client", False, [1], id="reply to the commit withheld"),
            pytest.param("to_server", False, [], id="commit lost"),
        ],
    )
    def test_cuts_around_a_commit(
        self,
        postgres_proxy: CuttableProxy,
        postgres_dsn: str,
        direction: Direction,
        deliver: bool,
        expected: list[int],
    ) -> None:
        execute(postgres_dsn, "CREATE TABLE item (id int)")
        with psycopg.connect(postgres_proxy.dsn()) as connection:
            connection.execute("INSERT INTO item VALUES (1)")
            done = postgres_proxy.cut_after(b"COMMIT", direction, deliver)
            with pytest.raises(psycopg.OperationalError):
                connection.commit()
        assert done.is_set()
        assert rows(postgres_dsn) == expected

    def test_cuts_once(self, postgres_proxy: CuttableProxy) -> None:
        postgres_proxy.cut_after(b"SELECT 1", "to_server", deliver=True)
        with pytest.raises(psycopg.OperationalError):
            execute(postgres_proxy.dsn(), "SELECT 1")
        execute(postgres_proxy.dsn(), "SELECT 1")

    def test_closes_with_connections_open(self, postgres_dsn: str) -> None:
        with CuttableProxy(postgres_dsn) as proxy:
            connection = psycopg.connect(proxy.dsn())
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
        connection.close()

    def test_outlives_the_server(self, disposable_postgres: PostgresServer) -> None:
        with CuttableProxy(disposable_postgres.dsn()) as proxy:
            disposable_postgres.kill()
            with pytest.raises(psycopg.OperationalError):
                execute(proxy.dsn(), "SELECT 1")
            disposable_postgres.start()
            execute(proxy.dsn(), "SELECT 1")


class TestRefusedJava:
    def test_fails_only_a_test_that_starts_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        java = RefusedJava(tmp_path)
        monkeypatch.setenv("JAVA_HOME", str(java.home))
        found = find_java()  # it has a version
        java.check()
        started = subprocess.run(
            [found, "-cp", "jars"], capture_output=True, text=True, check=False
        )
        assert (started.returncode, started.stderr) == (1, "Java is refused in this test run.\n")
        with pytest.raises(pytest.fail.Exception, match="mark it `jvm`"):
            java.check()
