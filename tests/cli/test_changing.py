"""Dropping, renaming and materializing catalogs."""

from __future__ import annotations

import pytest

from tests.cli.conftest import CommandLine


@pytest.fixture(autouse=True)
def forks(cli: CommandLine) -> None:
    cli.ok("create", "sales")
    cli.ok("fork", "sales", "agent", "--count", "3")


class TestDrop:
    def test_by_name(self, cli: CommandLine) -> None:
        done = cli.ok("drop", "agent-000001", "agent-000003")
        assert done.lines == ["Dropped 2 catalogs."]
        assert cli.names() == ["agent-000002", "sales"]

    def test_as_json(self, cli: CommandLine) -> None:
        assert cli.document("drop", "agent-000001") == {"dropped": 1}

    def test_leaves_forks_of_what_it_drops(self, cli: CommandLine) -> None:
        cli.ok("drop", "sales")
        assert cli.names() == ["agent-000001", "agent-000002", "agent-000003"]

    def test_is_all_or_nothing(self, cli: CommandLine) -> None:
        code, error = cli.error("drop", "agent-000001", "nothing")
        assert (code, error["message"]) == (3, "Catalog 'nothing' does not exist")
        assert len(cli.names()) == 4

    def test_skips_missing_catalogs_with_the_option(self, cli: CommandLine) -> None:
        done = cli.ok("drop", "agent-000001", "nothing", "--if-exists")
        assert done.lines == ["Dropped 1 catalog."]

    def test_by_prefix(self, cli: CommandLine) -> None:
        assert cli.document("drop", "--prefix", "agent-", "--yes") == {"dropped": 3}
        assert cli.names() == ["sales"]

    def test_of_an_unused_prefix_asks_nothing(self, cli: CommandLine) -> None:
        assert cli.ok("drop", "--prefix", "zzz").lines == ["Dropped 0 catalogs."]

    def test_by_prefix_needs_a_terminal_or_yes(self, cli: CommandLine) -> None:
        assert cli.error("drop", "--prefix", "agent-") == (
            2,
            {
                "code": "invalid_input",
                "message": "This needs confirmation at a terminal:"
                " Drop 3 catalogs whose names begin with 'agent-'?",
                "remedy": "Add --yes to drop them without confirmation.",
            },
        )
        assert len(cli.names()) == 4

    @pytest.mark.parametrize(
        "arguments",
        [
            pytest.param([], id="nothing"),
            pytest.param(["--prefix", ""], id="everything"),
            pytest.param(["sales", "--prefix", "agent-"], id="names and a prefix"),
        ],
    )
    def test_needs_names_or_a_prefix(self, cli: CommandLine, arguments: list[str]) -> None:
        code, error = cli.error("drop", "--yes", *arguments)
        assert (code, error["remedy"]) == (
            2,
            "Pass names of catalogs, or --prefix TEXT, but not both.",
        )
        assert len(cli.names()) == 4


class TestRename:
    def test_reports_the_new_name(self, cli: CommandLine) -> None:
        done = cli.ok("rename", "agent-000002", "winner")
        assert done.lines == ["Renamed agent-000002 to winner."]
        assert cli.names() == ["agent-000001", "agent-000003", "sales", "winner"]

    def test_keeps_the_catalog(self, cli: CommandLine) -> None:
        renamed = cli.document("rename", "agent-000002", "winner")["catalog"]
        assert (renamed["name"], renamed["catalog_id"]) == ("winner", 3)
        assert renamed["path"] == "agent-000002/"

    def test_refuses_a_taken_name(self, cli: CommandLine) -> None:
        code, error = cli.error("rename", "agent-000002", "sales")
        assert (code, error["code"]) == (4, "already_exists")

    def test_refuses_an_unknown_catalog(self, cli: CommandLine) -> None:
        code, error = cli.error("rename", "nothing", "something")
        assert (code, error["code"]) == (3, "not_found")


class TestMaterialize:
    def test_reports_the_snapshot(self, cli: CommandLine) -> None:
        assert cli.ok("materialize", "agent-000001").lines == [
            "Materialized agent-000001 in snapshot 3."
        ]

    def test_repeated_changes_nothing(self, cli: CommandLine) -> None:
        done = {"name": "agent-000001", "materialized": True, "snapshot_id": 3}
        assert cli.document("materialize", "agent-000001") == done
        again = {"name": "agent-000001", "materialized": False, "snapshot_id": None}
        assert cli.document("materialize", "agent-000001") == again

    def test_of_an_independent_catalog_reports_nothing_to_do(self, cli: CommandLine) -> None:
        assert cli.ok("materialize", "sales").lines == [
            "sales inherits no rows: nothing was materialized."
        ]

    def test_refuses_an_unknown_catalog(self, cli: CommandLine) -> None:
        code, error = cli.error("materialize", "nothing")
        assert (code, error["code"]) == (3, "not_found")


def test_the_expiry_of_a_catalog_can_be_set_and_extended(cli: CommandLine) -> None:
    cli.ok("fork", "sales", "brief", "--ttl", "2h")
    cli.ok("create", "passing", "--ttl", "0.001s")
    prolonged = cli.document("extend", "brief", "--ttl", "7 days")
    assert prolonged["name"] == "brief"
    assert prolonged["expires_at"]
    assert cli.ok("extend", "brief").lines == ["brief never expires."]
    assert cli("fork", "sales", "other", "--ttl", "soon").code == 2
    first = cli.document("maintain")["steps"][0]
    assert (first["operation"], first["count"]) == ("drop_expired", 1)
    assert "passing" not in cli.names()
