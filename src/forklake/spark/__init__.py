"""Data plane: tables of the lake on Spark."""
