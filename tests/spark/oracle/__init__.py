"""Random statements, run on a lake table and on a plain DuckDB table."""
