"""Overwriting by a condition: matching rows are replaced by new matching rows in one commit."""

from __future__ import annotations

import pytest

from forklake.errors import InvalidInput
from forklake.sql.session import Session


@pytest.fixture(params=[0, 100], ids=["in files", "in the metastore"])
def sales(lake: Session, request: pytest.FixtureRequest) -> Session:
    """Return a lake with a partitioned table of days and numbers."""
    lake.attachment("lake").catalog.set_option("data_inlining_row_limit", request.param)
    lake.execute(
        "CREATE TABLE t (day DATE, n BIGINT); ALTER TABLE t SET PARTITIONED BY (day);"
        "INSERT INTO t VALUES ('2024-01-01', 1), ('2024-01-02', 2), ('2024-01-02', 3), (NULL, 4)"
    )
    return lake


def rows_of(lake: Session) -> list[tuple[str, int]]:
    """Return the rows of the table."""
    return sorted((str(row.day), row.n) for row in lake.table("t").collect())


def head(lake: Session) -> int:
    """Return the newest snapshot."""
    return lake.attachment("lake").catalog.current_snapshot()


def test_rows_are_replaced_by_a_condition_in_one_commit(sales: Session) -> None:
    before = head(sales)
    tenfold = sales.table("t").where("day = '2024-01-02'").selectExpr("day", "n * 10 AS n")
    assert sales.write(tenfold, "t", mode="overwrite", where="day = '2024-01-02'") == 2
    assert head(sales) == before + 1
    assert rows_of(sales) == [
        ("2024-01-01", 1),
        ("2024-01-02", 20),
        ("2024-01-02", 30),
        ("None", 4),
    ]
    result = sales.execute("INSERT INTO t REPLACE WHERE n >= 20 SELECT DATE '2024-03-01', 99")
    assert result.arrow()["Count"].to_pylist() == [1]
    sales.execute(
        "INSERT INTO t (n, day) REPLACE WHERE day = '2025-01-01' VALUES (5, '2025-01-01')"
    )
    assert rows_of(sales) == [
        ("2024-01-01", 1),
        ("2024-03-01", 99),
        ("2025-01-01", 5),
        ("None", 4),
    ]


def test_new_rows_that_do_not_match_the_condition_are_refused(sales: Session) -> None:
    before = head(sales), rows_of(sales)
    for value in ("DATE '2024-01-03'", "NULL"):
        with pytest.raises(InvalidInput, match="condition by which rows are replaced: day ="):
            sales.execute(f"INSERT INTO t REPLACE WHERE day = '2024-01-02' SELECT {value}, 7")
    with pytest.raises(InvalidInput, match="cannot be used on table 't'"):
        sales.write(sales.table("t"), "t", mode="overwrite", where="missing = 1")
    assert (head(sales), rows_of(sales)) == before


def test_a_condition_requires_overwrite_mode(sales: Session) -> None:
    for mode, replace_schema in (("append", False), ("overwrite", True)):
        with pytest.raises(InvalidInput, match="when rows of an existing table are overwritten"):
            sales.write(
                sales.table("t"), "t", mode=mode, replace_schema=replace_schema, where="n = 1"
            )
    sales.execute("BEGIN; INSERT INTO t REPLACE WHERE n = 1 SELECT NULL, 1; ROLLBACK")
    assert rows_of(sales)[0] == ("2024-01-01", 1)
