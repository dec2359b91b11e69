"""Tests of other readers of a lake: stock DuckDB, Iceberg and Delta readers."""
