"""The `sql` command. Only statements over rows of tables need Spark."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from forklake.cli.sql import _parse_parameters
from tests.cli.conftest import CommandLine, Outcome
from tests.cli.test_process import start


class Sql:
    """Runs statements on the catalog `lake`."""

    def __init__(self, cli: CommandLine) -> None:
        self._cli = cli
        self.uri = cli.uri

    def __call__(self, *arguments: str) -> Outcome:
        return self._cli("sql", "-c", "lake", *arguments)

    def ok(self, *arguments: str) -> str:
        done = self(*arguments)
        assert (done.code, done.err) == (0, "")
        return done.out

    def rows(self, *arguments: str) -> list[dict[str, object]]:
        found: list[dict[str, object]] = json.loads(self.ok("--json", *arguments))
        return found


@pytest.fixture
def sql(nowhere: CommandLine, tmp_path: Path) -> Sql:
    """Return statements on a catalog with one table of two inlined rows."""
    found = Sql(nowhere)
    found.ok("--create", "--data-path", str(tmp_path / "data"), "CREATE TABLE t (x INTEGER)")
    found.ok("CALL lake.set_option('data_inlining_row_limit', 100)")
    found.ok("INSERT INTO t VALUES (1), (2)")
    return found


class TestStatements:
    def test_run_one_after_the_other(self, sql: Sql) -> None:
        stated = sql.ok("CREATE TABLE a (x INTEGER); DROP TABLE t", "CREATE TABLE b (x INTEGER)")
        assert stated.splitlines() == ["CREATE TABLE", "DROP TABLE", "CREATE TABLE"]

    def test_may_attach_catalogs(self, sql: Sql, nowhere: CommandLine) -> None:
        text = (
            f"ATTACH '{sql.uri}' AS other (CATALOG 'lake'); CREATE TABLE other.main.u (x INTEGER)"
        )
        nowhere.ok("sql", text)
        assert {"name": "u"} in sql.rows("SHOW TABLES")

    def test_are_read_from_files(self, sql: Sql, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / f"{name}.sql").write_text(
                f"-- caf\u00e9\nCREATE TABLE {name} (x INTEGER);\n"
            )
        files = [f"-f{tmp_path / name}.sql" for name in ("a", "b")]
        assert sql.ok(*files).splitlines() == ["CREATE TABLE"] * 2

    def test_are_read_from_a_pipe(self, sql: Sql) -> None:
        with start("-m", sql.uri, "sql", "-c", "lake", stdin=subprocess.PIPE) as piped:
            out, err = piped.communicate("CREATE TABLE a (x INTEGER);\nDROP TABLE t;", timeout=60)
        assert (out, err) == ("CREATE TABLE\nDROP TABLE\n", "")

    def test_have_exactly_one_source(self, sql: Sql, tmp_path: Path) -> None:
        done = sql("SHOW TABLES", "-f", str(tmp_path / "a.sql"))
        assert done.code == 2
        assert done.err.startswith("error: Both statements and files are given")

    @pytest.mark.parametrize("text", ["", ";", "/* nothing */"])
    def test_may_be_empty(self, sql: Sql, text: str) -> None:
        assert sql.ok(text) == ""


class TestForms:
    def test_of_rows(self, sql: Sql) -> None:
        text = "SHOW TABLES"
        assert sql.rows(text) == [{"name": "t"}]
        assert sql.ok("--csv", text) == "name\nt\n"
        assert [line.strip() for line in sql.ok(text).splitlines()][::2] == ["name", "t"]

    def test_of_several_results(self, sql: Sql) -> None:
        text = "USE lake; SHOW TABLES; CREATE TABLE u (x INTEGER); SHOW TABLES"
        decoder = json.JSONDecoder()
        stated = sql.ok("--json", text)
        first, end = decoder.raw_decode(stated)
        second, _ = decoder.raw_decode(stated[end:].lstrip())
        assert (len(first), len(second)) == (1, 2)

    def test_of_changes(self, sql: Sql) -> None:
        assert sql.rows("INSERT INTO t VALUES (3)") == [{"Count": 1}]
        assert sql.ok("INSERT INTO t VALUES (4)").strip() == "INSERT · 1 row"

    def test_are_limited(self, sql: Sql) -> None:
        sql.ok("CREATE TABLE u (x INTEGER); CREATE TABLE v (x INTEGER)")
        assert sql.rows("SHOW TABLES", "--limit", "2") == [{"name": "t"}, {"name": "u"}]
        assert (
            sql.ok("SHOW TABLES", "--limit", "1").splitlines()[-1]
            == "1 row shown of 3 (a higher limit shows more)"
        )

    def test_exclude_each_other(self, sql: Sql) -> None:
        assert sql("--json", "--csv", "SHOW TABLES").code == 2


class TestParameters:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ([], None),
            (
                ["1", "1.5", "true", "null", '"1"', "text", "a b=c"],
                [1, 1.5, True, None, "1", "text", "a b=c"],
            ),
            (["a=1", "b=x=y"], {"a": 1, "b": "x=y"}),
            (["a=1", "2"], ["a=1", 2]),
        ],
    )
    def test_are_json_or_text(self, given: list[str], expected: object) -> None:
        assert _parse_parameters(given) == expected

    def test_stand_for_question_marks(self, sql: Sql) -> None:
        assert sql.rows("INSERT INTO t VALUES (?), (?)", "-p", "7", "-p", "8") == [{"Count": 2}]

    def test_stand_for_names(self, sql: Sql) -> None:
        assert sql.rows("INSERT INTO t VALUES ($one)", "-p", "one=7") == [{"Count": 1}]

    def test_must_match_the_statement(self, sql: Sql) -> None:
        assert sql("INSERT INTO t VALUES (?)").code == 2


class TestErrors:
    def test_stop_a_script_and_name_the_statement(self, sql: Sql, tmp_path: Path) -> None:
        script = tmp_path / "bad.sql"
        script.write_text("CREATE TABLE a (x INTEGER);\n\nDROP TABLE b;\nDROP TABLE a;")
        done = sql("-f", str(script))
        assert (done.code, done.out) == (3, "CREATE TABLE\n")
        assert f"at: statement 2, line 3 of {script}\n" in done.err
        assert {"name": "a"} in sql.rows("SHOW TABLES")

    def test_of_syntax_are_found_before_anything_runs(self, sql: Sql) -> None:
        done = sql("CREATE TABLE a (x INTEGER);\nCREATE TABEL b (x INTEGER)")
        assert (done.code, done.out) == (2, "")
        assert "at: statement 2, line 2\n" in done.err
        assert sql.rows("SHOW TABLES") == [{"name": "t"}]

    def test_are_json_with_the_option(self, sql: Sql) -> None:
        done = sql("--json", "DROP TABLE a; DROP TABLE b")
        error = json.loads(done.err)["error"]
        assert (error["code"], error["statement"], error["line"]) == ("not_found", 1, 1)

    def test_of_the_metastore_come_first(self, nowhere: CommandLine) -> None:
        assert nowhere("sql", "-c", "lake", "SHOW TABLES").code == 3
        assert nowhere("sql", "-f", "nowhere.sql").code == 3

    def test_of_bytes_that_are_not_text(self, sql: Sql, tmp_path: Path) -> None:
        (tmp_path / "x.sql").write_bytes(b"SELECT '\xff'")
        assert sql("-f", str(tmp_path / "x.sql")).code == 2


def test_ctrl_c_twice_ends_a_statement_that_cannot_be_cancelled(sql: Sql, tmp_path: Path) -> None:
    line = tmp_path / "lake.db-line"
    with line.open("a") as ahead:
        fcntl.flock(ahead, fcntl.LOCK_EX)
        with start("-m", sql.uri, "sql", "-c", "lake", "CREATE TABLE a (x INTEGER)") as waiting:
            process = psutil.Process(waiting.pid)
            while str(line) not in [file.path for file in process.open_files()]:
                assert waiting.poll() is None
            while waiting.poll() is None:
                waiting.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    waiting.wait(0.5)
            assert waiting.communicate(timeout=60) == ("", "")
    assert waiting.returncode == 130
    assert sql.rows("SHOW TABLES") == [{"name": "t"}]


def test_rows_are_computed_by_spark(sql: Sql, engine: object) -> None:
    assert sql.rows("SELECT x, x + 1 AS y FROM t ORDER BY x") == [
        {"x": 1, "y": 2},
        {"x": 2, "y": 3},
    ]
    many = sql.ok("SELECT range AS n FROM range(20000) ORDER BY n").splitlines()
    assert (many[-2].strip(), many[-1]) == (
        "99",
        "100 rows shown of more than 10,000 (a higher limit shows more)",
    )
    assert len(sql.ok("--csv", "SELECT * FROM range(20000)").splitlines()) == 20_001
    assert sql.rows("SELECT id FROM range(3)", "--dialect", "spark", "--limit", "2") == [
        {"id": 0},
        {"id": 1},
    ]
    assert sql.rows("SELECT x FROM t WHERE x = ?", "-p", "2") == [{"x": 2}]
    assert sql("SELECT nothing FROM t").code == 3
