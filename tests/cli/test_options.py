"""Listing and setting options."""

from __future__ import annotations

import pytest

from forklake import ColumnSpec, Metastore
from tests.cli.conftest import CommandLine


@pytest.fixture(autouse=True)
def sales(cli: CommandLine, lake: Metastore) -> None:
    cli.ok("create", "sales")
    with lake.catalog("sales").transaction() as transaction:
        transaction.create_table("orders", [ColumnSpec("id", "bigint")])


def in_force(cli: CommandLine, option: str, *arguments: str) -> tuple[str | None, str]:
    """Return the value of an option, and the scope that it is set for."""
    found = {one["name"]: one for one in cli.document("options", *arguments)["options"]}
    return found[option]["value"], found[option]["set_for"]


def test_options_have_defaults(cli: CommandLine) -> None:
    assert in_force(cli, "parquet_compression") == ("snappy", "default")
    assert in_force(cli, "parquet_compression", "sales") == ("snappy", "default")


def test_options_are_listed_as_json(cli: CommandLine) -> None:
    document = cli.document("options", "sales", "--table", "orders")
    options = document.pop("options")
    assert document == {"catalog": "sales", "schema": None, "table": "orders"}
    assert options[0] == {
        "name": "data_inlining_row_limit",
        "value": "0",
        "set_for": "default",
        "is_default": True,
    }


def test_options_are_listed_as_a_table(cli: CommandLine) -> None:
    done = cli.ok("options", "sales", "--set", "target_file_size=1MB")
    row = "target_file_size 1000000 catalog Target size of data files"
    assert row.split() in done.cells


def test_options_can_be_set_for_all_catalogs(cli: CommandLine) -> None:
    cli.ok("options", "--set", "parquet_compression=zstd")
    assert in_force(cli, "parquet_compression") == ("zstd", "global")
    assert in_force(cli, "parquet_compression", "sales") == ("zstd", "global")


def test_options_are_overridden_by_narrower_scopes(cli: CommandLine) -> None:
    of_table = ("sales", "--table", "orders")
    of_schema = ("sales", "--schema", "main")
    for codec, place in (("zstd", ("sales",)), ("gzip", of_schema), ("brotli", of_table)):
        cli.ok("options", *place, "--set", f"parquet_compression={codec}")
    assert in_force(cli, "parquet_compression") == ("snappy", "default")
    assert in_force(cli, "parquet_compression", "sales") == ("zstd", "catalog")
    assert in_force(cli, "parquet_compression", *of_schema) == ("gzip", "schema")
    assert in_force(cli, "parquet_compression", *of_table) == ("brotli", "table")


def test_several_options_are_set_together(cli: CommandLine) -> None:
    before = len(cli.document("snapshots", "sales")["snapshots"])
    cli.ok("options", "sales", "--set", "auto_compact=false", "--set", "parquet_version=1")
    assert in_force(cli, "auto_compact", "sales") == ("false", "catalog")
    assert in_force(cli, "parquet_version", "sales") == ("1", "catalog")
    assert len(cli.document("snapshots", "sales")["snapshots"]) == before + 1


def test_several_options_are_set_all_or_none(cli: CommandLine) -> None:
    cli.error("options", "sales", "--set", "auto_compact=false", "--set", "parquet_version=7")
    assert in_force(cli, "auto_compact", "sales") == ("true", "default")


@pytest.mark.parametrize("place", [[], ["sales"]])
def test_options_are_removed(cli: CommandLine, place: list[str]) -> None:
    cli.ok("options", *place, "--set", "auto_compact=false")
    cli.ok("options", *place, "--unset", "auto_compact")
    assert in_force(cli, "auto_compact", *place) == ("true", "default")


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["--set", "auto_compact"], "Write --set NAME=VALUE, or --unset NAME to remove a value."),
        (["--set", "auto_compact=maybe"], "Use true or false."),
        (["--set", "target_file_size="], "Use a size such as 512MB or 128MiB."),
        (["--table", "orders"], "Pass the name of the catalog as the argument."),
        (
            ["sales", "--table", "orders", "--set", "encrypted=true"],
            "It can be set for: catalog, global.",
        ),
    ],
)
def test_invalid_options_are_refused(cli: CommandLine, arguments: list[str], remedy: str) -> None:
    code, error = cli.error("options", *arguments)
    assert (code, error["remedy"]) == (2, remedy)


def test_unknown_options_are_refused(cli: CommandLine) -> None:
    code, error = cli.error("options", "--set", "color=red")
    assert (code, error["message"]) == (2, "The option 'color' does not exist.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "Catalog 'nothing' does not exist"),
        (["sales", "--schema", "nothing"], "Schema 'nothing' does not exist."),
        (["sales", "--table", "nothing"], "Table 'main.nothing' does not exist."),
    ],
)
def test_options_need_an_existing_scope(
    cli: CommandLine, arguments: list[str], message: str
) -> None:
    code, error = cli.error("options", *arguments)
    assert (code, error["message"]) == (3, message)
