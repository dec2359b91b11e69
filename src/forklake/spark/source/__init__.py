"""Data source `forklake`, for plain PySpark and for streams."""
