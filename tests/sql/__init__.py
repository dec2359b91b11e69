"""Tests of SQL: statements, queries and functions, compared with DuckDB where possible."""
