"""Queries: names become DataFrames, text becomes Spark's."""
