"""The data plane: tables of the lake on Spark."""
