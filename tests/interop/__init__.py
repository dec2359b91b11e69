"""Tests of what others read in a lake: stock DuckDB, readers of Iceberg and of Delta."""
