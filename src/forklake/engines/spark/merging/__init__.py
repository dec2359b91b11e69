"""Joins that merges and comparisons of forks need, on Spark."""
