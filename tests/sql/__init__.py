"""SQL: statements, queries and functions, against DuckDB where it can tell."""
