"""A lake for the pages: catalogs with forks, deletes, views, partitions, a Delta table, odd names.

It has only metadata, because pages read no data files.
"""

from __future__ import annotations

import random

from forklake import (
    Catalog,
    ColumnBounds,
    ColumnSpec,
    Metastore,
    NewDataFile,
    NewDeleteFile,
    list_of,
    struct,
)
from forklake.model.changes import ChangeKind
from forklake.model.delta_tables import FaceMode
from forklake.model.entities import Table

ODD = "<script>alert(1)"
ODD_NAMES = (ODD, "Größe ü", "数据湖", "a&b=c#d?e%2F", "{{ 7*7 }}")
REGIONS = ("north", "south", "east", "west")


def fill(metastore: Metastore, root: str, *, odd: bool = True) -> None:
    """Create the lake: `sales`, its forks and their forks, and catalogs with odd names."""
    sales = metastore.create_catalog("sales", data_path=root)
    dice = random.Random(7)
    _define(sales)
    _grow(sales, dice, commits=24)
    _tidy(sales, dice)
    metastore.fork_many("sales", [f"agent-{number:02}" for number in range(1, 9)])
    metastore.fork("agent-03", "agent-03-retry")
    metastore.fork("agent-03-retry", "agent-03-retry-2")
    metastore.fork("sales", "last-week", at=sales.snapshots()[8].snapshot_id)
    _work(metastore.catalog("agent-03"), dice)
    metastore.create_catalog("empty", data_path=root)
    if odd:
        _oddities(metastore, root)


def _define(sales: Catalog) -> None:
    with sales.transaction(author="mira", message="the first tables") as change:
        change.create_table(
            "orders",
            [
                ColumnSpec("order_id", "int64", nulls_allowed=False),
                ColumnSpec("customer", "varchar", comment="as it stands on the invoice"),
                ColumnSpec("region", "varchar"),
                ColumnSpec("placed", "timestamptz"),
                ColumnSpec("total", "decimal(12,2)", default="0"),
                ColumnSpec("lines", list_of(struct(item="varchar", count="int32"))),
            ],
            partition_by=[("region", "identity")],
            comment="One row for each order",
        )
        change.create_table(
            "customers", [ColumnSpec("name", "varchar"), ColumnSpec("since", "date")]
        )
        change.create_schema("reports")
        change.create_view(
            "by_region", "SELECT region, sum(total) FROM orders GROUP BY region", schema="reports"
        )
        change.create_table(
            "monthly",
            [ColumnSpec("month", "date"), ColumnSpec("total", "float64")],
            schema="reports",
        )


def _grow(sales: Catalog, dice: random.Random, commits: int) -> None:
    partition = sales.now().state.partitioning(sales.now().state.table("orders"))[0].partition_id
    for number in range(commits):
        with sales.transaction(author=dice.choice(("mira", "loader"))) as change:
            orders = change.table("orders")
            region = REGIONS[number % len(REGIONS)]
            change.add_data_files(
                orders,
                [
                    NewDataFile(
                        f"sales/main/orders/region={region}/part-{number:03}.parquet",
                        dice.randrange(4_000, 40_000),
                        int(dice.lognormvariate(15, 1.2)),
                        partition_id=partition,
                        partition_values=(region,),
                        bounds=_bounds(sales, orders, number),
                    )
                ],
            )
    with sales.transaction(message="customers of the old shop") as change:
        path = "sales/main/customers/old.parquet"
        change.add_data_files(change.table("customers"), [NewDataFile(path, 1_250, 48_000)])
    with sales.transaction(message="publish customers") as change:
        change.add_face(change.table("customers"), "c0ffee", "lake/customers", FaceMode.OWN)


def _bounds(sales: Catalog, table: Table, number: int) -> tuple[ColumnBounds, ...]:
    first = sales.now().state.columns(table)[0].column_id
    low = str(1_000 * number)
    return (ColumnBounds(first, 100, 1000, 0, low, str(1_000 * number + 999)),)


def _tidy(sales: Catalog, dice: random.Random) -> None:
    seen = sales.now()
    orders = seen.state.table("orders")
    first, second, *rest = seen.data_files(orders)
    with sales.transaction(message="two orders were wrong") as change:
        path = "sales/main/orders/delete-001.parquet"
        change.add_delete_files(orders, [NewDeleteFile(rest[3].data_file_id, path, 2, 900)])
    with sales.transaction() as change:
        merged = NewDataFile(
            "sales/main/orders/merged.parquet",
            first.record_count + second.record_count,
            first.file_size_bytes + second.file_size_bytes,
            row_ids=False,
        )
        change.compact(orders, ChangeKind.MERGED, files=[first, second], data_files=[merged])


def _work(fork: Catalog, dice: random.Random) -> None:
    with fork.transaction(author="agent-03", message="what if the north closes?") as change:
        change.add_data_files(
            change.table("orders"), [NewDataFile("agent-03/main/orders/new.parquet", 900, 310_000)]
        )
        change.create_table("forecast", [ColumnSpec("day", "date"), ColumnSpec("total", "float64")])


def _oddities(metastore: Metastore, root: str) -> None:
    for name in ODD_NAMES:
        with metastore.create_catalog(name, data_path=root).transaction(message=ODD) as change:
            columns = [ColumnSpec('"><img src=x>', "varchar", comment=ODD)]
            change.create_table("a/b?c=d&e", columns, comment=ODD)
            change.create_schema("../up")
            change.create_view("v<b>", "SELECT '</textarea><b>'", schema="../up")
