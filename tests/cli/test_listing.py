"""Lists of catalogs, in pages and as a tree."""

from __future__ import annotations

import pytest

from forklake import Metastore
from tests.cli.conftest import CommandLine


class TestCatalogs:
    def test_of_an_empty_metastore(self, cli: CommandLine) -> None:
        assert cli.ok("catalogs").lines == ["0 catalogs."]
        assert cli.document("catalogs") == {"catalogs": [], "total": 0, "next_after": None}

    def test_name_the_parent_on_the_page(self, cli: CommandLine) -> None:
        cli.ok("create", "sales")
        cli.ok("fork", "sales", "agent", "zebra")
        assert cli.ok("catalogs").cells == [
            ["agent", "2", "sales", "1"],
            ["sales", "0"],
            ["zebra", "3", "sales", "1"],
            ["3", "catalogs."],
        ]

    def test_name_a_parent_on_another_page(self, cli: CommandLine) -> None:
        cli.ok("create", "sales")
        cli.ok("fork", "sales", "agent")
        first, *_ = cli.ok("catalogs", "--limit", "1").cells
        assert first == ["agent", "2", "sales", "1"]
        cli.ok("drop", "sales")
        first, *_ = cli.ok("catalogs", "--limit", "1").cells
        assert first == ["agent", "2", "id", "0", "1"]

    def test_are_listed_in_pages(self, cli: CommandLine) -> None:
        cli.ok("create", "a", "b", "c", "d", "e")
        seen: list[str] = []
        after = ""
        while after is not None:
            page = cli.document("catalogs", "--limit", "2", "--after", after)
            seen += [one["name"] for one in page["catalogs"]]
            assert page["total"] == 5
            after = page["next_after"]
        assert seen == ["a", "b", "c", "d", "e"]

    def test_name_the_command_for_the_next_page(self, cli: CommandLine) -> None:
        cli.ok("create", "my one", "my other", "my third", "yours")
        done = cli.ok("catalogs", "--prefix", "my ", "--limit", "2")
        assert done.lines[-2:] == [
            "2 of 4 catalogs.",
            "More: forklake catalogs --prefix 'my ' --after 'my other'",
        ]
        done = cli.ok("catalogs", "--prefix", "my ", "--after", "my other", "--limit", "1")
        assert done.lines[-1] == "1 of 4 catalogs."

    @pytest.mark.parametrize("limit", ["0", "-1", "100001", "ten"])
    def test_are_not_listed_with_an_invalid_limit(self, cli: CommandLine, limit: str) -> None:
        done = cli("catalogs", "--limit", limit)
        assert (done.code, done.out) == (2, "")
        assert "--limit" in done.err


class TestTree:
    def test_of_an_empty_metastore(self, cli: CommandLine) -> None:
        assert cli.ok("tree").lines == ["No catalogs."]
        assert cli.document("tree") == {"catalogs": [], "hidden_roots": 0}

    @pytest.fixture
    def family(self, cli: CommandLine) -> None:
        cli.ok("create", "sales", "stock")
        cli.ok("fork", "sales", "agent", "--count", "4")
        cli.ok("fork", "agent-000002", "deep")

    @pytest.mark.usefixtures("family")
    def test_is_drawn(self, cli: CommandLine) -> None:
        assert cli.ok("tree").lines == [
            "sales",
            "├── agent-000001  at snapshot 1",
            "├── agent-000002  at snapshot 1",
            "│   └── deep  at snapshot 2",
            "├── agent-000003  at snapshot 1",
            "└── agent-000004  at snapshot 1",
            "stock",
        ]

    @pytest.mark.usefixtures("family")
    def test_folds_many_forks(self, cli: CommandLine) -> None:
        assert cli.ok("tree", "sales", "--limit", "2").lines == [
            "sales",
            "├── agent-000001  at snapshot 1",
            "├── agent-000002  at snapshot 1",
            "│   └── deep  at snapshot 2",
            "└── … and 2 more",
        ]

    @pytest.mark.usefixtures("family")
    def test_folds_many_roots(self, cli: CommandLine) -> None:
        done = cli.ok("tree", "--limit", "1", "--depth", "0")
        assert done.lines == ["sales", "└── … 4 forks", "… and 1 more"]

    @pytest.mark.usefixtures("family")
    def test_is_limited_in_depth(self, cli: CommandLine) -> None:
        assert cli.ok("tree", "sales", "--depth", "1").lines[2:4] == [
            "├── agent-000002  at snapshot 1",
            "│   └── … 1 fork",
        ]

    @pytest.mark.usefixtures("family")
    def test_of_one_catalog(self, cli: CommandLine) -> None:
        assert cli.ok("tree", "agent-000002").lines == [
            "agent-000002  at snapshot 1",
            "└── deep  at snapshot 2",
        ]

    @pytest.mark.usefixtures("family")
    def test_as_json(self, cli: CommandLine) -> None:
        tree = cli.document("tree", "agent-000002")
        top = {
            "depth": 0,
            "name": "agent-000002",
            "catalog_id": 5,
            "parent_catalog_id": 0,
            "fork_snapshot": 1,
            "forks": 1,
            "hidden_forks": 0,
        }
        leaf = {
            "depth": 1,
            "name": "deep",
            "catalog_id": 8,
            "parent_catalog_id": 5,
            "fork_snapshot": 2,
            "forks": 0,
            "hidden_forks": 0,
        }
        assert tree == {"catalogs": [top, leaf], "hidden_roots": 0}

    @pytest.mark.usefixtures("family")
    def test_shows_the_dropped_parent_of_a_fork(self, cli: CommandLine) -> None:
        cli.ok("drop", "agent-000002", "stock")
        assert cli.ok("tree", "--limit", "3").lines[-2:] == [
            "(dropped, id 5)",
            "└── deep  at snapshot 2",
        ]

    @pytest.mark.usefixtures("family")
    def test_keeps_materialized_forks(self, cli: CommandLine) -> None:
        cli.ok("materialize", "deep")
        assert "└── deep  at snapshot 2" in cli.ok("tree", "agent-000002").lines

    def test_can_be_very_deep(self, cli: CommandLine, lake: Metastore) -> None:
        lake.create_catalog("g0")
        for generation in range(1, 101):
            lake.fork(f"g{generation - 1}", f"g{generation}")
        assert len(cli.document("tree", "--depth", "1000")["catalogs"]) == 101
        assert cli.ok("tree", "--depth", "1000").lines[-1].endswith("g100  at snapshot 100")

    def test_refuses_an_unknown_catalog(self, cli: CommandLine) -> None:
        code, error = cli.error("tree", "nothing")
        assert (code, error["code"]) == (3, "not_found")
