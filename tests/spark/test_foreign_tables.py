"""Spark tables outside of the lake, which statements of a session must not create by mistake."""

from __future__ import annotations

import pytest
from pyspark.errors import IllegalArgumentException

from forklake import Session
from forklake.engines.spark.engine import Engine


def test_tables_outside_of_the_lake_are_refused(lake: Session) -> None:
    lake.sql("CREATE TABLE t AS SELECT 1 AS a")
    frame = lake.table("t")
    with pytest.raises(IllegalArgumentException, match=r"session\.write\(df, 'stray'\)"):
        frame.write.saveAsTable("stray")
    with pytest.raises(IllegalArgumentException, match="outside of the lake"):
        frame.writeTo("stray").using("parquet").create()
    with pytest.raises(IllegalArgumentException, match="outside of the lake"):
        lake.sql("SELECT 2 AS a").write.mode("overwrite").format("json").saveAsTable("stray")
    assert not frame.sparkSession.catalog.tableExists("stray")


def test_tables_of_other_sessions_are_not_refused(engine: Engine) -> None:
    spark = engine.spark.newSession()
    spark.range(3).write.mode("overwrite").saveAsTable("not_of_a_lake")
    try:
        assert spark.table("not_of_a_lake").count() == 3
    finally:
        spark.sql("DROP TABLE not_of_a_lake")
