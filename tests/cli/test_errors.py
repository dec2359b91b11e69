"""Error messages and exit codes of commands."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from forklake.cli.output import CommandOutput
from forklake.errors import NotFound
from forklake.merging.refusals import merge_conflict
from forklake.model.merge_outcomes import DefinitionConflict, RowConflict, TableMerge
from tests.cli.conftest import CommandLine

COMMANDS = {
    "create": ["sales"],
    "fork": ["sales", "agent"],
    "drop": ["sales"],
    "rename": ["sales", "stock"],
    "materialize": ["sales"],
    "catalogs": [],
    "tree": [],
    "tables": ["sales"],
    "snapshots": ["sales"],
    "options": [],
}
BAD_NAMES = {
    "quote": "a'b",
    "double quote": 'a"b',
    "slash": "a/b",
    "backslash": "a\\b",
    "NUL": "a\x00b",
    "newline": "a\nb",
    "empty": "",
    "dots": "..",
    "space": " a",
    "10 KB": "x" * 10_240,
    "zero width": "sa\u200bles",
    "reversed": "sa\u202eles",
    "half a character": "a\udcff",
}


class TestForm:
    def test_is_an_error_and_a_hint(self, cli: CommandLine) -> None:
        cli.ok("create", "sales")
        done = cli("create", "sales")
        assert (done.code, done.out) == (4, "")
        assert done.err == "error: Catalog 'sales' already exists.\nhint: Choose another name.\n"

    def test_has_no_hint_where_there_is_no_remedy(self, cli: CommandLine, tmp_path: Path) -> None:
        change_version(tmp_path / "lake.db", "0.1")
        done = cli("catalogs")
        assert done.err.startswith("error: Unsupported DuckLake version: 0.1.")
        assert "hint:" not in done.err

    def test_is_never_broken_by_a_name(self, cli: CommandLine) -> None:
        done = cli("drop", "[red]\x1b[31m\n:smile:")
        assert done.err.splitlines()[0] == (
            r"error: Catalog '[red]\x1b[31m\n:smile:' does not exist"
        )

    def test_of_a_merge_lists_conflicts_on_lines_and_names_both_sides(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = tuple(RowConflict(number, "changed", "removed") for number in (3, 4))
        table = TableMerge("main.t", conflict_count=2, conflicts=rows)
        view = DefinitionConflict("view main.v", "its schema does not exist in the target")
        CommandOutput().error(merge_conflict("agent", "sales", [table, view]))
        assert capsys.readouterr().err.splitlines() == [
            "error: The source 'agent' cannot be merged into the target 'sales':",
            *(
                f"  row {number} of table main.t: changed in the source 'agent', removed in the"
                " target 'sales'"
                for number in (3, 4)
            ),
            "  view main.v: its schema does not exist in the target",
            "hint: Resolve the conflicts in 'agent' or 'sales', or choose a side for rows:"
            " --on-conflict ours (rows of 'sales') or --on-conflict theirs (rows of 'agent'); in"
            " SQL on_conflict => 'ours' or 'theirs'.",
        ]
        assert "on-conflict" not in merge_conflict("agent", "sales", [view]).remedy

    def test_joins_sentences(self) -> None:
        error = NotFound("Table 't' does not exist", remedy="Did you mean 'u'?")
        assert str(error) == "Table 't' does not exist. Did you mean 'u'?"
        assert str(NotFound("It is gone.", remedy="Restore it.")) == "It is gone. Restore it."
        assert str(NotFound("Table 't' does not exist")) == "Table 't' does not exist"

    def test_is_json_for_any_position_of_the_option(self, cli: CommandLine) -> None:
        before, after = cli("--json", "drop", "nothing"), cli("drop", "nothing", "--json")
        assert before == after
        assert before.err.startswith('{"error": {"code": "not_found", "message": "')


class TestWithoutMetastore:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_names_the_command_that_creates_one(
        self, nowhere: CommandLine, command: str, tmp_path: Path
    ) -> None:
        code, error = nowhere.error(command, *COMMANDS[command])
        assert (code, error["code"]) == (3, "not_found")
        assert "forklake init" in error["remedy"]
        assert not (tmp_path / "lake.db").exists()


class TestUnknownCatalog:
    @pytest.mark.parametrize(
        "command", [name for name, arguments in COMMANDS.items() if arguments and name != "create"]
    )
    def test_is_not_found(self, cli: CommandLine, command: str) -> None:
        code, error = cli.error(command, *COMMANDS[command])
        assert (code, error["message"]) == (3, "Catalog 'sales' does not exist")


class TestBadName:
    @pytest.mark.parametrize("name", BAD_NAMES.values(), ids=BAD_NAMES)
    def test_is_refused_for_new_catalogs(self, cli: CommandLine, name: str) -> None:
        cli.ok("create", "sales")
        for arguments in (["create"], ["fork", "sales"], ["rename", "sales"]):
            code, error = cli.error(*arguments, name)
            assert (code, error["code"]) == (2, "invalid_input")
            assert len(error["message"]) < 200
        assert cli.names() == ["sales"]

    @pytest.mark.parametrize("name", BAD_NAMES.values(), ids=BAD_NAMES)
    def test_finds_nothing(self, cli: CommandLine, name: str) -> None:
        for command in ("tables", "snapshots", "tree", "drop", "materialize"):
            code, error = cli.error(command, name)
            assert (code, error["code"]) in {(2, "invalid_input"), (3, "not_found")}

    def test_composed_and_decomposed_forms_are_one_name(self, cli: CommandLine) -> None:
        composed, decomposed = "caf\u00e9", "cafe\u0301"
        cli.ok("create", decomposed)
        assert cli.names() == [composed]
        code, error = cli.error("create", composed)
        assert (code, error["code"]) == (4, "already_exists")
        assert cli.document("tables", decomposed)["tables"] == []

    def test_is_refused_if_given_twice(self, cli: CommandLine) -> None:
        code, error = cli.error("create", "sales", "sales")
        assert (code, error["message"]) == (2, "The catalog name 'sales' is given twice.")


class TestBadMetastore:
    @pytest.mark.parametrize(
        ("address", "code"),
        [
            ("ducklake:", 2),
            ("ducklake:sqlite:", 2),
            ("ducklake:mysql:host=there", 2),
            ("ducklake:postgres:hots=here", 2),
        ],
    )
    def test_with_an_invalid_address_is_refused(
        self, cli: CommandLine, address: str, code: int
    ) -> None:
        found, error = cli.error("-m", address, "catalogs")
        assert found == code
        assert error["remedy"]

    @pytest.mark.parametrize("prefix", ["ducklake:", "ducklake:sqlite:"])
    def test_in_a_file_of_another_format_is_refused(
        self, cli: CommandLine, prefix: str, tmp_path: Path
    ) -> None:
        other = tmp_path / "notes.txt"
        other.write_text("Not a database, but longer than the header of one would be.\n" * 100)
        for command in ("init", "catalogs"):
            code, error = cli.error("-m", f"{prefix}{other}", command)
            assert (code, error["code"]) == (2, "invalid_input")
        assert other.read_text().startswith("Not a database")

    def test_in_a_foreign_database_is_refused(self, cli: CommandLine, tmp_path: Path) -> None:
        with closing(sqlite3.connect(tmp_path / "other.db")) as other:
            other.execute("CREATE TABLE notes (text TEXT)")
        code, error = cli.error("-m", f"ducklake:{tmp_path / 'other.db'}", "catalogs")
        assert (code, error["code"]) == (3, "not_found")

    def test_in_a_folder_is_refused(self, cli: CommandLine, tmp_path: Path) -> None:
        done = cli("-m", f"ducklake:{tmp_path}", "catalogs")
        assert done.code in {2, 9}
        assert done.err.startswith("error: ")

    def test_of_an_unsupported_version_is_refused(self, cli: CommandLine, tmp_path: Path) -> None:
        change_version(tmp_path / "lake.db", "9.9")
        for command in ("init", "catalogs"):
            code, error = cli.error(command)
            assert (code, error["code"]) == (8, "unsupported")
            assert "9.9" in error["message"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_in_a_read_only_file_is_refused(self, cli: CommandLine, tmp_path: Path) -> None:
        (tmp_path / "lake.db").chmod(0o444)
        code, error = cli.error("create", "sales")
        assert (code, error["code"]) == (6, "forbidden")

    def test_on_an_unreachable_server_is_unavailable(
        self, cli: CommandLine, tmp_path: Path
    ) -> None:
        dsn = f"host={tmp_path} user=ann password=secret dbname=lake"
        for command in ("init", "catalogs"):
            code, error = cli.error("-m", f"ducklake:postgres:{dsn}", command)
            assert (code, error["code"]) == (9, "unavailable")
            assert "secret" not in error["message"]


class TestUsage:
    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["nothing"], "No such command 'nothing'."),
            (["create"], "Missing argument 'NAME'."),
            (["catalogs", "--nothing"], "No such option: --nothing"),
            (["tables", "a", "b"], "Got unexpected extra argument"),
        ],
    )
    def test_mistakes_are_named(
        self, cli: CommandLine, arguments: list[str], complaint: str
    ) -> None:
        done = cli(*arguments)
        assert (done.code, done.out) == (2, "")
        assert complaint in done.err


def change_version(path: Path, version: str) -> None:
    """Change the version that a metastore states."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE ducklake_metadata SET value = ? WHERE key = 'version'", [version])
