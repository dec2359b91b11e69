"""Engine without Spark: Arrow and DuckDB in this process."""
