"""Workbook in Python: readings of several stations, each loaded by its own worktask.

forklake run examples/readings.py --catalog weather
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from forklake.reagent import worktask

STATIONS = 4
workbook: dict[str, Any] = {
    "catalog": "weather",
    "isolation": "transaction",
    "parameters": {"hours": 24},
    "tasks": {
        "table": {
            "sql": "CREATE TABLE IF NOT EXISTS readings (station INT, hour BIGINT, t DOUBLE)"
        },
        **{
            f"station-{number}": {
                "after": ["table"],
                "sql": f"INSERT INTO readings SELECT {number}, range, 10 + {number} + range % 7"
                " FROM range($hours)",
            }
            for number in range(STATIONS)
        },
    },
}


@worktask(
    after=[f"station-{number}" for number in range(STATIONS)],
    inputs={"readings": {"table": "readings"}},
    output={"table": "warmest", "mode": "overwrite"},
    checks=[{"row_count": {"equals": STATIONS}}, {"unique": ["station"]}],
)
def warmest(readings: DataFrame) -> DataFrame:
    """Return the highest reading of each station."""
    return readings.groupBy("station").agg({"t": "max"}).withColumnRenamed("max(t)", "t")
