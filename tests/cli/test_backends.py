"""The same commands on every kind of metastore."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.fix_metastore import mysql_database


@pytest.fixture(params=["duckdb", "postgresql", "mysql"])
def backend(request: pytest.FixtureRequest) -> str:
    """Return each backend but the default in turn."""
    return str(request.param)


@pytest.fixture
def anywhere(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CommandLine]:
    """Yield the command line where no metastore exists yet."""
    match backend:
        case "duckdb":
            yield CommandLine(f"ducklake:duckdb:{tmp_path / 'lake.duckdb'}")
        case "postgresql":
            yield CommandLine(f"ducklake:postgres:{request.getfixturevalue('postgres_dsn')}")
        case _:
            with mysql_database(request.getfixturevalue("mysql_address")) as place:
                yield CommandLine(place.uri)


def test_catalogs_are_created_forked_and_dropped(anywhere: CommandLine) -> None:
    cli = anywhere
    assert cli.error("catalogs")[1]["code"] == "not_found"
    assert cli.document("init")["created"] is True
    assert cli.document("init")["created"] is False
    cli.ok("create", "sales", "--data-path", "/data")
    cli.ok("fork", "sales", "agent", "--count", "50")
    cli.ok("fork", "agent-000007", "deep", "--at", "2")
    assert cli.document("catalogs", "--limit", "5")["total"] == 52
    assert cli.document("snapshots", "deep")["snapshots"][-1]["changes"] == ["forked_from:8"]
    assert cli.document("tables", "deep", "--version", "1")["tables"] == []
    assert cli.document("materialize", "deep")["materialized"] is True
    cli.ok("options", "deep", "--set", "target_file_size=1MB")
    cli.ok("rename", "deep", "deeper")
    assert cli.error("create", "deeper")[0] == 4
    assert cli.document("drop", "--prefix", "agent-", "--yes") == {"dropped": 50}
    assert cli.ok("tree").lines == [
        "sales",
        "(dropped, id 8)",
        "└── deeper  at snapshot 2",
    ]


def test_metadata_schemas_are_separate_metastores(anywhere: CommandLine) -> None:
    for schema in ("first", "second"):
        anywhere.ok("init", "--metadata-schema", schema)
        anywhere.ok("create", schema, "--metadata-schema", schema)
    found = anywhere.document("catalogs", "--metadata-schema", "second")
    assert [one["name"] for one in found["catalogs"]] == ["second"]
