"""Queries: names are bound to DataFrames, and the text is translated to Spark SQL."""
