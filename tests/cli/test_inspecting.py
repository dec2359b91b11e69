"""Tables and snapshots of a catalog."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from forklake import Catalog, ColumnSpec, Metastore, NewDataFile, list_of, map_of, struct
from tests.cli.conftest import CommandLine


@pytest.fixture
def sales(lake: Metastore) -> Catalog:
    """Return a catalog with a table since snapshot 2, and two files in it since snapshot 3."""
    catalog = lake.create_catalog("sales")
    with catalog.transaction(author="ann", message="begin") as transaction:
        transaction.create_table(
            "orders",
            [
                ColumnSpec("id", "bigint", nulls_allowed=False),
                ColumnSpec("lines", list_of(struct(item="varchar", price="decimal(12,2)"))),
                ColumnSpec("notes", map_of("varchar", "int")),
            ],
        )
    orders = catalog.refresh().table("orders")
    with catalog.transaction() as transaction:
        files = [NewDataFile(f"sales/main/orders/{n}.parquet", 1000, 1_500_000) for n in range(2)]
        transaction.add_data_files(orders, files)
    return catalog


class TestTables:
    @pytest.mark.usefixtures("sales")
    def test_are_listed_with_columns_rows_and_size(self, cli: CommandLine) -> None:
        done = cli.ok("tables", "sales")
        assert done.cells == [
            "main orders id int64, lines list(struct(item varchar, price decimal(12,2))),"
            " notes map(varchar, int32) 2,000 3.0 MB".split(),
            "1 table at snapshot 3.".split(),
        ]

    @pytest.mark.usefixtures("sales")
    def test_as_json(self, cli: CommandLine) -> None:
        document = cli.document("tables", "sales")
        assert (document["catalog"], document["snapshot_id"]) == ("sales", 3)
        (orders,) = document["tables"]
        assert len(orders.pop("uuid")) == 36
        lines = "list(struct(item varchar, price decimal(12,2)))"
        assert orders == {
            "schema": "main",
            "table": "orders",
            "table_id": 2,
            "columns": [
                {"name": "id", "column_id": 1, "type": "int64", "nulls_allowed": False},
                {"name": "lines", "column_id": 2, "type": lines, "nulls_allowed": True},
                {
                    "name": "notes",
                    "column_id": 6,
                    "type": "map(varchar, int32)",
                    "nulls_allowed": True,
                },
            ],
            "rows": 2000,
            "size_bytes": 3_000_000,
        }

    def test_are_sorted_by_schema_and_name(self, cli: CommandLine, sales: Catalog) -> None:
        with sales.transaction() as transaction:
            transaction.create_schema("archive")
            for name, schema in (("zeta", "archive"), ("Alpha", "main"), ("beta", "archive")):
                transaction.create_table(name, [ColumnSpec("id", "int")], schema=schema)
        found = cli.document("tables", "sales")["tables"]
        assert [f"{one['schema']}.{one['table']}" for one in found] == [
            "archive.beta",
            "archive.zeta",
            "main.Alpha",
            "main.orders",
        ]

    @pytest.mark.usefixtures("sales")
    @pytest.mark.parametrize(("version", "rows"), [("1", []), ("2", [0]), ("3", [2000])])
    def test_at_a_version(self, cli: CommandLine, version: str, rows: list[int]) -> None:
        document = cli.document("tables", "sales", "--version", version)
        assert document["snapshot_id"] == int(version)
        assert [one["rows"] for one in document["tables"]] == rows

    def test_at_a_timestamp(self, cli: CommandLine, sales: Catalog) -> None:
        moment = sales.snapshots()[1].snapshot_time
        zoned = moment.isoformat()
        bare = moment.replace(tzinfo=None).isoformat()
        for text in (zoned, bare):
            assert cli.document("tables", "sales", "--timestamp", text)["snapshot_id"] == 2

    def test_before_the_first_snapshot(self, cli: CommandLine, sales: Catalog) -> None:
        early = sales.snapshots()[0].snapshot_time - timedelta(microseconds=1)
        code, error = cli.error("tables", "sales", "--timestamp", early.isoformat())
        assert (code, error["remedy"]) == (
            3,
            "Choose a later time: the catalog is younger, or its snapshot has expired.",
        )

    @pytest.mark.usefixtures("sales")
    @pytest.mark.parametrize("version", ["4", "0", "-7", "9" * 30])
    def test_at_a_missing_version(self, cli: CommandLine, version: str) -> None:
        code, error = cli.error("tables", "sales", "--version", version)
        assert (code, error["message"]) == (3, f"No snapshot found at version {version}.")

    @pytest.mark.usefixtures("sales")
    @pytest.mark.parametrize("text", ["yesterday", "", "2026-13-01", "0001-01-01T00:00+14:00"])
    def test_at_an_invalid_timestamp(self, cli: CommandLine, text: str) -> None:
        code, error = cli.error("tables", "sales", "--timestamp", text)
        assert (code, error["code"]) == (2, "invalid_input")

    @pytest.mark.usefixtures("sales")
    def test_at_version_and_timestamp_is_refused(self, cli: CommandLine) -> None:
        code, error = cli.error("tables", "sales", "--version", "1", "--timestamp", "2026-01-01")
        assert (code, error["remedy"]) == (2, "Pass either --version or --timestamp.")

    def test_of_an_empty_catalog(self, cli: CommandLine) -> None:
        cli.ok("create", "empty")
        assert cli.ok("tables", "empty").lines == ["0 tables at snapshot 1."]

    def test_of_an_unknown_catalog(self, cli: CommandLine) -> None:
        code, error = cli.error("tables", "nothing")
        assert (code, error["message"]) == (3, "Catalog 'nothing' does not exist")


class TestSnapshots:
    @pytest.mark.usefixtures("sales")
    def test_are_listed_newest_last(self, cli: CommandLine) -> None:
        numbers, *_ = zip(*cli.ok("snapshots", "sales").cells, strict=False)
        assert numbers == ("1", "2", "3")

    @pytest.mark.usefixtures("sales")
    def test_are_listed_with_changes_author_and_message(self, cli: CommandLine) -> None:
        second = cli.ok("snapshots", "sales").cells[1]
        assert second[3:] == ['created_table:"main"."orders"', "ann", "begin"]

    def test_as_json(self, cli: CommandLine, sales: Catalog) -> None:
        document = cli.document("snapshots", "sales", "--limit", "2")
        moment = sales.snapshots()[1].snapshot_time
        assert document["catalog"] == "sales"
        assert [one["snapshot_id"] for one in document["snapshots"]] == [2, 3]
        first = document["snapshots"][0]
        assert first["time"].endswith("Z")
        assert datetime.fromisoformat(first.pop("time")) == moment
        assert first == {
            "snapshot_id": 2,
            "schema_version": 1,
            "catalog_id": 0,
            "changes": ['created_table:"main"."orders"'],
            "author": "ann",
            "message": "begin",
            "extra_info": None,
        }

    @pytest.mark.usefixtures("sales")
    def test_of_a_fork_begin_with_those_of_its_parent(self, cli: CommandLine) -> None:
        cli.ok("fork", "sales", "agent", "--at", "2")
        document = cli.document("snapshots", "agent")
        assert [one["snapshot_id"] for one in document["snapshots"]] == [1, 2, 4]
        assert [one["catalog_id"] for one in document["snapshots"]] == [0, 0, 3]

    def test_are_printed_without_control_characters(self, cli: CommandLine, sales: Catalog) -> None:
        with sales.transaction(message="\x1b[31mred\n\u202eesrever") as transaction:
            transaction.create_schema("other")
        last = cli.ok("snapshots", "sales").lines[-1]
        assert last.endswith(r"\x1b[31mred\n\u202eesrever")

    def test_of_an_unknown_catalog(self, cli: CommandLine) -> None:
        code, error = cli.error("snapshots", "nothing")
        assert (code, error["code"]) == (3, "not_found")
