"""Steps of workbooks that are easier to write in Python than in SQL."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812


def customers(orders: DataFrame, least: float) -> DataFrame:
    """Return the total amount per customer, without orders below `least`."""
    dear = orders.where(F.col("amount") >= least)
    return dear.groupBy("customer").agg(F.sum("amount").alias("amount"))
